// Clusterings, projections and support vector machines beside scikit-learn, openTSNE and umap-learn.
//
// Peers run once, before the rounds; a task whose peer is not there has none. PEER_PYTHON names the
// interpreter, default python3. `--rows` is the number of points of k-means; the others take a share of it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fitGaussians } from '../../build/js/learn/cluster/gaussian.js';
import { fitKmeans } from '../../build/js/learn/cluster/kmeans.js';
import { fitTsne } from '../../build/js/learn/layout/tsne.js';
import { fitUmap } from '../../build/js/learn/layout/umap.js';
import { allocatePoints, pointColumns } from '../../build/js/learn/points.js';
import { fitSvm } from '../../build/js/learn/svm/svm.js';
import { ArenaSet } from '../../build/js/value/column/arena-set.js';
import { normalPoints } from '../data/points.mjs';
import { threadedContext } from '../data/threads.mjs';

export const description = 'clusterings, layouts and support vector machines, on 2 threads';

const THREAD_COUNT = 2;
const CACHE = new URL('../.cache/', import.meta.url);

export async function prepare({ rowCount }) {
  const arenas = ArenaSet.create();
  const { context, close } = await threadedContext(arenas, THREAD_COUNT);
  const measures = [
    measure('k-means, 100 clusters, 10 iterations', 'kmeans', rowCount, 10, 0.8, (points) =>
      fitKmeans(context, points, {
        numClusters: 100,
        maxIterations: 10,
        metric: 'euclidean',
        randomSeed: 1,
      }),
    ),
    measure('Gaussian clusters, 10, 20 iterations', 'gaussian', rowCount / 10, 10, 0.5, (points) =>
      fitGaussians(context, points, { numClusters: 10, maxIterations: 20, randomSeed: 1 }),
    ),
    measure('t-SNE', 'tsne', rowCount / 100, 50, 1, (points) =>
      fitTsne(context, points, {
        numOutputDimensions: 2,
        perplexity: 30,
        tolerance: 1e-5,
        learningRate: 500,
        minIterations: 750,
        maxIterations: 750,
        randomSeed: 1,
      }),
    ),
    measure('UMAP', 'umap', rowCount / 100, 50, 1, (points) =>
      fitUmap(context, points, {
        numOutputDimensions: 2,
        numNeighbors: 15,
        minDist: 0.1,
        spread: 1,
        metric: 'euclidean',
        numEpochs: 0,
        learningRate: 1,
        negativeSampleRate: 5,
        init: 'spectral',
        setOpMixRatio: 1,
        randomSeed: 1,
      }),
    ),
    measure('support vector machine, rbf', 'svm', rowCount / 100, 20, 1.5, (points, rows) => {
      const labels = Float64Array.from({ length: points.rowCount }, (_, i) => {
        const [a, b, c] = rows.subarray(i * 20, i * 20 + 3);
        return a * b + 0.3 * c > 0 ? 1 : 0;
      });
      return fitSvm(context, points, labels, {
        svmType: 'classification',
        kernel: 'rbf',
        degree: 3,
        gamma: 0,
        coef0: 0,
        C: 1,
        nu: 0.5,
        p: 0.1,
        eps: 1e-3,
        shrinking: true,
      });
    }),
  ];
  return { measures, close };

  function measure(name, task, exactCount, dimension, goal, fit) {
    const count = Math.max(100, Math.round(exactCount));
    const rows = normalPoints(count, dimension, 3);
    const peer = runPeer(task, rows, dimension);
    const points = allocatePoints(context.workspace, count, dimension);
    for (const [j, column] of pointColumns(context.workspace, points).entries()) {
      for (let i = 0; i < count; i++) column[i] = rows[i * dimension + j];
    }
    return {
      name: `${name}, ${count} x ${dimension}`,
      unit: 's',
      contenders: {
        rowan: () => {
          const start = performance.now();
          fit(points, rows);
          return { value: (performance.now() - start) / 1000 };
        },
        ...(peer && { peer: () => ({ value: peer.seconds }) }),
      },
      ...(peer && { goal }),
    };
  }
}

/** @returns undefined when there is no such peer here */
function runPeer(task, rows, dimension) {
  mkdirSync(CACHE, { recursive: true });
  const file = fileURLToPath(new URL(`points-${task}.f64`, CACHE));
  writeFileSync(file, new Uint8Array(rows.buffer));
  const script = fileURLToPath(new URL('../peers/points.py', import.meta.url));
  try {
    const output = execFileSync(
      process.env.PEER_PYTHON ?? 'python3',
      [script, task, file, String(dimension)],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, OMP_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' },
      },
    );
    return JSON.parse(output.trim().split('\n').at(-1));
  } catch {
    console.log(`  the peer of ${task} is not installed here`);
    return undefined;
  }
}
