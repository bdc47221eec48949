// Trained models over tables of ClickHouse: scores that the server computes are those of Rowan.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClickhouseServer, findClickhouse, startClickhouse } from '../support/clickhouse.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

const CLASSIFIERS = {
  boolean: {
    tree: { type: 'decision_tree', max_depth: 6 },
    gbt: { type: 'gbt', num_rounds: 6, max_depth: 4, min_child_weight: 1 },
    logit: { type: 'glz' },
    probit: { type: 'glz', link_function: 'probit' },
    cloglog: { type: 'glz', link_function: 'comp_log_log' },
    stumps: { type: 'boosted_stumps', max_iter: 6, min_iter: 2 },
    boosted: {
      type: 'boosting',
      min_iter: 2,
      max_iter: 4,
      weak_learner: { type: 'decision_tree', max_depth: 3 },
    },
    bagged: { type: 'bagging', num_bags: 3, weak_learner: { type: 'glz' } },
    bayes: { type: 'naive_bayes' },
  },
  regression: {
    tree: { type: 'decision_tree', max_depth: 6 },
    gbt: { type: 'gbt', num_rounds: 6, max_depth: 4, min_child_weight: 1 },
    poisson: {
      type: 'gbt',
      num_rounds: 5,
      max_depth: 3,
      objective: 'poisson',
      min_child_weight: 1,
    },
    linear: { type: 'glz', link_function: 'linear' },
  },
  categorical: {
    tree: { type: 'decision_tree', max_depth: 5 },
    gbt: { type: 'gbt', num_rounds: 4, max_depth: 3, min_child_weight: 1 },
    glz: { type: 'glz' },
    bayes: { type: 'naive_bayes' },
  },
} as const;

