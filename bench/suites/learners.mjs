// Learners by configuration beside XGBoost, LightGBM and scikit-learn, where a Python that has them
// is at hand. PEER_PYTHON names the interpreter, default python3.
//
// Peers run once, before the rounds, and their one time stands for all of them. Training is compared
// by the CPU seconds of the process, which other work on the machine hardly changes.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { resolveEntry } from '../../build/js/learn/configuration.js';
import { compileExplainer } from '../../build/js/learn/explain/explain.js';
import { buildMatrix } from '../../build/js/learn/feature/matrix.js';
import { innermost, readRecipe } from '../../build/js/learn/learners.js';
import { areaUnderCurve, booleanCurve } from '../../build/js/learn/metric/boolean.js';
import { modelEnsembles } from '../../build/js/learn/model/classifier.js';
import { preparedSpans, prepare as prepareModel } from '../../build/js/learn/model/prepare.js';
import {
  compileModelScorer,
  rowsOfSources,
  scoreColumns,
} from '../../build/js/learn/model/score.js';
import { spansOf } from '../../build/js/learn/tree/ensemble.js';
import { ArenaSet } from '../../build/js/value/column/arena-set.js';
import { airlineCsv } from '../data/airline.mjs';
import { airlineColumns } from '../data/airline-columns.mjs';
import { threadedContext } from '../data/threads.mjs';

export const description =
  'gradient boosting, boosted stumps and logistic regression, on 2 threads';

const TEST_ROW_COUNT = 100_000;
const SHAP_ROW_COUNT = 10_000;
const THREAD_COUNT = 2;
const AUC_LOSS_MAX = 0.003;

/** What each peer does, in our words. */
const CONFIGURATIONS = {
  xgboost: { type: 'gbt', num_rounds: 100, max_depth: 6, num_leaves: 64, min_child_samples: 1 },
  lightgbm: { type: 'gbt', num_rounds: 100, max_depth: 6, num_leaves: 64 },
  adaboost: { type: 'boosted_stumps', min_iter: 50, max_iter: 50, validate_split: 0 },
  logistic: { type: 'glz' },
};

const GOALS = { xgboost: 1, lightgbm: 1.2, adaboost: 0.3, logistic: 0.4 };

export async function prepare({ rowCount }) {
  const training = airlineColumns(rowCount, 1);
  const test = airlineColumns(TEST_ROW_COUNT, 2);
  const arenas = ArenaSet.create();
  const { context, close } = await threadedContext(arenas, THREAD_COUNT);
  const target = { kind: 'classes', labels: Uint16Array.from(training.labels), labelCount: 2 };
  const weights = new Float64Array(rowCount).fill(1 / rowCount);
  const train = (configuration) => {
    const cpu = process.cpuUsage();
    const { recipe } = readRecipe(resolveEntry(configuration, ''), 'boolean');
    const { learner, options } = innermost(recipe);
    const rows = { rowCount, weights, targets: Float64Array.from(training.labels) };
    const matrix = buildMatrix(context.workspace, training.sources, rows, {
      coding: learner.coding,
      arena: 0,
      bucketCountMax: learner.bucketCountMax?.(options),
    });
    const { sources } = training;
    const data = { matrix, sources, mode: 'boolean', target, weights, weightTotal: rowCount };
    const algorithm = recipe.learner.fit(context, data, recipe, 1);
    arenas.free(matrix.span);
    const { user, system } = process.cpuUsage(cpu);
    const model = { mode: 'boolean', labels: [], features: matrix.features, algorithm };
    const prepared = prepareModel(context.workspace, model.features, algorithm, 0);
    const spans = new Set([
      ...modelEnsembles(algorithm).flatMap(spansOf),
      ...preparedSpans(prepared),
    ]);
    return {
      model,
      prepared,
      cpuSeconds: (user + system) / 1e6,
      free() {
        for (const span of spans) arenas.free(span);
      },
    };
  };
  const measures = [];
  for (const [peer, configuration] of Object.entries(CONFIGURATIONS)) {
    const found = runPeer(peer, rowCount);
    if (found !== undefined) console.log(`  ${peer.padEnd(9)} ${describe(found)}`);
    measures.push({
      name: `training as ${peer}`,
      unit: 'CPU s',
      contenders: {
        rowan: () => {
          const { model, prepared, cpuSeconds, free } = train(configuration);
          const scores = scoreColumns(context, { model, prepared }, test.sources, TEST_ROW_COUNT);
          free();
          return { value: cpuSeconds, answer: areaUnderCurve(booleanCurve(scores, test.labels)) };
        },
        ...(found && { [peer]: () => ({ value: found.cpuSeconds, answer: found.auc }) }),
      },
      agree: (ours, theirs) => ours >= theirs - AUC_LOSS_MAX,
      goal: GOALS[peer],
    });
    if (peer !== 'xgboost') continue;
    const served = train(configuration);
    const scorer = compileModelScorer(context.workspace, served);
    const read = rowsOfSources(test.sources);
    const rows = Array.from({ length: SHAP_ROW_COUNT }, (_, row) => [...read(row)]);
    const output = new Float64Array(1);
    const shape = { features: served.model.features, width: 1, isRegression: false };
    const explainer = compileExplainer(
      context.workspace,
      served.model.algorithm,
      shape,
      { method: 'treeshap', background: [] },
      context,
    );
    measures.push(
      {
        name: 'scoring 100k rows, 2 threads',
        unit: 'rows/s',
        largerIsBetter: true,
        contenders: {
          rowan: () => {
            const start = performance.now();
            scoreColumns(context, served, test.sources, TEST_ROW_COUNT);
            return { value: (TEST_ROW_COUNT / (performance.now() - start)) * 1000 };
          },
          ...(found && { xgboost: () => ({ value: found.rowsPerSecond }) }),
        },
        goal: 1 / 0.8,
      },
      {
        name: 'scoring one row',
        unit: 'rows/s',
        largerIsBetter: true,
        contenders: {
          rowan: () => {
            const start = performance.now();
            for (let i = 0; i < 50_000; i++) scorer.score(rows[i % rows.length], output);
            return { value: (50_000 / (performance.now() - start)) * 1000 };
          },
          ...(found && { xgboost: () => ({ value: found.oneRowPerSecond }) }),
        },
        goal: 20,
      },
      {
        name: 'Shapley values of 10k rows',
        unit: 's',
        contenders: {
          rowan: () => {
            const start = performance.now();
            const contributions = rows.map(() => new Float64Array(shape.features.length));
            explainer.all((row) => rows[row], new Int8Array(rows.length).fill(1), contributions);
            return { value: (performance.now() - start) / 1000 };
          },
          ...(found?.shapSeconds && { shap: () => ({ value: found.shapSeconds }) }),
        },
        goal: 1,
      },
    );
  }
  return { measures, close };
}

function runPeer(peer, rowCount) {
  const python = process.env.PEER_PYTHON ?? 'python3';
  const script = fileURLToPath(new URL('../peers/learners.py', import.meta.url));
  const files = [airlineCsv(rowCount, 1), airlineCsv(TEST_ROW_COUNT, 2)];
  try {
    const stdio = ['ignore', 'pipe', 'ignore'];
    const args = [script, peer, ...files, String(THREAD_COUNT)];
    return JSON.parse(execFileSync(python, args, { stdio, encoding: 'utf8' }));
  } catch {
    return undefined;
  }
}

function describe({ seconds, cpuSeconds, auc, peakBytes }) {
  const memory = `${Math.round(peakBytes / 1e6)} MB`;
  return `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} CPU s, AUC ${auc.toFixed(4)}, ${memory}`;
}
