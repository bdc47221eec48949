// Everything that a user's script may see. Runs inside the sandbox, as do the modules of guest/;
// whatever is not made here or part of the language does not exist for a script.
import { Atom, fromCell } from './guest/atom.ts';
import { type CallValue, callBatch } from './guest/call-batch.ts';
import { type Diff, diff, patch } from './guest/diff.ts';
import { documented } from './guest/document.ts';
import { DatasetObject, FunctionObject, ProcedureObject, SensorObject } from './guest/entity.ts';
import { Host, type HostFunction } from './guest/host.ts';
import { parseJson, parsePlain, plainText, stringifyJson } from './guest/json.ts';
import { logLine } from './guest/log.ts';
import { describeModule } from './guest/module.ts';
import { RandomNumberGenerator } from './guest/random.ts';
import { type Pairs, perform, request, type ScriptReply } from './guest/rest.ts';
import { InputStream } from './guest/stream.ts';
import { ThrowRecorder } from './guest/thrown.ts';
import { unittestModule } from './guest/unittest.ts';

export interface ScopeOptions {
  /** `function`: called from queries, without plugin and without global state */
  readonly kind: 'plugin' | 'script' | 'function';
  readonly args?: unknown;
  readonly hasArgs: boolean;
}

/** How the worker reaches into the scope; texts are JSON. */
export interface Scope {
  /** JSON text of the value of a program; undefined when there is none */
  result(value: unknown): string | undefined;
  /** JSON text of what is known about an exception */
  describeThrown(thrown: unknown): string;
  readonly hasRequestHandler: () => boolean;
  readonly hasStatusHandler: () => boolean;
  /** What the request handler returns, not awaited yet. */
  handleRequest(request: string): unknown;
  /** JSON text of a reply made of what the request handler gave. */
  reply(value: unknown): string;
  handleStatus(): unknown;
  /** JSON text of the results, in the order of the calls. */
  callBatch(apply: (...args: unknown[]) => unknown, calls: string): string;
  /** JSON text of what a module exports. */
  describeModule(name: string): string;
}

type RequestHandler = (...args: unknown[]) => unknown;

interface HandlerRequest {
  readonly relpath: string;
  readonly verb: string;
  readonly resource: string;
  readonly params: readonly (readonly [string, string])[];
  readonly payload: string;
  readonly contentType: string;
  readonly contentLength: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface ResponseOptions {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** A value that says how it is sent. */
class PluginResponse {
  readonly body: unknown;
  readonly options: ResponseOptions;

  constructor(body: unknown, options: ResponseOptions) {
    this.body = body;
    this.options = options;
  }
}

export function buildScope(hostFunction: HostFunction, optionsText: string): Scope {
  const options = parseJson(optionsText) as ScopeOptions;
  const host = new Host(hostFunction);
  const thrown = new ThrowRecorder();
  const handlers: { request?: RequestHandler; status?: () => unknown } = {};
  const service = makeService(host);
  const modules = new Map<string, object>([
    ['mldb', service],
    ['mldb/unittest', unittestModule(service.log)],
  ]);
  const plugin = makePlugin(host, options.args ?? null, handlers);
  const log = options.kind === 'function' ? service.log : plugin.log;

  define('mldb', service);
  define('rowan', service);
  define('console', { log, info: log, warn: log, error: log });
  define('require', (name: unknown) => requireModule(modules, String(name)));
  define('__thrown', thrown.note);
  if (options.kind !== 'function') define('plugin', plugin);
  if (options.kind === 'script' && options.hasArgs) define('args', options.args);
  if (options.kind === 'function') {
    // Calls share no global state: nothing can be added here.
    for (const module of modules.values()) Object.freeze(module);
    Object.preventExtensions(globalThis);
  }

  return {
    result: (value) => (value === undefined || value === null ? undefined : stringifyJson(value)),
    describeThrown: (value) => plainText(thrown.describe(value)),
    hasRequestHandler: () => handlers.request !== undefined,
    hasStatusHandler: () => handlers.status !== undefined,
    handleRequest(text) {
      const request = parsePlain(text) as HandlerRequest;
      const { relpath, verb, resource, params, payload } = request;
      const { contentType, contentLength, headers } = request;
      return handlers.request?.(
        relpath,
        verb,
        resource,
        params,
        payload,
        contentType,
        contentLength,
        headers,
      );
    },
    reply: (value) => plainText(replyOf(value)),
    handleStatus: () => handlers.status?.(),
    callBatch: (apply, calls) =>
      plainText(callBatch(apply, parsePlain(calls) as readonly (readonly CallValue[])[])),
    describeModule: (name) => plainText(describeModule(modules.get(name) ?? {})),
  };
}

/** Globals of the scope can be replaced by a program, but do not show among its own variables. */
function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

const ALIASES: Readonly<Record<string, string>> = {
  rowan: 'mldb',
  'rowan/unittest': 'mldb/unittest',
};

function requireModule(modules: ReadonlyMap<string, object>, name: string): object {
  const module = modules.get(ALIASES[name] ?? name);
  if (module !== undefined) return module;
  if (/^(mldb|rowan)(\/|$)/.test(name)) throw new Error(`Unable to find javascript module ${name}`);
  throw new Error('Only require modules under mldb are supported');
}

function makePlugin(
  host: Host,
  args: unknown,
  handlers: { request?: RequestHandler; status?: () => unknown },
) {
  const plugin = {
    args,
    log(...values: unknown[]) {
      host.call('log', { stream: 'logs', text: logLine(values) });
      return plugin;
    },
    setRequestHandler(handler: RequestHandler) {
      handlers.request = requireFunction(handler, 'setRequestHandler');
    },
    setStatusHandler(handler: () => unknown) {
      handlers.status = requireFunction(handler, 'setStatusHandler');
    },
    serveStaticFolder(route: string, dir: string) {
      host.call('serve-folder', { route: String(route), dir: String(dir), isDocumentation: false });
    },
    serveDocumentationFolder(route: string, dir: string) {
      host.call('serve-folder', { route: String(route), dir: String(dir), isDocumentation: true });
    },
    getPluginDir: () => host.call('plugin-dir'),
    response: (body: unknown, options: ResponseOptions = {}) => new PluginResponse(body, options),
  };
  return plugin;
}

function requireFunction<F extends (...args: never[]) => unknown>(value: F, name: string): F {
  if (typeof value === 'function') return value;
  throw new TypeError(`${name} expects a function`);
}

interface ReplyText {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `latin1`: one character stands for one byte */
  readonly encoding: 'utf-8' | 'latin1';
  readonly body: string;
}

function replyOf(value: unknown): ReplyText {
  const { body, options } = value instanceof PluginResponse ? value : new PluginResponse(value, {});
  const contentType = options.contentType ?? 'application/json';
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, text]) => [name, String(text)]),
  );
  const head = { status: options.status ?? 200, contentType, headers };
  const bytes = bytesOf(body);
  if (bytes !== undefined) return { ...head, encoding: 'latin1', body: bytes };
  const isJson = /^application\/(json|[\w.+-]+\+json)/.test(contentType);
  if (!isJson && typeof body === 'string') return { ...head, encoding: 'utf-8', body };
  return { ...head, encoding: 'utf-8', body: stringifyJson(body) ?? 'null' };
}

