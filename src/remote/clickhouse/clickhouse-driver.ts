// ClickHouse by the package `@clickhouse/client`. Answers come in the format
// TabSeparatedWithNamesAndTypes, which servers of all versions write exactly and by rows.
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseError,
  createClient,
} from '@clickhouse/client';
import type { AddressGuard } from '../../file/address-guard.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { WireAtom } from '../../value/wire-value.ts';
import type { Driver, Session } from '../driver.ts';
import type { Connection, WireRow } from '../message.ts';
import type { ClickhouseOptions } from './clickhouse-connection.ts';
import type {
  ClickhouseColumn,
  ClickhouseOutput,
  ClickhouseQuery,
  ClickhouseRequest,
  ClickhouseSource,
  ClickhouseTable,
} from './clickhouse-request.ts';
import { quoteName, withLiterals } from './clickhouse-text.ts';
import { type ColumnType, numberOf, parseType, readField } from './clickhouse-value.ts';

const BATCH_ROW_COUNT = 1000;
const CONNECTION_COUNT_MAX = 8;
/** A replica that failed is left alone for so long. */
const REST_MS = 30_000;
const RETRY_PAUSES_MS: readonly number[] = [100, 200, 400];
/** The longest time that a timer has. */
const PATIENCE_MS = 2 ** 31 - 1;
/** How often a statement is asked for how far it is. */
const PROGRESS_INTERVAL_MS = 500;
/** The first version with parameters of queries and DateTime64: 20.1. */
const PARAMETERS_SINCE = 20.01;
const UNKNOWN_TABLE = '60';

/** Queries with large models are longer than servers take as long as nothing else is said. */
const LONG_QUERY_LENGTH = 100_000;
const OF_LONG_QUERIES = {
  max_query_size: '16777216',
  max_ast_elements: '2000000',
  max_expanded_ast_elements: '8000000',
} as const;

export const clickhouseDriver: Driver = {
  async connect(connection, guard) {
    const session = new ClickhouseSession(connection, guard);
    await session.look();
    return session;
  },
};

interface Replica {
  readonly client: ClickHouseClient;
  /**
   * for statements, which are not repeated: each has a connection of its own, as the server may close
   * one that is idle at the moment in which it is used again
   */
  readonly once: ClickHouseClient;
  /** for statements that take as long as they take */
  readonly patient: ClickHouseClient;
  restsUntil: number;
}

class ClickhouseSession implements Session {
  readonly #connection: Connection;
  readonly #replicas: readonly Replica[];
  readonly #timeoutMs: number;
  #next = 0;
  #hasParameters = false;

