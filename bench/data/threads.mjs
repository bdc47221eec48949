// Learners' jobs on a few threads, without the rest of the service.

import {
  isMainThread,
  MessageChannel,
  parentPort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { learnJobs } from '../../build/js/learn/jobs.js';
import { makeWorkspace } from '../../build/js/learn/workspace.js';
import { ArenaSet } from '../../build/js/value/column/arena-set.js';

/** A context for fits whose jobs run on `threadCount` threads, this one included. */
export async function threadedContext(arenas, threadCount) {
  const workspace = makeWorkspace(arenas);
  const control = new Int32Array(new SharedArrayBuffer(8)); // next unit, helpers done
  const helpers = [];
  for (let i = 1; i < threadCount; i++) {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { arenas: arenas.descriptor(), control, port: port2 },
      transferList: [port2],
    });
    await new Promise((resolve) => worker.once('message', resolve));
    helpers.push({ worker, port: port1 });
  }
  const context = {
    workspace,
    checkCancelled() {},
    parallel: {
      threadCount,
      run(job, args, unitCount) {
        control.fill(0);
        for (const { port, worker } of helpers) {
          port.postMessage({ name: job.name, args, unitCount });
          worker.postMessage('go');
        }
        const results = takeUnits(job, args, unitCount, control, context);
        for (let done = 0; done < helpers.length; done = Atomics.load(control, 1)) {
          Atomics.wait(control, 1, done);
        }
        for (const { port } of helpers) results.push(...receiveMessageOnPort(port).message);
        return results.sort((a, b) => a[0] - b[0]).map(([, result]) => result);
      },
    },
  };
  const close = () => Promise.all(helpers.map(({ worker }) => worker.terminate()));
  return { context, close };
}

function takeUnits(job, args, unitCount, control, scope) {
  const results = [];
  for (;;) {
    const unit = Atomics.add(control, 0, 1);
    if (unit >= unitCount) return results;
    results.push([unit, job.execute(args, unit, scope)]);
  }
}

if (!isMainThread && workerData?.control !== undefined) {
  const { arenas, control, port } = workerData;
  const jobs = learnJobs(makeWorkspace(ArenaSet.open(arenas)));
  parentPort.on('message', () => {
    const { name, args, unitCount } = receiveMessageOnPort(port).message;
    const job = jobs.find((candidate) => candidate.name === name);
    port.postMessage(takeUnits(job, args, unitCount, control, { checkCancelled() {} }));
    Atomics.add(control, 1, 1);
    Atomics.notify(control, 1);
  });
  parentPort.postMessage('ready');
}
