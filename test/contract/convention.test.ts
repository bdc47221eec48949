// Conventions of the routes that only show when requests are a little wrong or unusual.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null });
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  await rowan.put('/v1/procedures/idle', { type: 'null' });
});

afterAll(() => rowan?.close());

const WRONG_PARAMS: readonly [type: string, params: object, says: RegExp][] = [
  ['mock', { durationMs: 0 }, /durationMs must be >= 1/],
  ['mock', { refreshRateMs: 'x' }, /Integer was expected/],
  ['null', { runOnCreation: 2 }, /Boolean was expected/],
  ['null', { zork: 1 }, /unknown field params\.zork/],
  ['permuter.run', { procedure: { type: 'mock' } }, /permutations is required/],
];

test.each(WRONG_PARAMS)('%s with %j is refused when it is created', async (type, params, says) => {
  const reply = await rowan.put('/v1/procedures/wrong', { type, params });
  expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(says)]);
  expect(reply.json).not.toHaveProperty('details.runError');
});

test('params of a run go by one name', async () => {
  const reply = await rowan.post('/v1/procedures/idle/runs', { params: {}, parameters: {} });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('give only one')]);
});

test('what a run of serial overrides is passed to every step', async () => {
  const steps = [1, 2].map(() => ({ type: 'mock', params: { durationMs: 60_000 } }));
  await rowan.put('/v1/procedures/both', { type: 'serial', params: { steps } });
  const reply = await rowan.post('/v1/procedures/both/runs', { params: { durationMs: 2 } });
  expect([reply.status, reply.text]).toEqual([201, expect.stringContaining('finished')]);
  const wrong = await rowan.post('/v1/procedures/both/runs', { zork: 2 });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('step 0')]);
});

test('routes that record refuse parameters of the query string', async () => {
  const row = { rowName: 'r', columns: [] };
  for (const form of ['rows', 'multirows', 'columns', 'multicolumns', 'commit']) {
    const reply = await rowan.post(`/v1/datasets/d/${form}?x=1`, row);
    expect([form, reply.status, reply.text]).toEqual([
      form,
      400,
      expect.stringContaining('Unknown parameter(s) in REST call'),
    ]);
  }
});

test('below an entity that could not be built, errors say why', async () => {
  await rowan.put('/v1/functions/broken', { type: 'sql.expression', params: { zork: 1 } });
  const reply = await rowan.get('/v1/functions/broken/application');
  expect(reply.json).toMatchObject({
    httpCode: 404,
    kind: 'function',
    resource: 'broken',
    state: 'error',
    progress: { exception: { httpCode: 400, error: expect.stringContaining('zork') } },
  });
});

test('help names each parameter and each purpose once', async () => {
  const help = (await rowan.get('/v1/help')).json as Record<string, HelpEntry>;
  const query = help['/v1/query GET,POST'] as HelpEntry;
  expect(query.description).toBe('Runs an SQL query');
  const names = query.arguments?.map(({ name }) => name) ?? [];
  expect(names).toEqual([...new Set(names)]);
  expect(names).toContain('sortColumns');
});

interface HelpEntry {
  readonly description: string;
  readonly arguments?: readonly { readonly name: string }[];
}

const ACCEPTED: readonly [accept: string, contentType: RegExp][] = [
  ['*/*', /^application\/json/],
  ['text/csv', /^text\/csv/],
  ['application/json, text/csv', /^application\/json/],
  ['text/csv;q=0.5, application/json', /^application\/json/],
  ['application/json;q=0.5, application/x-ndjson', /^application\/x-ndjson/],
  ['text/csv;q=0, text/html', /^application\/json/],
];

test.each(ACCEPTED)('a query that accepts %s gets what it likes best', async (accept, expected) => {
  const reply = await rowan.perform('GET', '/v1/query?q=SELECT%201', { headers: { accept } });
  expect(reply.contentType).toMatch(expected);
});

test('types describe every parameter', async () => {
  for (const kind of ['datasets', 'functions', 'procedures', 'plugins']) {
    const types = (await rowan.get(`/v1/types/${kind}?details=true`)).json as [string, TypeInfo][];
    for (const [name, { configType, description }] of types) {
      expect([name, description]).not.toContain('');
      const silent = configType.fields.filter(({ comment }) => !comment);
      expect([name, silent]).toEqual([name, []]);
    }
  }
});

interface TypeInfo {
  readonly description: string;
  readonly configType: { readonly fields: readonly { readonly comment?: string }[] };
}
