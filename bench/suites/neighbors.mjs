// Nearest neighbors of 64 dimensions beside hnswlib, at equal recall, and scikit-learn's exact search.
//
// One thread each, CPU time. Of both graphs the search keeps as many points in sight as give the recall
// that is asked for. `--rows` is the number of points where the suite is asked for by name; among all suites
// it is a tenth. The peers run once, before the rounds; PEER_PYTHON names the interpreter, default python3.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { graphIndex, RecallSample } from '../../build/js/learn/neighbor/graph-index.js';
import { flatIndex, PointSpace } from '../../build/js/learn/neighbor/point-space.js';
import { buildGraph } from '../../build/js/learn/neighbor/stored-graph.js';
import { ArenaSet } from '../../build/js/value/column/arena-set.js';
import { randomUniforms } from '../data/random.mjs';

export const description = 'nearest neighbors by a graph and by looking at all points';

const WIDTH = 64;
const NEIGHBOR_COUNT = 10;
const QUERY_COUNT = 1000;
const RECALL = 0.95;
const ROW_COUNT_MAX = 100_000;
const EF_STEP = 1.1;
const GRAPH = { metric: 'euclidean', M: 16, efConstruction: 200, randomSeed: 1 };
const CACHE = new URL('../.cache/', import.meta.url);

const check = () => {};

export async function prepare({ rowCount: wanted }) {
  const isNamed = process.argv.includes('neighbors') || process.argv.includes('--rows');
  const count = Math.min(wanted, isNamed ? ROW_COUNT_MAX : ROW_COUNT_MAX / 10);
  const uniform = randomUniforms(5);
  const points = Float32Array.from({ length: count * WIDTH }, () => uniform());
  const peer = runPeer(points);
  const arenas = ArenaSet.create();
  const space = new PointSpace('euclidean', WIDTH, points);
  const build = measured(() => buildGraph(points, WIDTH, GRAPH, arenas, check));
  const { graph, span } = build.answer;
  const index = graphIndex(space, graph, 64);
  const flat = flatIndex(space);
  const sample = new RecallSample(space, check);
  let ef = NEIGHBOR_COUNT;
  while (sample.recallOf(index, ef, check) < RECALL) ef = Math.ceil(ef * EF_STEP);
  const recall = sample.recallOf(index, ef, check);
  console.log(`  ${count} points; rowan: recall ${recall.toFixed(3)} with ef ${ef}`);
  if (peer) console.log(`  hnswlib: recall ${peer.recall.toFixed(3)} with ef ${peer.ef}`);
  const searchAll = (searched, options) => () => {
    for (let i = 0; i < QUERY_COUNT; i++) {
      // Points that came first have more links, so queries come from all over.
      const row = Math.floor((i * count) / QUERY_COUNT);
      const query = points.subarray(row * WIDTH, (row + 1) * WIDTH);
      searched.search(query, NEIGHBOR_COUNT, Number.POSITIVE_INFINITY, options);
    }
  };
  const measure = (name, unit, goal, rowan, theirs) => ({
    name,
    unit,
    ...(peer && { goal }),
    contenders: { rowan, ...(peer && { peer: () => ({ value: theirs, unit }) }) },
  });
  const seconds = (work) => () => ({ value: measured(work).seconds, unit: 's' });
  return {
    measures: [
      measure(
        `graph, ${QUERY_COUNT} searches`,
        's',
        2,
        seconds(searchAll(index, { ef })),
        peer?.search,
      ),
      measure('graph, built', 's', 2, () => ({ value: build.seconds, unit: 's' }), peer?.build),
      measure(
        'graph, memory',
        'MB',
        1.5,
        () => ({ value: span.sizeBytes / 1e6, unit: 'MB' }),
        peer?.megabytes,
      ),
      measure(
        `exact, ${QUERY_COUNT} searches beside one batch`,
        's',
        0.5,
        seconds(searchAll(flat)),
        peer?.exactBatch,
      ),
      measure(
        `exact, ${QUERY_COUNT} searches one by one`,
        's',
        0.5,
        seconds(searchAll(flat)),
        peer?.exactSingle,
      ),
    ],
    close: async () => {},
  };
}

function measured(work) {
  const start = process.cpuUsage();
  const answer = work();
  const { user, system } = process.cpuUsage(start);
  return { seconds: (user + system) / 1e6, answer };
}

/** @returns undefined when there is no such peer here */
function runPeer(points) {
  mkdirSync(CACHE, { recursive: true });
  const file = fileURLToPath(new URL('neighbors.f32', CACHE));
  writeFileSync(file, new Uint8Array(points.buffer));
  const script = fileURLToPath(new URL('../peers/neighbors.py', import.meta.url));
  const numbers = [WIDTH, NEIGHBOR_COUNT, QUERY_COUNT, RECALL].map(String);
  try {
    const output = execFileSync(process.env.PEER_PYTHON ?? 'python3', [script, file, ...numbers], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' },
    });
    return JSON.parse(output.trim().split('\n').at(-1));
  } catch {
    console.log('  hnswlib and scikit-learn are not installed here');
    return undefined;
  }
}
