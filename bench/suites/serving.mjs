import { fork } from 'node:child_process';
import { once } from 'node:events';
import { load } from '../serving/client.mjs';

export const description = 'function calls over HTTP, beside a bare node:http server';

const CONNECTION_COUNT = 32;
const REQUEST_COUNT = 20_000;

const FUNCTION = {
  type: 'sql.expression',
  params: { expression: 'x * 2 + 1 AS y', prepared: true },
};
const ANSWER = '{"output":{"y":3}}';
const TARGET = `/v1/functions/f/application?input=${encodeURIComponent('{"x":1}')}`;

export async function prepare() {
  const ours = await start('rowan-server.mjs', JSON.stringify(FUNCTION));
  const bare = await start('bare-server.mjs', ANSWER);
  const get = `GET ${TARGET} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  const body = '{"input":{"x":1}}';
  const post =
    `POST /v1/functions/f/application HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const agree = (a, b) => a === b;
  const measure = (name, request, goal) => ({
    ...{ name, unit: 'us', goal, agree },
    contenders: {
      rowan: () => cpuTimePerRequest(ours, request),
      'node:http': () => cpuTimePerRequest(bare, request),
    },
  });
  return {
    measures: [
      measure('application, input in query string', get, 1 / 0.8),
      measure('application, input in body', post),
    ],
    async close() {
      ours.child.kill();
      bare.child.kill();
    },
  };
}

/** CPU time of the server, which other programs on the machine disturb less than its rate. */
async function cpuTimePerRequest({ child, port }, request) {
  const options = { connectionCount: CONNECTION_COUNT, requestCount: REQUEST_COUNT };
  const before = await cpuMicroseconds(child);
  const answer = await load({ port, request, ...options });
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
