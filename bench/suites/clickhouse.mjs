// A table in ClickHouse: queries that its server computes, and trainings on sums of its rows, beside the
// same ones over rows that are fetched, which a condition that no server has keeps in Rowan. Rows are made
// in the server; the bytes are those of its answers, counted by a proxy. With many rows each training runs
// once, and none fetches them: `--rows 100000000 --repeats 1` takes some hours on two processors.
import { open } from '../../build/js/index.js';
import { startClickhouse } from '../peers/clickhouse.mjs';

export const description = 'queries, scores and trainings in ClickHouse, beside fetching its rows';

/** A condition that is true of all rows. */
const HERE = "upper(c) != 'no'";
const FEATURES = '{a, b, x, y, c}';
const SCORE = `forest({features: ${FEATURES}})[score]`;
const QUERIES = [
  [
    'group by 1000 groups',
    'SELECT k, count(*) AS n, avg(x) AS m FROM t WHERE true GROUP BY k',
    0.2,
  ],
  ['filter and sum', 'SELECT sum(x * y) AS s FROM t WHERE a < 30 AND true', 0.2],
  ['first 10 rows', 'SELECT id, y FROM t WHERE true ORDER BY y DESC, id LIMIT 10', 0.2],
  [
    'join and group by',
    'SELECT d.g, count(*) AS n, sum(t.x) AS m FROM t JOIN d ON t.k = d.k WHERE true GROUP BY d.g',
    0.3,
  ],
  ['score by a forest', `SELECT c, avg(${SCORE}) AS m FROM t WHERE true GROUP BY c`, 0.7],
];

/** More rows are not fetched to train on, as they would not fit. */
const FETCHED_ROW_COUNT_MAX = 2_000_000;
/** Trainings on more rows run once. */
const REPEATED_ROW_COUNT_MAX = 5_000_000;

const LABELLED = `SELECT ${FEATURES} AS features, l AS label FROM t WHERE true`;
const TRAININGS = [
  [
    'train glz',
    'classifier.train',
    LABELLED,
    { algorithm: 'own', configuration: { own: { type: 'glz', regularization_factor: 0.01 } } },
  ],
  [
    'train kmeans, 10 clusters, 10 iterations',
    'kmeans.train',
    'SELECT a, b, x, y FROM t WHERE true',
    { numClusters: 10, maxIterations: 10 },
  ],
  [
    'train gbt, depth 6, 5 rounds',
    'classifier.train',
    LABELLED,
    {
      algorithm: 'own',
      configuration: { own: { type: 'gbt', max_depth: 6, num_leaves: 64, num_rounds: 5 } },
    },
  ],
  [
    'train a tree of depth 6',
    'classifier.train',
    LABELLED,
    { algorithm: 'own', configuration: { own: { type: 'decision_tree', max_depth: 6 } } },
  ],
  [
    'test a forest',
    'classifier.test',
    `SELECT ${SCORE} AS score, l AS label FROM t WHERE true`,
    {},
  ],
];

