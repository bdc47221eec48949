// Loaded into the server before everything else: tells once a second what only the process itself
// knows, as a line of JSON in the file that ROWAN_OBSERVER names.
import { appendFileSync, closeSync, existsSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const REPORT_INTERVAL_MS = 1000;
const TICK_INTERVAL_MS = 2;
const NANOSECONDS = 1e6;
/** Where Linux tells how long a thread has run. */
const SCHEDULER = '/proc/thread-self/schedstat';

function observe(path) {
  const rejections = [];
  process.on('unhandledRejection', (reason) => rejections.push(String(reason?.stack ?? reason)));
  const delays = new Delays();
  setInterval(() => delays.tick(), TICK_INTERVAL_MS).unref();
  const tell = () => {
    const { rss, heapUsed, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const cpuSeconds = (user + system) / 1e6;
    const sample = { rss, heapUsed, external, cpuSeconds, ...delays.take() };
    const line = { ...sample, rejections: rejections.splice(0) };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  };
  setInterval(tell, REPORT_INTERVAL_MS).unref();
  process.on('exit', tell);
}

/** How late the event loop is, and how much of that the thread itself computed. */
class Delays {
  #late = [];
  #computed = [];
  #tickedAt = performance.now();
  #ranMs = ranMs();

  tick() {
    const now = performance.now();
    const ran = ranMs();
    this.#late.push(Math.max(0, now - this.#tickedAt - TICK_INTERVAL_MS));
    this.#computed.push(ran - this.#ranMs);
    this.#tickedAt = now;
    this.#ranMs = ran;
  }

  /** All since the last call. */
  take() {
    const taken = { lateMs: rounded(this.#late), computedMs: rounded(this.#computed) };
    this.#late = [];
    this.#computed = [];
    return taken;
  }
}

function rounded(times) {
  return times.map((time) => Math.round(time * 10) / 10);
}

/** Processor time of this thread. */
function ranMs() {
  if (!existsSync(SCHEDULER)) return 0;
  const buffer = Buffer.alloc(128);
  const file = openSync(SCHEDULER);
  const size = readSync(file, buffer);
  closeSync(file);
  const [ran] = buffer.toString('latin1', 0, size).split(' ');
  return Number(ran) / NANOSECONDS;
}

if (isMainThread && process.env.ROWAN_OBSERVER !== undefined) observe(process.env.ROWAN_OBSERVER);
