// The in-process API: everything that the HTTP server offers, without a network.
import { availableParallelism } from 'node:os';
import type { EntityKind, EntityType } from '../dataset/entity-type.ts';
import type { EntityReference } from '../dataset/parameter.ts';
import { openCatalogue } from '../store/open-catalogue.ts';
import { failure, RowanError } from '../util/error.ts';
import { parseJson, stringifyJson } from '../util/exact-json.ts';
import { BUILT_IN_TYPES } from './built-in-types.ts';
import { parseConfig } from './config.ts';
import { type CredentialOptions, fetchCredentials, openCredentials } from './credential-setup.ts';
import { createEntity } from './entity-creation.ts';
import {
  DatasetObject,
  type EntityObjectHost,
  FunctionObject,
  ProcedureObject,
} from './entity-object.ts';
import type { FileLimits } from './file-host.ts';
import { automaticRequestId } from './id.ts';
import { type Logger, SILENT_LOGGER } from './logger.ts';
import { parseQueryString } from './parameter-binding.ts';
import { NoPersistence } from './persistence.ts';
import type { Reply, Role, RouteRequest } from './request.ts';
import { valueBody } from './request-body.ts';
import type { Route } from './route.ts';
import { RouteDispatcher } from './route-dispatcher.ts';
import { ROUTES } from './routes/index.ts';
import { Service } from './service.ts';
import { StoredPersistence } from './stored-persistence.ts';
import { TypeRegistry } from './type-registry.ts';

export interface RowanOptions extends CredentialOptions {
  /** directory for everything durable; null: nothing is kept */
  readonly dataDir: string | null;
  /** threads that one query or training may use; default: the cores of the machine */
  readonly workers?: number;
  /** bytes that all columns together may take; default 70 % of the machine's memory */
  readonly memoryBytes?: number;
  /** whether a new procedure runs when its configuration does not say; default false */
  readonly runOnCreation?: boolean;
  readonly files?: FileLimits;
  readonly logger?: Logger;
}

/** What other parts of the program add to the service. */
export interface RowanExtension {
  readonly types?: readonly EntityType[];
  /** routes of an extension come before those of the service */
  readonly routes?: readonly Route[];
  /** Called once, before entities are restored. */
  start?(service: Service, dispatcher: RouteDispatcher): void | Promise<void>;
  close?(): void | Promise<void>;
}

export interface PerformOptions {
  readonly query?:
    | Readonly<Record<string, unknown>>
    | readonly (readonly [string, unknown])[]
    | undefined;
  /** a JSON value; bytes are sent as they are */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly role?: Role;
}

/** A reply with its body read to the end. */
export interface PerformedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly text: string;
  readonly bytes: Uint8Array;
  /** the body as a JSON value; undefined when it is none */
  readonly json: unknown;
}

export interface QueryOptions {
  /** default `table`; csv, ndjson and arrow give bytes, the others JSON values */
  readonly format?: string;
  readonly headers?: boolean;
  readonly rowNames?: boolean;
  readonly rowHashes?: boolean;
  readonly sortColumns?: boolean;
  readonly signal?: AbortSignal;
}

const JSON_FORMATS = new Set(['full', 'table', 'aos', 'soa', 'sparse', 'atom']);

export class RowanService {
  readonly service: Service;
  readonly dispatcher: RouteDispatcher;
  readonly #extensions: readonly RowanExtension[];
  #closed: Promise<void> | undefined;

  protected constructor(
    service: Service,
    dispatcher: RouteDispatcher,
    extensions: readonly RowanExtension[],
  ) {
    this.service = service;
    this.dispatcher = dispatcher;
    this.#extensions = extensions;
  }

