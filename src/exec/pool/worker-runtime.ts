// The loop of an engine worker: sleeps on its wake cell, then serves tasks of the main thread,
// broadcasts, and parallel jobs of other workers.
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { assert } from '../../util/assert.ts';
import { errorBody, RowanError } from '../../util/error.ts';
import { giveWay } from '../../util/thread-priority.ts';
import { watchUnstoppable } from '../../util/unstoppable.ts';
import {
  executeAll,
  findParallelJob,
  type JobContext,
  type Parallel,
  type ParallelJob,
} from '../parallel.ts';
import { cancelled, type Task } from '../task.ts';
import {
  answerCall,
  beginHelping,
  CELL,
  callSerial,
  cellOf,
  claim,
  endHelping,
  POOL_CELL,
  revokeCall,
  STATE,
  wake,
} from './control.ts';
import type { HostReply, JobMessage, JobReply, ToMain, ToWorker, WorkerStart } from './message.ts';

export type TaskHandler = (args: never, task: Task) => unknown;

export interface TaskService {
  readonly handlers: Readonly<Record<string, TaskHandler>>;
  /** Applies a message that every worker gets, in the order of sending. */
  onBroadcast(message: unknown): void;
  /** Called when a task looks at its cancel flag; what it throws ends the task. */
  onLook?(): void;
}

/** A result this far ahead of its reader makes the task wait. */
const CHUNKS_IN_FLIGHT_MAX = 8;

/** A lost wake-up or a dead peer costs at most this long. */
const WAIT_TIMEOUT_MS = 1000;

/** Serves until the process ends. Must be called in a worker started by EnginePool. */
export async function serveTasks(service: TaskService): Promise<never> {
  giveWay();
  const worker = new EngineWorker(await receiveStart(), service);
  return worker.serve();
}

function receiveStart(): Promise<WorkerStart> {
  assert(parentPort !== null, 'a worker is a thread');
  const port = parentPort;
  return new Promise((resolve) => port.once('message', resolve));
}

type TaskMessage = Extract<ToWorker, { type: 'task' }>;

class EngineWorker {
  readonly #start: WorkerStart;
  readonly #service: TaskService;
  readonly #control: Int32Array;
  readonly #slot: number;
  readonly #peers = new Map<number, MessagePort>();

