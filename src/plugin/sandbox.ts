// The main thread's handle on one sandbox worker.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type CallContext, callContext, runInContext } from '../service/call-context.ts';
import { automaticRequestId } from '../service/id.ts';
import type { Role } from '../service/request.ts';
import { errorBody, failure, RowanError } from '../util/error.ts';
import { threadOptions, workerFile } from '../util/worker-file.ts';
import {
  CELL,
  CELL_COUNT,
  type FromSandbox,
  type HostAnswer,
  type LogEntry,
  type SandboxStart,
  type SandboxTaskKind,
  type SandboxTasks,
  type ToSandbox,
} from './message.ts';

export interface SandboxOptions {
  readonly memoryBytes: number;
  /** a failure that is ours */
  onDefect(message: string, stack: string | undefined): void;
}

/** What the scripts of a call may ask, and who hears what they log. */
export interface CallHost {
  /** what its requests may do */
  readonly role: Role;
  /** @param signal aborted when the call has ended */
  answer(name: string, argument: string, signal: AbortSignal): Promise<unknown>;
  log(entry: LogEntry): void;
}

export interface CallOptions {
  readonly host: CallHost;
  readonly timeLimitMs?: number | undefined;
  /** true: the time limit is of computing; while the script waits for the service it stands still */
  readonly limitsComputing?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** on whose behalf; default: on that of the running work */
  readonly context?: CallContext | undefined;
}

interface PendingCall {
  readonly id: number;
  readonly options: CallOptions;
  readonly start: ToSandbox;
  /** on whose behalf it is made */
  readonly context: CallContext | undefined;
  /** made while a script of this sandbox waits for it */
  readonly isNested: boolean;
  /** aborted when the call has ended: nobody needs its answers any more; made for the first */
  ended: AbortController | undefined;
  /** questions of the call that are not answered yet */
  questionCount: number;
  /** since when there are any, and how long there were before */
  waitStarted: number;
  waitedMs: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  stopWatching(): void;
}

/** Time beyond a limit after which a script that does not stop loses its worker. */
const OVERSTAY_MS = 1000;
/** A call that nothing is known about is taken for part of what the sandbox waits for, after this. */
const NESTING_PATIENCE_MS = 2000;
/** Native frames of the engine are large: its own stack limit must be met first. */
const THREAD_STACK_SIZE_MB = 64;

