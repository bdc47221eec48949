// The face of the service: the same in the process of the service and over HTTP.
import type { CallOptions } from './call-limit.ts';
import { Caller, type PerformOptions } from './caller.ts';
import type { ResultRow } from './cell.ts';
import { DatasetObject } from './dataset.ts';
import { Collection, type EntityConfig, type Named, named } from './entity.ts';
import type { FunctionCollection, FunctionObject } from './function.ts';
import { ProcedureObject } from './procedure.ts';
import { Query, type QueryFormat, type QueryOptions, type QueryResults } from './query.ts';
import type { PerformedReply } from './reply.ts';
import type { Transport } from './transport.ts';

type Headers = PerformOptions['headers'];
type HandleOf<Entities> = Entities extends Collection<infer Handle> ? Handle : never;

/**
 * The service as a program sees it: entities, queries, and any route by its path. Transports
 * extend it.
 */
export abstract class RowanApi<Functions extends Collection<FunctionObject> = FunctionCollection> {
  readonly datasets: Named<DatasetObject>;
  readonly functions: Named<HandleOf<Functions>, Functions>;
  readonly procedures: Named<ProcedureObject>;
  readonly #caller: Caller;

  /** @param makeFunctions functions, of which a transport may know more */
  protected constructor(
    transport: Transport,
    defaults: CallOptions,
    makeFunctions: (caller: Caller) => Functions,
  ) {
    const caller = new Caller(transport, defaults);
    this.#caller = caller;
    this.datasets = named(
      new Collection('datasets', caller, (id) => new DatasetObject(id, caller)),
    );
    this.functions = named(makeFunctions(caller)) as Named<HandleOf<Functions>, Functions>;
    this.procedures = named(
      new Collection('procedures', caller, (id) => new ProcedureObject(id, caller)),
    );
  }

  abstract close(): Promise<void>;

  /** Cancels what this object has asked for and not got yet. */
  protected cancelCalls(): void {
    this.#caller.cancelAll();
  }

  /**
   * Performs a request of the REST interface; the path may carry a query string. Failures are
   * replies too. @throws RowanError only when there is no reply: UNREACHABLE, CANCELLED, TIMEOUT
   */
  perform<Json = unknown>(
    verb: string,
    path: string,
    options: PerformOptions = {},
  ): Promise<PerformedReply<Json>> {
    return this.#caller.perform<Json>(verb, path, options);
  }

  /** The body of a success while it comes. @throws RowanError */
  performStream(
    verb: string,
    path: string,
    options?: PerformOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#caller.stream(verb, path, options);
  }

  get<Json = unknown>(path: string, query?: PerformOptions['query'], headers?: Headers) {
    return this.perform<Json>('GET', path, { query, headers });
  }

  put<Json = unknown>(path: string, body?: unknown, headers?: Headers) {
    return this.perform<Json>('PUT', path, { body, headers });
  }

  post<Json = unknown>(path: string, body?: unknown, headers?: Headers) {
    return this.perform<Json>('POST', path, { body, headers });
  }

  putAsync<Json = unknown>(path: string, body?: unknown, headers?: Headers) {
    return this.put<Json>(path, body, { ...headers, async: 'true' });
  }

  postAsync<Json = unknown>(path: string, body?: unknown, headers?: Headers) {
    return this.post<Json>(path, body, { ...headers, async: 'true' });
  }

  delete(path: string, headers?: Headers) {
    return this.perform('DELETE', path, { headers });
  }

  del(path: string, headers?: Headers) {
    return this.delete(path, headers);
  }

  /** Await its result, iterate over its rows, or ask it for another form. @throws RowanError */
  query<Row = ResultRow, Format extends QueryFormat = 'table'>(
    sql: string,
    options: QueryOptions<Format> = {},
  ): Query<QueryResults<Row>[Format], Row> {
    return new Query(this.#caller, sql, options);
  }

  /** The bytes of a result as they are ready; the default format is ndjson. @throws RowanError */
  stream(sql: string, options: QueryOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return new Query(this.#caller, sql, options).bytes();
  }

  /** @throws ENTITY_EXISTS when there is one of that id; so do the other two */
  createDataset(config: EntityConfig): Promise<DatasetObject> {
    return this.datasets.create(config);
  }

  createFunction(config: EntityConfig): Promise<HandleOf<Functions>> {
    return this.functions.create(config) as Promise<HandleOf<Functions>>;
  }

  createProcedure(config: EntityConfig): Promise<ProcedureObject> {
    return this.procedures.create(config);
  }

  /** The one of that id, or a new one; so do the other two. */
  obtainDataset(config: EntityConfig | string): Promise<DatasetObject> {
    return this.datasets.obtain(config);
  }

  obtainFunction(config: EntityConfig | string): Promise<HandleOf<Functions>> {
    return this.functions.obtain(config) as Promise<HandleOf<Functions>>;
  }

  obtainProcedure(config: EntityConfig | string): Promise<ProcedureObject> {
    return this.procedures.obtain(config);
  }
}
