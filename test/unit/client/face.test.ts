// One suite for both faces: what a program sees in the process of the service it sees over HTTP.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import type { RowanApi } from '../../../src/client/rowan-api.ts';
import { Rowan } from '../../../src/index.ts';
import { RowanError } from '../../../src/util/error.ts';

let rowan: Rowan;
let address: string;
let faces: Record<FaceName, RowanApi>;

type FaceName = 'in-process' | 'http' | 'browser';
const FACES: readonly FaceName[] = ['in-process', 'http', 'browser'];

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ host: '127.0.0.1', port: 0 });
  faces = {
    'in-process': rowan,
    http: connect(address),
    // As where fetch sends no stream: streams are cut into requests.
    browser: connect(address, { streamsBodies: false }),
  };
  await rowan.datasets
    .put({ id: 'numbers', type: 'tabular' })
    .then((dataset) => dataset.recordRows(rows(1000)))
    .then((dataset) => dataset.commit());
  await define('same', 'x AS y');
  await define('double', 'x * 2 AS y');
  await define('picky', 'CASE WHEN x = 3 THEN parse_json(y) ELSE x END AS y');
});
afterAll(async () => {
  for (const face of Object.values(faces)) await face.close();
});

function rows(count: number): [string, [string, unknown, number][]][] {
  return Array.from({ length: count }, (_, i) => [`r${i}`, [['n', i, 0]]]);
}

function define(id: string, expression: string) {
  return rowan.functions.put({
    id,
    type: 'sql.expression',
    params: { expression, prepared: true },
  });
}

/** The same on every face, and nothing else. */
async function everywhere<T>(ask: (face: RowanApi, name: FaceName) => Promise<T>): Promise<T> {
  const answers = [];
  for (const name of FACES) answers.push(await ask(faces[name], name));
  for (const answer of answers.slice(1)) expect(answer).toEqual(answers[0]);
  return answers[0] as T;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** What a failure says, without what differs between any two calls. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RowanError);
    const { code, httpCode, message, details } = thrown as RowanError;
    return { code, httpCode, message, details };
  }
  throw new Error('nothing was thrown');
}

describe('perform', () => {
  test('gives status, headers in lower case, and the body in each form', async () => {
    const reply = await everywhere(async (face) => {
      const { status, headers, contentType, json, text } = await face.put('/v1/datasets/made', {
        type: 'sparse.mutable',
      });
      return { status, location: headers.location, contentType, json, text };
    });
    expect(reply).toMatchObject({
      status: 201,
      location: '/v1/datasets/made',
      contentType: 'application/json',
      json: { id: 'made', state: 'ok' },
    });
  });

  test('takes query strings, pairs and values that are not text', async () => {
    const answers = await everywhere(async (face) => [
      (await face.get('/v1/query?q=SELECT%201%20AS%20x&format=aos')).json,
      (await face.get('/v1/query?format=aos', { q: 'SELECT 2 AS x', rowNames: false })).json,
      (
        await face.get('/v1/query', [
          ['q', "SELECT 'a+b & c' AS x"],
          ['format', 'atom'],
        ])
      ).json,
      (await face.get('/v1/functions/same/application', { input: { x: [1] } })).json,
    ]);
    expect(answers.slice(1, 3)).toEqual([[{ x: 2 }], 'a+b & c']);
  });

  test('sends a body with GET, and failures come as they would without it', async () => {
    const body = { q: 'SELECT 1 AS x', format: 'atom' };
    expect(
      await everywhere(async (face) => (await face.perform('GET', '/v1/query', { body })).json),
    ).toBe(1);
    const replies = await everywhere(async (face) => {
      const broken = { ...body, q: 'SELECT nope(' };
      const reply = await face.perform<RowanError>('GET', '/v1/query', { body: broken });
      return [reply.status, (reply.json as { code?: string }).code];
    });
    expect(replies).toEqual([400, 'SQL_SYNTAX']);
  });

  test('answers failures, redirections and empty replies as they are', async () => {
    await rowan.procedures.put({ id: 'nothing', type: 'null' });
    await rowan.post('/v1/procedures/nothing/runs', { id: 'r1' });
    const replies = await everywhere(async (face) => {
      const missing = await face.get('/v1/datasets/missing');
      const latest = await face.get('/v1/procedures/nothing/latestrun');
      const gone = await face.delete('/v1/datasets/missing');
      const { json } = missing as { json: { error: string; code: string } };
      return [
        missing.status,
        json.code,
        latest.status,
        latest.headers.location,
        gone.status,
        gone.text,
      ];
    });
    expect(replies).toEqual([
      ...[404, 'ENTITY_NOT_FOUND', 307, '/v1/procedures/nothing/runs/r1', 204, ''],
    ]);
  });

  test('asynchronous creation answers at once', async () => {
    const status = await everywhere(
      async (face) => (await face.putAsync('/v1/procedures/later', { type: 'null' })).status,
    );
    expect(status).toBe(202);
  });
});

