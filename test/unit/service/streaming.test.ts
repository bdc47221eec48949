// Replies that stream: the first part is held back, the rest follows its reader.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { localRequest } from '../../support/local-request.ts';

const ROW_COUNT = 20_000;
let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await rowan.put('/v1/datasets/wide', { type: 'tabular' });
  const rows = Array.from({ length: ROW_COUNT }, (_, index) => [
    `r${index}`,
    [
      ['number', index, 0],
      ['text', `some text of row ${index} that takes a little room`, 0],
    ],
  ]);
  await rowan.post('/v1/datasets/wide/multirows', rows);
  await rowan.post('/v1/datasets/wide/commit', {});
});
afterAll(() => rowan.close());

const dispatch = (body: unknown) =>
  rowan.dispatcher.dispatch(localRequest('POST', '/v1/query', { body }));

test('a small result is a whole reply, a large one a stream', async () => {
  const small = await dispatch({ q: 'SELECT * FROM wide LIMIT 10' });
  expect([small.bytes === undefined, small.stream === undefined]).toEqual([false, true]);
  const large = await dispatch({ q: 'SELECT * FROM wide', format: 'aos' });
  expect([large.bytes === undefined, large.stream === undefined]).toEqual([true, false]);
  let size = 0;
  for await (const bytes of large.stream as AsyncIterable<Uint8Array>) size += bytes.length;
  const whole = await rowan.query('SELECT * FROM wide', { format: 'aos' });
  expect(whole).toHaveLength(ROW_COUNT);
  expect(size).toBe(JSON.stringify(whole).length);
});

test('a reader that stops ends the query', async () => {
  const { stream } = await dispatch({ q: 'SELECT * FROM wide' });
  for await (const bytes of stream as AsyncIterable<Uint8Array>) {
    expect(bytes.length).toBeGreaterThan(0);
    break;
  }
  while (rowan.service.engine.activeTaskCount > 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await rowan.query('SELECT count(*) FROM wide', { format: 'atom' })).toBe(ROW_COUNT);
});

test('a failure before the first part is a clean error, after it a broken stream', async () => {
  const early = await dispatch({ q: 'SELECT parse_json(text) FROM wide' });
  expect(early.status).toBe(400);
  const q = `SELECT text, CASE WHEN number < ${ROW_COUNT - 1} THEN 1 ELSE parse_json(text) END FROM wide`;
  const late = await dispatch({ q, format: 'ndjson' });
  expect(late.status).toBe(200);
  const parts: Uint8Array[] = [];
  const read = async () => {
    for await (const bytes of late.stream as AsyncIterable<Uint8Array>) parts.push(bytes);
  };
  await expect(read()).rejects.toMatchObject({ httpCode: 400 });
  const lines = Buffer.concat(parts).toString().trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ _error: { httpCode: 400 } });
});

test('the in-process stream gives the same bytes', async () => {
  let text = '';
  for await (const bytes of rowan.stream('SELECT number FROM wide LIMIT 3')) {
    text += new TextDecoder().decode(bytes);
  }
  expect(text.trimEnd().split('\n')).toHaveLength(3);
  await expect(rowan.query('SELECT nope(1)')).rejects.toMatchObject({ code: 'SQL_BINDING' });
});