  constructor(connection: Connection, guard: AddressGuard) {
    const { address } = connection;
    const options = connection.options as unknown as ClickhouseOptions;
    this.#connection = connection;
    this.#timeoutMs = options.timeoutSeconds * 1000;
    this.#replicas = options.urls.map((url) => {
      guard.checkHost(new URL(url).hostname, address);
      const agentOf = (keepAlive: boolean) => {
        const sockets = {
          keepAlive,
          maxSockets: CONNECTION_COUNT_MAX,
          lookup: guard.lookup(address),
        };
        return url.startsWith('https:') ? new HttpsAgent(sockets) : new HttpAgent(sockets);
      };
      const configuration: ClickHouseClientConfigOptions = {
        url,
        database: options.database,
        // Headers instead of Authorization, which proxies may take for theirs.
        username: '',
        password: '',
        set_basic_auth_header: false,
        http_headers: {
          'X-ClickHouse-User': options.user,
          ...(options.password === '' ? {} : { 'X-ClickHouse-Key': options.password }),
        },
        http_agent: agentOf(true),
        request_timeout: this.#timeoutMs,
        clickhouse_settings: options.settings as Record<string, string>,
        application: 'rowan',
        // What goes wrong is told by errors.
        log: { level: 127 as never },
      };
      const single = {
        ...configuration,
        http_agent: agentOf(false),
        keep_alive: { enabled: false },
      };
      return {
        client: createClient(configuration),
        once: createClient(single),
        patient: createClient({ ...single, request_timeout: PATIENCE_MS }),
        restsUntil: 0,
      };
    });
  }

  /** Looks whether somebody answers, and which version that is. */
  async look(): Promise<void> {
    const { signal } = new AbortController();
    const [version = ''] = await this.#fields('SELECT version()', signal);
    this.#hasParameters =
      Number.parseFloat(version.replace(/^(\d+)\.(\d)\b.*/, '$1.0$2')) >= PARAMETERS_SINCE;
  }

  async *rows(request: unknown, signal: AbortSignal): AsyncIterable<readonly WireRow[]> {
    const call = request as Extract<ClickhouseRequest, { kind: 'rows' | 'copy' }>;
    if (call.kind === 'copy') {
      yield* this.#copy(call, signal);
      return;
    }
    const { query, columns, rowCountMax } = call;
    const { stream, stop } = await this.#open(query, signal);
    let rowCount = 0;
    try {
      let batch: WireRow[] = [];
      const reader = new RowReader(columns);
      for await (const line of linesOf(stream)) {
        const row = reader.read(line);
        if (row === undefined) continue;
        if (++rowCount > rowCountMax)
          throw failure('INVALID_PARAMETER', 'clickhouse result too large', {
            maxRows: rowCountMax,
          });
        batch.push(row);
        if (batch.length < BATCH_ROW_COUNT) continue;
        yield batch;
        batch = [];
      }
      reader.finish();
      if (batch.length > 0) yield batch;
    } catch (thrown) {
      if (rowCount > 0 && isConnectionFailure(thrown)) {
        const message = `the answer broke off behind ${rowCount} rows: ${messageOf(thrown)}`;
        throw failure('REMOTE_FAILED', `Could not query ClickHouse: ${message}`, {
          address: this.#connection.address,
        });
      }
      throw this.#failed('query ClickHouse', thrown);
    } finally {
      stop();
    }
  }

  async execute(request: unknown, signal: AbortSignal): Promise<unknown> {
    const call = request as Exclude<ClickhouseRequest, { kind: 'rows' | 'copy' }>;
    switch (call.kind) {
      case 'table':
        return this.#table(call.source, signal);
      case 'count': {
        const [count = '0'] = await this.#fields(this.#textOf(call.query).sql, signal);
        return Number(count);
      }
      case 'statement':
        return this.#command(call.query, call.doing, signal);
      case 'insert':
        return this.#insert(call, signal);
    }
  }

  async #table(source: ClickhouseSource, signal: AbortSignal): Promise<ClickhouseTable> {
    const what =
      'query' in source
        ? `(${source.query})`
        : `${quoteName(source.database)}.${quoteName(source.table)}`;
    try {
      const columns: ClickhouseColumn[] = [];
      for await (const line of this.#lines(`DESCRIBE TABLE ${what}`, signal)) {
        const [name = '', type = ''] = line.split('\t').map(plain);
        columns.push({ name, type });
      }
      return { columns, hasDateTime64: this.#hasParameters };
    } catch (thrown) {
      if (thrown instanceof RowanError && thrown.details?.serverCode === UNKNOWN_TABLE) {
        return { columns: undefined, hasDateTime64: this.#hasParameters };
      }
      throw thrown;
    }
  }

  async #command(query: ClickhouseQuery, doing: string, signal: AbortSignal): Promise<void> {
    const { sql, parameters } = this.#textOf(query);
    const queryId = randomUUID();
    const { client, once } = this.#replica();
    const stop = () => this.#kill(client, queryId);
    signal.addEventListener('abort', stop);
    try {
      await once.command({
        query: sql,
        query_id: queryId,
        abort_signal: signal,
        ...(parameters === undefined ? {} : { query_params: parameters }),
      });
    } catch (thrown) {
      throw this.#failed(doing, thrown);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async *#copy(
    { query, doing }: Extract<ClickhouseRequest, { kind: 'copy' }>,
    signal: AbortSignal,
  ): AsyncIterable<readonly WireRow[]> {
    const { sql, parameters } = this.#textOf(query);
    const queryId = randomUUID();
    const { client, patient } = this.#replica();
    const abort = new AbortController();
    let isRunning = true;
    const stop = () => {
      if (!isRunning) return;
      this.#kill(client, queryId);
      abort.abort();
    };
    signal.addEventListener('abort', stop);
    const running = patient
      .command({
        query: sql,
        query_id: queryId,
        abort_signal: abort.signal,
        // Rows for other servers have arrived there when the statement is done.
        clickhouse_settings: {
          insert_distributed_sync: 1,
          ...(sql.length > LONG_QUERY_LENGTH ? OF_LONG_QUERIES : {}),
        },
        ...(parameters === undefined ? {} : { query_params: parameters }),
      })
      .finally(() => {
        isRunning = false;
      });
    running.catch(() => undefined);
    try {
      const sqlOfProgress = `SELECT read_rows, total_rows_approx FROM system.processes WHERE query_id = '${queryId}'`;
      while (isRunning) {
        const timer = new AbortController();
        await Promise.race([
          running,
          pause(PROGRESS_INTERVAL_MS, undefined, { signal: timer.signal }),
        ]);
        timer.abort();
        if (!isRunning) break;
        const [read = '0', total = '0'] = await this.#fieldsFrom(client, sqlOfProgress, signal);
        yield [{ name: undefined, ts: 0, paths: [], atoms: [Number(read), Number(total)] }];
      }
      await running;
    } catch (thrown) {
      throw this.#failed(doing, thrown);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  async #fieldsFrom(
    client: ClickHouseClient,
    sql: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { stream } = await client.exec({
      query: `${sql}\nFORMAT TabSeparated`,
      abort_signal: signal,
    });
    for await (const line of linesOf(stream)) return line.split('\t').map(plain);
    return [];
  }

  async #insert(
    { into, columns, text }: Extract<ClickhouseRequest, { kind: 'insert' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const names = columns.map(quoteName).join(', ');
    // One request is one block, which a server takes as a whole or not at all.
    await this.#command(
      { sql: `INSERT INTO ${into} (${names}) FORMAT TabSeparated\n${text}`, texts: [] },
      'insert data in ClickHouse table',
      signal,
    );
  }

  async #fields(sql: string, signal: AbortSignal): Promise<readonly string[]> {
    for await (const line of this.#lines(sql, signal)) return line.split('\t').map(plain);
    return [];
  }

  async *#lines(sql: string, signal: AbortSignal): AsyncIterable<string> {
    const { stream, stop } = await this.#open({ sql, texts: [] }, signal, 'TabSeparated');
    try {
      for await (const line of linesOf(stream)) yield line;
    } catch (thrown) {
      throw this.#failed('query ClickHouse', thrown);
    } finally {
      stop();
    }
  }

  /** Asks one replica after the other, and all of them again after a pause. */
  async #open(
    query: ClickhouseQuery,
    signal: AbortSignal,
    format = 'TabSeparatedWithNamesAndTypes',
  ): Promise<{ readonly stream: Readable; stop(): void }> {
    const { sql, parameters } = this.#textOf(query);
    for (let attempt = 0; ; attempt++) {
      const replica = this.#replica();
      const queryId = randomUUID();
      const abort = new AbortController();
      const stop = () => {
        signal.removeEventListener('abort', stop);
        if (stream?.readableEnded === true) return;
        stream?.destroy();
        abort.abort();
        this.#kill(replica.client, queryId);
      };
      let stream: Readable | undefined;
      signal.addEventListener('abort', stop);
      try {
        ({ stream } = await replica.client.exec({
          query: `${sql}\nFORMAT ${format}`,
          query_id: queryId,
          abort_signal: abort.signal,
          ...(sql.length > LONG_QUERY_LENGTH ? { clickhouse_settings: OF_LONG_QUERIES } : {}),
          ...(parameters === undefined ? {} : { query_params: parameters }),
        }));
        return { stream, stop };
      } catch (thrown) {
        signal.removeEventListener('abort', stop);
        if (!isConnectionFailure(thrown) || signal.aborted)
          throw this.#failed('query ClickHouse', thrown);
        replica.restsUntil = Date.now() + REST_MS;
        const round = Math.floor(attempt / this.#replicas.length);
        if (round >= RETRY_PAUSES_MS.length) throw this.#failed('query ClickHouse', thrown);
        const isLast = attempt % this.#replicas.length === this.#replicas.length - 1;
        if (isLast) await pause(RETRY_PAUSES_MS[round] as number);
      }
    }
  }

  /** The next one that does not rest; when all do, the next one. */
  #replica(): Replica {
    const now = Date.now();
    const { length } = this.#replicas;
    for (let i = 0; i < length; i++) {
      const replica = this.#replicas[(this.#next + i) % length] as Replica;
      if (replica.restsUntil > now) continue;
      this.#next = (this.#next + i + 1) % length;
      return replica;
    }
    const replica = this.#replicas[this.#next % length] as Replica;
    this.#next = (this.#next + 1) % length;
    return replica;
  }

  #textOf(query: ClickhouseQuery): {
    readonly sql: string;
    readonly parameters: Record<string, string> | undefined;
  } {
    if (!this.#hasParameters || query.texts.length === 0) {
      return { sql: withLiterals(query), parameters: undefined };
    }
    return {
      sql: query.sql,
      parameters: Object.fromEntries(query.texts.map((text, index) => [`p${index}`, text])),
    };
  }

  /** Ends what the server is doing for nobody. */
  #kill(client: ClickHouseClient, queryId: string): void {
    void client
      .command({ query: `KILL QUERY WHERE query_id = '${queryId}' ASYNC` })
      .catch(() => undefined);
  }

  #failed(doing: string, thrown: unknown): RowanError {
    if (thrown instanceof RowanError) return thrown;
    const { address } = this.#connection;
    const message = messageOf(thrown);
    // The package reads the errors of new servers only.
    const code = /\bCode: (\d+)/.exec(message)?.[1] ?? (thrown as { code?: unknown }).code;
    if (thrown instanceof ClickHouseError || /DB::Exception/.test(message)) {
      return failure('REMOTE_FAILED', `Could not ${doing}: ${message}`, {
        serverText: message,
        serverCode: code,
      });
    }
    if (isConnectionFailure(thrown)) {
      return failure('REMOTE_FAILED', `Could not connect to ClickHouse: ${message}`, { address });
    }
    if (/timeout/i.test(message)) {
      const limit = `${this.#timeoutMs / 1000} s (timeoutSeconds)`;
      const text = `Could not ${doing}: no answer from ${address} within ${limit}`;
      return failure('REMOTE_FAILED', text, { address });
    }
    return failure('REMOTE_FAILED', `Could not ${doing}: ${message}`, { address });
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#replicas.flatMap(({ client, once, patient }) =>
        [client, once, patient].map((each) => each.close()),
      ),
    );
  }
}

