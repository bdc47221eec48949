// ClickHouse of these days, inside a Python process by the package `chdb`: what is sent to it means the
// same as on the servers of Debian, which are those of 2018.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RandomQueries } from '../support/clickhouse-queries.ts';
import { projectRoot } from '../support/project.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

/** Where `.ci/run` installs it. */
const PYTHON = join(projectRoot, 'build/chdb/bin/python');
const QUERY_COUNT = 40;
const JOIN_COUNT = 20;

describe.runIf(canTest('chdb', existsSync(PYTHON)))('ClickHouse by chdb', () => {
  let server: ChildProcess;
  let rowan: TestService;
  let url: string;
  const { perform, put } = serviceCalls(() => rowan);

  beforeAll(async () => {
    server = spawn(PYTHON, [join(projectRoot, 'test/support/chdb-server.py')], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const [port] = await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    url = `http://127.0.0.1:${String(port).trim()}`;
    rowan = await openRowan();
    const reply = await fetch(url, {
      method: 'POST',
      body: `CREATE TABLE whole ENGINE = MergeTree ORDER BY id AS SELECT toString(number) AS id,
        toInt32(toInt32(number % 7) - 3) AS i,
        if(number % 11 = 0, NULL, toInt64(number) * 9007199254740 - 4503599627370496) AS big,
        if(number % 5 = 0, NULL, multiIf(number % 17 = 1, nan, number % 19 = 1, inf, number % 23 = 1, -0.,
          (number % 41) / 3 - 5)) AS x,
        if(number % 9 = 0, NULL, arrayElement(['', 'abc', 'Äpfel', 'a b c', 'zz', 'banana', 'ab%c_d'], number % 7 + 1)) AS s,
        toDateTime(number * 1234567 % 2000000000, 'UTC') AS t, toDate(number * 37 % 30000) AS d,
        toFloat32(number % 10 / 10) AS f4, arrayElement(['red', 'green'], number % 2 + 1) AS c,
        toInt32(number % 3 = 0) AS good FROM numbers(400)`,
    });
    expect(await reply.text()).toBe('');
    await put('datasets/whole', {
      type: 'clickhouse',
      params: { url, table: 'whole', rowNameColumn: 'id' },
    });
    await put('procedures/copy', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM whole',
        outputDataset: { id: 'local', type: 'tabular' },
        runOnCreation: true,
      },
    });
    for (const [name, configuration] of Object.entries({
      tree: { type: 'decision_tree', max_depth: 5 },
      boosted: { type: 'gbt', num_rounds: 5, max_depth: 3, min_child_weight: 1 },
      linear: { type: 'glz' },
      bayes: { type: 'naive_bayes' },
    })) {
      await put(`procedures/${name}`, {
        type: 'classifier.train',
        params: {
          trainingData: 'SELECT {i, f4, s, c} AS features, good AS label FROM local',
          mode: 'boolean',
          configuration,
          modelFileUrl: `mem://${name}.cls`,
          functionName: name,
          runOnCreation: true,
        },
      });
    }
  }, 120_000);

  afterAll(async () => {
    await rowan?.close();
    server?.stdin?.end();
  });

  async function query(q: string) {
    const { json } = await perform('GET', 'query', { q, format: 'aos' });
    return json.error ?? json;
  }

  function comparable(rows: unknown, isOrdered: boolean): unknown {
    if (!Array.isArray(rows)) return rows;
    const texts = rows.map((row) =>
      JSON.stringify(row, (_, value) =>
        typeof value === 'number' && !Number.isSafeInteger(value)
          ? Number(value.toPrecision(10))
          : value,
      ),
    );
    return isOrdered ? texts : texts.sort();
  }

  async function expectSame(sql: string): Promise<void> {
    const isOrdered = sql.includes('ORDER BY');
    const local = comparable(await query(sql.replaceAll(/\bT\b/g, 'local')), isOrdered);
    expect(Array.isArray(local), `${sql}: ${local}`).toBe(true);
    const whole = await query(sql.replaceAll(/\bT\b/g, 'whole'));
    expect(comparable(whole, isOrdered), sql).toEqual(local);
  }

  test('random queries have the same answers', async () => {
    const queries = new RandomQueries(12);
    for (let i = 0; i < QUERY_COUNT; i++) await expectSame(queries.next());
  }, 120_000);

  test('random joins have the same answers', async () => {
    const queries = new RandomQueries(6);
    for (let i = 0; i < JOIN_COUNT; i++) await expectSame(queries.nextJoin());
    for (const sql of [
      "SELECT a.k, count(*) AS n FROM (SELECT x * 2 AS k, s || 'ä' AS u, i FROM T) AS a JOIN (SELECT x + 1 AS k, s || 'ä' AS u FROM T WHERE c = 'red') AS b ON a.u = b.u AND a.k < b.k GROUP BY a.k",
      'SELECT a.c, b.s, z.c, count(*) AS n FROM T AS a JOIN T AS b ON a.i = b.i JOIN T AS z ON z.x = b.x WHERE a.x > 3 GROUP BY a.c, b.s, z.c',
      'SELECT year(b.t) AS y, count(*) AS n FROM T AS a LEFT JOIN T AS b ON a.s = b.s AND b.i > 1 GROUP BY year(b.t)',
      'SELECT g.n, count(*) AS m FROM T AS a JOIN (SELECT i, count(*) AS n FROM T GROUP BY i) AS g ON g.i = a.i WHERE a.x > 1 AND g.n > 57 GROUP BY g.n ORDER BY m LIMIT 2',
    ]) {
      await expectSame(sql);
    }
    const few = "(VALUES (1, 'abc', 0.5), (2, 'zz', 1), (-3, 'it''s', NULL)) AS b (i, s, x)";
    for (const condition of ['a.i = b.i', 'a.i = b.i AND a.s = b.s', 'a.x = b.x', 'a.s = b.s']) {
      await expectSame(`SELECT a.id, b.s FROM T AS a JOIN ${few} ON ${condition}`);
    }
  }, 120_000);

  test('models give the same scores', async () => {
    for (const model of ['tree', 'boosted', 'linear', 'bayes']) {
      const score = `${model}({features: {i, f4, s, c}})[score]`;
      await expectSame(`SELECT ${score} AS p FROM T`);
      await expectSame(`SELECT c, avg(${score}) AS p FROM T WHERE ${score} > 0.2 GROUP BY c`);
    }
  });
});
