import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

export const description = 'many function calls on one connection: streams of lines, and batches';

const LINE_COUNT = 400_000;
const BATCH_COUNT = 1_000_000;
const PEER = 'plain-server.mjs';

const NAMED = {
  type: 'sql.expression',
  params: { expression: 'x * 2 + y AS z', prepared: true },
};
const SUM = {
  type: 'sql.expression',
  params: {
    expression: 'horizontal_sum(input)',
    ...{ prepared: true, raw: true, autoInput: true },
  },
};

export async function prepare() {
  const servers = {
    named: [
      await start('rowan-server.mjs', JSON.stringify([['/v1/functions/f', NAMED]])),
      await start(PEER, 'named'),
    ],
    sum: [
      await start('rowan-server.mjs', JSON.stringify([['/v1/functions/f', SUM]])),
      await start(PEER, 'sum'),
    ],
  };
  const objects = encode(LINE_COUNT, (i) => `{"x":${i},"y":${i % 7}}\n`);
  const arrays = encode(LINE_COUNT, (i) => `[${tenNumbers(i)}]\n`);
  const doubles = encode(LINE_COUNT, (i) => `[${tenDoubles(i)}]\n`);
  const batchOf = (numbersOf) =>
    Buffer.concat([
      Buffer.from('{"input":['),
      encode(BATCH_COUNT, (i) => `${i === 0 ? '' : ','}[${numbersOf(i)}]`),
      Buffer.from(']}'),
    ]);
  const batch = batchOf(tenNumbers);
  const doublesBatch = batchOf(tenDoubles);
  // Lines by hand cost little more than JSON.parse; a batch by hand costs all of it.
  const measure = (name, [ours, theirs], route, body, count) => ({
    ...{ name, unit: 'M/s', largerIsBetter: true, goal: route === 'stream' ? 2 : 0.5 },
    agree: (a, b) => a.equals(b),
    contenders: {
      rowan: () => rate(ours, route, body, count),
      'node:http': () => rate(theirs, route, body, count),
    },
  });
  const { named, sum } = servers;
  return {
    measures: [
      measure('stream, objects', named, 'stream', objects, LINE_COUNT),
      measure('stream, arrays of 10', sum, 'stream', arrays, LINE_COUNT),
      measure('batch, arrays of 10', sum, 'batch', batch, BATCH_COUNT),
      measure('stream, arrays of 10 full doubles', sum, 'stream', doubles, LINE_COUNT),
      measure('batch, arrays of 10 full doubles', sum, 'batch', doublesBatch, BATCH_COUNT),
    ],
    async close() {
      for (const { child } of [...named, ...sum]) child.kill();
    },
  };
}

/** Ten numbers of up to three digits, every other one with a fraction. */
function tenNumbers(i) {
  const numbers = [];
  for (let j = 0; j < 10; j++) {
    const integer = (i * 31 + j * 17) % 1000;
    numbers.push(j % 2 === 0 ? integer : integer + 0.5);
  }
  return numbers.join(',');
}

/** Ten numbers of all the digits that a double has. */
function tenDoubles(i) {
  return Array.from({ length: 10 }, (_, j) => 1000 * Math.sin(i * 10 + j + 1)).join(',');
}

function encode(count, partOf) {
  const parts = [];
  for (let i = 0; i < count; i += 10_000) {
    let text = '';
    for (let j = i; j < Math.min(count, i + 10_000); j++) text += partOf(j);
    parts.push(Buffer.from(text));
  }
  return Buffer.concat(parts);
}

/** Millions of answers a second for a body that is sent as fast as the server takes it. */
async function rate({ port }, route, body, count) {
  const started = performance.now();
  const answer = await exchange(port, route, body);
  const value = count / 1000 / (performance.now() - started);
  return { value, answer };
}

/** One request over a raw socket, which costs the client little. @returns the body of the reply */
function exchange(port, route, body) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const received = [];
    socket.on('error', reject);
    socket.on('data', (piece) => received.push(piece));
    socket.on('close', () => {
      const reply = Buffer.concat(received);
      const end = reply.indexOf('\r\n\r\n');
      const head = reply.toString('latin1', 0, end);
      if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head));
      const payload = reply.subarray(end + 4);
      resolve(/transfer-encoding: chunked/i.test(head) ? joinChunks(payload) : payload);
    });
    socket.write(
      `POST /v1/functions/f/${route} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
  });
}

function joinChunks(payload) {
  const chunks = [];
  for (let at = 0; ; ) {
    const end = payload.indexOf('\r\n', at);
    const size = Number.parseInt(payload.toString('latin1', at, end), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(payload.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
}

/** Each server is a process of its own, so that it does not share its thread with the client. */
async function start(file, argument) {
  const child = fork(new URL(`../serving/${file}`, import.meta.url), [argument]);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with code ${code}`);
  });
  const [{ port }] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return { child, port };
}
