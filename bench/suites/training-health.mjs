// How long GET /v1/health takes while models train: nothing that a training does may block the service.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { airlineCsv } from '../data/airline.mjs';

export const description =
  'p99 of GET /v1/health while models train, beside that of an idle service';

const TYPES = ['gbt', 'glz', 'decision_tree', 'boosted_stumps', 'naive_bayes'];
const IDLE_MS = 1000;

export async function prepare({ rowCount }) {
  const script = fileURLToPath(new URL('../serving/rowan-server.mjs', import.meta.url));
  const params = { dataFileUrl: `file://${airlineCsv(rowCount, 1)}`, outputDataset: 'flights' };
  const data = [
    '/v1/procedures/import',
    { type: 'import.text', params: { ...params, runOnCreation: true } },
  ];
  const server = fork(script, [JSON.stringify([data])]);
  const [{ port }] = await once(server, 'message');
  const agent = new http.Agent({ keepAlive: true });
  const call = (method, path, body) => send({ agent, port, method, path }, body);
  const columns = JSON.parse(
    await call(
      'GET',
      `/v1/query?format=table&q=${encodeURIComponent('SELECT * FROM flights LIMIT 1')}`,
    ),
  )[0];
  const label = JSON.stringify(columns.at(-1));
  const training = (type) => ({
    type: 'classifier.train',
    params: {
      trainingData: `SELECT {* EXCLUDING (${label})} AS features, ${label} = 'Y' AS label FROM flights`,
      configuration: { type },
      modelFileUrl: 'mem://health.cls',
      runOnCreation: true,
    },
  });
  const health = () => call('GET', '/v1/health');
  return {
    measures: TYPES.map((type) => ({
      name: `p99 while ${type} trains`,
      unit: 'ms',
      contenders: {
        rowan: () => p99During(health, call('PUT', '/v1/procedures/train', training(type))),
        idle: () => p99During(health, sleep(IDLE_MS)),
      },
    })),
    async close() {
      agent.destroy();
      const ended = once(server, 'exit');
      server.kill();
      await ended;
    },
  };
}

async function p99During(health, work) {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  const times = [];
  while (!isDone) {
    const start = performance.now();
    await health();
    times.push(performance.now() - start);
    await sleep(2);
  }
  await ended;
  times.sort((a, b) => a - b);
  return { value: times[Math.floor(times.length * 0.99)] };
}

async function send({ agent, port, method, path }, body) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = http.request({ agent, port, host: '127.0.0.1', method, path, headers });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(request, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  if (response.statusCode >= 400) throw new Error(text);
  return text;
}
