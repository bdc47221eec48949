// The main thread's handle on one sandbox worker. Calls are sent ahead while the worker is busy, so
// that neither thread has to be woken for each of them.
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import { automaticRequestId } from '../service/id.ts';
import type { Role } from '../service/route/request.ts';
import {
  callContext,
  type RequestContext,
  runInContext,
} from '../service/route/request-context.ts';
import { errorBody, failure, RowanError } from '../util/error.ts';
import { threadOptions, workerFile } from '../util/worker-file.ts';
import { CallSlots, SLOT_COUNT } from './call-slots.ts';
import type {
  FromSandbox,
  HostAnswer,
  LogEntry,
  SandboxCall,
  SandboxStart,
  SandboxTaskKind,
  SandboxTasks,
  ToSandbox,
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
  /** a function: making one costs something, so it is asked for when the call takes its time */
  readonly signal?: AbortSignal | (() => AbortSignal) | undefined;
  /** on whose behalf; default: on that of the running work */
  readonly context?: RequestContext | undefined;
}

interface PendingCall {
  readonly id: number;
  readonly kind: SandboxTaskKind;
  readonly args: unknown;
  readonly options: CallOptions;
  /** on whose behalf it is made */
  readonly context: RequestContext | undefined;
  /** made while a script of this sandbox waits for it */
  readonly isNested: boolean;
  /** aborted when the call has ended: nobody needs its answers any more; made for the first */
  ended: AbortController | undefined;
  /** questions of the call that are not answered yet */
  questionCount: number;
  /** since when there are any, and how long there were before */
  waitStarted: number;
  waitedMs: number;
  /** where its state lies; undefined: it is not sent yet */
  slot: number | undefined;
  /** when it was first seen to have begun */
  began: number | undefined;
  /** when it was told to stop */
  cancelled: number | undefined;
  /** its caller has been told how it ended */
  isSettled: boolean;
  isWatched: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  stopWatching(): void;
}

/** Calls in the worker beside those that run nested. */
const SENT_COUNT_MAX = 32;
/** How often calls that take their time are looked at. */
const WATCH_INTERVAL_MS = 20;

/** Time beyond a limit after which a script that does not stop loses its worker. */
const OVERSTAY_MS = 1000;
/** A call that nothing is known about is taken for part of what the sandbox waits for, after this. */
const NESTING_PATIENCE_MS = 2000;
/** Native frames of the engine are large: its own stack limit must be met first. */
const THREAD_STACK_SIZE_MB = 64;