describe.runIf(canTest('ClickHouse', findClickhouse()))('models over ClickHouse', () => {
  let server: ClickhouseServer;
  let rowan: TestService;

  beforeAll(async () => {
    const started = await Promise.all([startClickhouse(), openRowan()]);
    server = started[0][0] as ClickhouseServer;
    rowan = started[1];
    // What is missing, infinite or new in the rows behind is not in those that are learned from.
    await server.run(`CREATE TABLE remote ENGINE = MergeTree ORDER BY id AS SELECT
      toString(number) AS id, toUInt32(number) AS n, toInt8(toInt32(number * 7 % 11) - 5) AS i,
      if(number % 13 = 0, NULL, (number * 37 % 101) / 7) AS x,
      if(number > 300, if(number % 7 = 0, nan, number / 9), (number * 53 % 97) / 11) AS y,
      if(number > 300 AND number % 4 = 0, NULL, toInt64(number * 31 % 23)) AS z,
      if(number % 9 = 0, NULL, arrayElement(['red', 'green', '', 'it''s \\\\', 'blue'], toUInt8(number * 11 % 5) + 1)) AS c,
      arrayElement(['a', 'b', 'new'], if(number > 300, toUInt8(number % 3) + 1, toUInt8(number % 2) + 1)) AS d,
      toUInt8((number * 37 % 101) / 7 + (number * 7 % 11) > 12) AS good,
      (number * 37 % 101) / 7 * 2 - number * 7 % 11 AS price,
      toUInt8(((number * 37 % 101) / 7 + number % 5) / 7) AS kind
      FROM (SELECT number FROM system.numbers LIMIT 420)`);
    await put('datasets/remote', {
      type: 'clickhouse',
      params: { url: server.url, table: 'remote', rowNameColumn: 'id' },
    });
    await put('procedures/copy', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM remote',
        outputDataset: { id: 'local', type: 'tabular' },
        runOnCreation: true,
      },
    });
    const trained = {
      'randomforest.binary.train': {
        trainingData:
          'SELECT {i, x, y, z, c, d} AS features, good AS label FROM local WHERE n <= 300',
        featureVectorSamplings: 2,
        featureSamplings: 2,
        modelFileUrl: 'mem://forest.cls',
        functionName: 'forest',
      },
      'kmeans.train': {
        trainingData: 'SELECT i, n, price FROM local',
        numClusters: 4,
        modelFileUrl: 'mem://clusters.kms',
        functionName: 'clusters',
      },
      'statsTable.train': {
        trainingData: 'SELECT c, i FROM local WHERE n <= 300',
        outcomes: [['good', 'good = 1']],
        statsTableFileUrl: 'mem://counts.st',
        functionName: 'counts',
      },
    };
    for (const [type, params] of Object.entries(trained)) {
      await put(`procedures/${type}`, { type, params: { ...params, runOnCreation: true } });
    }
    for (const [mode, models] of Object.entries(CLASSIFIERS)) {
      const label = { boolean: 'good', regression: 'abs(price)', categorical: 'kind' }[mode];
      for (const [name, configuration] of Object.entries(models)) {
        await put(`procedures/${mode}_${name}`, {
          type: 'classifier.train',
          params: {
            trainingData: `SELECT {i, x, y, z, c, d} AS features, ${label} AS label FROM local WHERE n <= 300`,
            mode,
            configuration,
            modelFileUrl: `mem://${mode}_${name}.cls`,
            functionName: `${mode}_${name}`,
            runOnCreation: true,
          },
        });
      }
    }
  }, 120_000);

  afterAll(async () => {
    await rowan?.close();
    await server?.stop();
  });

  const { perform, put } = serviceCalls(() => rowan);

  async function query(q: string) {
    const { json } = await perform('GET', 'query', { q, format: 'aos' });
    return json.error ?? json;
  }

  async function explain(q: string): Promise<string> {
    const lines: { operator: string }[] = await query(`EXPLAIN ${q}`);
    return lines.map(({ operator }) => operator).join('\n');
  }

  function close(value: unknown): unknown {
    return typeof value === 'number' && !Number.isInteger(value)
      ? expect.closeTo(value, 9)
      : value !== null && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, close(each)]))
        : value;
  }

  /** @returns EXPLAIN of the query on the server */
  async function expectSame(make: (table: string) => string): Promise<string> {
    const [local, remote] = [await query(make('local')), await query(make('remote'))];
    const byName = (rows: { _rowName: string }[]) =>
      [...rows].sort((a, b) => (a._rowName < b._rowName ? -1 : 1));
    expect(Array.isArray(local), `${make('local')}: ${local}`).toBe(true);
    expect(byName(remote), make('remote')).toEqual(byName(local).map(close));
    return explain(make('remote'));
  }

  const OUTPUTS = {
    boolean: ['[score]'],
    regression: ['[score]'],
    categorical: ['[scores]["0"]', '[scores]["1"]', '[scores]["2"]'],
  } as const;

  for (const [mode, models] of Object.entries(CLASSIFIERS)) {
    test(`classifiers of mode ${mode}`, async () => {
      for (const name of Object.keys(models)) {
        const call = `${mode}_${name}({features: {*}})`;
        const list = OUTPUTS[mode as keyof typeof OUTPUTS].map(
          (path, k) => `${call}${path} AS s${k}`,
        );
        const plan = await expectSame((table) => `SELECT ${list.join(', ')} FROM ${table}`);
        expect(plan, call).toMatch(/s0: .?=c0/);
      }
    });
  }

  test('a model stands wherever an expression stands', async () => {
    const forest = 'forest({features: {*}})';
    const gbt = 'regression_gbt({features: {i, x * 1 AS x, y, 2 AS z, NULL AS c}})[score]';
    const queries: readonly (readonly [string, RegExp])[] = [
      [`SELECT ${forest} AS *, n FROM T`, /row\(=c0\) AS \*/],
      [`SELECT ${forest} AS p FROM T WHERE ${forest}[score] > 0.4`, /WHERE \(.*if\(/],
      [`SELECT d, avg(${gbt}) AS m, count(*) AS n FROM T GROUP BY d`, /GROUP BY `d`/],
      [`SELECT ${gbt} > 5 AS high, count(*) AS n FROM T GROUP BY ${gbt} > 5`, /GROUP BY/],
      [`SELECT n FROM T ORDER BY ${gbt} DESC, n LIMIT 5`, /ORDER BY b DESC/],
      [
        `SELECT d, regression_linear({features: {avg(i) AS i, max(x) AS x}})[score] AS s FROM T GROUP BY d`,
        /GROUP BY `d`/,
      ],
      [
        'SELECT clusters({embedding: {*}})[cluster] AS k, count(*) AS n FROM T GROUP BY clusters({embedding: {*}})[cluster]',
        /GROUP BY/,
      ],
      ['SELECT clusters({embedding: {i, n, price}}) AS * FROM T', /indexOf/],
      [`SELECT avg(${'forest({features: {*}})[score]'}) AS p FROM (SELECT i, x FROM T)`, /SELECT/],
      ['SELECT counts({keys: {* EXCLUDING (c)}}) AS * FROM T', /transform/],
      ['SELECT counts({keys: {c}})[counts][good][c] AS good FROM T', /transform/],
      ['SELECT categorical_tree({features: {*}}) AS * FROM T', /row\(=c0, =c1, =c2\)/],
    ];
    for (const [sql, expected] of queries) {
      const plan = await expectSame((table) => sql.replaceAll(/\bT\b/g, table));
      expect(plan, sql).toMatch(expected);
    }
  });

  test('what the server cannot say is scored here', async () => {
    const plans = [
      // A text in the place of a number, which fails for a row that has one.
      'SELECT boolean_tree({features: {i, x, upper(d) AS d}})[score] AS s FROM T WHERE n < 5',
      'SELECT clusters({embedding: {i, n, price, upper(c) AS other}})[cluster] AS s FROM T WHERE n < 5',
    ];
    for (const sql of plans) {
      const plan = await expectSame((table) => sql.replaceAll(/\bT\b/g, table));
      expect(plan, sql).not.toMatch(/if\(|indexOf/);
    }
    const refused = async (q: string) => {
      const answers = [await query(q), await query(q.replaceAll('remote', 'local'))];
      for (const answer of answers) expect(typeof answer, q).toBe('string');
      return answers[0];
    };
    expect(
      await refused('SELECT boolean_tree({features: {c AS x}})[score] AS s FROM remote'),
    ).toContain('was numeric in training');
    expect(
      await refused('SELECT clusters({embedding: {i, n}})[cluster] AS s FROM remote'),
    ).toContain("no value for column 'price'");
    await refused('SELECT clusters({embedding: {i, n, x AS price}})[cluster] AS s FROM remote');
    await refused(
      'SELECT max(boolean_logit({features: {i, 1 / (n - 5) AS x}})[score]) AS s FROM remote',
    );
  });
});