export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #control = new Int32Array(new SharedArrayBuffer(CELL_COUNT * 4));
  readonly #port: MessagePort;
  readonly #worker: Worker;
  /** the calls that run, the innermost last */
  readonly #running: PendingCall[] = [];
  readonly #waiting: PendingCall[] = [];
  #nextId = 1;
  #isSpent = false;
  #isClosed = false;
  #patience: NodeJS.Timeout | undefined;
  /** called when a call has ended or begins or stops to wait for the service */
  onChange: () => void = () => {};

  constructor(options: SandboxOptions) {
    this.#options = options;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const start: SandboxStart = {
      control: this.#control,
      port: port2,
      memoryBytes: options.memoryBytes,
    };
    this.#worker = new Worker(workerFile('plugin/sandbox-worker.ts'), {
      ...threadOptions(),
      workerData: start,
      transferList: [port2],
      name: 'rowan-sandbox',
      resourceLimits: { stackSizeMb: THREAD_STACK_SIZE_MB },
    });
    this.#worker.unref();
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('sandbox worker ended')));
    port1.on('message', (message: FromSandbox) => this.#receive(message));
    port1.unref();
  }

  /** false: it ended, and its scripts with it */
  get isAlive(): boolean {
    return !this.#isClosed;
  }

  /** true: a new one is better than to go on with it */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  get isIdle(): boolean {
    return this.#running.length === 0 && this.#waiting.length === 0;
  }

  /** true: its script waits for the service and does not compute */
  get isBlocked(): boolean {
    return (this.#running.at(-1)?.questionCount ?? 0) > 0;
  }

  /**
   * Calls into the sandbox, one call after the other. A call that a script of this sandbox waits
   * for runs nested in it.
   * @throws TIMEOUT, CANCELLED, OUT_OF_MEMORY
   */
  call<Kind extends SandboxTaskKind>(
    kind: Kind,
    args: SandboxTasks[Kind]['args'],
    options: CallOptions,
  ): Promise<SandboxTasks[Kind]['result']> {
    if (this.#isClosed) {
      const error = ended();
      neverBegun.add(error);
      return Promise.reject(error);
    }
    if (options.signal?.aborted === true) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const context = options.context ?? callContext();
      this.#waiting.push({
        id,
        options,
        start: {
          type: 'call',
          id,
          kind,
          args,
          timeLimitMs: options.timeLimitMs,
          limitsComputing: options.limitsComputing === true,
        },
        context,
        isNested: context?.sandboxes.includes(this) === true,
        ended: undefined,
        questionCount: 0,
        waitStarted: 0,
        waitedMs: 0,
        resolve: resolve as (result: unknown) => void,
        reject,
        stopWatching() {},
      });
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    this.#rejectAll(failure('CANCELLED', 'the script was ended'));
    this.#port.close();
    await this.#worker.terminate();
  }

  #startNext(): void {
    for (;;) {
      const isIdle = this.#running.length === 0;
      const index = isIdle ? 0 : this.#waiting.findIndex(({ isNested }) => isNested);
      if (!isIdle && !this.isBlocked) break;
      const [call] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (call === undefined) break;
      this.#start(call);
    }
    this.#watchPatience();
    this.onChange();
  }

  /** Calls by ways that cannot be followed must not wait for one another for ever. */
  #watchPatience(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (!this.isBlocked || this.#waiting.length === 0) return;
    this.#patience = setTimeout(() => {
      const call = this.isBlocked ? this.#waiting.shift() : undefined;
      if (call !== undefined) this.#start(call);
      this.#watchPatience();
    }, NESTING_PATIENCE_MS);
    this.#patience.unref();
  }

  #start(call: PendingCall): void {
    this.#running.push(call);
    const { signal } = call.options;
    const stopLimiting = this.#limitTime(call);
    let cancelTimer: NodeJS.Timeout | undefined;
    const cancel = () => {
      Atomics.store(this.#control, CELL.cancelled, call.id);
      this.#wake();
      cancelTimer = setTimeout(() => this.#overstay(call, cancelled()), OVERSTAY_MS);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    call.stopWatching = () => {
      stopLimiting();
      clearTimeout(cancelTimer);
      signal?.removeEventListener('abort', cancel);
    };
    if (signal?.aborted === true) cancel();
    this.#post(call.start);
    this.#worker.ref();
  }

  /** Ends a call that has not stopped by itself when its time was up. @returns what ends that */
  #limitTime(call: PendingCall): () => void {
    const { timeLimitMs, limitsComputing } = call.options;
    if (timeLimitMs === undefined) return () => {};
    const started = performance.now();
    let timer: NodeJS.Timeout;
    const check = () => {
      const waitedMs = limitsComputing === true ? waitedMsOf(call) : 0;
      const leftMs = timeLimitMs + OVERSTAY_MS + waitedMs - (performance.now() - started);
      if (leftMs <= 0) this.#overstay(call, timeLimit(timeLimitMs));
      else timer = setTimeout(check, Math.max(leftMs, 50));
    };
    check();
    return () => clearTimeout(timer);
  }

  #receive(message: FromSandbox): void {
    switch (message.type) {
      case 'host':
        void this.#answer(message);
        return;
      case 'log':
        this.#find(message.call)?.options.host.log(message.entry);
        return;
      case 'spent':
        this.#isSpent = true;
        return;
      case 'result':
        this.#end(message.id)?.resolve(message.result);
        this.#startNext();
        return;
      case 'error':
        if (message.error.code === 'INTERNAL') {
          this.#options.onDefect(message.error.error, message.stack);
        }
        this.#end(message.id)?.reject(RowanError.fromBody(message.error));
        this.#startNext();
        return;
    }
  }

  async #answer({ id, call: callId, name, argument }: FromSandbox & { type: 'host' }) {
    const call = this.#find(callId);
    if (call === undefined) return;
    if (call.questionCount++ === 0) call.waitStarted = performance.now();
    this.#startNext();
    const { host } = call.options;
    call.ended ??= new AbortController();
    const { signal } = call.ended;
    const context: CallContext = {
      role: host.role,
      signal,
      requestId: call.context?.requestId ?? automaticRequestId(),
      sandboxes: [...(call.context?.sandboxes ?? []), this],
    };
    let answer: HostAnswer;
    try {
      const work = () => host.answer(name, argument, signal);
      answer = { result: await runInContext(context, work) };
    } catch (thrown) {
      answer = { error: errorBody(thrown) };
      if (answer.error.code === 'INTERNAL' && thrown instanceof Error) {
        this.#options.onDefect(thrown.message, thrown.stack);
      }
    }
    if (--call.questionCount === 0) call.waitedMs += performance.now() - call.waitStarted;
    if (this.#isClosed) return;
    try {
      this.#post({ type: 'answer', id, answer });
    } catch (thrown) {
      this.#post({ type: 'answer', id, answer: { error: errorBody(thrown) } });
    }
    this.onChange();
  }

  #find(id: number): PendingCall | undefined {
    return this.#running.find((call) => call.id === id);
  }

  #end(id: number): PendingCall | undefined {
    const index = this.#running.findIndex((call) => call.id === id);
    if (index === -1) return undefined;
    const [call] = this.#running.splice(index, 1);
    call?.stopWatching();
    call?.ended?.abort();
    if (this.#running.length === 0) {
      Atomics.store(this.#control, CELL.cancelled, 0);
      this.#worker.unref();
    }
    return call;
  }

  /** The script did not stop when it was told to. */
  #overstay(call: PendingCall, error: RowanError): void {
    if (this.#find(call.id) === undefined) return;
    this.#end(call.id)?.reject(error);
    this.#isClosed = true;
    this.#rejectAll(ended());
    this.#port.close();
    void this.#worker.terminate();
    this.onChange();
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onDefect(error.message, error.stack);
    const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#rejectAll(
      isMemory ? failure('OUT_OF_MEMORY', 'Out of memory. The script ended.') : ended(),
    );
    this.#port.close();
    this.onChange();
  }

  #rejectAll(error: RowanError): void {
    clearTimeout(this.#patience);
    for (const call of [...this.#running]) this.#end(call.id)?.reject(error);
    for (const call of this.#waiting.splice(0)) {
      const own = new RowanError(error.code, error.httpCode, error.message);
      neverBegun.add(own);
      call.reject(own);
    }
  }

  #post(message: ToSandbox): void {
    this.#port.postMessage(message);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.#control, CELL.wake, 1);
    Atomics.notify(this.#control, CELL.wake);
  }
}

function waitedMsOf({ questionCount, waitStarted, waitedMs }: PendingCall): number {
  return questionCount === 0 ? waitedMs : waitedMs + performance.now() - waitStarted;
}

function timeLimit(limitMs: number): RowanError {
  return failure('TIMEOUT', `script exceeded its time limit of ${limitMs} ms`);
}

function cancelled(): RowanError {
  return failure('CANCELLED', 'the script was cancelled');
}

/** Another call of the same sandbox went too far, and all ended with it. */
function ended(): RowanError {
  return failure('SCRIPT_EXCEPTION', 'the sandbox of the script ended; try again');
}

const neverBegun = new WeakSet<object>();

/** Whether a call failed because its sandbox ended before it began: it can be made anew. */
export function wasNeverBegun(error: unknown): boolean {
  return typeof error === 'object' && error !== null && neverBegun.has(error);
}
