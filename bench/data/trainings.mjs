// Trainings of Rowan beside those of peers, each in a process of its own.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const OPTIONS = {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'pipe'],
  maxBuffer: 64 * 1024 * 1024,
  env: { ...process.env, OMP_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' },
};

/** What a task of Rowan took: `{ seconds, cpuSeconds, peakBytes, quality }`. */
export function trainRowan(task) {
  return runScript(process.execPath, 'rowan-training.mjs', [JSON.stringify(task)]);
}

/** The same of training.py or training.r; undefined, and a line that says so, where it cannot run. */
export function trainPeer(peer, args) {
  const isR = peer === 'ranger' || peer === 'glmnet';
  const program = isR ? 'Rscript' : (process.env.PEER_PYTHON ?? 'python3');
  try {
    return runScript(program, isR ? 'training.r' : 'training.py', [peer, ...args.map(String)]);
  } catch (error) {
    const reason = String(error.stderr ?? error.message)
      .trim()
      .split('\n')
      .at(-1);
    console.log(`  ${peer} does not run here: ${reason}`);
    return undefined;
  }
}

function runScript(program, script, args) {
  const path = fileURLToPath(new URL(`../peers/${script}`, import.meta.url));
  return JSON.parse(
    execFileSync(program, [path, ...args], OPTIONS)
      .trim()
      .split('\n')
      .at(-1),
  );
}

/**
 * A measure of CPU seconds and one of peak memory. The peer runs once, Rowan once a round.
 * @param tolerance how much worse than the peer's the quality may be; higher is better
 */
export function trainingMeasures({ name, task, peer, args, goal, tolerance }) {
  const theirs = trainPeer(peer, args);
  if (theirs !== undefined) console.log(`  ${peer.padEnd(12)} ${describe(theirs)}`);
  let ours;
  return [
    {
      name,
      unit: 'CPU s',
      contenders: {
        rowan: () => {
          ours = trainRowan(task);
          console.log(`  ${'rowan'.padEnd(12)} ${describe(ours)}`);
          return { value: ours.cpuSeconds, answer: ours.quality };
        },
        ...(theirs && { [peer]: () => ({ value: theirs.cpuSeconds, answer: theirs.quality }) }),
      },
      ...(theirs && { goal }),
      ...(tolerance !== undefined && { agree: (a, b) => a >= b - tolerance }),
    },
    {
      name: `${name}: peak memory`,
      unit: 'MB',
      contenders: {
        rowan: () => ({ value: ours.peakBytes / 1e6 }),
        ...(theirs && { [peer]: () => ({ value: theirs.peakBytes / 1e6 }) }),
      },
      ...(theirs && { goal: 1 }),
    },
  ];
}

function describe({ seconds, cpuSeconds, peakBytes, quality }) {
  const parts = [`${seconds.toFixed(2)} s`, `${cpuSeconds.toFixed(2)} CPU s`];
  parts.push(`${Math.round(peakBytes / 1e6)} MB at most`);
  if (typeof quality === 'number') parts.push(`quality ${quality.toPrecision(6)}`);
  return parts.join(', ');
}

/** Training on the airline-like files, train and test. */
export function airlineTask(files, params, type = 'classifier.train') {
  return twoFiles(files, '{* EXCLUDING (dep_delayed_15min)}', "dep_delayed_15min = 'Y'", {
    params,
    type,
  });
}

/** Training on files of numbers: `late` is a class, `y` a number. */
export function numbersTask(files, label, params) {
  return twoFiles(files, '{* EXCLUDING (y, late)}', label === 'y' ? 'y' : 'late = 1', {
    params: label === 'y' ? { mode: 'regression', ...params } : params,
    type: 'classifier.train',
  });
}

function twoFiles([train, test], features, label, { params, type }) {
  const isRegression = params.mode === 'regression';
  const trained = {
    trainingData: `SELECT ${features} AS features, ${label} AS label FROM train`,
    ...{ modelFileUrl: 'mem://bench.cls', functionName: 'model', ...params },
  };
  const testingData = `SELECT model({features: ${features}})[score] AS score, ${label} AS label FROM test`;
  return {
    files: { train, test },
    runs: [{ type, params: trained }],
    quality: {
      of: isRegression ? 'r2' : 'auc',
      test: { mode: isRegression ? 'regression' : 'boolean', testingData },
    },
  };
}
