// The entry of a sandbox worker: runs scripts one at a time. While a script waits for an answer of
// the service, calls that the answer depends on run nested.
// Replies lie in shared memory as soon as they are there; telling the main thread so wakes it, which
// costs more than a short script, and so one bell rings for several of them.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { newQuickJSWASMModule, newVariant, RELEASE_SYNC } from 'quickjs-emscripten';
import { errorBody, failure, RowanError } from '../util/error.ts';
import { CallSlots } from './call-slots.ts';
import type { FromSandbox, HostAnswer, SandboxCall, SandboxStart, ToSandbox } from './message.ts';
import { ScriptTasks, type TaskCall } from './script-tasks.ts';

const PAGE_SIZE_BYTES = 65_536;
const PAGE_COUNT_MIN = 256;
const PAGE_COUNT_MAX = 32_768;
/** A memory never shrinks: a worker that has grown this far is given up when it is idle. */
const SPENT_SIZE_BYTES = 128 << 20;
/** How long a reply may wait for the bell while further calls are served. */
const BELL_DELAY_MS = 1;

interface RunningCall {
  readonly id: number;
  readonly slot: number;
  readonly limit: TimeLimit | undefined;
}

class SandboxThread {
  readonly #port: MessagePort;
  readonly #wake: Int32Array;
  readonly #slots: CallSlots;
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytes: number;
  /** the calls that run, the innermost last */
  readonly #calls: RunningCall[] = [];
  /** calls that begin when the running one has ended */
  readonly #ahead: SandboxCall[] = [];
  /** answers that came while a nested call was running */
  readonly #answers = new Map<number, HostAnswer>();
  #nextQuestion = 1;
  #tasks: ScriptTasks | undefined;
  /** since when a reply waits for the bell */
  #unrungSince: number | undefined;
  #isBroken = false;
  #isSpent = false;