  /** Builds the parts of a service. */
  protected static async start(
    options: RowanOptions,
    extensions: readonly RowanExtension[],
  ): Promise<[Service, RouteDispatcher, readonly RowanExtension[]]> {
    const threadCount = options.workers ?? availableParallelism();
    const types = new TypeRegistry([
      ...BUILT_IN_TYPES,
      ...extensions.flatMap((extension) => extension.types ?? []),
    ]);
    const catalogue = await openCatalogue({ directory: options.dataDir });
    const credentials = await openCredentials(options, options.logger ?? SILENT_LOGGER);
    const service = new Service({
      types,
      catalogue,
      persistence:
        catalogue.directory === null ? new NoPersistence() : new StoredPersistence(catalogue),
      logger: options.logger ?? SILENT_LOGGER,
      threadCount,
      taskCountMax: Math.max(4, threadCount * 2),
      memoryBytes: options.memoryBytes,
      runOnCreation: options.runOnCreation ?? false,
      files: options.files ?? {},
      credentials,
    });
    const routes = [...extensions.flatMap((extension) => extension.routes ?? []), ...ROUTES];
    const dispatcher = new RouteDispatcher(routes, service);
    service.connect(dispatcher);
    for (const extension of extensions) await extension.start?.(service, dispatcher);
    service.engine.warmUp();
    await fetchCredentials(options.credentialUrls ?? [], credentials, service.files);
    await service.restore();
    service.becomeReady();
    return [service, dispatcher, extensions];
  }

  /**
   * Performs a request as HTTP would; the path may carry a query string. Failures are replies too.
   */
  async perform(verb: string, path: string, options: PerformOptions = {}): Promise<PerformedReply> {
    let reply: Reply;
    try {
      reply = await this.dispatcher.dispatch(makeRequest(verb, path, options));
    } catch (thrown) {
      if (!(thrown instanceof RowanError)) throw thrown;
      reply = { status: thrown.httpCode, json: thrown.toBody() };
    }
    return readReply(reply);
  }

  get(path: string, query?: PerformOptions['query'], headers?: PerformOptions['headers']) {
    return this.perform('GET', path, { query, headers });
  }

  put(path: string, body?: unknown, headers?: PerformOptions['headers']) {
    return this.perform('PUT', path, { body, headers });
  }

  post(path: string, body?: unknown, headers?: PerformOptions['headers']) {
    return this.perform('POST', path, { body, headers });
  }

  putAsync(path: string, body?: unknown, headers?: PerformOptions['headers']) {
    return this.perform('PUT', path, { body, headers: { ...headers, async: 'true' } });
  }

  postAsync(path: string, body?: unknown, headers?: PerformOptions['headers']) {
    return this.perform('POST', path, { body, headers: { ...headers, async: 'true' } });
  }

  delete(path: string, headers?: PerformOptions['headers']) {
    return this.perform('DELETE', path, { headers });
  }

  del(path: string, headers?: PerformOptions['headers']) {
    return this.delete(path, headers);
  }

  /** Runs a query. @returns JSON values, or bytes for csv, ndjson and arrow. @throws RowanError */
  async query(sql: string, options: QueryOptions = {}): Promise<unknown> {
    const reply = await readReply(await this.#queryReply(sql, options));
    if (reply.status >= 400) throw asError(reply);
    return JSON_FORMATS.has(options.format ?? 'table') ? reply.json : reply.bytes;
  }

  /** The bytes of a result as they are ready; the default format is ndjson. @throws RowanError */
  async *stream(sql: string, options: QueryOptions = {}): AsyncGenerator<Uint8Array> {
    const reply = await this.#queryReply(sql, { format: 'ndjson', ...options });
    if (reply.status >= 400) throw asError(await readReply(reply));
    if (reply.stream !== undefined) yield* reply.stream;
    else if (reply.bytes !== undefined) yield reply.bytes;
  }

  #queryReply(sql: string, { signal, ...options }: QueryOptions): Promise<Reply> {
    const body = { q: sql, format: 'table', ...options };
    return this.dispatcher.dispatch(
      makeRequest('POST', '/v1/query', { body, ...(signal === undefined ? {} : { signal }) }),
    );
  }

