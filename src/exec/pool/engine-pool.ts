// The main thread's side of the engine workers: starts them, gives them tasks, replaces the dead.
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { keepContext } from '../../util/async-context.ts';
import { errorBody, failure, RowanError } from '../../util/error.ts';
import {
  CELL,
  cellOf,
  claim,
  condemnHelper,
  createControl,
  POOL_CELL,
  SLOT_COUNT_MAX,
  STATE,
  wake,
} from './control.ts';
import { takeThread } from './engine-thread.ts';
import type { HostReply, ToMain, ToWorker, WorkerStart } from './message.ts';

export interface EnginePoolOptions {
  /** the compiled module that calls serveTasks */
  readonly entry: URL;
  /** threads that one task may use, itself included */
  readonly threadCount: number;
  /** tasks that may run at the same time; each has a worker */
  readonly taskCountMax: number;
  /** what a new worker must know: condensed broadcasts of the past */
  initialMessages(): readonly unknown[];
  /** answers a worker's synchronous call */
  onHostCall?(request: unknown): Promise<unknown>;
  /** Called before a thread is terminated and when it has ended, with its `threadId`. */
  readonly termination?: { begin(thread: number): void; end(thread: number): void };
  /** a failure that is ours: logged by the service */
  onDefect?(message: string, stack: string | undefined): void;
}

export interface TaskOptions {
  readonly signal?: AbortSignal;
  /** buffers of the arguments that are handed over instead of copied */
  readonly transfer?: readonly ArrayBuffer[];
  /** other tasks wait for its end: it comes first, and gets a worker whatever their number */
  readonly isUrgent?: boolean;
  /** what `Task.isFrugal` says; default true */
  readonly isFrugal?: boolean;
  onProgress?(document: unknown): void;
  /** Takes a piece of the result; the task waits while too many pieces are not taken. */
  readonly onChunk?: ((bytes: Uint8Array) => void | Promise<void>) | undefined;
}

interface PendingTask {
  readonly id: number;
  readonly kind: string;
  readonly args: unknown;
  readonly options: TaskOptions;
  /** answers to its questions are given as part of the work that started it */
  runInOrigin<Result>(work: () => Result): Result;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Slot {
  readonly index: number;
  readonly worker: Worker;
  readonly mainPort: MessagePort;
  readonly hostPort: MessagePort;
  /** false: it loads its code */
  hasStarted: boolean;
  task: PendingTask | undefined;
  terminator: NodeJS.Timeout | undefined;
  /** present once the pool ends the thread */
  ending: Promise<void> | undefined;
  /** settles when every chunk received so far was taken, in order */
  delivery: Promise<void>;
}

/** A task that does not notice its cancellation for this long loses its thread. */
const CANCEL_GRACE_MS = 1500;
/** How often is looked, after a cancellation, for threads that cannot notice it. */
const CANCEL_LOOK_MS = 50;

/** Time for the first answers before the other threads start. */
const WARM_UP_DELAY_MS = 100;

/** The timer never has anything to do: it only is there. */
const KEEP_ALIVE_INTERVAL_MS = 1 << 30;

export class EnginePool {
  readonly #options: EnginePoolOptions;
  readonly #control = createControl();
  readonly #slots = new Map<number, Slot>();
  readonly #queue: PendingTask[] = [];
  #nextTaskId = 1;
  #pendingCount = 0;
  #keepAlive: NodeJS.Timeout | undefined;
  #isWarmingUp = false;
  #warmUp: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: EnginePoolOptions) {
    this.#options = options;
  }

