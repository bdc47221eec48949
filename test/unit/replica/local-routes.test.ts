import { expect, test } from 'vitest';
import { isLocalRequest, LOCAL_ROUTES } from '../../../src/replica/local-routes.ts';

test('every pattern is a route, and none of them changes anything', () => {
  const routes = LOCAL_ROUTES.map(({ verb, path }) => `${verb} ${path}`).sort();
  expect(routes).toEqual([
    'GET /v1/datasets/:id/columns',
    'GET /v1/datasets/:id/columns/:column/valuecounts',
    'GET /v1/datasets/:id/columns/:column/values',
    'GET /v1/datasets/:id/rows',
    'GET /v1/datasets/:id/timestampRange',
    'GET /v1/functions/:id/application',
    'GET /v1/functions/:id/batch',
    'GET /v1/functions/:id/details',
    'GET /v1/functions/:id/info',
    'GET /v1/query',
    'POST /v1/functions/:id/application',
    'POST /v1/functions/:id/batch',
    'POST /v1/functions/:id/stream',
    'POST /v1/query',
    'POST /v1/redirect/get',
  ]);
});

test.each([
  ['GET', '/v1/query?q=SELECT+1', true],
  ['HEAD', '/v1/query', true],
  ['POST', '/v1/functions/a%2Fb/application', true],
  ['GET', '/v1/datasets/d/columns/c/values', true],
  ['POST', '/v1/datasets/d/rows', false],
  ['PUT', '/v1/query', false],
  ['GET', '/v1/queries', false],
  ['GET', '/v1/functions/f', false],
  ['GET', '/v1/functions/f/g/application', false],
  ['OPTIONS', '/v1/query', false],
])('%s %s: %s', (verb, target, expected) => {
  expect(isLocalRequest(verb, target)).toBe(expected);
});