function messageOf(thrown: unknown): string {
  const { message, code } = thrown as { readonly message?: string; readonly code?: string };
  return (message || code || String(thrown)).trim();
}

function isConnectionFailure(thrown: unknown): boolean {
  const { code } = thrown as { readonly code?: string };
  return (
    typeof code === 'string' && /^(ECONN|EHOST|ENET|EPIPE|ENOTFOUND|EAI_|ETIMEDOUT)/.test(code)
  );
}

function plain(field: string): string {
  let text = '';
  readField([], TEXT, field, (_, atom) => {
    text = String(atom);
  });
  return text;
}

const TEXT: ColumnType = { type: { kind: 'string' }, isNullable: false };

async function* linesOf(stream: Readable): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/** Two lines of head, then a line for each row. */
class RowReader {
  readonly #outputs: readonly ClickhouseOutput[];
  readonly #paths: readonly (readonly string[])[];
  #types: readonly ColumnType[] | undefined;
  #lineCount = 0;
  /** what follows when the server fails behind rows */
  #failure: string | undefined;
  readonly #isFlat: boolean[] = [];

  constructor(outputs: readonly ClickhouseOutput[]) {
    this.#outputs = outputs;
    this.#paths = outputs.flatMap((output) => (output.kind === 'cell' ? [output.path] : []));
  }

