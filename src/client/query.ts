// A query that is on its way: await its result, or iterate over its rows while they come.
import type { RecordBatch, Table } from 'apache-arrow';
import { RowanError } from '../util/error.ts';
import type { CallOptions } from './call-limit.ts';
import type { Caller } from './caller.ts';
import type { Cell, ResultRow } from './cell.ts';
import { decodeLines } from './json-lines.ts';
import { isErrorBody, readAll } from './reply.ts';

/** What awaiting a query gives, by format. */
export interface QueryResults<Row> {
  /** names first, then a list of cells for each row */
  table: Cell[][];
  aos: Row[];
  soa: Record<string, Cell[]>;
  sparse: [column: string, cell: Cell][][];
  full: { rowName: string; columns?: [column: string, cell: Cell, timestamp: string][] }[];
  atom: Cell;
  csv: Uint8Array;
  ndjson: Uint8Array;
  arrow: Uint8Array;
}

export type QueryFormat = keyof QueryResults<unknown>;

export interface QueryOptions<Format extends QueryFormat = QueryFormat> extends CallOptions {
  /** of the awaited result, default `table`; csv, ndjson and arrow give bytes */
  readonly format?: Format | undefined;
  /** table, csv: names first; default true */
  readonly headers?: boolean | undefined;
  /** adds `_rowName`; default true */
  readonly rowNames?: boolean | undefined;
  /** adds `_rowHash`; default false */
  readonly rowHashes?: boolean | undefined;
  /** default false */
  readonly sortColumns?: boolean | undefined;
  /** aos, soa, ndjson: timestamps as `{ts: text}` (default) or as ISO text alone */
  readonly timestamps?: 'object' | 'iso' | undefined;
  /** refuses what would only be warned about; default: what the service says */
  readonly strict?: boolean | undefined;
  /** of `random()`: the same seed, the same numbers */
  readonly seed?: number | undefined;
}

/** What a query that ran says is probably wrong. */
export interface QueryWarning {
  /** such as `UNKNOWN_COLUMN`: those of the reference of SQL */
  readonly code: string;
  readonly message: string;
  /** both from 1 */
  readonly line: number;
  readonly column: number;
  /** what to write instead; null when nothing is near */
  readonly suggestion: string | null;
}

const PATH = '/v1/query';
const BYTE_FORMATS: ReadonlySet<string> = new Set(['csv', 'ndjson', 'arrow']);

/**
 * Nothing runs before the caller asks for the result; each way of asking runs the query anew, but
 * awaiting it twice does not.
 */
export class Query<Result, Row = ResultRow> implements Promise<Result> {
  readonly #caller: Caller;
  readonly #sql: string;
  readonly #options: QueryOptions;
  #result: Promise<Result> | undefined;
  #warnings: readonly QueryWarning[] = [];
  readonly [Symbol.toStringTag] = 'Query';

  constructor(caller: Caller, sql: string, options: QueryOptions) {
    this.#caller = caller;
    this.#sql = sql;
    this.#options = options;
  }

  /** What was probably wrong with it; known when the first of its result has come. */
  get warnings(): readonly QueryWarning[] {
    return this.#warnings;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a query runs it
  then<A = Result, B = never>(
    onResult?: ((result: Result) => A | PromiseLike<A>) | null,
    onFailure?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#result ??= this.#ask(this.#options.format ?? 'table') as Promise<Result>;
    return this.#result.then(onResult, onFailure);
  }

  catch<B = never>(
    onFailure?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<Result | B> {
    return this.then(undefined, onFailure);
  }

  finally(onEnd?: (() => void) | null): Promise<Result> {
    return this.then().finally(onEnd);
  }

  /** Rows as objects while they come; who stops reading cancels the query. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const rows of decodeLines(this.bytes('ndjson'))) {
      for (const row of rows) {
        const error = (row as { readonly _error?: unknown })._error;
        if (isErrorBody(error)) throw RowanError.fromBody(error);
        yield row as Row;
      }
    }
  }

  /** All rows as objects. */
  rows(): Promise<Row[]> {
    return this.#ask('aos') as Promise<Row[]>;
  }

  /** The cells of each column. */
  columns(): Promise<Record<string, Cell[]>> {
    return this.#ask('soa') as Promise<Record<string, Cell[]>>;
  }

  /** The one cell of a result that has one row and one column. */
  value<Value = Cell>(): Promise<Value> {
    return this.#ask('atom') as Promise<Value>;
  }

  async csv(): Promise<string> {
    return new TextDecoder().decode((await this.#ask('csv')) as Uint8Array);
  }

  /** A table of Apache Arrow. */
  async arrow(): Promise<Table> {
    const { tableFromIPC } = await import('apache-arrow');
    return tableFromIPC((await this.#ask('arrow')) as Uint8Array);
  }

  /** Record batches of Apache Arrow while they come. */
  async *batches(): AsyncGenerator<RecordBatch, void, undefined> {
    const { RecordBatchReader } = await import('apache-arrow');
    yield* await RecordBatchReader.from(this.bytes('arrow'));
  }

  /** The result as bytes while they come. */
  bytes(format: QueryFormat = this.#options.format ?? 'ndjson'): AsyncGenerator<Uint8Array> {
    return this.#caller.stream('POST', PATH, this.#call(format), this.#onHeaders);
  }

  async #ask(format: QueryFormat): Promise<unknown> {
    if (BYTE_FORMATS.has(format)) return readAll(this.bytes(format));
    return this.#caller.request('POST', PATH, this.#call(format), this.#onHeaders);
  }

  readonly #onHeaders = (headers: Readonly<Record<string, string>>): void => {
    const text = headers['x-rowan-warnings'];
    this.#warnings = text === undefined ? [] : (JSON.parse(text) as QueryWarning[]);
  };

  #call(format: QueryFormat) {
    const { signal, timeoutMs, ...options } = this.#options;
    return { body: { q: this.#sql, ...options, format }, signal, timeoutMs };
  }
}
