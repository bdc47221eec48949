// Listings, documents of entities, documentation.
import { expectMembers, expectStatus, expectTrue } from '../expect.mjs';
import { EXPRESSION, ROW_COUNT } from '../fixture.mjs';

function reading(name, weight, path, look) {
  return {
    name,
    weight,
    async perform({ connection }) {
      look(expectStatus(200, await connection.send('GET', path)));
    },
  };
}

function includes(...ids) {
  return ({ text }) => {
    const list = JSON.parse(text);
    for (const id of ids) expectTrue(list.includes(id), `${id} is not listed`);
  };
}

function contains(part) {
  return ({ text }) => expectTrue(text.includes(part), `'${part}' is not in the reply`);
}

export const READING = [
  reading('list of functions', 2, '/v1/functions', includes(EXPRESSION)),
  reading('list of datasets', 2, '/v1/datasets', includes('big')),
  reading('list of procedures', 1, '/v1/procedures', includes('script', 'slow')),
  reading('dataset', 3, '/v1/datasets/big', (reply) => {
    const { status } = expectMembers({ id: 'big', state: 'ok' }, reply);
    expectTrue(status.rowCount === ROW_COUNT, `${status.rowCount} rows`);
  }),
  reading('function', 3, `/v1/functions/${EXPRESSION}`, (reply) =>
    expectMembers({ id: EXPRESSION, state: 'ok', type: 'sql.expression' }, reply),
  ),
  reading('function info', 2, `/v1/functions/${EXPRESSION}/info`, contains('"output"')),
  reading('names of rows', 1, '/v1/datasets/big/rows?limit=100', (reply) =>
    expectTrue(JSON.parse(reply.text).length === 100, 'not 100 rows'),
  ),
  reading('values', 1, '/v1/datasets/big/columns/b/valuecounts', contains('group 6')),
  reading('types', 1, '/v1/types', includes('procedures')),
  reading('documentation', 1, '/doc/', contains('<html')),
  reading('OpenAPI', 1, '/openapi.json', contains('"openapi":"3.1')),
  reading('metrics', 1, '/v1/metrics', contains('rowan_http_requests_total')),
];