  /**
   * Starts the threads that one task uses, so that the first query does not wait for them. The
   * first comes alone: further ones would take the processor from it and from this thread.
   */
  warmUp(): void {
    if (this.#slots.size === 0) this.#startWorker();
    this.#isWarmingUp = true;
  }

  #warmUpOthers(): void {
    if (!this.#isWarmingUp) return;
    this.#isWarmingUp = false;
    const count = Math.min(this.#options.threadCount, this.#options.taskCountMax);
    this.#warmUp = setTimeout(() => {
      while (this.#slots.size < count) this.#startWorker();
    }, WARM_UP_DELAY_MS);
    this.#warmUp.unref();
  }

  /**
   * Sends a message to every worker, before any task that is run after this call. Nobody is woken
   * for it: a worker reads it before its next work, or when it wakes up by itself.
   */
  broadcast(message: unknown): void {
    const envelope: ToWorker = { type: 'broadcast', message };
    for (const { mainPort } of this.#slots.values()) mainPort.postMessage(envelope);
  }

  /** Tasks that run or wait. */
  get activeCount(): number {
    let running = 0;
    for (const slot of this.#slots.values()) if (slot.task !== undefined) running++;
    return running + this.#queue.length;
  }

  /**
   * Runs a task in a worker. Aborting the signal cancels it.
   * @throws RowanError: the task's own, CANCELLED, or OUT_OF_MEMORY
   */
  run<Result>(kind: string, args: unknown, options: TaskOptions = {}): Promise<Result> {
    if (this.#closed) return Promise.reject(failure('SHUTTING_DOWN', { form: 'engine' }));
    if (options.signal?.aborted === true) return Promise.reject(cancelledError());
    let cancel = () => {};
    const running = new Promise<Result>((resolve, reject) => {
      const task: PendingTask = {
        id: this.#nextTaskId++,
        kind,
        args,
        options,
        runInOrigin: keepContext(),
        resolve: resolve as (result: unknown) => void,
        reject,
      };
      cancel = () => this.#cancel(task);
      options.signal?.addEventListener('abort', cancel, { once: true });
      if (options.isUrgent === true) this.#queue.unshift(task);
      else this.#queue.push(task);
      this.#dispatch();
    });
    // One signal may see many tasks: it must not hold those that have ended.
    return this.#keepProcessAlive(running, () =>
      options.signal?.removeEventListener('abort', cancel),
    );
  }

  /** Idle workers do not keep the process alive; a task whose result is awaited does. */
  async #keepProcessAlive<Result>(running: Promise<Result>, onEnd: () => void): Promise<Result> {
    this.#pendingCount++;
    this.#keepAlive ??= setInterval(() => undefined, KEEP_ALIVE_INTERVAL_MS);
    try {
      return await running;
    } finally {
      onEnd();
      if (--this.#pendingCount === 0) {
        clearInterval(this.#keepAlive);
        this.#keepAlive = undefined;
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#warmUp);
    for (const task of this.#queue.splice(0)) {
      task.reject(failure('SHUTTING_DOWN', { form: 'engine' }));
    }
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    await Promise.all(slots.map((slot) => this.#endWorker(slot)));
  }

  async #endWorker(slot: Slot): Promise<void> {
    clearTimeout(slot.terminator);
    slot.task?.reject(failure('SHUTTING_DOWN', { form: 'engine' }));
    slot.task = undefined;
    await this.#terminate(slot);
    slot.mainPort.close();
    slot.hostPort.close();
  }

  #dispatch(): void {
    Atomics.store(this.#control, POOL_CELL.queued, this.#queue.length);
    while (this.#queue.length > 0 && this.#mayBegin(this.#queue[0] as PendingTask)) {
      const slot = this.#claimWorker();
      if (slot === undefined) break;
      const task = this.#queue.shift() as PendingTask;
      Atomics.store(this.#control, POOL_CELL.queued, this.#queue.length);
      slot.task = task;
      Atomics.store(this.#control, cellOf(slot.index, CELL.cancel), 0);
      Atomics.store(this.#control, cellOf(slot.index, CELL.chunksInFlight), 0);
      try {
        const { id, kind, args, options } = task;
        this.#post(
          slot,
          { type: 'task', id, kind, args, isFrugal: options.isFrugal ?? true },
          options.transfer,
        );
      } catch (thrown) {
        slot.task = undefined;
        Atomics.store(this.#control, cellOf(slot.index, CELL.state), STATE.idle);
        task.reject(thrown);
      }
    }
  }

  /** The worker beyond their number is there for urgent tasks: the others may all wait for those. */
  #mayBegin({ options }: PendingTask): boolean {
    if (options.isUrgent === true) return true;
    let count = 0;
    for (const { task } of this.#slots.values()) {
      if (task !== undefined && task.options.isUrgent !== true) count++;
    }
    return count < this.#options.taskCountMax;
  }

  #claimWorker(): Slot | undefined {
    let starting = 0;
    for (const slot of this.#slots.values()) {
      if (slot.task !== undefined) continue;
      if (claim(this.#control, slot.index, STATE.leading)) return slot;
      const state = Atomics.load(this.#control, cellOf(slot.index, CELL.state));
      if (state === STATE.starting) starting++;
    }
    const urgentCount = this.#queue.filter(({ options }) => options.isUrgent === true).length;
    const free = this.#options.taskCountMax + urgentCount - this.#slots.size;
    for (let i = starting; i < Math.min(this.#queue.length, starting + free); i++) {
      this.#startWorker();
    }
    return undefined;
  }

  #startWorker(): void {
    const index = this.#freeSlotIndex();
    const main = new MessageChannel();
    const host = new MessageChannel();
    const peers: [number, MessagePort][] = [];
    for (const other of this.#slots.values()) {
      const pair = new MessageChannel();
      peers.push([other.index, pair.port1]);
      this.#post(other, { type: 'peer', slot: index, port: pair.port2 }, [pair.port2]);
    }
    for (const cell of Object.values(CELL)) Atomics.store(this.#control, cellOf(index, cell), 0);
    Atomics.store(this.#control, cellOf(index, CELL.state), STATE.starting);
    const start: WorkerStart = {
      slot: index,
      control: this.#control,
      threadCount: this.#options.threadCount,
      mainPort: main.port2,
      hostPort: host.port2,
      peers,
      initialMessages: this.#options.initialMessages(),
    };
    const worker = takeThread(this.#options.entry);
    worker.postMessage(start, [main.port2, host.port2, ...peers.map(([, port]) => port)]);
    const slot: Slot = {
      index,
      worker,
      mainPort: main.port1,
      hostPort: host.port1,
      hasStarted: false,
      task: undefined,
      terminator: undefined,
      ending: undefined,
      delivery: Promise.resolve(),
    };
    this.#slots.set(index, slot);
    main.port1.on('message', (message: ToMain) => this.#receive(slot, message));
    main.port1.unref();
    worker.on('error', (error) => this.#workerFailed(slot, error));
    worker.on('exit', () => this.#workerFailed(slot, new Error('worker thread ended')));
  }

  #freeSlotIndex(): number {
    for (let index = 0; index < SLOT_COUNT_MAX; index++) {
      if (!this.#slots.has(index)) return index;
    }
    throw new Error(`more than ${SLOT_COUNT_MAX} workers`);
  }

  #receive(slot: Slot, message: ToMain): void {
    switch (message.type) {
      case 'ready':
        slot.hasStarted = true;
        this.#dispatch();
        this.#warmUpOthers();
        return;
      case 'idle':
        this.#dispatch();
        return;
      case 'progress':
        if (slot.task?.id === message.id) slot.task.options.onProgress?.(message.document);
        return;
      case 'chunk':
        slot.delivery = slot.delivery.then(() =>
          this.#deliverChunk(slot, message.id, message.bytes),
        );
        return;
      case 'host':
        void this.#answerHostCall(slot, message);
        return;
      case 'result':
        if (message.bytes !== undefined) {
          const { bytes, id } = message;
          slot.delivery = slot.delivery.then(() => this.#handOver(slot, id, bytes));
        }
        void slot.delivery.then(() => {
          this.#finish(slot, message.id)?.resolve(message.result);
          this.#dispatch();
        });
        return;
      case 'error':
        if (message.error.code === 'INTERNAL') {
          this.#options.onDefect?.(message.error.error, message.stack);
        }
        void slot.delivery.then(() => {
          this.#finish(slot, message.id)?.reject(RowanError.fromBody(message.error));
          this.#dispatch();
        });
        return;
    }
  }

  #finish(slot: Slot, id: number): PendingTask | undefined {
    if (slot.task?.id !== id) return undefined;
    const { task } = slot;
    slot.task = undefined;
    clearTimeout(slot.terminator);
    slot.terminator = undefined;
    return task;
  }

  async #deliverChunk(slot: Slot, id: number, bytes: Uint8Array): Promise<void> {
    await this.#handOver(slot, id, bytes);
    const cell = cellOf(slot.index, CELL.chunksInFlight);
    Atomics.sub(this.#control, cell, 1);
    Atomics.notify(this.#control, cell);
  }

  async #handOver(slot: Slot, id: number, bytes: Uint8Array): Promise<void> {
    const task = slot.task?.id === id ? slot.task : undefined;
    try {
      await task?.options.onChunk?.(bytes);
    } catch {
      if (task !== undefined) this.#cancel(task);
    }
  }

  async #answerHostCall(
    slot: Slot,
    { call, request }: Extract<ToMain, { type: 'host' }>,
  ): Promise<void> {
    let reply: HostReply;
    try {
      const { onHostCall } = this.#options;
      if (onHostCall === undefined) throw new Error('no host to call');
      const ask = () => onHostCall(request);
      reply = { call, result: await (slot.task?.runInOrigin(ask) ?? ask()) };
    } catch (thrown) {
      reply = { call, error: errorBody(thrown) };
    }
    slot.hostPort.postMessage(reply);
    const cell = cellOf(slot.index, CELL.hostReplies);
    Atomics.add(this.#control, cell, 1);
    Atomics.notify(this.#control, cell);
  }

  #cancel(task: PendingTask): void {
    const queued = this.#queue.indexOf(task);
    if (queued !== -1) {
      this.#queue.splice(queued, 1);
      Atomics.store(this.#control, POOL_CELL.queued, this.#queue.length);
      task.reject(cancelledError());
      return;
    }
    const slot = [...this.#slots.values()].find((candidate) => candidate.task === task);
    if (slot === undefined || slot.terminator !== undefined) return;
    Atomics.store(this.#control, cellOf(slot.index, CELL.cancel), 1);
    Atomics.notify(this.#control, cellOf(slot.index, CELL.chunksInFlight));
    Atomics.notify(this.#control, cellOf(slot.index, CELL.hostReplies));
    this.#endUnstoppable(slot, CANCEL_GRACE_MS);
  }

  /** Ends threads that work for a cancelled task and cannot look; when time is up, all of its own. */
  #endUnstoppable(slot: Slot, graceMs: number): void {
    slot.terminator = setTimeout(() => {
      const isOver = graceMs <= CANCEL_LOOK_MS || this.#isUnstoppable(slot);
      for (const other of this.#slots.values()) {
        // What a helper does after its leader has gone would count for the next one in that slot.
        if (!isOver && !this.#isUnstoppable(other)) continue;
        if (condemnHelper(this.#control, other.index, slot.index)) void this.#terminate(other);
      }
      if (isOver) void this.#terminate(slot);
      else this.#endUnstoppable(slot, graceMs - CANCEL_LOOK_MS);
    }, CANCEL_LOOK_MS);
  }

  #isUnstoppable({ index }: Slot): boolean {
    return Atomics.load(this.#control, cellOf(index, CELL.unstoppable)) !== 0;
  }

  /** Ends a worker. The locks that it holds in shared memory are released: other threads wait for them. */
  #terminate(slot: Slot): Promise<void> {
    slot.ending ??= this.#end(slot.worker);
    return slot.ending;
  }

  async #end(worker: Worker): Promise<void> {
    const { threadId } = worker;
    this.#options.termination?.begin(threadId);
    await worker.terminate();
    this.#options.termination?.end(threadId);
  }

  #workerFailed(slot: Slot, error: Error): void {
    if (this.#slots.get(slot.index) !== slot) return;
    this.#slots.delete(slot.index);
    Atomics.store(this.#control, cellOf(slot.index, CELL.state), STATE.empty);
    const { task } = slot;
    slot.task = undefined;
    const wasCancelled = slot.terminator !== undefined;
    clearTimeout(slot.terminator);
    slot.mainPort.close();
    slot.hostPort.close();
    if (task !== undefined) task.reject(this.#deathError(error, wasCancelled));
    else if (!this.#closed && slot.ending === undefined) {
      this.#options.onDefect?.(error.message, error.stack);
    }
    this.#wakeLeaders();
    if (this.#closed || this.#queue.length === 0) return;
    // Another one would not start either.
    if (!slot.hasStarted && this.#slots.size === 0) {
      for (const waiting of this.#queue.splice(0)) waiting.reject(error);
    }
    this.#dispatch();
  }

  /** Those that wait for a helper see that it is gone. */
  #wakeLeaders(): void {
    for (const { index } of this.#slots.values()) {
      Atomics.notify(this.#control, cellOf(index, CELL.helpersDone));
    }
  }

  #deathError(error: Error, wasCancelled: boolean): unknown {
    if (wasCancelled) return cancelledError();
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return failure('OUT_OF_MEMORY', 'Out of memory. The task needed more than a worker may use.');
    }
    this.#options.onDefect?.(error.message, error.stack);
    return error;
  }

  #post(
    slot: Slot,
    message: ToWorker,
    transfer: readonly (MessagePort | ArrayBuffer)[] = [],
  ): void {
    slot.mainPort.postMessage(message, transfer);
    wake(this.#control, slot.index);
  }
}

function cancelledError(): RowanError {
  return failure('CANCELLED', 'the task was cancelled');
}
