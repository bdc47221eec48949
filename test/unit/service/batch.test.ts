// Batches of function calls: small ones, large bodies, and arrays of numbers, which are read apart.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  await make('total', 'horizontal_sum(input)');
  await make('wide', 'horizontal_avg(input) * 2');
  await rowan.put('/v1/functions/named', {
    type: 'sql.expression',
    params: { expression: 'x + y AS z, x AS a', prepared: true },
  });
});
afterAll(() => rowan.close());

function make(id: string, expression: string) {
  return rowan.put(`/v1/functions/${id}`, {
    type: 'sql.expression',
    params: { expression, prepared: true, raw: true, autoInput: true },
  });
}

const batch = (id: string, body: unknown) => rowan.post(`/v1/functions/${id}/batch`, body);

const rows = Array.from({ length: 20_000 }, (_, i) => [i, i / 4, -1]);
const sums = rows.map((row) => row.reduce((a, b) => a + b, 0));

describe('arrays of numbers', () => {
  test('give the same as one by one', async () => {
    expect((await batch('total', { input: rows })).json).toEqual(sums);
    expect((await batch('wide', { input: rows })).json).toEqual(
      rows.map((row, i) => ((sums[i] as number) / row.length) * 2),
    );
    expect((await batch('total', { input: [[1, 2, 3], [4, 5], [6], []] })).json).toEqual([
      6, 9, 6, 0,
    ]);
  });

  test('may be mixed with anything', async () => {
    const mixed = [...rows, { a: 1, b: [2] }, null, 5, [null, 2 ** 40]];
    const expected = [...sums, 3, null, 5, 2 ** 40];
    expect((await batch('total', { input: mixed })).json).toEqual(expected);
  });

  test.each([
    ['a comma too many', (text: string) => text.replace(']]}', '],]}'), /not JSON/],
    ['no end', (text: string) => text.slice(0, -1), /not JSON/],
    ['a number that is none', (text: string) => text.replace('[7,', '[07,'), /not JSON/],
    ['more behind', (text: string) => `${text}x`, /not JSON/],
    ['a text', (text: string) => text.replace('[7,', '["a",'), /horizontal_sum|number/],
    ['other members', (text: string) => text.replace(']]}', ']],"x":1}'), /Unknown parameter/],
    [
      'another format',
      (text: string) => text.replace(']]}', ']],"outputFormat":"xml"}'),
      /only accepts 'json' output format/,
    ],
  ])('with %s are refused as a whole', async (_what, damage, message) => {
    const body = new TextEncoder().encode(damage(JSON.stringify({ input: rows })));
    const { status, json } = await batch('total', body);
    expect([status, (json as { error: string }).error]).toEqual([
      400,
      expect.stringMatching(message),
    ]);
  });
});

describe('failures', () => {
  test.each([
    [[{ x: 1 }, { x: 'a' }], 1],
    [{ one: { x: 1 }, two: { x: 'a' } }, 'two'],
  ])('in %j name the element', async (input, element) => {
    const params = { expression: 'x * 10 AS y' };
    await rowan.put('/v1/functions/ten', { type: 'sql.expression', params });
    const { status, json } = await rowan.post('/v1/functions/ten/batch', { input });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'SQL_EXECUTION', details: { element, near: 'x * 10' } });
  });
});

describe('objects', () => {
  test('in large bodies and small ones give rows', async () => {
    const inputs = rows.map(([x, y]) => ({ x, y, other: 'ignored' }));
    const expected = rows.map(([x = 0, y = 0]) => ({ a: x, z: x + y }));
    expect((await batch('named', { input: inputs })).json).toEqual(expected);
    expect((await batch('named', { input: { one: inputs[1], two: {} } })).json).toEqual({
      one: expected[1],
      two: { a: null, z: null },
    });
  });

  test('large bodies are not mixed with a query string', async () => {
    const body = { input: rows };
    const { status, json } = await rowan.perform('POST', '/v1/functions/total/batch', {
      query: { outputFormat: 'json' },
      body,
    });
    expect([status, json]).toMatchObject([400, { code: 'MIXED_PARAMETERS' }]);
  });

  test('formats are checked in small bodies too', async () => {
    const { json } = await batch('total', { input: [], inputFormat: 'csv' });
    expect((json as { error: string }).error).toBe(
      "batch apply only accepts 'json' input format currently; got 'csv'",
    );
  });
});
