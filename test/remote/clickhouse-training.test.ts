// Trainers over rows of ClickHouse make the models that they make over a copy of the rows. The
// dataset refuses to hand out as many rows as the table has, so what is trained was trained on sums.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClickhouseServer, findClickhouse, startClickhouse } from '../support/clickhouse.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

const ROW_COUNT = 1200;

describe.runIf(canTest('ClickHouse', findClickhouse()))('training on ClickHouse', () => {
  let servers: readonly ClickhouseServer[] = [];
  let rowan: TestService;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rowan-training-'));
    const started = await Promise.all([startClickhouse(2), openRowan()]);
    servers = started[0];
    rowan = started[1];
    const [server] = servers as [ClickhouseServer];
    const noise = (salt: number) => `(cityHash64(number, ${salt}) % 10007 / 10007)`;
    const values = `toString(number) AS id, toInt32(number % 7) - 3 AS i,
      floor(${noise(1)} * 40) / 8 - 2 AS a, ${noise(2)} * 3 + number % 7 / 5 AS b,
      if(number % 9 = 0, NULL, ${noise(3)}) AS m,
      arrayElement(['red', 'green', 'blue', ''], cityHash64(number, 4) % 4 + 1) AS c,
      if(number % 11 = 0, NULL, concat('n', toString(cityHash64(number, 5) % 23))) AS s,
      toInt32(${noise(1)} * 5 + ${noise(2)} * 2 + (number % 7) / 3 + ${noise(6)} * 2 > 5) AS y,
      ${noise(1)} * 2 - ${noise(2)} * 0.7 + ${noise(7)} + number % 7 AS t, 1 + number % 3 AS w,
      toDate(number % 50) AS d`;
    const rows = `(SELECT number FROM system.numbers LIMIT ${ROW_COUNT})`;
    for (const [index, each] of servers.entries()) {
      await each.run(`CREATE TABLE part ENGINE = MergeTree ORDER BY id AS
        SELECT ${values} FROM ${rows} WHERE number % 2 = ${index}`);
    }
    await server.run(`CREATE TABLE whole ENGINE = MergeTree ORDER BY id AS
      SELECT ${values} FROM ${rows}`);
    await server.run('CREATE TABLE sharded AS part ENGINE = Distributed(shards, default, part)');
    const params = { url: server.url, rowNameColumn: 'id', includeKeyColumns: false };
    await put('datasets/all', { type: 'clickhouse', params: { ...params, table: 'whole' } });
    for (const table of ['whole', 'sharded']) {
      const few = { ...params, table, maxRows: ROW_COUNT - 1 };
      await put(`datasets/${table}`, { type: 'clickhouse', params: few });
    }
    await put('procedures/copy', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM all',
        outputDataset: { id: 'local', type: 'tabular' },
        runOnCreation: true,
      },
    });
  }, 60_000);

  afterAll(async () => {
    await rowan?.close();
    await Promise.all(servers.map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const { perform, put } = serviceCalls(() => rowan);
  let runs = 0;

  /** Runs a procedure once. @returns the details of the run */
  async function run(type: string, params: object) {
    const id = `p${runs++}`;
    await put(`procedures/${id}`, { type, params });
    const { json } = await perform('POST', `procedures/${id}/runs`, {});
    if (json.state !== 'finished') return { error: json };
    return (await perform('GET', `procedures/${id}/runs/${json.id}/details`)).json ?? {};
  }

  async function rowsOf(q: string) {
    return (await perform('GET', 'query', { q, format: 'aos' })).json;
  }

  /** Numbers to nine digits, as the order of sums decides the rest. */
  function rounded(value: unknown): unknown {
    return JSON.parse(
      JSON.stringify(value, (_, each) =>
        typeof each === 'number' && !Number.isSafeInteger(each)
          ? Number(each.toPrecision(9))
          : each,
      ),
    );
  }

  test('summary.statistics', async () => {
    const outputs: unknown[] = [];
    for (const table of ['local', 'whole', 'sharded']) {
      const details = await run('summary.statistics', {
        inputData: `SELECT * EXCLUDING (w) FROM ${table} WHERE i < 3`,
        outputDataset: { id: `summary-${table}`, type: 'sparse.mutable' },
      });
      if (table !== 'local') expect(details.reading).toMatchObject({ way: 'sums', dataset: table });
      outputs.push(rounded(await rowsOf(`SELECT * FROM "summary-${table}" ORDER BY rowName()`)));
    }
    expect(outputs[1]).toEqual(outputs[0]);
    expect(outputs[2]).toEqual(outputs[0]);
  });

  test('statsTable.train', async () => {
    const models: unknown[] = [];
    for (const table of ['local', 'whole', 'sharded']) {
      const file = join(folder, `stats-${table}`);
      const details = await run('statsTable.train', {
        trainingData: `SELECT c, s, i FROM ${table} WHERE a > -1`,
        outcomes: [
          ['y', 'y = 1'],
          ['big', 't > 3 AND m IS NOT NULL'],
        ],
        statsTableFileUrl: `file://${file}`,
      });
      expect(details.error).toBeUndefined();
      if (table !== 'local') expect(details.reading).toMatchObject({ way: 'sums', queries: 3 });
      models.push(modelOf(file));
    }
    const tables = (models as { columnNames: string[]; tables: [string][][] }[]).map((model) =>
      model.columnNames.map((name, index) => [name, model.tables[index]?.sort()]).sort(),
    );
    expect(tables[1]).toEqual(tables[0]);
    expect(tables[2]).toEqual(tables[0]);
  });

  /** Trains over the copy, one server and two shards. @returns how the servers were read */
  async function expectSameModels(
    type: string,
    trainingData: (table: string) => string,
    params: object,
  ) {
    const models: unknown[] = [];
    const readings: unknown[] = [];
    for (const table of ['local', 'whole', 'sharded']) {
      const file = join(folder, `model${runs}`);
      const details = await run(type, {
        ...params,
        trainingData: trainingData(table),
        modelFileUrl: `file://${file}`,
      });
      expect(details.error).toBeUndefined();
      models.push(modelOf(file));
      readings.push(details.reading);
    }
    expect(readings[0]).toBeUndefined();
    for (const [index, model] of models.entries()) {
      if (index > 0) expect(readings[index]).toEqual(expect.objectContaining({ way: 'sums' }));
      expectClose(model, models[0]);
    }
    return readings[1] as { queries: number; groups: number };
  }

  const FEATURES = '{a, b, m, c, i}';

  // The columns of categories add up to the constant, so a penalty that is no rounding decides.
  const GLZ = [
    ['boolean', 'y = 1', { regularization_factor: 0.01 }],
    [
      'boolean',
      'y = 1',
      { link_function: 'linear', normalize: false, regularization_factor: 0.01 },
    ],
    ['regression', 't', { link_function: 'linear', regularization: 'none' }],
    ['regression', 't', { link_function: 'linear', regularization: 'l1' }],
    ['categorical', 'i', { link_function: 'linear', regularization_factor: 0.1 }],
  ] as const;

  test.each(GLZ)('glz in mode %s of %s with %j', async (mode, label, options) => {
    const weight = mode === 'categorical' ? '' : ', w AS weight';
    const features = mode === 'regression' ? FEATURES : '{a, m, c}';
    await expectSameModels(
      'classifier.train',
      (table) => `SELECT ${features} AS features, ${label} AS label${weight} FROM ${table}`,
      { mode, algorithm: 'glz', configuration: { glz: { type: 'glz', ...options } } },
    );
  });

  test('naive_bayes', async () => {
    for (const [mode, label] of [
      ['boolean', 'y = 1'],
      ['categorical', 'c'],
    ]) {
      const reading = await expectSameModels(
        'classifier.train',
        (table) => `SELECT {a, b, m, s, i} AS features, ${label} AS label FROM ${table}`,
        { mode, algorithm: 'nb', configuration: { nb: { type: 'naive_bayes' } } },
      );
      // Facts, labels, a pass for each feature, and the rows without a label.
      expect(reading.queries).toBe(7);
    }
  });

  const TREES = [
    ['boolean', 'y = 1', ', w AS weight', { max_depth: 3, update_alg: 'normal' }],
    ['categorical', 'i', '', { max_depth: 3, random_feature_propn: 0.7 }],
    ['regression', 't', ', w AS weight', { max_depth: 4 }],
  ] as const;

  test.each(TREES)(
    'decision_tree in mode %s of %s%s with %j',
    async (mode, label, weight, options) => {
      const reading = await expectSameModels(
        'classifier.train',
        (table) => `SELECT {a, m, c, w AS n} AS features, ${label} AS label${weight} FROM ${table}`,
        { mode, algorithm: 'dt', configuration: { dt: { type: 'decision_tree', ...options } } },
      );
      expect(reading.queries).toBeLessThan(35);
    },
  );

  const BOOSTED = [
    ['boolean', 'y = 1', ', w AS weight', { num_leaves: 6 }],
    ['categorical', 'c', '', { max_depth: 2, colsample: 0.5 }],
    ['regression', 't', ', w AS weight', { max_depth: 3, monotone_constraints: { a: 1 } }],
    ['regression', 'w', '', { objective: 'poisson', growth: 'depth', num_leaves: 4 }],
    ['regression', 't', '', { objective: 'huber', num_leaves: 4 }],
  ] as const;

  test.each(BOOSTED)('gbt in mode %s of %s%s with %j', async (mode, label, weight, options) => {
    const features = mode === 'categorical' ? '{a, w}' : '{a, m, c}';
    const configuration = { gbt: { type: 'gbt', num_rounds: 2, ...options } };
    await expectSameModels(
      'classifier.train',
      (table) => `SELECT ${features} AS features, ${label} AS label${weight} FROM ${table}`,
      { mode, algorithm: 'gbt', configuration },
    );
  });

  const TESTS = [
    ['boolean', 'a AS score, y = 1 AS label, w AS weight', { prCurve: true }],
    ['boolean', 'm AS score, y AS label', { calibrationBins: 5 }],
    ['regression', 'b AS score, t AS label, w AS weight', {}],
    ['regression', 'a AS score, y AS label', {}],
  ] as const;

  test.each(TESTS)('classifier.test in mode %s of %s', async (mode, list, options) => {
    const results: unknown[] = [];
    for (const table of ['local', 'whole', 'sharded']) {
      const testingData = `SELECT ${list} FROM ${table} WHERE m IS NOT NULL AND i > -3`;
      const id = `p${runs++}`;
      await put(`procedures/${id}`, {
        type: 'classifier.test',
        params: { mode, testingData, ...options },
      });
      const { json } = await perform('POST', `procedures/${id}/runs`, {});
      expect(json.state, JSON.stringify(json)).toBe('finished');
      results.push(json.status);
      const details = (await perform('GET', `procedures/${id}/runs/${json.id}/details`)).json;
      if (table !== 'local')
        expect(details.reading, details.reading?.reason).toMatchObject({ way: 'sums' });
    }
    expectClose(results[1], results[0]);
    expectClose(results[2], results[0]);
  });

  test('classifier.test of more scores than come one by one tells how far off it may be', async () => {
    const [server] = servers as [ClickhouseServer];
    await server.run(`CREATE TABLE scored ENGINE = MergeTree ORDER BY id AS SELECT number AS id,
      pow(number / 70000, 3) AS score, toInt32(cityHash64(number) % 70000 < number) AS y
      FROM (SELECT number FROM system.numbers LIMIT 70000)`);
    const found: { auc: number; aucErrorMax?: number; way?: string }[] = [];
    for (const maxRows of [70_000, 69_999]) {
      const params = { url: server.url, table: 'scored', rowNameColumn: 'id', maxRows };
      await put(`datasets/scored${maxRows}`, { type: 'clickhouse', params });
      const id = `p${runs++}`;
      const testingData = `SELECT score, y AS label FROM scored${maxRows}`;
      await put(`procedures/${id}`, { type: 'classifier.test', params: { testingData } });
      const { json } = await perform('POST', `procedures/${id}/runs`, {});
      const { json: details } = await perform('GET', `procedures/${id}/runs/${json.id}/details`);
      const { aucErrorMax, reading } = details;
      found.push({ auc: json.status.auc, aucErrorMax, way: reading.way });
    }
    const [rows, sums] = found;
    expect([rows?.way, rows?.aucErrorMax, sums?.way]).toEqual(['rows', undefined, 'sums']);
    expect(sums?.aucErrorMax).toBeLessThan(1e-3);
    const distance = Math.abs((sums?.auc as number) - (rows?.auc as number));
    expect(distance).toBeLessThanOrEqual((sums?.aucErrorMax as number) + 1e-12);
    expect(distance).toBeGreaterThan(0);
  });

  test('gbt and trees read rows as long as they may', async () => {
    const { reading, error } = await run('classifier.train', {
      trainingData: 'SELECT {a, b} AS features, y = 1 AS label FROM "all" WHERE i < 3',
      ...{ algorithm: 'gbt', modelFileUrl: `file://${join(folder, 'read')}` },
      configuration: { gbt: { type: 'gbt', num_rounds: 1, num_leaves: 3 } },
    });
    expect(error).toBeUndefined();
    expect(reading).toMatchObject({ way: 'rows', reason: expect.stringContaining('maxRows') });
  });

  test.each(['a, b, m, c', 'i, s, a * 3 AS k, 4 AS four'])('svd.train of %s', async (list) => {
    const params = { numSingularValues: 6, numDenseBasisVectors: 12 };
    const trainingData = (table: string) => `SELECT ${list} FROM ${table} WHERE i > -3`;
    const found: unknown[] = [];
    for (const table of ['local', 'whole', 'sharded']) {
      const modelFileUrl = `file://${join(folder, `svd${runs}`)}`;
      const details = await run('svd.train', {
        ...params,
        modelFileUrl,
        trainingData: trainingData(table),
        columnOutputDataset: { id: `svd-${table}`, type: 'tabular' },
      });
      expect(details.error).toBeUndefined();
      if (table !== 'local') expect(details.reading).toMatchObject({ way: 'sums', dataset: table });
      const vectors = await rowsOf(`SELECT * FROM "svd-${table}" ORDER BY rowName()`);
      found.push({ values: details.singularValues, vectors });
    }
    expectClose(found[1], found[0]);
    expectClose(found[2], found[0]);
  });

  test.each(['euclidean', 'cosine'])('kmeans.train with metric %s', async (metric) => {
    const params = { metric, numClusters: 4, randomSeed: 5, maxIterations: 12 };
    const found: unknown[] = [];
    for (const table of ['local', 'all', 'sharded']) {
      const file = join(folder, `kmeans${runs}`);
      const details = await run('kmeans.train', {
        ...{ ...params, modelFileUrl: `file://${file}` },
        trainingData: `SELECT a, b, t FROM ${table} WHERE i > -2`,
      });
      expect(details.error).toBeUndefined();
      if (table !== 'local') expect(details.reading).toMatchObject({ way: 'sums', dataset: table });
      found.push({ model: modelOf(file), iterations: details.iterations });
    }
    // Both see all rows where they look for the first centroids; shards give a sample of theirs.
    expectClose(found[1], found[0]);
  });

  test('others train on a sample, which the seed decides, and say so', async () => {
    const models = [];
    for (const randomSeed of [3, 3, 4]) {
      const file = join(folder, `sampled${runs}`);
      const details = await run('classifier.train', {
        trainingData: "SELECT {a, b, c} AS features, y = 1 AS label FROM sharded WHERE s != 'n1'",
        ...{ modelFileUrl: `file://${file}`, randomSeed },
        ...{ algorithm: 'p', configuration: { p: { type: 'perceptron', max_iter: 2 } } },
      });
      expect(details.error).toBeUndefined();
      models.push(modelOf(file));
    }
    expect(models[1]).toEqual(models[0]);
    expect(models[2]).not.toEqual(models[0]);
    const all = 'SELECT {a, b, c} AS features, y = 1 AS label FROM sharded WHERE true';
    const modelFileUrl = `file://${join(folder, 'sampled')}`;
    const { reading, modelCard } = await run('randomforest.binary.train', {
      ...{ trainingData: all, modelFileUrl, featureVectorSamplings: 1 },
    });
    expect(reading).toEqual({
      ...{ way: 'sample', dataset: 'sharded', of: ROW_COUNT, seed: expect.any(Number) },
      share: (0.9 * (ROW_COUNT - 1)) / ROW_COUNT,
    });
    expect(modelCard.rows.used).toBeGreaterThan(ROW_COUNT * 0.85);
    expect(modelCard.rows.used).toBeLessThan(ROW_COUNT * 0.95);
    const { error } = await run('kmeans.train', {
      trainingData: 'SELECT a, b FROM sharded',
      ...{ numClusters: 2, modelFileUrl: `file://${join(folder, 'sampled-points')}` },
    });
    expect(error).toBeUndefined();
  });

  /** What a model file says, without how it came about; packed numbers as lists. */
  function modelOf(file: string): unknown {
    const { card: _card, sha256: _sum, ...model } = JSON.parse(readFileSync(file, 'utf8'));
    return JSON.parse(JSON.stringify(model), (_, value) => {
      if (value?.dtype !== 'f64' || typeof value.b64 !== 'string') return value;
      const bytes = Buffer.from(value.b64, 'base64');
      return [...new Float64Array(new Uint8Array(bytes).buffer)];
    });
  }

  /** Equal, numbers to 1e-9 of their size, or of 1: the order of sums decides the rest. */
  function expectClose(actual: unknown, expected: unknown, path = ''): void {
    if (typeof expected === 'number' && typeof actual === 'number') {
      const distance = Math.abs(actual - expected) / Math.max(1, Math.abs(expected));
      expect(distance, `${path}: ${actual} for ${expected}`).toBeLessThanOrEqual(1e-9);
    } else if (typeof expected === 'object' && expected !== null) {
      expect(Object.keys(actual as object), path).toEqual(Object.keys(expected));
      for (const [key, value] of Object.entries(expected)) {
        expectClose((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
      }
    } else expect(actual, path).toEqual(expected);
  }
});
