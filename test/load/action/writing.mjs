// Functions and datasets that come, change and go.
import { expectJson, expectMembers, expectStatus } from '../expect.mjs';
import { SMALL_FILE_ROW_COUNT } from '../fixture.mjs';

async function remove(connection, path) {
  expectStatus(204, await connection.send('DELETE', path));
}

async function countRows(connection, dataset) {
  const q = `SELECT count(*) FROM ${dataset}`;
  return connection.send('POST', '/v1/query', { q, format: 'atom' });
}

export const WRITING = [
  {
    name: 'life of a function',
    weight: 5,
    async perform({ connection, name }) {
      const path = `/v1/functions/${name}`;
      for (const value of [1, 2]) {
        const config = { type: 'sql.expression', params: { expression: `x + ${value} AS y` } };
        expectMembers({ state: 'ok' }, await connection.send('PUT', path, config), 201);
        const reply = await connection.send('POST', `${path}/application`, { input: { x: 10 } });
        expectJson({ output: { y: 10 + value } }, reply);
      }
      await remove(connection, path);
      expectStatus(404, await connection.send('GET', path));
    },
  },
  {
    name: 'life of a dataset',
    weight: 4,
    async perform({ connection, name }) {
      const path = `/v1/datasets/${name}`;
      expectStatus(201, await connection.send('PUT', path, { type: 'sparse.mutable' }));
      const row = { rowName: 'r0', columns: [['x', name, 0]] };
      expectStatus(200, await connection.send('POST', `${path}/rows`, row));
      const rows = Array.from({ length: 20 }, (_, i) => [`r${i + 1}`, [['x', i, 0]]]);
      expectStatus(200, await connection.send('POST', `${path}/multirows`, rows));
      expectStatus(200, await connection.send('POST', `${path}/commit`, {}));
      expectJson(21, await countRows(connection, name));
      const again = { rowName: 'later', columns: [['x', 1, 0]] };
      expectStatus(200, await connection.send('POST', `${path}/rows`, again));
      expectStatus(200, await connection.send('POST', `${path}/commit`, {}));
      expectJson(22, await countRows(connection, name));
      await remove(connection, path);
      expectStatus(404, await connection.send('GET', path));
    },
  },
  {
    name: 'dataset that is replaced',
    weight: 1,
    async perform({ connection, name }) {
      const path = `/v1/datasets/${name}`;
      const rowsOf = (count) => Array.from({ length: count }, (_, i) => [`r${i}`, [['x', i, 0]]]);
      for (const count of [30, 10]) {
        expectStatus(201, await connection.send('PUT', path, { type: 'tabular' }));
        expectStatus(200, await connection.send('POST', `${path}/multirows`, rowsOf(count)));
        expectStatus(200, await connection.send('POST', `${path}/commit`, {}));
        expectJson(count, await countRows(connection, name));
      }
      await remove(connection, path);
    },
  },
  {
    name: 'import',
    weight: 2,
    async perform({ connection, fixture, name }) {
      const config = {
        type: 'import.text',
        params: { dataFileUrl: fixture.smallFileUrl, outputDataset: name, runOnCreation: true },
      };
      const path = `/v1/procedures/${name}`;
      const reply = await connection.send('PUT', path, config);
      const { status } = expectMembers({ state: 'ok' }, reply, 201);
      expectMembers({ state: 'finished' }, { status: 200, text: JSON.stringify(status.firstRun) });
      expectJson(SMALL_FILE_ROW_COUNT, await countRows(connection, name));
      await remove(connection, `/v1/datasets/${name}`);
      await remove(connection, path);
    },
  },
];