/** The bytes of a typed array or of a blob of the service. */
function bytesOf(body: unknown): string | undefined {
  if (body instanceof Uint8Array) return latin1(body);
  const blob = body instanceof Atom ? (body.toJSON() as { blob?: unknown }).blob : undefined;
  if (!Array.isArray(blob)) return undefined;
  return blob
    .map((part: string | number) => (typeof part === 'number' ? String.fromCharCode(part) : part))
    .join('');
}

function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 4096) {
    text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  }
  return text;
}

type EntityConfig = Record<string, unknown>;

function makeService(host: Host) {
  const send =
    (verb: string, fixedHeaders?: Readonly<Record<string, string>>) =>
    (resource: string, payload?: unknown, headers?: Pairs): ScriptReply =>
      perform(host, verb, resource, null, payload, merged(headers, fixedHeaders));
  const async = { async: 'true' };

  /** Finds or creates an entity; what was filled in shows in the configuration. */
  const obtain = (kind: string, config: EntityConfig): string => {
    if (typeof config !== 'object' || config === null) {
      throw new TypeError(`a ${kind} is made of a configuration object`);
    }
    const created = host.call('obtain', { kind, config }) as { id: string; params?: unknown };
    config.id = created.id;
    if (created.params !== undefined && config.parameters === undefined) {
      config.params = created.params;
    }
    return created.id;
  };

  const service = {
    perform: documented(
      (
        verb: string,
        resource: string,
        query?: Pairs,
        payload?: unknown,
        headers?: Pairs,
      ): ScriptReply => perform(host, verb, resource, query, payload, headers),
      'Performs a request: `perform(verb, resource, queryParams, payload, headers)`.',
    ),
    get: documented(
      (resource: string, query?: Pairs, headers?: Pairs): ScriptReply =>
        perform(host, 'GET', resource, query, null, headers),
      'Performs a GET: `get(resource, queryParams, headers)`.',
    ),
    put: documented(send('PUT'), 'Performs a PUT: `put(resource, payload, headers)`.'),
    post: documented(send('POST'), 'Performs a POST: `post(resource, payload, headers)`.'),
    putAsync: documented(send('PUT', async), 'Performs a PUT without waiting for what it builds.'),
    postAsync: documented(
      send('POST', async),
      'Performs a POST without waiting for what it builds.',
    ),
    del: documented(
      (resource: string, headers?: Pairs): ScriptReply =>
        perform(host, 'DELETE', resource, null, null, headers),
      'Performs a DELETE: `del(resource, headers)`.',
    ),
    query: documented(
      (sql: string): unknown[] => (queryRows(host, sql) as QueryRow[]).map(rowFromCells),
      'Runs an SQL query; the result is an array of `{rowName, columns}`.',
    ),
    log: documented((...values: unknown[]): unknown => {
      host.call('log', { stream: 'log', text: logLine(values) });
      return service;
    }, 'Writes a line to the log and the console.'),
    createDataset: documented(
      (config: EntityConfig) => new DatasetObject(host, obtain('dataset', config)),
      'Finds or creates a dataset.',
    ),
    createFunction: documented(
      (config: EntityConfig) => new FunctionObject(host, obtain('function', config)),
      'Finds or creates a function.',
    ),
    createProcedure: documented(
      (config: EntityConfig) => new ProcedureObject(host, obtain('procedure', config)),
      'Finds or creates a procedure; it is not run.',
    ),
    createSensor: documented(
      (config: EntityConfig) => new SensorObject(host, obtain('sensor', config)),
      'Finds or creates a sensor.',
    ),
    sqlEscape: documented(
      (text: unknown) => `'${String(text).replaceAll("'", "''")}'`,
      'A text as a string literal of SQL.',
    ),
    createInterval: documented(
      (...parts: unknown[]) => fromCell(host.call('interval', intervalParts(parts))),
      'An interval: `(months, days, seconds)`, `({months, days, seconds})` or `(text)`.',
    ),
    createPath: documented(
      (path: unknown) => new Atom({ path: pathElements(path) }),
      'A path of one element, or of the elements of an array.',
    ),
    createRandomNumberGenerator: documented(
      (seed?: number) => new RandomNumberGenerator(seed),
      'A generator of random numbers with `seed`, `uniform` and `normal`.',
    ),
    diff: documented(
      (before: unknown, after: unknown, strict?: boolean) => diff(before, after, strict),
      'How two JSON values differ; `{}` when they are equal.',
    ),
    patch: documented(
      (value: unknown, difference: Diff) => patch(value, difference),
      'Applies a difference; the result is `[patched, what did not apply]`.',
    ),
    openStream: documented(
      (url: string) => new InputStream(host, String(url)),
      'Opens a file or address for reading.',
    ),
    ls: documented(
      (url: string) => host.call('ls', { url: String(url) }),
      'Lists one level of a directory: `{dirs, objects}`.',
    ),
    getHttpBoundAddress: documented(
      () => host.call('address'),
      'The address of the HTTP server; empty without one.',
    ),
    debugSetPathOptimizationLevel: documented((level: string): void => {
      if (['always', 'never', 'sometimes'].includes(level)) return;
      throw new Error(
        `unknown optimization level '${level}'; accepted are always, never, sometimes`,
      );
    }, 'Accepted for compatibility: paths are always optimized.'),
  };
  return documented(
    service,
    'The service as scripts see it.',
    '# mldb\n\nThe service as scripts see it.',
  );
}

