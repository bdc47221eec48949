// A thread that ends the process when it does not end by itself: what the main thread does after it
// was told to stop, it does in time or not at all.
import { workerData } from 'node:worker_threads';

/** What the thread is started with. */
export interface WatchdogSettings {
  /** counted up by the main thread while it works */
  readonly beats: Int32Array<SharedArrayBuffer>;
  /** ms after which the process must have ended */
  readonly limitMs: number;
}

/** A main thread that says nothing for so long hears no second signal either. */
const SILENCE_MS = 5000;

const { beats, limitMs } = workerData as WatchdogSettings;
const end = performance.now() + limitMs;
for (let left = limitMs; left > 0; left = end - performance.now()) {
  const beat = Atomics.load(beats, 0);
  const patienceMs = Math.min(SILENCE_MS, left);
  if (Atomics.wait(beats, 0, beat, patienceMs) === 'timed-out') break;
}
process.kill(process.pid, 'SIGKILL');
