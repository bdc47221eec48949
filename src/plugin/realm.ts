// One global scope in the sandbox: a QuickJS runtime with the scope of scripts in it.
import { readFileSync } from 'node:fs';
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten';
import { failure } from '../util/error.ts';
import { stringifyJson } from '../util/exact-json.ts';
import { packageFile } from '../util/package-file.ts';
import { describeException, type ExceptionSource, PROGRAM_FILE } from './exception.ts';
import type { ThrownValue } from './guest/thrown.ts';
import type { ScriptException } from './message.ts';
import { type PreparedProgram, prepareProgram } from './program.ts';
import type { Scope, ScopeOptions } from './scope.ts';

export interface RealmHost {
  /** Answers the scope's questions: JSON text in, JSON text out. Never throws. */
  answer(name: string, argument: string): string;
  /** Why the running script must stop; undefined: it need not. */
  interruption(): Error | undefined;
  /** true: the sandbox has no memory left to grow into */
  isMemoryExhausted(): boolean;
}

/** A script ended by an exception of its own. */
export class UncaughtException extends Error {
  readonly exception: ScriptException;
  readonly whileCompiling: boolean;

  constructor(exception: ScriptException, whileCompiling: boolean) {
    super(exception.message);
    this.exception = exception;
    this.whileCompiling = whileCompiling;
  }
}

const STACK_SIZE_MAX = 1 << 20;
const NO_PROGRAM: PreparedProgram = { text: '', originalColumn: (_line, column) => column };

/** What runs inside the sandbox, bundled into one module without imports. */
const SCOPE_MODULE = 'plugin/scope.js';

/** Jobs of promises between two looks at the limits of the script. */
const JOBS_AT_ONCE = 1000;

export class Realm {
  readonly #host: RealmHost;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #scope: QuickJSHandle;
  /** members of the scope, each looked up once */
  readonly #members = new Map<keyof Scope, QuickJSHandle>();
  #program: ExceptionSource = { uri: '', source: '', prepared: NO_PROGRAM };
  #interruption: Error | undefined;
  readonly #owned: QuickJSHandle[] = [];

