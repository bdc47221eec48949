// Runs of procedures: waited for, followed, cancelled.
import { expectJson, expectMembers, expectStatus, expectTrue } from '../expect.mjs';

const POLL_MS = 5;
const STOP_MS_MAX = 20_000;

export const RUNNING = [
  {
    name: 'transform',
    weight: 2,
    async perform({ connection, name }) {
      const path = `/v1/procedures/${name}`;
      const config = {
        type: 'transform',
        params: {
          inputData: 'SELECT a, c FROM big WHERE a < 1000',
          outputDataset: { id: name, type: 'tabular' },
        },
      };
      expectStatus(201, await connection.send('PUT', path, config));
      const run = await connection.send('POST', `${path}/runs`, {});
      expectMembers({ state: 'finished' }, run, 201);
      const q = `SELECT sum(a) FROM ${name}`;
      expectJson(499_500, await connection.send('POST', '/v1/query', { q, format: 'atom' }));
      expectStatus(204, await connection.send('DELETE', `/v1/datasets/${name}`));
      expectStatus(204, await connection.send('DELETE', path));
    },
  },
  {
    name: 'script',
    weight: 2,
    async perform({ connection, name, random }) {
      const n = Math.floor(random() * 1000);
      const path = `/v1/procedures/script/runs/${name}`;
      const run = await connection.send('PUT', path, { params: { args: { n } } });
      expectMembers({ state: 'finished', status: n + 1 }, run, 201);
      expectStatus(204, await connection.send('DELETE', path));
    },
  },
  {
    name: 'run that is cancelled',
    weight: 2,
    async perform({ connection, name }) {
      const path = `/v1/procedures/slow/runs/${name}`;
      expectStatus(202, await connection.send('PUT', path, {}, { async: 'true' }));
      expectStatus(200, await connection.send('PUT', `${path}/state`, { state: 'cancelled' }));
      await stopped(connection, path);
      expectStatus(204, await connection.send('DELETE', path));
      expectStatus(404, await connection.send('GET', path));
    },
  },
  {
    name: 'training that is cancelled',
    weight: 0.3,
    async perform({ connection, fixture, name }) {
      const path = `/v1/procedures/${name}`;
      const config = {
        type: 'randomforest.binary.train',
        params: {
          trainingData: 'SELECT {a, b} AS features, c < 50000 AS label FROM big',
          featureVectorSamplings: 20,
          modelFileUrl: `${fixture.directoryUrl}/${name}.cls`,
          functionName: name,
        },
      };
      expectStatus(201, await connection.send('PUT', path, config));
      const run = `${path}/runs/r`;
      expectStatus(202, await connection.send('PUT', run, {}, { async: 'true' }));
      await pause(30);
      expectStatus(200, await connection.send('PUT', `${run}/state`, { state: 'cancelled' }));
      const state = await stopped(connection, run);
      // Work that ends by itself before it notices has made its function.
      const expected = state === 'finished' ? 200 : 404;
      expectStatus(expected, await connection.send('GET', `/v1/functions/${name}`));
      expectStatus(204, await connection.send('DELETE', `/v1/functions/${name}`));
      expectStatus(204, await connection.send('DELETE', path));
    },
  },
  {
    name: 'events of a run',
    weight: 1,
    async perform({ connection, name }) {
      const path = `/v1/procedures/short/runs/${name}`;
      expectStatus(202, await connection.send('PUT', path, {}, { async: 'true' }));
      const { text } = expectStatus(200, await connection.send('GET', `${path}/events`));
      const events = [...text.matchAll(/^event: (.*)$/gm)].map(([, event]) => event);
      expectTrue(events.at(-1) === 'result', `the events end with ${events.at(-1)}`);
      expectMembers({ state: 'finished' }, await connection.send('GET', path));
      expectStatus(204, await connection.send('DELETE', path));
    },
  },
];

/** Waits until a run has ended. @returns its state */
async function stopped(connection, path) {
  const deadline = performance.now() + STOP_MS_MAX;
  for (;;) {
    const { state } = JSON.parse((await connection.send('GET', `${path}/state`)).text);
    if (state !== 'initializing' && state !== 'executing') return state;
    expectTrue(performance.now() < deadline, `a cancelled run is ${state} for ${STOP_MS_MAX} ms`);
    await pause(POLL_MS);
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