describe('query', () => {
  test('awaited gives the table, or the format asked for', async () => {
    const sql = 'SELECT n FROM numbers WHERE n < 2 ORDER BY n';
    const table = await everywhere(async (face) => face.query(sql));
    expect(table).toEqual([
      ['_rowName', 'n'],
      ['r0', 0],
      ['r1', 1],
    ]);
    const forms = await everywhere(async (face) => [
      await face.query(sql, { format: 'aos', rowNames: false }),
      await face.query(sql, { format: 'soa', rowNames: false }),
      await face.query(sql, { format: 'full' }),
      new TextDecoder().decode(await face.query(sql, { format: 'csv', headers: false })),
    ]);
    expect(forms[0]).toEqual([{ n: 0 }, { n: 1 }]);
    expect(forms[1]).toEqual({ n: [0, 1] });
    expect(forms[3]).toBe('r0,0\nr1,1\n');
  });

  test('asked for rows, columns, one value, csv or an arrow table gives them', async () => {
    const sql = 'SELECT n FROM numbers WHERE n < 3 ORDER BY n';
    const forms = await everywhere(async (face) => {
      const query = face.query<{ n: number }>(sql, { rowNames: false });
      const arrow = await query.arrow();
      const batches = await all(query.batches());
      return {
        rows: await query.rows(),
        columns: await query.columns(),
        value: await face.query('SELECT count(*) FROM numbers').value<number>(),
        csv: await query.csv(),
        arrow: arrow.toArray().map((row) => Number(row.n)),
        batches: batches.reduce((sum, { numRows }) => sum + numRows, 0),
      };
    });
    expect(forms).toEqual({
      rows: [{ n: 0 }, { n: 1 }, { n: 2 }],
      columns: { n: [0, 1, 2] },
      value: 1000,
      csv: 'n\n0\n1\n2\n',
      arrow: [0, 1, 2],
      batches: 3,
    });
  });

  test('iterated gives its rows in order, integers of any size exact', async () => {
    const sql = 'SELECT n, 9007199254740993 AS big FROM numbers ORDER BY n';
    const found = await everywhere(async (face) => all(face.query(sql, { rowNames: false })));
    expect(found).toHaveLength(1000);
    expect(found[999]).toEqual({ n: 999, big: 9007199254740993n });
  });

  test('left early is cancelled', async () => {
    const wide = 'SELECT a.n AS n, b.n AS m FROM numbers AS a JOIN numbers AS b';
    await everywhere(async (face) => {
      for await (const row of face.query(wide)) {
        expect(row).toHaveProperty('n');
        break;
      }
    });
    await expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 }).toBe(0);
  });

  test('that fails says why, before its first row and after it', async () => {
    const early = await everywhere((face) => failureOf(face.query('SELECT nope(1)')));
    expect(early).toMatchObject({ code: 'SQL_BINDING', httpCode: 400 });
    const late = `SELECT n, CASE WHEN n < 999 THEN repeat('x', 2000) ELSE parse_json('{') END AS t FROM numbers`;
    const failures = await everywhere((face) => failureOf(all(face.query(late))));
    expect(failures).toMatchObject({ httpCode: 400 });
  });

  test('runs when it is asked for its result, and once however often it is awaited', async () => {
    const query = rowan.query('SELECT now() AS t', { format: 'atom' });
    expect(await query).toEqual(await query);
    rowan.query('not SQL at all');
  });
});

