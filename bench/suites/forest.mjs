// Random forests beside scikit-learn and XGBoost, where a Python that has them is at hand.
//
// Peers are slow, so they run once, before the rounds, and their one time stands for all rounds.
// PEER_PYTHON names the interpreter, default python3.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildMatrix } from '../../build/js/learn/feature/matrix.js';
import { fitForest } from '../../build/js/learn/forest/forest.js';
import { areaUnderCurve, booleanCurve } from '../../build/js/learn/metric/boolean.js';
import { compileScorer, scoreRows, scoreRowsIn } from '../../build/js/learn/tree/scorer.js';
import { ArenaSet } from '../../build/js/value/column/arena-set.js';
import { airlineCsv } from '../data/airline.mjs';
import { airlineColumns } from '../data/airline-columns.mjs';
import { threadedContext } from '../data/threads.mjs';

export const description = 'random forests of 100 trees, depth 20 (XGBoost: 14), on 2 threads';

const TEST_ROW_COUNT = 100_000;
const THREAD_COUNT = 2;
const TREE_COUNT = 100;
const AUC_LOSS_MAX = 0.003;

const options = (maxDepth) => ({
  featureVectorSamplings: TREE_COUNT,
  featureVectorSamplingProp: 1,
  featureSamplings: 1,
  featureSamplingProp: 1,
  featuresPerNode: 2,
  maxDepth,
  randomSeed: 1,
});

export async function prepare({ rowCount }) {
  const peers = {
    sklearn: runPeer('sklearn', rowCount, 20),
    xgboost: runPeer('xgboost', rowCount, 14),
  };
  for (const [name, found] of Object.entries(peers)) {
    if (found !== undefined) console.log(`  ${name.padEnd(8)} ${describe(found)}`);
  }
  const training = airlineColumns(rowCount, 1);
  const test = airlineColumns(TEST_ROW_COUNT, 2);
  const arenas = ArenaSet.create();
  const { context, close } = await threadedContext(arenas, THREAD_COUNT);
  const { workspace } = context;

  const train = (maxDepth) => {
    const cpu = process.cpuUsage();
    const start = performance.now();
    const rows = { rowCount, targets: Float64Array.from(training.labels) };
    const matrix = buildMatrix(workspace, training.sources, rows, { coding: 'rank', arena: 0 });
    const model = fitForest(context, { matrix, labels: training.labels }, options(maxDepth));
    const seconds = (performance.now() - start) / 1000;
    arenas.free(matrix.span);
    const { user, system } = process.cpuUsage(cpu);
    const scores = scoreRows(workspace, model, test.sources, 0, TEST_ROW_COUNT);
    const auc = areaUnderCurve(booleanCurve(scores, test.labels));
    const peakBytes = process.resourceUsage().maxRSS * 1024;
    return { model, found: { seconds, cpuSeconds: (user + system) / 1e6, auc, peakBytes } };
  };
  const release = (model) => {
    for (const { span } of model.trees) arenas.free(span);
  };

  const { model: served, found } = train(20);
  console.log(`  rowan    ${describe(found)}`);
  const scorer = compileScorer(workspace, served);
  const rows = Array.from({ length: 1000 }, (_, row) => test.sources.map((s) => valueAt(s, row)));

  const training20 = trainingMeasure(
    'training, depth 20',
    () => train(20),
    release,
    peers.sklearn,
    0.12,
  );
  const training14 = trainingMeasure(
    'training, depth 14',
    () => train(14),
    release,
    peers.xgboost,
    0.6,
  );
  return {
    measures: [
      training20,
      training14,
      {
        name: 'peak memory of training, depth 20',
        unit: 'MB',
        contenders: {
          rowan: () => ({ value: found.peakBytes / 1e6 }),
          ...(peers.sklearn && { sklearn: () => ({ value: peers.sklearn.peakBytes / 1e6 }) }),
        },
        goal: 1.2,
      },
      {
        name: 'scoring in batches, 2 threads',
        unit: 'rows/s',
        largerIsBetter: true,
        contenders: {
          rowan: () => {
            const start = performance.now();
            scoreRowsIn(context, served, test.sources, 0, TEST_ROW_COUNT);
            return { value: (TEST_ROW_COUNT / (performance.now() - start)) * 1000 };
          },
          ...(peers.sklearn && { sklearn: () => ({ value: peers.sklearn.rowsPerSecond }) }),
        },
        goal: 1,
      },
      {
        name: 'scoring one row at a time',
        unit: 'rows/s',
        largerIsBetter: true,
        contenders: {
          rowan: () => {
            const start = performance.now();
            for (let i = 0; i < 20_000; i++) scorer.score(rows[i % rows.length]);
            return { value: (20_000 / (performance.now() - start)) * 1000 };
          },
          ...Object.fromEntries(
            Object.entries(peers.sklearn?.oneRowPerSecond ?? {}).map(([jobs, value]) => [
              `sklearn, n_jobs=${jobs}`,
              () => ({ value }),
            ]),
          ),
        },
        goal: 0.01,
      },
    ],
    close,
  };
}

function trainingMeasure(name, train, release, peer, goal) {
  return {
    name,
    unit: 's',
    contenders: {
      rowan: () => {
        const { model, found } = train();
        release(model);
        return { value: found.seconds, answer: found.auc };
      },
      ...(peer && { peer: () => ({ value: peer.seconds, answer: peer.auc }) }),
    },
    ...(peer && { agree: (ours, theirs) => ours >= theirs - AUC_LOSS_MAX, goal }),
  };
}

/** @returns undefined when there is no such peer here */
function runPeer(peer, rowCount, depth) {
  const script = fileURLToPath(new URL('../peers/forest.py', import.meta.url));
  const paths = [airlineCsv(rowCount, 1), airlineCsv(TEST_ROW_COUNT, 2)];
  const numbers = [TREE_COUNT, depth, THREAD_COUNT].map(String);
  try {
    const python = process.env.PEER_PYTHON ?? 'python3';
    const output = execFileSync(python, [script, peer, ...paths, ...numbers], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return JSON.parse(output);
  } catch {
    console.log(`  ${peer} is not installed here`);
    return undefined;
  }
}

function describe({ seconds, cpuSeconds, auc, peakBytes }) {
  const memory = `${(peakBytes / 1e6).toFixed(0)} MB at most`;
  return `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} CPU), AUC ${auc.toFixed(4)}, ${memory}`;
}

function valueAt(source, row) {
  return source.kind === 'codes'
    ? source.entries[source.pieces[0][row] - 1]
    : source.pieces[0].values[row];
}