  constructor(engine: QuickJSWASMModule, host: RealmHost, options: ScopeOptions) {
    this.#host = host;
    this.#runtime = engine.newRuntime();
    this.#runtime.setMaxStackSize(STACK_SIZE_MAX);
    this.#runtime.setInterruptHandler(() => {
      this.#interruption ??= host.interruption();
      return this.#interruption !== undefined;
    });
    this.#context = this.#runtime.newContext();
    try {
      this.#scope = this.#buildScope(options);
    } catch (thrown) {
      throw this.#interruption ?? (host.isMemoryExhausted() ? outOfMemory() : thrown);
    }
  }

  /**
   * Frees what the realm holds.
   * @returns false: the engine could not, and keeps that memory. It cannot free chains of some
   *   ten thousand promises that were resolved by one another; other realms are not touched.
   */
  dispose(): boolean {
    for (const handle of this.#owned.splice(0)) if (handle.alive) handle.dispose();
    for (const member of this.#members.values()) member.dispose();
    this.#scope.dispose();
    this.#context.dispose();
    try {
      this.#runtime.dispose();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Runs a program; what it leaves behind stays in the realm.
   * @returns the value of the last statement, promises awaited, as the scope's `result` gives it
   * @throws UncaughtException, TIMEOUT, CANCELLED, OUT_OF_MEMORY
   */
  runProgram(source: string, uri: string, { running }: RunContext): string | undefined {
    const prepared = prepareProgram(source);
    this.#program = { uri, source, prepared };
    return this.#scoped(() => {
      const result = this.#context.evalCode(prepared.text, PROGRAM_FILE, { type: 'global' });
      if (result.error !== undefined) {
        throw this.#failureOf(result.error, (thrown) =>
          isCompileError(thrown)
            ? { context: 'Compiling plugin script', whileCompiling: true }
            : { context: running, whileCompiling: false },
        );
      }
      const settled = this.#settle(this.#own(result.value), running);
      return this.#textOf(this.#call('result', [settled], running));
    });
  }

  /** Compiles a function; the caller disposes of it. @throws UncaughtException while compiling */
  compileFunction(expression: string): QuickJSHandle {
    const result = this.#context.evalCode(expression, PROGRAM_FILE, { type: 'global' });
    if (result.error === undefined) return result.value;
    throw this.#failureOf(result.error, () => ({
      context: 'Compiling jseval script',
      whileCompiling: true,
    }));
  }

  /** Calls a compiled function through `callBatch`; JSON text in and out. */
  callBatch(compiled: QuickJSHandle, calls: string, running: string): string {
    return this.#scoped(() => {
      const argument = this.#own(this.#context.newString(calls));
      return this.#textOf(this.#call('callBatch', [compiled, argument], running)) ?? '[]';
    });
  }

  /**
   * Calls a member of the scope with texts.
   * @param options.textBy what it gives is awaited, and this member makes the text of it
   */
  callScope(
    name: keyof Scope,
    args: readonly string[],
    running: string,
    options: { readonly textBy?: keyof Scope } = {},
  ): string | undefined {
    return this.#scoped(() => {
      const handles = args.map((text) => this.#own(this.#context.newString(text)));
      const value = this.#call(name, handles, running);
      if (options.textBy === undefined) return this.#textOf(value);
      return this.#textOf(this.#call(options.textBy, [this.#settle(value, running)], running));
    });
  }

  /** A member of the scope that says yes or no. */
  ask(name: 'hasRequestHandler' | 'hasStatusHandler'): boolean {
    return this.#scoped(() => this.#context.dump(this.#call(name, [], 'Running script')) === true);
  }

  /** Handles that are owned during the work end with it. */
  #scoped<Result>(work: () => Result): Result {
    const start = this.#owned.length;
    try {
      return work();
    } finally {
      for (const handle of this.#owned.splice(start)) if (handle.alive) handle.dispose();
    }
  }

  #own(handle: QuickJSHandle): QuickJSHandle {
    this.#owned.push(handle);
    return handle;
  }

  #call(name: keyof Scope, args: readonly QuickJSHandle[], running: string): QuickJSHandle {
    const context = this.#context;
    const result = context.callFunction(this.#member(name), context.undefined, ...args);
    if (result.error === undefined) return this.#own(result.value);
    throw this.#failureOf(result.error, () => ({ context: running, whileCompiling: false }));
  }

  #member(name: keyof Scope): QuickJSHandle {
    let member = this.#members.get(name);
    if (member === undefined) {
      member = this.#context.getProp(this.#scope, name);
      this.#members.set(name, member);
    }
    return member;
  }

  /** Awaits a promise. There are no timers, so it settles now or never. */
  #settle(value: QuickJSHandle, running: string): QuickJSHandle {
    const where = () => ({ context: running, whileCompiling: false });
    while (this.#runtime.hasPendingJob()) {
      const jobs = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
      if (jobs.error !== undefined) throw this.#failureOf(jobs.error, where);
      // An interrupted job only rejects its promise, which nobody may look at.
      const interruption = this.#interruption ?? this.#host.interruption();
      if (interruption === undefined) continue;
      this.#interruption = undefined;
      throw interruption;
    }
    const state = this.#context.getPromiseState(value);
    if (state.type === 'fulfilled') {
      return state.notAPromise === true ? value : this.#own(state.value);
    }
    if (state.type === 'rejected') throw this.#failureOf(state.error, where);
    throw failure('SCRIPT_EXCEPTION', 'the promise never settles: nothing is left that could run');
  }

  /** What an exception of the engine means; takes the handle. */
  #failureOf(
    error: QuickJSHandle,
    where: (thrown: ThrownValue) => { context: string; whileCompiling: boolean },
  ): Error {
    this.#own(error);
    // A script that waited for the service is not interrupted, but told so by an exception.
    const interruption = this.#interruption ?? this.#host.interruption();
    if (interruption !== undefined) {
      this.#interruption = undefined;
      return interruption;
    }
    if (this.#isOutOfMemory(error)) return outOfMemory();
    const describe = this.#member('describeThrown');
    const described = this.#context.callFunction(describe, this.#context.undefined, error);
    if (described.error !== undefined) {
      this.#own(described.error);
      const late = this.#interruption as Error | undefined;
      this.#interruption = undefined;
      if (late !== undefined) return late;
      const isMemory = this.#isOutOfMemory(described.error) || this.#host.isMemoryExhausted();
      return isMemory ? outOfMemory() : beyondDescription();
    }
    const text = this.#textOf(this.#own(described.value));
    const thrown = JSON.parse(text ?? '{}') as ThrownValue;
    if (typeof thrown.text !== 'string') return beyondDescription();
    const { context, whileCompiling } = where(thrown);
    return new UncaughtException(describeException(thrown, this.#program, context), whileCompiling);
  }

  /** The engine throws null when there is not even memory for an error. */
  #isOutOfMemory(error: QuickJSHandle): boolean {
    const context = this.#context;
    const type = context.typeof(error);
    if (type === 'undefined' || context.sameValue(error, context.null)) {
      return this.#host.isMemoryExhausted();
    }
    if (type !== 'object') return false;
    const read = (name: string) => {
      const member = context.getProp(error, name);
      const value: unknown = context.dump(member);
      member.dispose();
      return value;
    };
    return read('name') === 'InternalError' && read('message') === 'out of memory';
  }

  #textOf(handle: QuickJSHandle): string | undefined {
    const isText = this.#context.typeof(handle) === 'string';
    return isText ? this.#context.getString(handle) : undefined;
  }

  #buildScope(options: ScopeOptions): QuickJSHandle {
    const context = this.#context;
    const exports = context.unwrapResult(
      context.evalCode(scopeText(), SCOPE_MODULE, { type: 'module' }),
    );
    // Nothing can be imported.
    // Names are changed, since modules that are loaded already need no loader.
    this.#runtime.setModuleLoader(
      (name) => ({ error: new Error(`module ${name} cannot be imported; use require`) }),
      (_importer, name) => `'${name}'`,
    );
    const build = context.getProp(exports, 'buildScope');
    exports.dispose();
    const host = context.newFunction('host', (name, argument) =>
      context.newString(this.#host.answer(context.getString(name), context.getString(argument))),
    );
    const optionsText = context.newString(stringifyJson(options));
    const scope = context.unwrapResult(
      context.callFunction(build, context.undefined, host, optionsText),
    );
    for (const handle of [build, host, optionsText]) handle.dispose();
    return scope;
  }
}

export interface RunContext {
  /** what is being done, for exceptions */
  readonly running: 'Running plugin script' | 'Running script';
}

/** A syntax error whose only place is the program: code that is compiled later has a caller. */
function isCompileError(thrown: ThrownValue): boolean {
  if (thrown.type !== 'SyntaxError') return false;
  const frames = thrown.stack.split('\n').filter((line) => line.trim() !== '');
  return frames.length <= 1 && !/\(/.test(frames[0] ?? '');
}

export function outOfMemory(): Error {
  return failure('OUT_OF_MEMORY', 'Out of memory. The script needed more than a script may use.');
}

/** A program can replace what descriptions are made with. */
function beyondDescription(): Error {
  return failure('SCRIPT_EXCEPTION', 'the program threw an exception that cannot be described');
}

let scope: string | undefined;

function scopeText(): string {
  scope ??= readFileSync(packageFile(`dist/${SCOPE_MODULE}`), 'utf8');
  return scope;
}