  async createDataset(config: EntityReference): Promise<DatasetObject> {
    return new DatasetObject(await this.#create('dataset', config), this.#objectHost);
  }

  async createFunction(config: EntityReference): Promise<FunctionObject> {
    return new FunctionObject(await this.#create('function', config), this.#objectHost);
  }

  async createProcedure(config: EntityReference): Promise<ProcedureObject> {
    return new ProcedureObject(await this.#create('procedure', config), this.#objectHost);
  }

  async obtainDataset(config: EntityReference): Promise<DatasetObject> {
    const { id } = await this.service.obtain('dataset', parseConfig(config));
    return new DatasetObject(id, this.#objectHost);
  }

  async obtainFunction(config: EntityReference): Promise<FunctionObject> {
    const { id } = await this.service.obtain('function', parseConfig(config));
    return new FunctionObject(id, this.#objectHost);
  }

  async obtainProcedure(config: EntityReference): Promise<ProcedureObject> {
    const { id } = await this.service.obtain('procedure', parseConfig(config));
    return new ProcedureObject(id, this.#objectHost);
  }

  async #create(kind: EntityKind, config: EntityReference): Promise<string> {
    const options = { mustBeNew: true, role: 'admin' } as const;
    const { id } = await createEntity(this.service, kind, parseConfig(config), options);
    return id;
  }

  get #objectHost(): EntityObjectHost {
    return {
      service: this.service,
      perform: async (verb, path, body) => {
        const reply = await this.perform(verb, path, body === undefined ? {} : { body });
        if (reply.status >= 400) throw asError(reply);
        return reply.json;
      },
    };
  }

  /** Cancels runs, ends workers and closes the store. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const extension of this.#extensions) await extension.close?.();
    await this.service.close();
  }
}

/** A request made in this process. @throws INVALID_PARAMETER for a malformed query string */
export function makeRequest(verb: string, path: string, options: PerformOptions): RouteRequest {
  const mark = path.indexOf('?');
  const inPath = mark === -1 ? [] : parseQueryString(path.slice(mark + 1));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    headers[name.toLowerCase()] = textOf(value);
  }
  return {
    verb,
    path: mark === -1 ? path : path.slice(0, mark),
    query: [...inPath, ...queryPairs(options.query)],
    body: valueBody(options.body === null ? undefined : options.body),
    headers,
    signal: options.signal ?? new AbortController().signal,
    role: options.role ?? 'admin',
    requestId: automaticRequestId(),
  };
}

function queryPairs(query: PerformOptions['query']): [string, string][] {
  if (query === undefined) return [];
  const pairs = Array.isArray(query) ? query : Object.entries(query);
  return pairs.map(([name, value]: readonly [string, unknown]) => [name, textOf(value)]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export async function readReply(reply: Reply): Promise<PerformedReply> {
  return new ReadReply(reply, reply.stream === undefined ? undefined : await readAll(reply.stream));
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** Converts the body only into the forms that somebody asks for. */
class ReadReply implements PerformedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly #reply: Reply;
  readonly #streamed: Uint8Array | undefined;

  constructor(reply: Reply, streamed: Uint8Array | undefined) {
    this.status = reply.status;
    this.headers = reply.headers ?? {};
    this.contentType = contentTypeOf(reply);
    this.#reply = reply;
    this.#streamed = streamed;
  }

  get bytes(): Uint8Array {
    return this.#streamed ?? this.#reply.bytes ?? new TextEncoder().encode(this.text);
  }

  get text(): string {
    const bytes = this.#streamed ?? this.#reply.bytes;
    if (bytes !== undefined) return new TextDecoder().decode(bytes);
    const { text, json } = this.#reply;
    return text ?? (json === undefined ? '' : stringifyJson(json));
  }

  get json(): unknown {
    const { text } = this;
    const isJson = this.contentType?.startsWith('application/json') === true && text !== '';
    return isJson ? parseJson(text) : undefined;
  }
}

/** The content type of a reply, with the defaults of its forms. */
export function contentTypeOf(reply: Reply): string | undefined {
  if (reply.contentType !== undefined) return reply.contentType;
  if (reply.json !== undefined) return 'application/json';
  return reply.text === undefined ? undefined : 'text/plain; charset=utf-8';
}

function asError(reply: PerformedReply): RowanError {
  const body = reply.json as Parameters<typeof RowanError.fromBody>[0] | undefined;
  if (body !== undefined && typeof body.error === 'string') return RowanError.fromBody(body);
  return failure('INTERNAL', reply.text || `status ${reply.status}`);
}