describe('functions', () => {
  test('are applied by name, by property and by id', async () => {
    const outputs = await everywhere(async (face) => [
      await face.functions.get('double').apply({ x: 21 }),
      await face.functions.double?.apply({ x: 21 }),
      await face.functions.get('double').call({ x: 21 }),
      await face.functions.get('double').apply({ x: 21 }, { keepValues: ['z', 'y'] }),
    ]);
    expect(outputs.slice(0, 2)).toEqual([{ y: 42 }, { y: 42 }]);
    expect(outputs[3]).toEqual({ z: null, y: 42 });
  });

  test('answer any JSON value alike', async () => {
    const json = fc.jsonValue({ noUnicodeString: false });
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        await everywhere((face) => face.functions.get('same').apply({ x: value }));
      }),
      { numRuns: 100 },
    );
  });

  test('answer any JSON value alike in batches and streams', async () => {
    const inputs = fc.array(fc.jsonValue({ noUnicodeString: false }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(inputs, async (values) => {
        const asInputs = values.map((x) => ({ x }));
        const [batch, stream] = await everywhere(async (face) => [
          await face.functions.get('same').batch(asInputs),
          await all(face.functions.get('same').stream(asInputs)),
        ]);
        expect(stream).toEqual(batch);
      }),
      { numRuns: 40 },
    );
  });

  test('take batches of arrays and objects', async () => {
    const answers = await everywhere(async (face) => [
      await face.functions.get('double').batch([{ x: 1 }, { x: 2 }]),
      await face.functions.get('double').batch({ a: { x: 3 }, b: {} }),
    ]);
    expect(answers).toEqual([[{ y: 2 }, { y: 4 }], { a: { y: 6 }, b: { y: null } }]);
  });

  test('that do not exist or have the wrong input fail alike', async () => {
    const failures = await everywhere(async (face) => [
      await failureOf(face.functions.get('a/b').apply({})),
      await failureOf(face.functions.get('double').apply([1] as never)),
      await failureOf(all(face.functions.get('a/b').stream([{}]))),
    ]);
    expect(failures).toMatchObject([
      { code: 'ENTITY_NOT_FOUND', details: { collection: 'functions', entry: 'a/b' } },
      { code: 'INVALID_PARAMETER' },
      { code: 'ENTITY_NOT_FOUND' },
    ]);
  });

  test('are described', async () => {
    const [info, type, status] = await everywhere(async (face) => {
      const handle = face.functions.get('double');
      return [await handle.info(), await handle.type(), await handle.status()] as const;
    });
    expect(info).toHaveProperty('output');
    expect(type).toBe('sql.expression');
    expect(status).toHaveProperty('expression');
  });

  test('in process are applied at once as well', () => {
    expect(rowan.functions.get('double').callJson({ x: 4 })).toEqual({ y: 8 });
    expect(() => rowan.functions.get('missing').callJson({})).toThrow(RowanError);
  });
});

describe('streams of functions', () => {
  const COUNT = 20_000;

  test('keep the order', async () => {
    const inputs = Array.from({ length: COUNT }, (_, x) => ({ x }));
    const outputs = await everywhere((face) => all(face.functions.get('double').stream(inputs)));
    expect(outputs).toHaveLength(COUNT);
    expect(outputs.every((output, i) => (output as { y: number }).y === 2 * i)).toBe(true);
  });

  test('answer before the source has ended', async () => {
    await everywhere(async (face) => {
      let answer: (() => void) | undefined;
      async function* questions() {
        for (let x = 0; x < 3; x++) {
          yield { x };
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        }
      }
      const found: unknown[] = [];
      for await (const output of face.functions.get('double').stream(questions())) {
        found.push(output);
        answer?.();
      }
      return found;
    });
  }, 10_000);

  test('take no more than their reader does', async () => {
    for (const name of FACES) {
      let takenCount = 0;
      let hasEnded = false;
      async function* endless() {
        try {
          for (;;) {
            takenCount++;
            yield { x: 'y'.repeat(1000) };
          }
        } finally {
          hasEnded = true;
        }
      }
      const outputs = faces[name].functions.get('same').stream(endless());
      await outputs.next();
      // No more than what lies in sockets and queues.
      await settled(() => takenCount);
      expect(takenCount).toBeLessThan(100_000);
      await outputs.return(undefined);
      await expect.poll(() => hasEnded, { timeout: 5000 }).toBe(true);
    }
  }, 30_000);

  test('end at the first input that fails, and say which', async () => {
    const inputs = [1, 2, 3, 4].map((x) => ({ x, y: '{' }));
    const [outputs, failure] = await everywhere(async (face) => {
      const found: unknown[] = [];
      const run = async () => {
        for await (const output of face.functions.get('picky').stream(inputs)) found.push(output);
      };
      const failed = await failureOf(run());
      return [found, failed];
    });
    expect(outputs).toEqual([{ y: 1 }, { y: 2 }]);
    expect(failure).toMatchObject({ httpCode: 400 });
  });

  test('fail with the failure of their source', async () => {
    const mine = new Error('mine');
    // biome-ignore lint/correctness/useYield: it fails before it has anything to give
    async function* broken(): AsyncGenerator<unknown> {
      throw mine;
    }
    for (const name of FACES) {
      await expect(all(faces[name].functions.get('same').stream(broken()))).rejects.toBe(mine);
    }
  });
});

