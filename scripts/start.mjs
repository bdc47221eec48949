// `npm start`: installs and builds what is stale, then serves on 127.0.0.1:8080.
// Options after `--` are those of `rowan serve` and win over the ones given here.

import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { installWhenStale, projectRoot } from './lib.mjs';

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = '8080';
const DEFAULTS = [
  ...['--http-listen-host', DEFAULT_HOST],
  ...['--http-listen-port', DEFAULT_PORT],
  ...['--data-dir', './rowan_data'],
];

const given = process.argv.slice(2);
// Installing and building take a while; who waits for them should not learn of this at their end.
await requirePort();
await installWhenStale();
const code = await build();
if (code !== 0) process.exit(code);
const program = join(projectRoot, 'dist/cli/rowan.js');
// The server takes this process over, so that signals reach it directly. npm passes them on to its
// shell only, so the end of that is a signal too.
const parent = process.ppid;
if (process.env.npm_lifecycle_event !== undefined) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}
process.argv = [process.execPath, program, 'serve', ...DEFAULTS, ...given];
await import(pathToFileURL(program).href);

/** Ranges and unusual forms are left to the server. */
async function requirePort() {
  const { values } = parseArgs({
    args: given,
    strict: false,
    options: {
      port: { type: 'string' },
      'http-listen-port': { type: 'string', short: 'p' },
      'http-listen-host': { type: 'string', short: 'h' },
    },
  });
  const port = values.port ?? values['http-listen-port'] ?? DEFAULT_PORT;
  const host = values['http-listen-host'] ?? DEFAULT_HOST;
  if (!/^[1-9]\d*$/.test(port) || host === '*') return;
  if (!(await isTaken(Number(port), host))) return;
  console.error(
    `port ${port} is in use on ${host}; another one: npm start -- --port ${Number(port) + 1}`,
  );
  process.exit(1);
}

function isTaken(port, host) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(error.code === 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(false)));
  });
}
