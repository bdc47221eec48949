// What a sandbox worker does: programs, handlers and functions, each in its realm.
import type { QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';
import { errorBody, failure, RowanError } from '../util/error.ts';
import { parseJson, stringifyJson } from '../util/exact-json.ts';
import { Interval, parseInterval } from '../value/interval.ts';
import { atomToJsonText } from '../value/json.ts';
import { printTimestamp } from '../value/timestamp.ts';
import type { WireValue } from '../value/wire-value.ts';
import { fromCallValue, toCallValue } from './call-value.ts';
import type { CallValue } from './guest/call-batch.ts';
import type {
  HostAnswer,
  LogEntry,
  ModuleExports,
  Outcome,
  Program,
  SandboxTaskKind,
  SandboxTasks,
  ScriptFunction,
} from './message.ts';
import { undeclaredVariables } from './program.ts';
import { Realm, type RealmHost, UncaughtException } from './realm.ts';
import type { ScopeOptions } from './scope.ts';
import { ScriptStream, type StreamRead } from './script-stream.ts';

export type TaskCall = {
  [Kind in SandboxTaskKind]: { readonly kind: Kind; readonly args: SandboxTasks[Kind]['args'] };
}[SandboxTaskKind];

export interface ThreadHost {
  /** Asks the main thread and waits. */
  ask(name: string, argument: string): HostAnswer;
  log(entry: LogEntry): void;
  interruption(): Error | undefined;
  isMemoryExhausted(): boolean;
  /** Says that the engine keeps memory which nothing will use: a new thread is better. */
  spend(): void;
}

/** Functions of queries that stay compiled. */
const FUNCTIONS_KEPT_MAX = 16;
/** What a script may log; the rest goes to the console only. */
const LOG_LENGTH_MAX = 16 << 20;

interface CompiledFunction {
  readonly realm: Realm;
  readonly handle: QuickJSHandle;
}

export class ScriptTasks {
  readonly #engine: QuickJSWASMModule;
  readonly #thread: ThreadHost;
  #plugin: Realm | undefined;
  /** the least recently used first */
  readonly #functions = new Map<string, CompiledFunction>();
  readonly #streams = new Map<number, ScriptStream>();
  /** the log of the running task */
  #logs: LogEntry[] = [];
  #logLength = 0;

  constructor(engine: QuickJSWASMModule, thread: ThreadHost) {
    this.#engine = engine;
    this.#thread = thread;
  }

  run(call: TaskCall): unknown {
    switch (call.kind) {
      case 'script':
        return this.#outcome(() => this.#runScript(call.args));
      case 'plugin':
        return this.#outcome(() => this.#runPlugin(call.args));
      case 'request':
        return this.#outcome(() => this.#handleRequest(call.args));
      case 'status':
        return this.#outcome(() => this.#status());
      case 'calls':
        return this.#outcome(() => this.#callFunction(call.args.function, call.args.calls));
      case 'module':
        return this.#describeModule(call.args.name);
    }
  }

  /** Exceptions of scripts are outcomes; nested tasks have logs of their own. */
  #outcome<Result>(work: () => Result): Outcome<Result> {
    const [outerLogs, outerLength] = [this.#logs, this.#logLength];
    const logs: LogEntry[] = [];
    this.#logs = logs;
    this.#logLength = 0;
    try {
      return { result: work(), logs };
    } catch (thrown) {
      if (!(thrown instanceof UncaughtException)) throw thrown;
      const { exception, whileCompiling } = thrown;
      return { exception, whileCompiling, logs };
    } finally {
      this.#logs = outerLogs;
      this.#logLength = outerLength;
    }
  }

  #runScript({ source, uri, args }: Program): string | undefined {
    const realm = this.#makeRealm({ kind: 'script', ...argsOption(args) });
    try {
      return realm.runProgram(source, uri, { running: 'Running script' });
    } finally {
      this.#dispose(realm);
    }
  }

  #runPlugin({ source, uri, args }: Program): { hasRequestHandler: boolean } {
    const realm = this.#makeRealm({ kind: 'plugin', ...argsOption(args) });
    this.#plugin = realm;
    realm.runProgram(source, uri, { running: 'Running plugin script' });
    return { hasRequestHandler: realm.ask('hasRequestHandler') };
  }

  #handleRequest(request: string): string {
    const text = this.#pluginRealm().callScope(
      'handleRequest',
      [request],
      'JS Plugin request callback',
      { textBy: 'reply' },
    );
    return text ?? 'null';
  }

  #status(): string | undefined {
    const realm = this.#pluginRealm();
    if (!realm.ask('hasStatusHandler')) return undefined;
    return realm.callScope('handleStatus', [], 'JS Plugin Status callback', { textBy: 'result' });
  }

  #pluginRealm(): Realm {
    if (this.#plugin === undefined) throw new Error('the program of a plugin runs first');
    return this.#plugin;
  }

  #callFunction(
    { source, parameters }: ScriptFunction,
    calls: readonly (readonly WireValue[])[],
  ): WireValue[] {
    const { realm, handle } = this.#compiled(source, parameters);
    const texts = JSON.stringify(calls.map((args) => args.map(toCallValue)));
    const results = realm.callBatch(handle, texts, 'Running jseval script');
    return (JSON.parse(results) as CallValue[]).map(fromCallValue);
  }

  #compiled(source: string, parameters: readonly string[]): CompiledFunction {
    const key = JSON.stringify([parameters, source]);
    const known = this.#functions.get(key);
    if (known !== undefined) {
      this.#functions.delete(key);
      this.#functions.set(key, known);
      return known;
    }
    const realm = this.#makeRealm({ kind: 'function', hasArgs: false });
    let handle: QuickJSHandle;
    try {
      handle = realm.compileFunction(functionText(source, parameters));
    } catch (thrown) {
      this.#dispose(realm);
      throw thrown;
    }
    const compiled = { realm, handle };
    this.#functions.set(key, compiled);
    if (this.#functions.size > FUNCTIONS_KEPT_MAX) this.#dropOldest();
    return compiled;
  }

  #dropOldest(): void {
    const [key, { realm, handle }] = this.#functions.entries().next().value as [
      string,
      CompiledFunction,
    ];
    this.#functions.delete(key);
    handle.dispose();
    this.#dispose(realm);
  }

  #dispose(realm: Realm): void {
    if (!realm.dispose()) this.#thread.spend();
  }

  #describeModule(name: string): ModuleExports {
    const realm = this.#makeRealm({ kind: 'script', hasArgs: false });
    try {
      const text = realm.callScope('describeModule', [name], 'Running script');
      return JSON.parse(text ?? '{}') as ModuleExports;
    } finally {
      this.#dispose(realm);
    }
  }

  #makeRealm(options: ScopeOptions): Realm {
    const host: RealmHost = {
      answer: (name, argument) => stringifyJson(this.#answer(name, argument)),
      interruption: () => this.#thread.interruption(),
      isMemoryExhausted: () => this.#thread.isMemoryExhausted(),
    };
    return new Realm(this.#engine, host, options);
  }

  #answer(name: string, argument: string): HostAnswer {
    try {
      switch (name) {
        case 'log':
          return { result: this.#log(JSON.parse(argument)) };
        case 'interval':
          return { result: intervalCell(parseJson(argument) as IntervalParts) };
        case 'stream-open':
          return this.#openStream(argument);
        case 'stream-read':
          return { result: this.#readStream(JSON.parse(argument)) };
        default:
          return this.#thread.ask(name, argument);
      }
    } catch (thrown) {
      return { error: errorBody(thrown) };
    }
  }

  #log({ stream, text }: { stream: LogEntry['s']; text: string }): null {
    const entry: LogEntry = { ts: printTimestamp(Date.now() / 1000), s: stream, c: text };
    this.#thread.log(entry);
    this.#logLength += text.length;
    if (this.#logLength <= LOG_LENGTH_MAX) this.#logs.push(entry);
    return null;
  }

  #openStream(argument: string): HostAnswer {
    const opened = this.#thread.ask('stream-open', argument);
    if ('error' in opened) return opened;
    const id = opened.result as number;
    const fetch = (): Uint8Array | undefined => {
      const answer = this.#thread.ask('stream-chunk', JSON.stringify({ id }));
      if ('error' in answer) throw RowanError.fromBody(answer.error);
      return answer.result as Uint8Array | undefined;
    };
    this.#streams.set(id, new ScriptStream(fetch));
    return opened;
  }

  #readStream({ id, ...read }: StreamRead & { id: number }): unknown {
    const stream = this.#streams.get(id);
    if (stream === undefined) throw failure('INVALID_PARAMETER', 'the stream is closed');
    return stream.read(read);
  }
}

function argsOption(args: unknown): Pick<ScopeOptions, 'args' | 'hasArgs'> {
  return args === undefined ? { hasArgs: false } : { hasArgs: true, args };
}

/** Variables that the body does not declare are declared here, so that calls share none. */
function functionText(source: string, parameters: readonly string[]): string {
  const variables = undeclaredVariables(source, parameters);
  const declared = variables.length === 0 ? '' : `var ${variables.join(',')};`;
  return `(function(${parameters.join(',')}){${declared}${source}\n})`;
}

interface IntervalParts {
  readonly text?: string;
  readonly months?: number;
  readonly days?: number;
  readonly seconds?: number;
}

function intervalCell({ text, months = 0, days = 0, seconds = 0 }: IntervalParts): unknown {
  if (text === undefined) {
    for (const [name, value] of Object.entries({ months, days, seconds })) {
      if (typeof value === 'number' && Number.isFinite(value)) continue;
      throw failure('INVALID_PARAMETER', `${name} of an interval is a number`);
    }
  }
  const interval =
    text === undefined ? Interval.ofSigned(months, days, seconds) : parseInterval(text);
  return JSON.parse(atomToJsonText(interval));
}
