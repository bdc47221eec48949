// Requests that are wrong, and must be told so.
import { expectMembers } from '../expect.mjs';

function failing(name, status, code, verb, path, body) {
  return {
    name,
    weight: 1,
    async perform({ connection }) {
      expectMembers({ httpCode: status, code }, await connection.send(verb, path, body), status);
    },
  };
}

export const FAILING = [
  failing('bad SQL', 400, 'SQL_SYNTAX', 'POST', '/v1/query', { q: 'SELEC 1' }),
  failing('missing table', 404, 'ENTITY_NOT_FOUND', 'POST', '/v1/query', { q: 'SELECT * FROM no' }),
  failing('missing function', 404, 'ENTITY_NOT_FOUND', 'GET', '/v1/functions/no/application'),
  failing('bad JSON', 400, 'INVALID_JSON', 'PUT', '/v1/datasets/no', '{"type":'),
  failing('missing route', 404, 'UNKNOWN_RESOURCE', 'GET', '/v1/nowhere'),
];
