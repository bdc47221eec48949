import { fork } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { airlineCsv } from '../data/airline.mjs';
import { load } from '../serving/client.mjs';

export const description = 'function calls and plugins over HTTP, beside a bare node:http server';

const CONNECTION_COUNT = 32;
const REQUEST_COUNT = 20_000;
const TRAINING_ROW_COUNT = 10_000;

const SCALAR = {
  type: 'sql.expression',
  params: { expression: 'x * 2 + 1 AS y', prepared: true },
};

const PLUGIN = {
  type: 'javascript',
  params: {
    source: {
      main: `plugin.setRequestHandler((relpath, verb, resource, params) => {
        const { x } = JSON.parse(params[0][1]);
        return { output: { y: x * 2 + 1 } };
      })`,
    },
  },
};

const FLIGHT = {
  ...{ Month: 'c-8', DayofMonth: 'c-21', DayOfWeek: 'c-7', DepTime: 1934 },
  ...{ UniqueCarrier: 'AA', Origin: 'ATL', Dest: 'DFW', Distance: 732 },
};

export async function prepare() {
  const ours = await start('rowan-server.mjs', JSON.stringify(entities()));
  const bare = await start('bare-server.mjs', '{"output":{"y":3}}');
  const measure = (name, request, goal) => ({
    ...{ name, unit: 'us', goal },
    contenders: {
      rowan: () => cpuTimePerRequest(ours, request),
      'node:http': () => cpuTimePerRequest(bare, request),
    },
  });
  const scalar = '/v1/functions/scalar/application';
  const forest = '/v1/functions/forest/application';
  const plugin = '/v1/plugins/plugin/routes/double';
  const agree = (a, b) => a === b;
  return {
    measures: [
      { ...measure('scalar, input in query string', get(scalar, { x: 1 }), 1 / 0.8), agree },
      { ...measure('scalar, input in body', post(scalar, { x: 1 }), 1 / 0.8), agree },
      measure('forest of 100 trees, in query string', get(forest, { features: FLIGHT }), 1 / 0.75),
      measure('forest of 100 trees, in body', post(forest, { features: FLIGHT }), 1 / 0.75),
      {
        ...{ name: 'route of a plugin', unit: 'us', goal: 1, agree },
        contenders: {
          rowan: () => cpuTimePerRequest(ours, get(plugin, { x: 1 })),
          '5,000 a second': () => ({ value: 200, answer: '{"output":{"y":3}}' }),
        },
      },
    ],
    async close() {
      ours.child.kill();
      bare.child.kill();
    },
  };
}

/** What the server is to have, in the order in which it is made. */
function entities() {
  const training = {
    trainingData: `SELECT {* EXCLUDING (dep_delayed_15min)} AS features,
      dep_delayed_15min = 'Y' AS label FROM flights`,
    modelFileUrl: 'mem://forest.cls',
    functionName: 'forest',
    runOnCreation: true,
  };
  const flights = {
    dataFileUrl: pathToFileURL(airlineCsv(TRAINING_ROW_COUNT)).href,
    outputDataset: 'flights',
    runOnCreation: true,
  };
  return [
    ['/v1/functions/scalar', SCALAR],
    ['/v1/procedures/import', { type: 'import.text', params: flights }],
    ['/v1/procedures/train', { type: 'randomforest.binary.train', params: training }],
    ['/v1/plugins/plugin', PLUGIN],
  ];
}

function get(path, input) {
  const query = encodeURIComponent(JSON.stringify(input));
  return `GET ${path}?input=${query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
}

function post(path, input) {
  const body = JSON.stringify({ input });
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

const LOAD = { connectionCount: CONNECTION_COUNT, requestCount: REQUEST_COUNT };

/** CPU time of the server, which other programs on the machine disturb less than its rate. */
async function cpuTimePerRequest({ child, port }, request) {
  const before = await cpuMicroseconds(child);
  const answer = await load({ port, request, ...LOAD });
  const after = await cpuMicroseconds(child);
  return { value: (after - before) / REQUEST_COUNT, answer };
}

async function cpuMicroseconds(child) {
  child.send('usage');
  const [{ user, system }] = await once(child, 'message');
  return user + system;
}

/** Each server is a process of its own, so that neither shares its thread with the client. */
async function start(file, argument) {
  const child = fork(new URL(`../serving/${file}`, import.meta.url), [argument]);
  const { port } = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code}`)));
  });
  return { child, port };
}