  read(line: string): WireRow | undefined {
    if (this.#failure !== undefined) {
      this.#failure += ` ${line}`;
      return undefined;
    }
    const fields = line.split('\t');
    if (fields.length !== this.#outputs.length) {
      this.#failure = line;
      return undefined;
    }
    this.#lineCount++;
    if (this.#lineCount === 1) return undefined;
    if (this.#types === undefined) {
      this.#types = fields.map((type) => parseType(plain(type)));
      for (const { type } of this.#types) this.#isFlat.push(!STRUCTURED.has(type.kind));
      return undefined;
    }
    return this.#row(fields, this.#types);
  }

  #row(fields: readonly string[], types: readonly ColumnType[]): WireRow {
    let name: readonly string[] | undefined;
    let ts = Number.NEGATIVE_INFINITY;
    const atoms: WireAtom[] = [];
    const isFlat = this.#isFlat.every(Boolean);
    const paths: (readonly string[])[] = [];
    const add = (path: readonly string[], atom: WireAtom) => {
      if (!isFlat) paths.push(path);
      atoms.push(atom);
    };
    for (let i = 0; i < fields.length; i++) {
      const output = this.#outputs[i] as ClickhouseOutput;
      const field = fields[i] as string;
      if (output.kind === 'name') name = [field === '\\N' ? 'null' : plain(field)];
      else if (output.kind === 'ts') ts = field === '\\N' ? ts : numberOf(field);
      else if (output.kind === 'pad') continue;
      else if (output.isInstant && field !== '\\N') add(output.path, { seconds: numberOf(field) });
      else readField(output.path, types[i] as ColumnType, field, add);
    }
    return { name, ts, paths: isFlat ? this.#paths : paths, atoms };
  }

  /** @throws REMOTE_FAILED when the rows are not all */
  finish(): void {
    if (this.#failure === undefined && this.#types !== undefined) return;
    const message = this.#failure ?? 'the answer ended before its head';
    throw failure('REMOTE_FAILED', `Could not query ClickHouse: ${message}`, {
      serverText: message,
    });
  }
}

const STRUCTURED: ReadonlySet<string> = new Set(['array', 'map', 'tuple']);
