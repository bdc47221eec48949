// Prepared functions call what there was when they were created, in every thread.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null });
});

afterAll(() => rowan.close());

async function define(id: string, expression: string): Promise<void> {
  const params = { expression, prepared: true };
  const { status, text } = await rowan.put(`/v1/functions/${id}`, {
    type: 'sql.expression',
    params,
  });
  expect(status, text).toBe(201);
}

async function called(id: string): Promise<unknown> {
  const { json } = await rowan.get(`/v1/functions/${id}/application`, { input: { x: 1 } });
  return (json as { output: unknown }).output;
}

test('a function keeps the one it was bound to', async () => {
  await define('inner', 'x + 1 AS y');
  await define('outer', 'inner({x: x})[y] * 10 AS z');
  await define('inner', 'x + 2 AS y');
  expect(await called('inner')).toEqual({ y: 3 });
  expect(await called('outer')).toEqual({ z: 20 });
  expect(await rowan.query('SELECT outer({x: 1})[z]').value()).toBe(20);
  expect(await rowan.query('SELECT inner({x: 1})[y]').value()).toBe(3);
});

test('one that is bound at each call shows what it is like now', async () => {
  const params = { expression: 'later({x: x})[y] AS z' };
  await rowan.put('/v1/functions/loose', { type: 'sql.expression', params });
  const status = async () =>
    ((await rowan.get('/v1/functions/loose')).json as { status: Record<string, unknown> }).status;
  expect(Object.keys(await status())).toEqual(['expression']);
  await define('later', 'x + 1 AS y');
  expect(await status()).toEqual({
    expression: { surface: params.expression, ast: 'later({x})[y] AS z' },
    info: (await rowan.get('/v1/functions/loose/info')).json,
  });
});
