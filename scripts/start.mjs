// `npm start`: installs and builds what is stale, then serves on 127.0.0.1:8080.
// Options after `--` are those of `rowan serve` and win over the ones given here.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { installWhenStale, projectRoot } from './lib.mjs';

const DEFAULTS = [
  ...['--http-listen-host', '127.0.0.1'],
  ...['--http-listen-port', '8080'],
  ...['--data-dir', './rowan_data'],
];

await installWhenStale();
const code = await build();
if (code !== 0) process.exit(code);
const program = join(projectRoot, 'dist/cli/rowan.js');
// The server takes this process over, so that signals reach it directly.
process.argv = [process.execPath, program, 'serve', ...DEFAULTS, ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
