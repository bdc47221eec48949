// Models at work beside XGBoost, scikit-learn and shap, where a Python that has them is at hand:
// scores and Shapley values of rows in SQL, and calls of single rows in the process.
//
// All train on the same 100,000 rows. Peers get arrays that are ready, Rowan reads its columns.
// Peers run once, before the rounds, and their one figure stands for all of them.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { open } from '../../build/js/index.js';
import { airlineCsv } from '../data/airline.mjs';

export const description = 'scores and Shapley values in SQL, calls of one row';

const TRAIN_ROW_COUNT = 100_000;
const SHAP_ROW_COUNT = 10_000;
/** Deep trees cost a hundred times as much, of all who explain them. */
const DEEP_SHAP_ROW_COUNT = 500;
const CALL_COUNT = 5000;
const FEATURES = '{* EXCLUDING (dep_delayed_15min)}';
/** Shares of a score by two ways of training differ; their mean does not. */
const MEAN_DIFFERENCE_MAX = 0.01;

const FOREST = {
  ...{ featureVectorSamplings: 100, featureVectorSamplingProp: 1, featureSamplings: 1 },
  ...{ featureSamplingProp: 0.5 },
};
const CLASSIFIERS = {
  gbt: { type: 'gbt', num_rounds: 100, max_depth: 6, num_leaves: 64, min_child_samples: 1 },
  glz: { type: 'glz' },
};

export async function prepare({ rowCount }) {
  const rowan = await open({ dataDir: null });
  const post = async (route, body) => {
    const reply = await rowan.post(route, body);
    if (reply.status >= 400) throw new Error(reply.text);
    return reply.json;
  };
  const run = (type, params) =>
    post('/v1/procedures', { type, params: { ...params, runOnCreation: true } });
  const tables = { train: [TRAIN_ROW_COUNT, 1], test: [rowCount, 3] };
  for (const [id, [count, seed]] of Object.entries(tables)) {
    const dataFileUrl = `file://${airlineCsv(count, seed)}`;
    await run('import.text', { dataFileUrl, outputDataset: { id, type: 'tabular' } });
  }
  const train = async (name, type, params) => {
    const modelFileUrl = `mem://${name}.cls`;
    const trainingData = `SELECT ${FEATURES} AS features, dep_delayed_15min = 'Y' AS label FROM train`;
    await run(type, { trainingData, modelFileUrl, functionName: name, ...params });
    const explainer = { modelFileUrl, ...(name !== 'glz' && { method: 'treeshap' }) };
    await post('/v1/functions', {
      ...{ id: `explain_${name}`, type: 'classifier.explain', params: explainer },
    });
  };
  for (const [name, configuration] of Object.entries(CLASSIFIERS)) {
    await train(name, 'classifier.train', { configuration, equalizationFactor: 0 });
  }
  for (const maxDepth of [20, 12]) {
    await train(`forest${maxDepth}`, 'randomforest.binary.train', { ...FOREST, maxDepth });
  }
  const cpuSecondsOf = async (sql) => {
    const cpu = process.cpuUsage();
    const value = await rowan.query(sql).value();
    const { user, system } = process.cpuUsage(cpu);
    return { value: (user + system) / 1e6, answer: value };
  };
  const [first] = await rowan.query('SELECT * FROM test LIMIT 1', { rowNames: false }).rows();
  const { dep_delayed_15min: _, ...features } = first;

  const measures = [];
  const found = (peer, shapCount = 0) => runPeer(peer, rowCount, shapCount);
  const peers = {
    xgboost: found('xgboost', SHAP_ROW_COUNT),
    sklearn: found('forest', DEEP_SHAP_ROW_COUNT),
    logistic: found('logistic'),
  };
  const agree = (ours, theirs) => Math.abs(ours - theirs) < MEAN_DIFFERENCE_MAX;
  for (const [name, peer, goal] of [
    ['gbt', 'xgboost', 0.8],
    ['forest20', 'sklearn', 0.3],
  ]) {
    const theirs = peers[peer];
    const sql = `SELECT avg(${name}({features: ${FEATURES}})[score]) FROM test`;
    measures.push({
      name: `${name}: scores of ${rowCount} rows in SQL`,
      unit: 'CPU s',
      contenders: {
        rowan: () => cpuSecondsOf(sql),
        ...(theirs && { [peer]: () => ({ value: theirs.scoreCpuSeconds, answer: theirs.mean }) }),
      },
      ...(theirs && { goal, agree }),
    });
  }
  for (const [name, peer, count] of [
    ['gbt', 'xgboost', SHAP_ROW_COUNT],
    ['forest12', 'sklearn', DEEP_SHAP_ROW_COUNT],
  ]) {
    const theirs = peers[peer];
    const explained = `explain_${name}({features: ${FEATURES}, label: 1})`;
    const sql = `SELECT sum(${explained}[explanation.Distance]) FROM (SELECT * FROM test LIMIT ${count})`;
    measures.push({
      name: `${name}: Shapley values of ${count} rows in SQL`,
      unit: 'CPU s',
      contenders: {
        rowan: () => cpuSecondsOf(sql),
        ...(theirs?.shapCpuSeconds && { shap: () => ({ value: theirs.shapCpuSeconds }) }),
      },
      ...(theirs?.shapCpuSeconds && { goal: 1 }),
    });
  }
  for (const [name, peer] of [
    ['gbt', 'xgboost'],
    ['glz', 'logistic'],
  ]) {
    const theirs = peers[peer];
    measures.push({
      name: `${name}: calls of one row in the process`,
      unit: 'calls/s',
      largerIsBetter: true,
      contenders: {
        rowan: () => {
          const model = rowan.functions.get(name);
          const start = performance.now();
          for (let i = 0; i < CALL_COUNT; i++) model.callJson({ features });
          return { value: (CALL_COUNT / (performance.now() - start)) * 1000 };
        },
        ...(theirs && { [peer]: () => ({ value: theirs.callsPerSecond }) }),
      },
      ...(theirs && { goal: 1 / 20 }),
    });
  }
  return { measures, close: () => rowan.close() };
}

function runPeer(peer, rowCount, shapCount) {
  const script = fileURLToPath(new URL('../peers/scoring.py', import.meta.url));
  const paths = [airlineCsv(TRAIN_ROW_COUNT, 1), airlineCsv(rowCount, 3)];
  const env = { ...process.env, OMP_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' };
  try {
    const output = execFileSync(
      process.env.PEER_PYTHON ?? 'python3',
      [script, peer, ...paths, String(shapCount)],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env },
    );
    return JSON.parse(output.trim().split('\n').at(-1));
  } catch (error) {
    const reason = String(error.stderr ?? error.message).trim();
    console.log(`  ${peer} does not run here: ${reason.split('\n').at(-1)}`);
    return undefined;
  }
}