export async function prepare({ rowCount }) {
  const server = await startClickhouse();
  const rowan = await open({ dataDir: null });
  await server.run(`CREATE TABLE t ENGINE = MergeTree ORDER BY id AS SELECT
    number AS id, toUInt32(number * 48271 % 1000) AS k, toInt32(number * 69621 % 100) AS a,
    toInt32(number * 16807 % 50) AS b, number * 39373 % 10007 / 100 AS x, number * 7919 % 65537 / 1000 AS y,
    arrayElement(['red', 'green', 'blue', 'grey'], number * 31 % 4 + 1) AS c,
    toInt32((a * 2 + x > 120 AND c != 'red') != (cityHash64(number) % 10 = 0)) AS l
    FROM (SELECT number FROM system.numbers LIMIT ${rowCount})`);
  await server.run(`CREATE TABLE d ENGINE = MergeTree ORDER BY k AS SELECT
    toUInt32(number) AS k, toInt32(number * 31 % 40) AS g FROM (SELECT number FROM system.numbers LIMIT 1000)`);
  const post = async (path, body) => {
    const reply = await rowan.post(path, body);
    if (reply.status >= 400) throw new Error(reply.text);
  };
  for (const table of ['t', 'd']) {
    await post('/v1/datasets', {
      id: table,
      type: 'clickhouse',
      params: { url: server.url, table, timeoutSeconds: 3600, maxRows: 1e9 },
    });
  }
  // Rows that may not be read are known by their sums.
  await post('/v1/datasets', {
    id: 'unread',
    type: 'clickhouse',
    params: { url: server.url, table: 't', timeoutSeconds: 3600, maxRows: rowCount - 1 },
  });
  // Values repeat every 100 rows, so the step must have no factor in common with that.
  let step = Math.max(1, Math.floor(rowCount / 20_000));
  while (step % 2 === 0 || step % 5 === 0) step++;
  await post('/v1/procedures', {
    type: 'randomforest.binary.train',
    params: {
      trainingData: `SELECT ${FEATURES} AS features, a * 2 + x > 120 AND c != 'red' AS label FROM t WHERE id % ${step} = 0`,
      featureVectorSamplings: 5,
      featureSamplings: 2,
      maxDepth: 5,
      modelFileUrl: 'mem://forest.cls',
      functionName: 'forest',
      runOnCreation: true,
    },
  });
  const measures = QUERIES.flatMap(([name, sql, goal]) => {
    const bytes = {};
    const contender = (way, text) => async () => {
      server.takeByteCount();
      const answer = await rowan.query(text, { rowNames: false });
      bytes[way] = server.takeByteCount();
      return answer;
    };
    return [
      {
        name,
        goal,
        contenders: {
          there: contender('there', sql.replace('AND true', '').replace('WHERE true', '')),
          fetched: contender('fetched', sql.replace('true', HERE)),
        },
        agree,
      },
      {
        name: `${name}: bytes moved`,
        unit: 'B',
        contenders: {
          there: () => ({ value: bytes.there }),
          fetched: () => ({ value: bytes.fetched }),
        },
      },
    ];
  });
  const trainings = TRAININGS.flatMap(([name, type, query, params]) => {
    const bytes = {};
    let known;
    const contender = (way, trainingData) => async () => {
      if (known !== undefined) return known;
      server.takeByteCount();
      const started = performance.now();
      const data = type === 'classifier.test' ? 'testingData' : 'trainingData';
      const file = type === 'classifier.test' ? {} : { modelFileUrl: `mem://${way}.model` };
      await post('/v1/procedures', {
        type,
        params: { [data]: trainingData, ...file, ...params, runOnCreation: true },
      });
      bytes[way] = server.takeByteCount();
      const elapsed = { value: performance.now() - started };
      if (rowCount > REPEATED_ROW_COUNT_MAX) known = elapsed;
      return elapsed;
    };
    const ways = {
      there: contender('there', query.replace('FROM t WHERE true', 'FROM unread')),
      ...(rowCount > FETCHED_ROW_COUNT_MAX
        ? {}
        : { fetched: contender('fetched', query.replace('true', HERE)) }),
    };
    const moved = Object.keys(ways).map((way) => [way, () => ({ value: bytes[way] })]);
    return [
      { name, contenders: ways },
      { name: `${name}: bytes moved`, unit: 'B', contenders: Object.fromEntries(moved) },
    ];
  });
  return {
    measures: [...measures, ...trainings],
    async close() {
      await rowan.close();
      await server.close();
    },
  };
}

/** Up to the rounding of sums. */
function agree(ours, theirs) {
  return ours.every((row, index) =>
    row.every((value, at) => {
      const other = theirs[index][at];
      return value === other || Math.abs(value - other) <= 1e-9 * Math.abs(other);
    }),
  );
}