describe('datasets', () => {
  test('are recorded, committed and read', async () => {
    const answers = await everywhere(async (face) => {
      await face.datasets.delete('d');
      const dataset = await face.datasets.create({ id: 'd', type: 'sparse.mutable' });
      await dataset.recordRow('a', [['x', 1, new Date(0)]]);
      await dataset.recordRows([['b', [['x', new Date(5), 1]]]]);
      await dataset.recordRows(later([['c', [[['dotted.name', 'y'], 'text', '2020-01-01']]]]));
      await dataset.recordColumn('z', [['a', 1, 0]]);
      await dataset.recordColumns([['w', [['b', 2, 0]]]]);
      await dataset.commit();
      return {
        rows: await dataset.rowNames(),
        columns: await dataset.columnNames({ limit: 2 }),
        paths: await dataset.getColumnPaths(),
        values: await dataset.values('x'),
        counts: await dataset.valueCounts('x'),
        range: await dataset.getTimestampRange(),
        status: await dataset.status(),
      };
    });
    expect(answers).toMatchObject({
      rows: ['a', 'b', 'c'],
      paths: [['dotted.name', 'y'], ['w'], ['x'], ['z']],
      values: [1, { ts: '1970-01-01T00:00:00.005Z' }],
      range: [new Date(0), new Date('2020-01-01')],
      status: { rowCount: 3 },
    });
  });

  test('are created once, obtained as often as wanted, and listed', async () => {
    const answers = await everywhere(async (face) => {
      await face.datasets.delete('once');
      const config = { id: 'once', type: 'sparse.mutable' };
      await face.createDataset(config);
      const again = await failureOf(face.createDataset(config));
      const obtained = [await face.obtainDataset(config), await face.obtainDataset('once')];
      const missing = await failureOf(face.obtainDataset('nowhere'));
      const listed = (await face.datasets.list()).includes('once');
      return { again, ids: obtained.map((dataset) => dataset.id()), missing, listed };
    });
    expect(answers).toMatchObject({
      again: { code: 'ENTITY_EXISTS', httpCode: 409 },
      ids: ['once', 'once'],
      missing: { code: 'ENTITY_NOT_FOUND' },
      listed: true,
    });
  });
});

