// The entry of a sandbox worker: runs scripts one at a time. While a script waits for an answer of
// the service, calls that the answer depends on run nested.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { newQuickJSWASMModule, newVariant, RELEASE_SYNC } from 'quickjs-emscripten';
import { errorBody, failure, RowanError } from '../util/error.ts';
import {
  CELL,
  type FromSandbox,
  type HostAnswer,
  type SandboxStart,
  type ToSandbox,
} from './message.ts';
import { ScriptTasks, type TaskCall } from './script-tasks.ts';

const PAGE_SIZE_BYTES = 65_536;
const PAGE_COUNT_MIN = 256;
const PAGE_COUNT_MAX = 32_768;
/** A memory never shrinks: a worker that has grown this far is given up when it is idle. */
const SPENT_SIZE_BYTES = 128 << 20;

class SandboxThread {
  readonly #port: MessagePort;
  readonly #control: Int32Array;
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytes: number;
  /** the calls that run, the innermost last */
  readonly #calls: { readonly id: number; readonly limit: TimeLimit | undefined }[] = [];
  /** answers that came while a nested call was running */
  readonly #answers = new Map<number, HostAnswer>();
  #nextQuestion = 1;
  #tasks: ScriptTasks | undefined;

  constructor({ port, control, memoryBytes }: SandboxStart) {
    this.#port = port;
    this.#control = control;
    this.#memoryBytes = memoryBytes;
    const pages = Math.floor(memoryBytes / PAGE_SIZE_BYTES);
    this.#memory = new WebAssembly.Memory({
      initial: PAGE_COUNT_MIN,
      maximum: Math.min(Math.max(pages, PAGE_COUNT_MIN), PAGE_COUNT_MAX),
    });
  }

  async start(): Promise<void> {
    const engine = await newQuickJSWASMModule(
      newVariant(RELEASE_SYNC, { wasmMemory: this.#memory }),
    );
    this.#tasks = new ScriptTasks(engine, {
      ask: (name, argument) => this.#ask(name, argument),
      log: (entry) => this.#post({ type: 'log', call: this.#innermost(), entry }),
      interruption: () => this.#interruption(),
      isMemoryExhausted: () => this.#memory.buffer.byteLength >= this.#memoryBytes * 0.9,
    });
    this.#port.on('message', (message: ToSandbox) => this.#receive(message));
  }

  #receive(message: ToSandbox): void {
    if (message.type === 'call') this.#serve(message);
    else if (this.#calls.length > 0) this.#answers.set(message.id, message.answer);
  }

  #serve({ id, kind, args, ...times }: Extract<ToSandbox, { type: 'call' }>): void {
    const { timeLimitMs, limitsComputing } = times;
    const limit =
      timeLimitMs === undefined ? undefined : new TimeLimit(timeLimitMs, limitsComputing);
    this.#calls.push({ id, limit });
    let reply: FromSandbox;
    try {
      const call = { kind, args } as TaskCall;
      reply = { type: 'result', id, result: (this.#tasks as ScriptTasks).run(call) };
    } catch (thrown) {
      reply = this.#errorReply(id, thrown);
    } finally {
      this.#calls.pop();
    }
    this.#post(reply);
    if (this.#calls.length > 0) return;
    this.#answers.clear();
    if (this.#memory.buffer.byteLength > SPENT_SIZE_BYTES) this.#post({ type: 'spent' });
  }

  #errorReply(id: number, thrown: unknown): FromSandbox {
    if (thrown instanceof RowanError) return { type: 'error', id, error: errorBody(thrown) };
    // The engine itself broke: what it was doing last tells why.
    this.#post({ type: 'spent' });
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
      const seen = Atomics.load(this.#control, CELL.wake);
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
      Atomics.wait(this.#control, CELL.wake, seen, this.#leftMs());
    }
  }

  #innermost(): number {
    return this.#calls.at(-1)?.id ?? 0;
  }

  #interruption(): Error | undefined {
    const cancelled = Atomics.load(this.#control, CELL.cancelled);
    for (const { id, limit } of this.#calls) {
      if (id === cancelled) return failure('CANCELLED', 'the script was cancelled');
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

  #post(message: FromSandbox): void {
    this.#port.postMessage(message);
  }
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