function queryRows(host: Host, sql: string): unknown {
  return request(host, 'POST', '/v1/query', { q: String(sql), format: 'full' });
}

interface QueryRow {
  readonly columns?: readonly (readonly [name: unknown, cell: unknown, date: unknown])[];
}

function rowFromCells(row: QueryRow): QueryRow {
  if (row.columns === undefined) return row;
  const columns = row.columns.map(
    ([name, cell, date]) => [name, fromCell(cell), date] as [unknown, unknown, unknown],
  );
  return { ...row, columns };
}

function merged(headers: Pairs | undefined, fixed: Readonly<Record<string, string>> | undefined) {
  if (fixed === undefined) return headers;
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  return [...pairs, ...Object.entries(fixed)] as [string, unknown][];
}

function intervalParts(parts: readonly unknown[]): unknown {
  const [first, days, seconds] = parts;
  if (typeof first === 'string') return { text: first };
  if (typeof first !== 'object' || first === null) return { months: first, days, seconds };
  const unknown = Object.keys(first).find((key) => !['months', 'days', 'seconds'].includes(key));
  if (unknown === undefined) return first;
  throw new Error(`unknown key '${unknown}' of an interval; accepted are months, days, seconds`);
}

function pathElements(path: unknown): string[] {
  if (Array.isArray(path)) return path.map(String);
  if (typeof path === 'string' || typeof path === 'number') return [String(path)];
  throw new TypeError('a path is made of a string, a number or an array');
}