describe('procedures', () => {
  beforeAll(async () => {
    await rowan.procedures.put({
      id: 'copy',
      type: 'transform',
      params: { inputData: 'SELECT * FROM numbers', outputDataset: 'copied' },
    });
    await rowan.procedures.put({
      id: 'slow',
      type: 'mock',
      params: { durationMs: 300, refreshRateMs: 10 },
    });
  });

  test('run, tell their results, and leave no entry', async () => {
    const outcome = await everywhere(async (face) => {
      const { results } = await face.procedures.get('copy').run<{ rowCount: number }>({
        params: { inputData: 'SELECT * FROM numbers LIMIT 7' },
      });
      return [results?.rowCount, await face.procedures.get('copy').runIds()];
    });
    expect(outcome).toEqual([7, []]);
    expect(await rowan.query('SELECT count(*) FROM copied').value()).toBe(7);
  });

  test('report states, progress and the result', async () => {
    await everywhere(async (face, name) => {
      const run = face.procedures.get('slow').run({ id: name });
      const events = await all(run);
      expect(events.at(-1)).toMatchObject({ event: 'result', data: { state: 'finished' } });
      const progress = events.filter(({ event }) => event === 'progress');
      expect(progress.length).toBeGreaterThan(1);
      expect(await run.id()).toBe(name);
      expect((await run.document()).state).toBe('finished');
      const states = events.flatMap((e) => (e.event === 'state' ? [e.data.state] : []));
      return states;
    });
  });

  test('that fail throw the failure of the run', async () => {
    const failure = await everywhere((face) =>
      failureOf(face.procedures.get('copy').run({ params: { inputData: 'SELECT nope(1)' } })),
    );
    expect(failure).toMatchObject({ code: 'SQL_BINDING' });
    const unknown = await everywhere((face) =>
      failureOf(face.procedures.get('copy').run({ params: { typo: 1 } })),
    );
    expect(unknown).toMatchObject({ code: 'UNKNOWN_FIELD' });
  });

  test('are cancelled by their caller and by its signal', async () => {
    const params = { durationMs: 60_000 };
    await everywhere(async (face) => {
      const run = face.procedures.get('slow').run({ params });
      await run.cancel();
      expect(await failureOf(run)).toMatchObject({ code: 'CANCELLED', httpCode: 409 });
      const abort = new AbortController();
      const other = face.procedures.get('slow').run({ params }, { signal: abort.signal });
      await other.id();
      abort.abort();
      expect(await failureOf(other)).toMatchObject({ code: 'CANCELLED', httpCode: 409 });
    });
    expect(await rowan.procedures.get('slow').runIds()).not.toContain('executing');
  });
});

describe('limits of calls', () => {
  const slow =
    'SELECT count(*) FROM numbers AS a JOIN numbers AS b JOIN numbers AS c ON a.n + b.n < c.n';

  test('a signal and a time limit end calls and the work behind them', async () => {
    const failures = await everywhere(async (face) => [
      await failureOf(face.query(slow, { signal: AbortSignal.timeout(50) })),
      await failureOf(face.query(slow, { signal: AbortSignal.abort() })),
      await failureOf(face.query(slow, { timeoutMs: 50 })),
      await failureOf(all(face.query(slow, { timeoutMs: 50 }))),
      await failureOf(face.perform('GET', '/v1/query', { query: { q: slow }, timeoutMs: 50 })),
    ]);
    expect(failures).toMatchObject([
      { code: 'CANCELLED', httpCode: 409 },
      { code: 'CANCELLED', httpCode: 409 },
      { code: 'TIMEOUT', httpCode: 504, message: 'no answer within 50 ms' },
      { code: 'TIMEOUT' },
      { code: 'TIMEOUT' },
    ]);
    await expect.poll(() => rowan.service.engine.activeTaskCount, { timeout: 5000 }).toBe(0);
  });

  test('an address that is none is refused, one where nobody is cannot be reached', async () => {
    expect(() => connect('localhost:8080')).toThrow("'localhost:8080' is no address of a server");
    const nobody = connect('http://127.0.0.1:1');
    expect(await failureOf(nobody.get('/ping'))).toMatchObject({
      code: 'UNREACHABLE',
      httpCode: 503,
      message: expect.stringMatching(/^no reply from http:\/\/127\.0\.0\.1:1: /),
    });
  });

  test('closing a client cancels what it waits for', async () => {
    const client = connect(address);
    const waiting = failureOf(client.query(slow));
    await sleep(50);
    await client.close();
    expect(await waiting).toMatchObject({ code: 'CANCELLED' });
  });
});

async function* later<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    await sleep(1);
    yield item;
  }
}

/** Waits until a number has stayed as it is for half a second; one that never does is a failure. */
async function settled(read: () => number): Promise<void> {
  let last = read();
  for (let calmCount = 0; calmCount < 5; ) {
    await sleep(100);
    calmCount = read() === last ? calmCount + 1 : 0;
    last = read();
  }
}