  constructor({ port, wake, slotMemory, memoryBytes }: SandboxStart) {
    this.#port = port;
    this.#wake = wake;
    this.#slots = new CallSlots(slotMemory);
    this.#memoryBytes = memoryBytes;
    const pages = Math.floor(memoryBytes / PAGE_SIZE_BYTES);
    this.#memory = new WebAssembly.Memory({
      initial: PAGE_COUNT_MIN,
      maximum: Math.min(Math.max(pages, PAGE_COUNT_MIN), PAGE_COUNT_MAX),
    });
  }

  async start(): Promise<void> {
    // What the engine prints when it stops is told by the errors that it throws.
    const emscriptenModule = { wasmMemory: this.#memory, printErr() {} };
    const engine = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { emscriptenModule }));
    this.#tasks = new ScriptTasks(engine, {
      ask: (name, argument) => this.#ask(name, argument),
      log: (entry) => this.#post({ type: 'log', call: this.#innermost(), entry }),
      interruption: () => {
        // Scripts that the engine interrupts may end late: the caller does not wait for them.
        this.#ring();
        return this.#interruption();
      },
      isMemoryExhausted: () => this.#memory.buffer.byteLength >= this.#memoryBytes * 0.9,
      spend: () => {
        this.#isSpent = true;
      },
    });
    this.#port.on('message', (message: ToSandbox) => {
      this.#receive(message);
      this.#serveAhead();
    });
  }

  #receive(message: ToSandbox): void {
    switch (message.type) {
      case 'calls':
        for (const call of message.calls) {
          if (call.isNested) this.#serve(call);
          else this.#ahead.push(call);
        }
        return;
      case 'nest': {
        const index = this.#ahead.findIndex(({ id }) => id === message.id);
        for (const call of index === -1 ? [] : this.#ahead.splice(index, 1)) this.#serve(call);
        return;
      }
      case 'answer':
        if (this.#calls.length > 0) this.#answers.set(message.id, message.answer);
        return;
    }
  }

  #serveAhead(): void {
    for (let call = this.#ahead.shift(); call !== undefined; call = this.#ahead.shift()) {
      this.#serve(call);
    }
    this.#ring();
  }

  #serve({ id, slot, kind, args, timeLimitMs, limitsComputing }: SandboxCall): void {
    if (this.#isBroken) {
      // Calls that have not begun the main thread gives to another sandbox.
      if (this.#calls.length === 0) return;
      const error = errorBody(failure('SCRIPT_EXCEPTION', 'the sandbox of the script ended'));
      this.#post({ type: 'error', id, error });
      return;
    }
    if (!this.#slots.begin(slot)) {
      this.#post({ type: 'passed', id });
      return;
    }
    const limit =
      timeLimitMs === undefined ? undefined : new TimeLimit(timeLimitMs, limitsComputing);
    this.#calls.push({ id, slot, limit });
    let reply: FromSandbox;
    try {
      const call = { kind, args } as TaskCall;
      reply = { type: 'result', id, result: (this.#tasks as ScriptTasks).run(call) };
    } catch (thrown) {
      reply = this.#errorReply(id, thrown);
    } finally {
      this.#calls.pop();
    }
    this.#answer(slot, reply);
    if (this.#calls.length > 0) return;
    this.#answers.clear();
    if (this.#isBroken) this.#post({ type: 'broken' });
    else if (this.#isSpent || this.#memory.buffer.byteLength > SPENT_SIZE_BYTES) {
      this.#post({ type: 'spent' });
    }
  }

  #answer(slot: number, reply: FromSandbox): void {
    const text = plainText(reply);
    if (text === undefined || !this.#slots.putAnswer(slot, text)) {
      this.#post(reply);
      return;
    }
    const now = performance.now();
    this.#unrungSince ??= now;
    if (now - this.#unrungSince >= BELL_DELAY_MS) this.#ring();
  }

  #ring(): void {
    if (this.#unrungSince === undefined) return;
    this.#unrungSince = undefined;
    this.#port.postMessage({ type: 'bell' } satisfies FromSandbox);
  }

  #errorReply(id: number, thrown: unknown): FromSandbox {
    if (thrown instanceof RowanError) return { type: 'error', id, error: errorBody(thrown) };
    // The engine itself broke: what it was doing last tells why.
    this.#isBroken = true;
    if (this.#memory.buffer.byteLength >= this.#memoryBytes * 0.9) {
      const error = errorBody(failure('OUT_OF_MEMORY', 'Out of memory. The script ended.'));
      return { type: 'error', id, error };
    }
    if (thrown instanceof RangeError) {
      const error = errorBody(failure('SCRIPT_EXCEPTION', 'script exceeded its stack'));
      return { type: 'error', id, error };
    }
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    const error = errorBody(thrown);
    return { type: 'error', id, error, ...(stack === undefined ? {} : { stack }) };
  }

  /** Asks the main thread and waits, serving nested calls. */
  #ask(name: string, argument: string): HostAnswer {
    const id = this.#nextQuestion++;
    this.#post({ type: 'host', id, call: this.#innermost(), name, argument });
    const limits = this.#calls.map(({ limit }) => limit);
    for (const limit of limits) limit?.beginWaiting();
    try {
      return this.#awaitAnswer(id);
    } finally {
      for (const limit of limits) limit?.endWaiting();
    }
  }

  #awaitAnswer(id: number): HostAnswer {
    for (;;) {
      const seen = Atomics.load(this.#wake, 0);
      const received = receiveMessageOnPort(this.#port);
      if (received !== undefined) {
        this.#receive(received.message as ToSandbox);
        const answer = this.#answers.get(id);
        if (answer === undefined) continue;
        this.#answers.delete(id);
        return answer;
      }
      const interruption = this.#interruption();
      if (interruption !== undefined) return { error: errorBody(interruption) };
      this.#ring();
      Atomics.wait(this.#wake, 0, seen, this.#leftMs());
    }
  }

  #innermost(): number {
    return this.#calls.at(-1)?.id ?? 0;
  }

  #interruption(): Error | undefined {
    for (const { slot, limit } of this.#calls) {
      if (this.#slots.isCancelled(slot)) return failure('CANCELLED', 'the script was cancelled');
      if (limit?.isOver === true) return limit.failure();
    }
    return undefined;
  }

  #leftMs(): number | undefined {
    let left: number | undefined;
    for (const { limit } of this.#calls) {
      if (limit !== undefined) left = Math.min(left ?? Number.POSITIVE_INFINITY, limit.leftMs);
    }
    return left;
  }

  /** Sends a message, which tells of all replies before it too. */
  #post(message: FromSandbox): void {
    this.#unrungSince = undefined;
    this.#port.postMessage(message);
  }
}

/** The text of a reply that has nothing else in it. */
function plainText(reply: FromSandbox): string | undefined {
  if (reply.type !== 'result') return undefined;
  const { result, logs } = reply.result as { result?: unknown; logs?: readonly unknown[] };
  return typeof result === 'string' && logs?.length === 0 ? result : undefined;
}

class TimeLimit {
  readonly #limitMs: number;
  readonly #limitsComputing: boolean;
  #end: number;
  /** waits that the script is in, each inside the one before */
  #waitDepth = 0;
  #waitStarted = 0;

  constructor(limitMs: number, limitsComputing: boolean) {
    this.#limitMs = limitMs;
    this.#limitsComputing = limitsComputing;
    this.#end = performance.now() + limitMs;
  }

  get leftMs(): number {
    return this.#isStopped ? Number.POSITIVE_INFINITY : Math.max(0, this.#end - performance.now());
  }

  get isOver(): boolean {
    return !this.#isStopped && performance.now() >= this.#end;
  }

  /** Where waiting does not count, the clock stands still meanwhile. */
  get #isStopped(): boolean {
    return this.#limitsComputing && this.#waitDepth > 0;
  }

  beginWaiting(): void {
    if (this.#waitDepth++ === 0) this.#waitStarted = performance.now();
  }

  endWaiting(): void {
    if (--this.#waitDepth > 0 || !this.#limitsComputing) return;
    this.#end += performance.now() - this.#waitStarted;
  }

  failure(): Error {
    return failure('TIMEOUT', `script exceeded its time limit of ${this.#limitMs} ms`);
  }
}

await new SandboxThread(workerData as SandboxStart).start();