export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #wakeCell = new Int32Array(new SharedArrayBuffer(4));
  readonly #slots = new CallSlots();
  readonly #freeSlots = Array.from({ length: SLOT_COUNT }, (_, index) => SLOT_COUNT - 1 - index);
  readonly #port: MessagePort;
  readonly #worker: Worker;
  /** calls in the worker, in the order in which they were sent */
  readonly #sent = new Map<number, PendingCall>();
  /** calls that ask or have asked the service, and those nested in them; the innermost last */
  readonly #nest: PendingCall[] = [];
  readonly #waiting: PendingCall[] = [];
  #isSendingSoon = false;
  #watch: NodeJS.Timeout | undefined;
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
      wake: this.#wakeCell,
      slotMemory: this.#slots.memory,
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
    port1.on('message', (message: FromSandbox) => {
      this.#receive(message);
      this.#startNext();
    });
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
    return this.#sent.size === 0 && this.#waiting.length === 0;
  }

  /** true: its script waits for the service and does not compute */
  get isBlocked(): boolean {
    return (this.#nest.at(-1)?.questionCount ?? 0) > 0;
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
    const { signal } = options;
    if (typeof signal === 'object' && signal.aborted) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const context = options.context ?? callContext();
      const call: PendingCall = {
        id: this.#nextId++,
        kind,
        args,
        options,
        context,
        isNested: context?.sandboxes.includes(this) === true,
        ended: undefined,
        questionCount: 0,
        waitStarted: 0,
        waitedMs: 0,
        slot: undefined,
        began: undefined,
        cancelled: undefined,
        isSettled: false,
        isWatched: false,
        resolve: resolve as (result: unknown) => void,
        reject,
        stopWatching() {},
      };
      this.#waiting.push(call);
      if (typeof signal === 'object') this.#watchSignal(call, signal);
      if (this.isBlocked) this.#startNext();
      else this.#startSoon();
      this.#watchSoon();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    this.#rejectAll(failure('CANCELLED', 'the script was ended'));
    this.#port.close();
    await this.#worker.terminate();
  }

  /** Calls that come in one turn of the event loop are sent together. */
  #startSoon(): void {
    if (this.#isSendingSoon) return;
    this.#isSendingSoon = true;
    setImmediate(() => {
      this.#isSendingSoon = false;
      if (!this.#isClosed) this.#startNext();
    });
  }

  #startNext(): void {
    const calls: SandboxCall[] = [];
    while (this.#freeSlots.length > 0) {
      const isNested = this.#nest.length > 0;
      // While one script waits for the service, only what it waits for may begin.
      const index = isNested ? this.#waiting.findIndex((call) => call.isNested) : 0;
      if (isNested ? !this.isBlocked : this.#sent.size >= SENT_COUNT_MAX) break;
      const [call] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (call === undefined) break;
      calls.push(this.#start(call, isNested));
    }
    if (calls.length > 0) this.#post({ type: 'calls', calls });
    if (this.#freeSlots.length === 0) this.#refuseNested();
    this.#watchPatience();
    this.onChange();
  }

  /** The script that waits for them would wait for ever. */
  #refuseNested(): void {
    for (const call of this.#waiting.filter(({ isNested }) => isNested)) {
      this.#waiting.splice(this.#waiting.indexOf(call), 1);
      this.#settle(call)?.reject(failure('OVERLOADED', 'scripts wait for one another too deeply'));
    }
  }

  /** Calls by ways that cannot be followed must not wait for one another for ever. */
  #watchPatience(): void {
    const mayHelp =
      this.isBlocked && (this.#waiting.length > 0 || this.#firstAhead() !== undefined);
    if (!mayHelp) {
      clearTimeout(this.#patience);
      this.#patience = undefined;
      return;
    }
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      if (this.isBlocked) this.#startOutOfOrder();
      this.#watchPatience();
    }, NESTING_PATIENCE_MS).unref();
  }

  #startOutOfOrder(): void {
    const ahead = this.#firstAhead();
    if (ahead !== undefined) {
      this.#nest.push(ahead);
      this.#post({ type: 'nest', id: ahead.id });
      return;
    }
    const call = this.#waiting.shift();
    if (call !== undefined) this.#post({ type: 'calls', calls: [this.#start(call, true)] });
  }

  /** The first call that lies in the worker and has not begun. */
  #firstAhead(): PendingCall | undefined {
    for (const call of this.#sent.values()) {
      const isAhead = !call.isSettled && !this.#nest.includes(call);
      if (isAhead && !this.#slots.hasBegun(call.slot as number)) return call;
    }
    return undefined;
  }

  #start(call: PendingCall, isNested: boolean): SandboxCall {
    const { id, kind, args } = call;
    const { timeLimitMs, limitsComputing = false } = call.options;
    const slot = this.#freeSlots.pop() as number;
    call.slot = slot;
    this.#slots.send(slot);
    if (this.#sent.size === 0) this.#worker.ref();
    this.#sent.set(id, call);
    if (isNested) this.#nest.push(call);
    return { id, slot, kind, args, timeLimitMs, limitsComputing, isNested };
  }

  #watchSignal(call: PendingCall, signal: AbortSignal): void {
    call.isWatched = true;
    const cancel = () => this.#cancel(call);
    signal.addEventListener('abort', cancel, { once: true });
    call.stopWatching = () => signal.removeEventListener('abort', cancel);
    if (signal.aborted) cancel();
  }

  /** A call that has not begun never does; another one is told to stop. */
  #cancel(call: PendingCall): void {
    if (call.slot === undefined) {
      this.#waiting.splice(this.#waiting.indexOf(call), 1);
      this.#settle(call)?.reject(cancelled());
      this.onChange();
    } else if (this.#slots.takeBack(call.slot)) {
      this.#settle(call)?.reject(cancelled());
    } else {
      call.cancelled ??= performance.now();
      this.#slots.cancel(call.slot);
      this.#wake();
    }
  }

  #watchSoon(): void {
    this.#watch ??= setTimeout(() => {
      this.#watch = undefined;
      this.#lookAtCalls();
      if (!this.isIdle && !this.#isClosed) this.#watchSoon();
    }, WATCH_INTERVAL_MS).unref();
  }

  /** One timer for all calls, since most have ended before anybody needs to look at them. */
  #lookAtCalls(): void {
    if (this.#takeAnswers()) this.#startNext();
    const now = performance.now();
    for (const call of [...this.#sent.values(), ...this.#waiting]) {
      const { signal } = call.options;
      if (!call.isWatched && typeof signal === 'function') this.#watchSignal(call, signal());
      const error = this.#overstayOf(call, now);
      if (error === undefined) continue;
      this.#overstay(call, error);
      return;
    }
  }

  /** Why a call should have ended by itself; undefined: it need not have. */
  #overstayOf(call: PendingCall, now: number): RowanError | undefined {
    if (call.slot === undefined || call.isSettled || !this.#slots.hasBegun(call.slot)) {
      return undefined;
    }
    call.began ??= now;
    if (call.cancelled !== undefined && now - call.cancelled > OVERSTAY_MS) return cancelled();
    const { timeLimitMs, limitsComputing } = call.options;
    if (timeLimitMs === undefined) return undefined;
    const waitedMs = limitsComputing === true ? waitedMsOf(call) : 0;
    return now - call.began - waitedMs > timeLimitMs + OVERSTAY_MS
      ? timeLimit(timeLimitMs)
      : undefined;
  }

  /** Takes the replies that lie in the slots. @returns whether there were any */
  #takeAnswers(): boolean {
    let isAny = false;
    for (const call of this.#sent.values()) {
      const text = this.#slots.answer(call.slot as number);
      if (text === undefined) continue;
      isAny = true;
      this.#end(call.id)?.resolve({ result: text, logs: [] });
    }
    return isAny;
  }

  #receive(message: FromSandbox): void {
    this.#takeAnswers();
    switch (message.type) {
      case 'bell':
        return;
      case 'host':
        void this.#answer(message);
        return;
      case 'log':
        this.#sent.get(message.call)?.options.host.log(message.entry);
        return;
      case 'spent':
        this.#isSpent = true;
        return;
      case 'broken':
        this.#giveUp(ended());
        return;
      case 'passed':
        this.#end(message.id);
        return;
      case 'result':
        this.#end(message.id)?.resolve(message.result);
        return;
      case 'error':
        if (message.error.code === 'INTERNAL') {
          this.#options.onDefect(message.error.error, message.stack);
        }
        this.#end(message.id)?.reject(RowanError.fromBody(message.error));
        return;
    }
  }

  async #answer({ id, call: callId, name, argument }: FromSandbox & { type: 'host' }) {
    const call = this.#sent.get(callId);
    if (call === undefined) return;
    if (!this.#nest.includes(call)) this.#nest.push(call);
    if (call.questionCount++ === 0) call.waitStarted = performance.now();
    this.#startNext();
    const { host } = call.options;
    call.ended ??= new AbortController();
    const { signal } = call.ended;
    const context: RequestContext = {
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

  /** Takes a call out of the worker. @returns it, unless its end has been told */
  #end(id: number): PendingCall | undefined {
    const call = this.#sent.get(id);
    if (call === undefined) return undefined;
    this.#sent.delete(id);
    const nestIndex = this.#nest.indexOf(call);
    if (nestIndex !== -1) this.#nest.splice(nestIndex, 1);
    const slot = call.slot as number;
    this.#slots.free(slot);
    this.#freeSlots.push(slot);
    if (this.#sent.size === 0) this.#worker.unref();
    return this.#settle(call);
  }

  #settle(call: PendingCall): PendingCall | undefined {
    if (call.isSettled) return undefined;
    call.isSettled = true;
    call.stopWatching();
    call.ended?.abort();
    return call;
  }

  /** The script did not stop when it was told to. */
  #overstay(call: PendingCall, error: RowanError): void {
    // What has ended meanwhile is not to be lost.
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) break;
      this.#receive(received.message as FromSandbox);
      if (this.#isClosed) return;
    }
    if (!this.#sent.has(call.id)) return;
    this.#end(call.id)?.reject(error);
    this.#giveUp(ended());
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.#takeAnswers();
    this.#options.onDefect(error.message, error.stack);
    const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#giveUp(isMemory ? failure('OUT_OF_MEMORY', 'Out of memory. The script ended.') : ended());
  }

  #giveUp(error: RowanError): void {
    this.#isClosed = true;
    this.#takeAnswers();
    this.#rejectAll(error);
    this.#port.close();
    void this.#worker.terminate();
    this.onChange();
  }

  #rejectAll(error: RowanError): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#watch);
    const unbegun = this.#waiting.splice(0);
    for (const call of [...this.#sent.values()]) {
      if (this.#slots.takeBack(call.slot as number)) {
        const settled = this.#end(call.id);
        if (settled !== undefined) unbegun.push(settled);
      } else {
        this.#end(call.id)?.reject(error);
      }
    }
    for (const call of unbegun) {
      const own = new RowanError(error.code, error.httpCode, error.message);
      neverBegun.add(own);
      call.stopWatching();
      call.reject(own);
    }
  }

  #post(message: ToSandbox): void {
    this.#port.postMessage(message);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.#wakeCell, 0, 1);
    Atomics.notify(this.#wakeCell, 0);
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
