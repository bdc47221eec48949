// What the main thread and a sandbox worker send each other.
import type { MessagePort } from 'node:worker_threads';
import type { ErrorBody } from '../util/error.ts';
import type { WireValue } from '../value/wire-value.ts';

export interface SandboxStart {
  /** one cell in shared memory, which grows with every message that a waiting script must see */
  readonly wake: Int32Array;
  /** that of the slots of calls */
  readonly slotMemory: SharedArrayBuffer;
  readonly port: MessagePort;
  /** memory of all scripts of the worker together */
  readonly memoryBytes: number;
}

/** A program text and what it is called with. */
export interface Program {
  readonly source: string;
  /** where it came from, for messages */
  readonly uri: string;
  /** undefined: no arguments were given */
  readonly args: unknown;
}

/** A request for the request handler, JSON-safe. */
export interface HandlerRequest {
  readonly relpath: string;
  readonly verb: string;
  readonly resource: string;
  readonly params: readonly (readonly [string, string])[];
  readonly payload: string;
  readonly contentType: string;
  readonly contentLength: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HandlerReply {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'utf-8' | 'latin1';
  readonly body: string;
}

export interface LogEntry {
  /** ISO 8601 */
  readonly ts: string;
  readonly s: 'logs' | 'log';
  readonly c: string;
}

export interface StackFrame {
  readonly scriptUri: string;
  readonly functionName?: string;
  readonly where: string;
  readonly lineNumber: number;
  readonly columnStart: number;
  readonly columnEnd: number;
}

/** What is known about an uncaught exception of a script. */
export interface ScriptException {
  readonly message: string;
  readonly type?: string;
  readonly where?: string;
  readonly scriptUri?: string;
  readonly lineNumber?: number;
  readonly columnStart?: number;
  readonly columnEnd?: number;
  readonly lineContents?: string;
  readonly context: readonly string[];
  readonly stack: readonly StackFrame[];
  readonly extra?: unknown;
}

/** Scripts that throw are an outcome like any other; limits and defects are errors. */
export type Outcome<Result> = (
  | { readonly result: Result }
  | { readonly exception: ScriptException; readonly whileCompiling: boolean }
) & { readonly logs: readonly LogEntry[] };

/** A function in the sandbox, compiled once for equal texts. */
export interface ScriptFunction {
  readonly source: string;
  readonly parameters: readonly string[];
}

export interface ModuleExports {
  readonly markdown: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

export interface SandboxTasks {
  /** Runs a program in a scope of its own. The result is JSON text. */
  script: { args: Program; result: Outcome<string | undefined> };
  /** Runs the program of a plugin, whose scope stays. */
  plugin: { args: Program; result: Outcome<{ hasRequestHandler: boolean }> };
  /** JSON texts of a HandlerRequest and a HandlerReply, which cost less to send than objects */
  request: { args: string; result: Outcome<string> };
  /** undefined: no status handler; else JSON text */
  status: { args: undefined; result: Outcome<string | undefined> };
  /** Calls a function for each list of arguments. */
  calls: {
    args: { readonly function: ScriptFunction; readonly calls: readonly (readonly WireValue[])[] };
    result: Outcome<readonly WireValue[]>;
  };
  module: { args: { readonly name: string }; result: ModuleExports };
}

export type SandboxTaskKind = keyof SandboxTasks;

/** A call on its way to the worker. */
export interface SandboxCall {
  readonly id: number;
  readonly slot: number;
  readonly kind: SandboxTaskKind;
  readonly args: unknown;
  /** milliseconds from its beginning */
  readonly timeLimitMs: number | undefined;
  /** true: the time limit is of computing, not of waiting for the service */
  readonly limitsComputing: boolean;
  /** true: it begins while the running script waits; false: when that has ended */
  readonly isNested: boolean;
}

export type ToSandbox =
  | { readonly type: 'calls'; readonly calls: readonly SandboxCall[] }
  /** begins a call at once that the worker holds already */
  | { readonly type: 'nest'; readonly id: number }
  | { readonly type: 'answer'; readonly id: number; readonly answer: HostAnswer };

export type HostAnswer = { readonly result: unknown } | { readonly error: ErrorBody };

export type FromSandbox =
  /** there are replies in the boxes of slots */
  | { readonly type: 'bell' }
  /** a call that was taken back has left the worker */
  | { readonly type: 'passed'; readonly id: number }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | {
      readonly type: 'error';
      readonly id: number;
      readonly error: ErrorBody;
      readonly stack?: string;
    }
  /** a question during a call; the worker waits for the answer */
  | {
      readonly type: 'host';
      readonly id: number;
      readonly call: number;
      readonly name: string;
      /** JSON text */
      readonly argument: string;
    }
  | { readonly type: 'log'; readonly call: number; readonly entry: LogEntry }
  /** the worker keeps so much memory that a new one is better */
  | { readonly type: 'spent' }
  /** nothing can run any more */
  | { readonly type: 'broken' };
