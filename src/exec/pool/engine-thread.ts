// Threads of engine workers, before a pool tells them what they are to do.
import { Worker } from 'node:worker_threads';
import { threadOptions } from '../../util/worker-file.ts';

let ahead: { readonly entry: string; readonly worker: Worker } | undefined;

/** Starts a thread before there is a pool that takes it: while it loads its code, its starter can. */
export function startThreadAhead(entry: URL): void {
  ahead = { entry: entry.href, worker: startThread(entry) };
}

/** A thread that waits for its first message. */
export function takeThread(entry: URL): Worker {
  const started = ahead;
  if (started?.entry !== entry.href) return startThread(entry);
  ahead = undefined;
  return started.worker;
}

function startThread(entry: URL): Worker {
  const worker = new Worker(entry, { name: 'rowan-engine', ...threadOptions() });
  worker.unref();
  return worker;
}
