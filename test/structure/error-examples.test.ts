// The examples of the catalogue of errors are what the service says.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { ERRORS, type ErrorCode } from '../../src/util/error-catalogue.ts';
import { exampleOf } from '../../src/util/error-text.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null });
  await rowan.put('/v1/procedures/p', { type: 'null' });
});

afterAll(() => rowan?.close());

const importOf = (dataFileUrl: string) => ({
  type: 'import.text',
  params: { dataFileUrl, outputDataset: 'flights', runOnCreation: false },
});
const textTo = (params: object) => ({ type: 'export.csv', params });

test.each<[ErrorCode, 'GET' | 'POST' | 'PUT', string, unknown?]>([
  ['UNKNOWN_RESOURCE', 'GET', '/v1/datasetz'],
  ['ENTITY_NOT_FOUND', 'GET', '/v1/datasets/flights'],
  ['RUN_NOT_FOUND', 'GET', '/v1/procedures/p/runs/r1'],
  ['UNKNOWN_PARAMETER', 'GET', '/v1/datasets?limit=1'],
  ['INVALID_PARAMETER', 'PUT', '/v1/procedures/q', { type: 'import.text', params: { limit: 'x' } }],
  ['MISSING_PARAMETER', 'PUT', '/v1/procedures/q', textTo({ exportData: 'SELECT * FROM d' })],
  ['MIXED_PARAMETERS', 'POST', '/v1/query?format=aos', { q: 'SELECT 1' }],
  ['UNKNOWN_FIELD', 'PUT', '/v1/datasets/d', { type: 'sampled', params: { row: 1 } }],
  ['UNKNOWN_TYPE', 'PUT', '/v1/datasets/d', { type: 'tabluar' }],
  ['EMPTY_PAYLOAD', 'POST', '/v1/datasets'],
  ['SQL_SYNTAX', 'POST', '/v1/query', { q: 'SELEC 1' }],
  ['SQL_BINDING', 'POST', '/v1/query', { q: "SELECT lenght('x')" }],
  ['SQL_EXECUTION', 'POST', '/v1/query', { q: "SELECT 1 - 'a'" }],
  ['FIRST_RUN_FAILED', 'PUT', '/v1/procedures/q', first(importOf('file:///nowhere.csv'))],
])('%s is what %s %s is answered with', async (code, verb, path, body) => {
  const reply = await rowan.perform(verb, path, body === undefined ? {} : { body });
  expect(reply.json).toMatchObject({
    code,
    httpCode: ERRORS[code].status,
    error: exampleOf(ERRORS[code]),
  });
});

function first(config: { readonly params: object }): object {
  return { ...config, params: { ...config.params, runOnCreation: true } };
}
