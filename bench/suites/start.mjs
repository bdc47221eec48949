// From starting a process to its first answer over HTTP, with an empty store.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const description = 'start to first answer, beside a bare node:http server';

const BARE_SERVER = `
const server = require('node:http').createServer((_, reply) => reply.end('[]'));
server.listen(0, '127.0.0.1', () => console.error('http listening on http://127.0.0.1:' + server.address().port + '\\nRowan ready'));
`;

export async function prepare() {
  return {
    measures: [
      {
        name: 'start to first answer',
        contenders: {
          rowan: () => withDataDir((dataDir) => firstAnswer(rowanArguments(dataDir))),
          'node:http': () => firstAnswer(['-e', BARE_SERVER]),
        },
      },
    ],
  };
}

function rowanArguments(dataDir) {
  return ['dist/cli/rowan.js', 'serve', '--http-listen-port', '0', '--data-dir', dataDir];
}

/** Milliseconds until a query, or whatever the server says, was answered. */
async function firstAnswer(args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8');
  for await (const text of child.stderr) {
    log += text;
    if (log.includes('Rowan ready')) break;
  }
  const address = /http listening on (http:\S+)/.exec(log)?.[1];
  const reply = await fetch(`${address}/v1/query?q=SELECT%201&format=atom`);
  await reply.text();
  const value = performance.now() - startedAt;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  return { value, answer: undefined };
}

async function withDataDir(use) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rowan-start-'));
  try {
    return await use(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
