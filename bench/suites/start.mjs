// What a start takes: from starting a process to its first answer, and the memory it then holds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { open } from '../../dist/index.js';

export const description = 'processes to their first answer, and their memory at rest';

const FUNCTION_COUNT = 1000;
const DATASET_COUNT = 20;
const ROW_COUNT = 1000;
/** By then the other threads have started, and what a start leaves behind is collected. */
const REST_MS = 2000;

const BARE_SERVER = `
const server = require('node:http').createServer((_, reply) => reply.end('1'));
server.listen(0, '127.0.0.1', () => console.error('http listening on http://127.0.0.1:' + server.address().port + '\\nRowan ready'));
`;
const BARE_PROGRAM = "console.log('1')";
const OPEN_ROWAN = `
const { open } = await import(${JSON.stringify(pathToFileURL('dist/index.js').href)});
const rowan = await open({ dataDir: null });
console.log(await rowan.query('SELECT 1').value());
await rowan.close();
`;
const OPEN_DUCKDB = `
const { DuckDBInstance } = await import('@duckdb/node-api');
const connection = await (await DuckDBInstance.create()).connect();
console.log((await connection.runAndReadAll('SELECT 1')).getRows()[0][0]);
`;

export async function prepare() {
  const root = mkdtempSync(join(tmpdir(), 'rowan-start-'));
  const filled = join(root, 'filled');
  await fill(filled);
  let count = 0;
  const empty = () => rowanServer(join(root, `empty-${count++}`));
  const bare = () => ['-e', BARE_SERVER];
  const server = (name, run, unit = 'ms', args = empty) => ({
    name,
    unit,
    contenders: { rowan: () => run(args()), 'node:http': () => run(bare()) },
  });
  return {
    measures: [
      server('start to listening', untilListening),
      server('start to first query', untilAnswer),
      server('restart with functions and datasets', untilAnswer, 'ms', () => rowanServer(filled)),
      {
        name: 'one query on the command line',
        contenders: {
          rowan: () => untilEnd(['dist/cli/rowan.js', 'query', 'SELECT 1', '--format', 'atom']),
          node: () => untilEnd(['-e', BARE_PROGRAM]),
        },
        agree: equal,
      },
      {
        name: 'help on the command line',
        contenders: {
          rowan: () => untilEnd(['dist/cli/rowan.js', '--help']),
          node: () => untilEnd(['-e', BARE_PROGRAM]),
        },
      },
      {
        name: 'open in a program, one query',
        contenders: {
          rowan: () => untilEnd(['--input-type=module', '-e', OPEN_ROWAN]),
          duckdb: () => untilEnd(['--input-type=module', '-e', OPEN_DUCKDB]),
        },
        agree: equal,
      },
      server('memory at rest', memoryAtRest, 'MiB'),
    ],
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

function equal(ours, theirs) {
  return ours === theirs;
}

function rowanServer(dataDir) {
  return ['dist/cli/rowan.js', 'serve', '--http-listen-port', '0', '--data-dir', dataDir];
}

async function fill(dataDir) {
  const rowan = await open({ dataDir });
  const expect = async (call) => {
    const { status, text } = await call;
    if (status >= 300) throw new Error(text);
  };
  for (let index = 0; index < FUNCTION_COUNT; index++) {
    const params = { expression: `x * ${index} + 1 AS y`, prepared: true };
    await expect(rowan.put(`/v1/functions/f${index}`, { type: 'sql.expression', params }));
  }
  const rows = Array.from({ length: ROW_COUNT }, (_, row) => [
    `r${row}`,
    [
      ['number', row, 0],
      ['text', `text ${row % 100}`, 0],
    ],
  ]);
  for (let index = 0; index < DATASET_COUNT; index++) {
    const path = `/v1/datasets/d${index}`;
    await expect(rowan.put(path, { type: 'sparse.mutable' }));
    await expect(rowan.post(`${path}/multirows`, rows));
    await expect(rowan.post(`${path}/commit`));
  }
  await rowan.close();
}

/** Milliseconds until a server says that it listens. */
async function untilListening(args) {
  const server = await startServer(args);
  await server.kill();
  return { value: server.listeningMs, answer: undefined };
}

/** Milliseconds until a query was answered, or whatever the server says to it. */
async function untilAnswer(args) {
  const server = await startServer(args);
  const answer = await server.ask();
  const value = performance.now() - server.startedAt;
  await server.kill();
  if (answer !== '1') throw new Error(`the first answer was ${answer}`);
  return { value, answer };
}

/** Mebibytes that a server holds which has answered a query and has nothing to do. */
async function memoryAtRest(args) {
  const server = await startServer(args);
  await server.ask();
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const value = await residentMebibytes(server.child.pid);
  await server.kill();
  return { value, answer: undefined };
}

async function startServer(args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8');
  for await (const text of child.stderr) {
    log += text;
    if (log.includes('Rowan ready')) break;
  }
  const listeningMs = performance.now() - startedAt;
  const address = /http listening on (http:\S+)/.exec(log)?.[1];
  if (address === undefined) throw new Error(`no server: ${log}`);
  return {
    ...{ child, startedAt, listeningMs },
    ask: async () => (await fetch(`${address}/v1/query?q=SELECT%201&format=atom`)).text(),
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Milliseconds until a program has ended, and what it printed. */
async function untilEnd(args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let answer = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text) => {
    answer += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return { value: performance.now() - startedAt, answer: answer.trim() };
}

async function residentMebibytes(pid) {
  const ps = spawn('ps', ['-o', 'rss=', '-p', String(pid)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const part of ps.stdout.setEncoding('utf8')) text += part;
  return Number(text) / 1024;
}
