// `npm run demo`: the whole path on real data, each call and its answer. Leaves the server running.
// Its server is beside one that runs: on a port that is free, with a data directory of its own.
// Options: --port <n>, --data-dir <dir> (kept afterwards), --exit (end the server when done).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { installWhenStale, projectRoot } from './lib.mjs';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'data-dir': { type: 'string' },
    exit: { type: 'boolean', default: false },
  },
});

await installWhenStale();
const buildCode = await build();
if (buildCode !== 0) process.exit(buildCode);

const dataDir = options['data-dir'] ?? mkdtempSync(join(tmpdir(), 'rowan-demo-'));
process.once('exit', () => {
  if (options['data-dir'] === undefined) rmSync(dataDir, { recursive: true, force: true });
});

const STEPS = 9;
let stepCount = 0;
let server;
let base;

/** Starts the server and waits for its address. */
async function start() {
  server = spawn(
    process.execPath,
    [
      'dist/cli/rowan.js',
      'serve',
      ...['--http-listen-host', '127.0.0.1', '--http-listen-port', options.port],
      ...['--data-dir', dataDir],
    ],
    { cwd: projectRoot, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  let log = '';
  server.stderr.setEncoding('utf8');
  await new Promise((resolve, reject) => {
    server.stderr.on('data', (text) => {
      log += text;
      const address = /http listening on (http:\/\/\S+)/.exec(log);
      if (address !== null && log.includes('Rowan ready')) {
        base = address[1].replace(/\/$/, '');
        resolve();
      }
    });
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
  });
}

async function kill(signal) {
  server.removeAllListeners('exit');
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

/** Sends a request and returns the parsed answer. @throws when it is no 2xx */
function call(verb, path, body, headers = {}) {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      base + path,
      {
        method: verb,
        headers: {
          ...headers,
          ...(payload && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
        },
      },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8');
        reply.on('data', (part) => {
          text += part;
        });
        reply.on('end', () => {
          if (reply.statusCode >= 300)
            reject(new Error(`${verb} ${path}: ${reply.statusCode} ${text}`));
          else resolve(text === '' ? undefined : JSON.parse(text));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

/** Models lie beside the data that the server keeps. */
function modelUrl(name) {
  return pathToFileURL(join(resolve(dataDir), 'models', `${name}.cls`)).href;
}

function say(title) {
  console.log(`\n\x1b[1m${++stepCount}/${STEPS} ${title}\x1b[0m`);
}

/** Prints a call, makes it, prints its answer. */
async function show(verb, path, body) {
  console.log(`${verb} ${decodeURIComponent(path)}`);
  if (body !== undefined) console.log(JSON.stringify(body, null, 2));
  const reply = await call(verb, path, body);
  console.log(`→ ${shorten(JSON.stringify(reply))}`);
  return reply;
}

function shorten(text) {
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

/** Runs a procedure that exists, with a bar while it works. */
async function run(procedure) {
  console.log(`POST /v1/procedures/${procedure}/runs {}`);
  const started = await call('POST', `/v1/procedures/${procedure}/runs`, {}, { async: 'true' });
  for (;;) {
    const run = await call(
      'GET',
      `/v1/procedures/${procedure}/runs/${encodeURIComponent(started.id)}`,
    );
    drawBar(run);
    if (run.state === 'finished') {
      process.stdout.write('\n');
      console.log(`→ ${shorten(JSON.stringify(run.status ?? run.state))}`);
      return run;
    }
    if (run.state === 'error' || run.state === 'cancelled') {
      throw new Error(`run of ${procedure}: ${JSON.stringify(run.progress)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function drawBar({ state, progress }) {
  const steps = progress?.steps ?? [];
  const current = steps.findLast((step) => step.started !== undefined);
  const done = steps.filter((step) => step.ended !== undefined).length;
  const within = current?.type === 'percentile' && current.ended === undefined ? current.value : 0;
  const share = state === 'finished' ? 1 : steps.length === 0 ? 0 : (done + within) / steps.length;
  const width = 30;
  const filled = Math.round(share * width);
  const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
  const name = state === 'finished' ? 'done' : (current?.name ?? state);
  const end = process.stdout.isTTY ? '\x1b[K\r' : '\n';
  if (process.stdout.isTTY || state === 'finished') process.stdout.write(`  ${bar} ${name}${end}`);
}

const query = (sql, format = 'table') =>
  show('GET', `/v1/query?q=${encodeURIComponent(sql)}&format=${format}`);

const LABEL = `"Effect Amount of damage" != 'None'`;
const FEATURES = `{"Phase of flight", "Wildlife Size", "Wildlife Species", "Time of day", "Speed IAS in knots"}`;
const BIRD = {
  features: {
    'Phase of flight': 'Climb',
    'Wildlife Size': 'Large',
    'Wildlife Species': 'Canada goose',
    'Time of day': 'Day',
    'Speed IAS in knots': 200,
  },
};

async function answers() {
  const input = encodeURIComponent(JSON.stringify(BIRD));
  const score = await show('GET', `/v1/functions/damage/application?input=${input}`);
  const rows = await query(
    `SELECT "Wildlife Species" AS species, damage({features: {*}})[score] AS risk FROM strikes ORDER BY damage({features: {*}})[score] DESC LIMIT 3`,
  );
  return JSON.stringify([score, rows]);
}

try {
  say('Start the server');
  await start();
  console.log(`→ ${base}`);

  say(
    'Import 10,000 bird strikes from a CSV file (FAA wildlife strike records, from vega-datasets)',
  );
  await show('PUT', '/v1/procedures/load', {
    type: 'import.text',
    params: {
      dataFileUrl: 'file://node_modules/vega-datasets/data/birdstrikes.csv',
      outputDataset: 'strikes',
    },
  });
  await run('load');

  say('Ask questions in SQL');
  await query(
    'SELECT "Phase of flight" AS phase, count(*) AS strikes, avg("Cost Total $") AS cost FROM strikes GROUP BY "Phase of flight" ORDER BY count(*) DESC LIMIT 5',
  );
  await query('SELECT * FROM strikes WHERE "Cost Total $" > 1000000 LIMIT 1', 'aos');

  say('Train a random forest: does a strike do damage?');
  await show('PUT', '/v1/procedures/train', {
    type: 'randomforest.binary.train',
    params: {
      trainingData: `SELECT ${FEATURES} AS features, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 != 0`,
      modelFileUrl: modelUrl('damage'),
      functionName: 'damage',
    },
  });
  await run('train');

  say('And a decision tree');
  await show('PUT', '/v1/procedures/train_tree', {
    type: 'classifier.train',
    params: {
      trainingData: `SELECT ${FEATURES} AS features, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 != 0`,
      configuration: { type: 'decision_tree', max_depth: 6 },
      modelFileUrl: modelUrl('damage_tree'),
      functionName: 'damage_tree',
    },
  });
  await run('train_tree');

  say('Test both on the rows that were held out');
  for (const name of ['damage', 'damage_tree']) {
    await show('PUT', `/v1/procedures/test_${name}`, {
      type: 'classifier.test',
      params: {
        testingData: `SELECT ${name}({features: {*}})[score] AS score, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 = 0`,
      },
    });
    const { status } = await run(`test_${name}`);
    console.log(`  AUC of ${name}: ${status.auc.toFixed(3)}`);
  }

  say('Call the model: over REST, and inside SQL');
  const before = await answers();

  say('Kill the server with SIGKILL, start it again');
  await kill('SIGKILL');
  await start();
  console.log(`→ ${base}`);

  say('The same calls answer the same');
  const after = await answers();
  if (after !== before) throw new Error(`the answers changed:\n${before}\n${after}`);
  console.log('\nThe answers are the same.');

  if (options.exit) await kill('SIGTERM');
  else {
    console.log(`The model in the console: ${base}/#/models/damage?view=try`);
    console.log(`The server runs until you press Ctrl-C. Documentation: ${base}/doc/`);
    process.once('SIGINT', () => void kill('SIGTERM').then(() => process.exit(0)));
    await once(server, 'exit');
  }
} catch (error) {
  console.error(`\n${error.message}`);
  server?.kill('SIGKILL');
  process.exitCode = 1;
}
