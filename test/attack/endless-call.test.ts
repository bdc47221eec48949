// Attack: one call of a prepared function that would compute for minutes. It must not run on the
// thread that answers everybody: health answers meanwhile, and the server ends when it is told to.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patternMatcher } from '../../src/file/glob.ts';
import { hasLightLines, isLightInput } from '../../src/function/light-expression.ts';
import { Rowan } from '../../src/index.ts';
import { ServerProcess } from '../support/server-process.ts';

const LONG = 'a'.repeat(100_000);

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan?.close());

async function prepare(id: string, expression: string): Promise<void> {
  const params = { expression, prepared: true };
  const reply = await rowan.put(`/v1/functions/my_${id}`, { type: 'sql.expression', params });
  expect(reply.status, reply.text).toBe(201);
}

const apply = (id: string, input: object, signal?: AbortSignal) =>
  rowan.perform('POST', `/v1/functions/my_${id}/application`, { body: { input }, signal });

describe('a call whose pattern only a backtracking engine knows', () => {
  test.each([
    ['regex_match', "regex_match(x, '(a+)+(?=c)b') AS y"],
    ['regex_search', "regex_search(x, '(a+)+(?=c)b') AS y"],
    ['regex_replace', "regex_replace(x, '(a+)+(?=c)b', '') AS y"],
    ['levenshtein_distance', 'levenshtein_distance(x, x) AS y'],
  ])('%s leaves the main thread free, and is cancelled', async (id, expression) => {
    await prepare(id, expression);
    expect(rowan.service.functions.get(`my_${id}`).isLight).toBe(false);
    const leaving = new AbortController();
    const answer = apply(id, { x: LONG }, leaving.signal);
    answer.catch(() => undefined); // it is looked at below
    expect((await rowan.get('/v1/health')).status).toBe(200);
    leaving.abort();
    await expect(answer).rejects.toThrow();
  });
});

test('patterns of the common syntax take linear time', async () => {
  await prepare('linear', "regex_match(x, '(a+)+b') AS y, regex_search(x, '(a|aa)*c') AS z");
  const reply = await apply('linear', { x: LONG });
  expect(JSON.parse(reply.text)).toMatchObject({ output: { y: 0, z: 0 } });
});

test('what is computed on the main thread is bounded by operators and by input', async () => {
  await prepare('sum', 'x + y AS z');
  expect(rowan.service.functions.get('my_sum').isLight).toBe(true);
  const operands = Array.from({ length: 600 }, () => 'lower(x)').join(' + ');
  await prepare('long', `${operands} AS y`);
  expect(rowan.service.functions.get('my_long').isLight).toBe(false);
  await prepare('lower', 'lower(x) AS y');
  expect(rowan.service.functions.get('my_lower').isLight).toBe(true);
  expect(isLightInput({ x: 'A', more: [1, 2, { y: null }] })).toBe(true);
  expect(isLightInput({ x: LONG })).toBe(false);
  expect(isLightInput(Array.from({ length: 100_000 }, () => 1))).toBe(false);
  expect((await apply('lower', { x: LONG.toUpperCase() })).text).toContain(LONG);
});

test('a line of a stream is an input of its own', () => {
  const lines = (length: number) => new TextEncoder().encode(`${'x'.repeat(length)}\n`.repeat(20));
  expect(hasLightLines(lines(10_000))).toBe(true);
  expect(hasLightLines(lines(20_000))).toBe(false);
});

test('patterns of files take time in proportion to their length', () => {
  const matches = patternMatcher(`${'*a'.repeat(12)}b`);
  expect(matches('a'.repeat(5000))).toBe(false);
  expect(patternMatcher('{a,b{c,d}}/**/x?[0-9]*.csv')('bc/d/e/xy7.csv')).toBe(true);
  expect(() => patternMatcher('{a,b}'.repeat(20))).toThrow(/alternatives/);
});

test('a server that hangs while it stops is ended', { timeout: 60_000 }, async () => {
  const hang = "process.on('SIGTERM', () => setTimeout(() => { for (;;); }, 500))";
  const server = await ServerProcess.start(
    ['--data-dir', 'none', '--shutdown-wait-runs'],
    ['--import', `data:text/javascript,${encodeURIComponent(hang)}`],
  );
  await fetch(`${server.origin}/v1/procedures/p`, {
    method: 'PUT',
    body: '{"type":"mock","params":{"durationMs":30000}}',
  });
  await fetch(`${server.origin}/v1/procedures/p/runs`, {
    method: 'POST',
    headers: { async: 'true' },
    body: '{}',
  });
  await server.stop();
  expect(server.child.signalCode).toBe('SIGKILL');
});