  constructor(start: WorkerStart, service: TaskService) {
    this.#start = start;
    this.#service = service;
    this.#control = start.control;
    this.#slot = start.slot;
    watchUnstoppable({
      begin: () => Atomics.store(this.#control, this.#cell(CELL.unstoppable), 1),
      end: () => Atomics.store(this.#control, this.#cell(CELL.unstoppable), 0),
    });
    for (const [slot, port] of start.peers) this.#peers.set(slot, port);
    for (const message of start.initialMessages) service.onBroadcast(message);
  }

  async serve(): Promise<never> {
    this.#becomeIdle();
    this.#post({ type: 'ready' });
    for (;;) {
      const seen = Atomics.load(this.#control, this.#cell(CELL.wake));
      if (await this.#serveMain()) continue;
      if (await this.#servePeers()) continue;
      Atomics.wait(this.#control, this.#cell(CELL.wake), seen, WAIT_TIMEOUT_MS);
    }
  }

  /** Handles everything the main thread has posted. @returns whether there was anything */
  async #serveMain(): Promise<boolean> {
    let served = false;
    for (;;) {
      const received = receiveMessageOnPort(this.#start.mainPort);
      if (received === undefined) return served;
      served = true;
      const message = received.message as ToWorker;
      if (message.type === 'task') await this.#runTask(message);
      else if (message.type === 'peer') this.#peers.set(message.slot, message.port);
      else this.#service.onBroadcast(message.message);
    }
  }

  async #runTask({ id, kind, args, isFrugal }: TaskMessage): Promise<void> {
    const task = new WorkerTask(id, isFrugal, this.#start, this.#peers, this.#service.onLook);
    let reply: ToMain;
    try {
      const handler = this.#service.handlers[kind];
      if (handler === undefined) throw new Error(`no handler for tasks of kind "${kind}"`);
      const result = await handler(args as never, task);
      task.flushProgress();
      reply = { type: 'result', id, result, bytes: task.lastBytes };
    } catch (thrown) {
      reply = errorReply(id, thrown);
    }
    Atomics.store(this.#control, this.#cell(CELL.cancel), 0);
    try {
      this.#post(reply);
    } catch (thrown) {
      this.#post(errorReply(id, thrown));
    }
    this.#becomeIdle();
  }

  /** Takes part in a job for which another worker has claimed this one. */
  async #servePeers(): Promise<boolean> {
    for (const [leader, port] of this.#peers) {
      const received = receiveMessageOnPort(port);
      if (received === undefined) continue;
      const message = received.message as JobMessage;
      // The leader may have done everything by itself in the meantime.
      if (!answerCall(this.#control, this.#slot, message.serial)) return true;
      // What the leader knows from broadcasts must be known here before its units run.
      this.#applyBroadcasts();
      beginHelping(this.#control, this.#slot, leader);
      port.postMessage(await this.#help(leader, message));
      endHelping(this.#control, this.#slot, leader);
      this.#becomeIdle();
      Atomics.add(this.#control, cellOf(leader, CELL.helpersDone), 1);
      Atomics.notify(this.#control, cellOf(leader, CELL.helpersDone));
      return true;
    }
    return false;
  }

  #applyBroadcasts(): void {
    // A task cannot be among them: the main thread claims a worker before it posts one.
    for (;;) {
      const received = receiveMessageOnPort(this.#start.mainPort);
      if (received === undefined) return;
      const message = received.message as ToWorker;
      if (message.type === 'peer') this.#peers.set(message.slot, message.port);
      else if (message.type === 'broadcast') this.#service.onBroadcast(message.message);
    }
  }

  async #help(leader: number, message: JobMessage): Promise<JobReply> {
    const job = findParallelJob(message.job);
    const error = `no parallel job named "${message.job}"`;
    if (job === undefined) return { results: [], failure: { unit: 0, error: errorBody(error) } };
    await job.prepare?.();
    return takeUnits(this.#control, leader, job, message.args, message.unitCount);
  }

  #becomeIdle(): void {
    Atomics.store(this.#control, this.#cell(CELL.state), STATE.idle);
    if (Atomics.load(this.#control, POOL_CELL.queued) > 0) this.#post({ type: 'idle' });
  }

  #cell(cell: number): number {
    return cellOf(this.#slot, cell);
  }

  #post(message: ToMain): void {
    this.#start.mainPort.postMessage(message);
  }
}

function errorReply(id: number, thrown: unknown): ToMain {
  const stack =
    thrown instanceof Error && !(thrown instanceof RowanError) ? thrown.stack : undefined;
  return { type: 'error', id, error: errorBody(thrown), ...(stack === undefined ? {} : { stack }) };
}

/** Executes units of a leader's job until none is left, in whichever thread this is. */
function takeUnits(
  control: Int32Array,
  leader: number,
  job: ParallelJob<never, unknown>,
  args: unknown,
  unitCount: number,
): JobReply {
  const scope = cancelScope(control, leader);
  const results: [number, unknown][] = [];
  for (;;) {
    const unit = Atomics.add(control, cellOf(leader, CELL.nextUnit), 1);
    if (unit >= unitCount) return { results };
    try {
      scope.checkCancelled();
      results.push([unit, job.execute(args as never, unit, scope)]);
    } catch (thrown) {
      // The others stop at their next unit: there is no result to complete any more.
      Atomics.store(control, cellOf(leader, CELL.nextUnit), unitCount);
      return { results, failure: { unit, error: errorBody(thrown) } };
    }
  }
}

function cancelScope(control: Int32Array, slot: number): JobContext {
  const cell = cellOf(slot, CELL.cancel);
  return {
    checkCancelled() {
      if (Atomics.load(control, cell) !== 0) throw cancelled();
    },
  };
}

const PROGRESS_INTERVAL_MS = 50;

class WorkerTask implements Task {
  readonly parallel: Parallel;
  isFrugal: boolean;
  readonly #id: number;
  readonly #start: WorkerStart;
  lastBytes: Uint8Array | undefined;
  #progressPostedAt = Number.NEGATIVE_INFINITY;
  #pendingProgress: unknown;

  readonly #onLook: (() => void) | undefined;

  constructor(
    id: number,
    isFrugal: boolean,
    start: WorkerStart,
    peers: ReadonlyMap<number, MessagePort>,
    onLook: (() => void) | undefined,
  ) {
    this.#id = id;
    this.isFrugal = isFrugal;
    this.#start = start;
    this.#onLook = onLook;
    this.parallel = new WorkerParallel(start, peers);
  }

  checkCancelled(): void {
    if (Atomics.load(this.#start.control, cellOf(this.#start.slot, CELL.cancel)) !== 0) {
      throw cancelled();
    }
    this.#onLook?.();
  }

  progress(document: unknown): void {
    const now = performance.now();
    this.#pendingProgress = document;
    if (now - this.#progressPostedAt < PROGRESS_INTERVAL_MS) return;
    this.#progressPostedAt = now;
    this.flushProgress();
  }

  flushProgress(): void {
    if (this.#pendingProgress === undefined) return;
    const document = this.#pendingProgress;
    this.#pendingProgress = undefined;
    this.#post({ type: 'progress', id: this.#id, document });
  }

  emit(bytes: Uint8Array): void {
    const { control, slot } = this.#start;
    const cell = cellOf(slot, CELL.chunksInFlight);
    for (;;) {
      this.checkCancelled();
      const inFlight = Atomics.load(control, cell);
      if (inFlight < CHUNKS_IN_FLIGHT_MAX) break;
      Atomics.wait(control, cell, inFlight, WAIT_TIMEOUT_MS);
    }
    Atomics.add(control, cell, 1);
    // A task of whose result a part is out cannot begin anew.
    this.isFrugal = true;
    const owned = ownBytes(bytes);
    this.#start.mainPort.postMessage({ type: 'chunk', id: this.#id, bytes: owned }, [
      owned.buffer as ArrayBuffer,
    ]);
  }

  emitLast(bytes: Uint8Array): void {
    this.checkCancelled();
    this.lastBytes = ownBytes(bytes);
  }

  callHost(request: unknown): unknown {
    const { control, slot, hostPort } = this.#start;
    const cell = cellOf(slot, CELL.hostReplies);
    const call = hostCallCount++;
    this.#post({ type: 'host', id: this.#id, call, request });
    for (;;) {
      const before = Atomics.load(control, cell);
      const received = receiveMessageOnPort(hostPort);
      if (received === undefined) {
        this.checkCancelled();
        Atomics.wait(control, cell, before, WAIT_TIMEOUT_MS);
        continue;
      }
      const reply = received.message as HostReply;
      if (reply.call !== call) continue;
      if ('error' in reply) throw RowanError.fromBody(reply.error);
      return reply.result;
    }
  }

  #post(message: ToMain): void {
    this.#start.mainPort.postMessage(message);
  }
}

/** The same bytes alone in a buffer: messages carry whole buffers. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole && bytes.buffer instanceof ArrayBuffer ? bytes : new Uint8Array(bytes);
}

/** A worker that was asked to help. */
interface Call {
  readonly peer: number;
  readonly serial: number;
}

let callCount = 0;
let hostCallCount = 0;

class WorkerParallel implements Parallel {
  readonly threadCount: number;
  readonly #start: WorkerStart;
  readonly #peers: ReadonlyMap<number, MessagePort>;
  #running = false;

  constructor(start: WorkerStart, peers: ReadonlyMap<number, MessagePort>) {
    this.threadCount = start.threadCount;
    this.#start = start;
    this.#peers = peers;
  }

  run<Args, Result>(job: ParallelJob<Args, Result>, args: Args, unitCount: number): Result[] {
    const { control, slot } = this.#start;
    const scope = cancelScope(control, slot);
    if (this.#running || unitCount < 2) {
      return executeAll(job, args, unitCount, scope);
    }
    this.#running = true;
    try {
      Atomics.store(control, cellOf(slot, CELL.nextUnit), 0);
      Atomics.store(control, cellOf(slot, CELL.helpersDone), 0);
      const calls = this.#callHelpers({ job: job.name, args, unitCount });
      const own = takeUnits(control, slot, job as ParallelJob<never, unknown>, args, unitCount);
      const replies = [own, ...this.#collect(this.#answered(calls))];
      return inUnitOrder(job, replies, unitCount);
    } finally {
      this.#running = false;
    }
  }

  #callHelpers(message: Omit<JobMessage, 'serial'>): Call[] {
    const { control, slot } = this.#start;
    const wanted = Math.min(this.threadCount, message.unitCount) - 1;
    const calls: Call[] = [];
    for (const [peer, port] of this.#peers) {
      if (calls.length === wanted) break;
      const serial = callSerial(slot, callCount++);
      if (!claim(control, peer, serial)) continue;
      port.postMessage({ ...message, serial });
      wake(control, peer);
      calls.push({ peer, serial });
    }
    return calls;
  }

  /**
   * The helpers that do take part. One that has not woken up by the time all units are taken is
   * let go: waiting for it would only delay the result.
   */
  #answered(calls: readonly Call[]): number[] {
    const { control, mainPort } = this.#start;
    const answered = calls.filter(({ peer, serial }) => !revokeCall(control, peer, serial));
    const hasRevoked = answered.length < calls.length;
    // A task that waits for a worker can have one that was let go.
    if (hasRevoked && Atomics.load(control, POOL_CELL.queued) > 0) {
      mainPort.postMessage({ type: 'idle' } satisfies ToMain);
    }
    return answered.map(({ peer }) => peer);
  }

  #collect(helpers: readonly number[]): JobReply[] {
    const { control, slot } = this.#start;
    const cell = cellOf(slot, CELL.helpersDone);
    for (;;) {
      const done = Atomics.load(control, cell);
      const gone = helpers.filter((helper) => {
        const state = Atomics.load(control, cellOf(helper, CELL.state));
        return state === STATE.empty || state === STATE.starting;
      });
      if (gone.length > 0) {
        cancelScope(control, slot).checkCancelled();
        throw new Error('a worker thread ended while it was helping');
      }
      if (done >= helpers.length) break;
      Atomics.wait(control, cell, done, WAIT_TIMEOUT_MS);
    }
    return helpers.map((helper) => receiveReply(this.#peers.get(helper) as MessagePort));
  }
}

/** The reply that lies on a port, behind calls that this worker never answered, being busy. */
function receiveReply(port: MessagePort): JobReply {
  for (;;) {
    const received = receiveMessageOnPort(port);
    assert(received !== undefined, 'a helper is done before its reply is there');
    const message = received.message as JobMessage | JobReply;
    if ('results' in message) return message;
  }
}

function inUnitOrder<Args, Result>(
  job: ParallelJob<Args, Result>,
  replies: readonly JobReply[],
  unitCount: number,
): Result[] {
  const results = new Array<Result>(unitCount);
  let failure: JobReply['failure'];
  for (const reply of replies) {
    for (const [unit, result] of reply.results) results[unit] = result as Result;
    if (reply.failure && (failure === undefined || reply.failure.unit < failure.unit)) {
      failure = reply.failure;
    }
  }
  if (failure === undefined) return results;
  for (const { results: made } of replies) {
    for (const [, result] of made) job.discard?.(result as Result);
  }
  throw RowanError.fromBody(failure.error);
}
