// PostgreSQL by the package `pg`.
import { type LookupFunction, Socket } from 'node:net';
import pg from 'pg';
import type { AddressGuard } from '../../file/address-guard.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { WireAtom } from '../../value/wire-value.ts';
import type { Driver, Session } from '../driver.ts';
import type { Connection, WireRow } from '../message.ts';
import {
  type PostgresqlColumn,
  type PostgresqlRequest,
  type PostgresqlTable,
  quoteIdentifier,
} from './postgresql-request.ts';
import { readValue } from './postgresql-value.ts';

const CONNECT_TIMEOUT_MS = 5000;
const CONNECTION_COUNT_MAX = 8;
const BATCH_ROW_COUNT = 1000;

/** Texts as this side reads them, whatever the settings of server and role are. */
const SETTINGS =
  "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET extra_float_digits = 1; SET bytea_output = 'hex'";

/** Values stay texts: what they mean is decided here. */
const TEXTS = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

export interface PostgresqlOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly ssl: 'prefer' | 'require' | 'disable';
}

export const postgresqlDriver: Driver = {
  async connect(connection, guard) {
    const { ssl } = connection.options as unknown as PostgresqlOptions;
    if (ssl !== 'prefer') return open(connection, guard, ssl === 'require');
    return open(connection, guard, true).catch((thrown) => {
      const isPlain = /does not support SSL/.test((thrown as Error).message);
      if (isPlain) return open(connection, guard, false);
      throw thrown;
    });
  },
};

/** Connects once, so that what is wrong is known. */
async function open(
  connection: Connection,
  guard: AddressGuard,
  usesTls: boolean,
): Promise<Session> {
  const { address } = connection;
  const options = connection.options as unknown as PostgresqlOptions;
  const { host, port, database, user, password } = options;
  const pool = new pg.Pool({
    host,
    port,
    database,
    user,
    // A function: an empty password would be looked for in the environment and in files.
    password: async () => password,
    ssl: usesTls ? { rejectUnauthorized: false } : false,
    stream: () => new GuardedSocket(guard.lookup(address)),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    max: CONNECTION_COUNT_MAX,
    application_name: 'rowan',
    types: TEXTS,
  });
  // A connection that nobody uses may end.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.query(SETTINGS).catch(() => undefined));
  try {
    guard.checkHost(host, address);
    (await pool.connect()).release();
  } catch (thrown) {
    await pool.end().catch(() => undefined);
    if (thrown instanceof RowanError) throw thrown;
    throw failure(
      'REMOTE_FAILED',
      `Could not connect to Postgresql database: ${messageOf(thrown)}`,
      {
        address,
        database,
      },
    );
  }
  return new PostgresqlSession(pool);
}

/** Resolves names by the guard of addresses. */
class GuardedSocket extends Socket {
  readonly #lookup: LookupFunction;

  constructor(lookup: LookupFunction) {
    super();
    this.#lookup = lookup;
  }

  override connect(...args: unknown[]): this {
    const [port, host] = args as [number, string];
    return super.connect({ port, host, lookup: this.#lookup });
  }
}

class PostgresqlSession implements Session {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async *rows(request: unknown, signal: AbortSignal): AsyncIterable<readonly WireRow[]> {
    const {
      sql,
      parameters,
      isNamed,
      batchRowCount = BATCH_ROW_COUNT,
    } = request as Extract<PostgresqlRequest, { kind: 'rows' }>;
    const client = await this.#pool.connect();
    const stop = () => void this.#stop(client);
    signal.addEventListener('abort', stop);
    let isSound = false;
    try {
      await client.query('BEGIN READ ONLY');
      await client.query(`DECLARE rowan NO SCROLL CURSOR FOR ${sql}`, [...parameters]);
      for (;;) {
        const fetch = { text: `FETCH ${batchRowCount} FROM rowan`, rowMode: 'array' as const };
        const { rows, fields } = await client.query<(string | null)[]>(fetch);
        if (rows.length > 0) yield rows.map((row) => wireRow(row, fields, isNamed));
        if (rows.length < batchRowCount) break;
      }
      await client.query('ROLLBACK');
      isSound = true;
    } catch (thrown) {
      throw statementFailure('query PostgreSQL database', thrown);
    } finally {
      signal.removeEventListener('abort', stop);
      // One that was left in the middle of something is closed.
      client.release(!isSound);
    }
  }

  /** Ends what a connection is doing. */
  async #stop(client: pg.PoolClient): Promise<void> {
    const { processID } = client as pg.PoolClient & { readonly processID?: number };
    await this.#pool
      .query('SELECT pg_cancel_backend($1)', [String(processID)])
      .catch(() => undefined);
  }

  async execute(request: unknown): Promise<unknown> {
    const call = request as Exclude<PostgresqlRequest, { kind: 'rows' }>;
    if (call.kind === 'table') return this.#describe(call);
    return call.kind === 'prepare' ? this.#prepare(call) : this.#insert(call);
  }

  async #describe({
    schema,
    table,
  }: Extract<PostgresqlRequest, { kind: 'table' }>): Promise<PostgresqlTable> {
    const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
    const doing = 'query PostgreSQL database';
    const about = await this.#query<{ rows: string; encoding: string }>(
      doing,
      "SELECT reltuples AS rows, current_setting('server_encoding') AS encoding FROM pg_class WHERE oid = $1::regclass",
      [name],
    );
    const columns = await this.#query<PostgresqlColumn>(
      doing,
      `SELECT attname AS name, typname AS type
       FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [name],
    );
    let rowCount = Number(about[0]?.rows);
    // Of views and of tables that were never analysed the planner has an estimate.
    if (!(rowCount > 0)) {
      const plans = await this.#query<{ 'QUERY PLAN': string }>(
        doing,
        `EXPLAIN (FORMAT JSON) SELECT 1 FROM ${name}`,
      );
      rowCount = JSON.parse(plans[0]?.['QUERY PLAN'] as string)[0].Plan['Plan Rows'];
    }
    return { rowCount, isUtf8: about[0]?.encoding === 'UTF8', columns };
  }

  async #prepare({
    schema,
    table,
    drops,
    creates,
  }: Extract<PostgresqlRequest, { kind: 'prepare' }>): Promise<void> {
    const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
    if (drops) await this.#query('drop PostgreSQL table', `DROP TABLE IF EXISTS ${name}`);
    if (creates) await this.#query('create PostgreSQL table', `CREATE TABLE ${name} ()`);
  }

  /** All rows, or none. */
  async #insert({
    schema,
    table,
    rows,
  }: Extract<PostgresqlRequest, { kind: 'insert' }>): Promise<void> {
    const known = new Set(
      (await this.#describe({ kind: 'table', schema, table })).columns.map(({ name }) => name),
    );
    const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
    const client = await this.#pool.connect();
    const doing = (what: string, sql: string, values: (string | null)[] = []) =>
      client.query(sql, values).catch((thrown) => {
        throw statementFailure(what, thrown);
      });
    let isSound = false;
    try {
      await client.query('BEGIN');
      for (const row of rows) {
        for (const { column, type } of row) {
          if (known.has(column)) continue;
          known.add(column);
          const added = `ADD COLUMN IF NOT EXISTS ${quoteIdentifier(column)} ${type}`;
          await doing('alter PostgreSQL table', `ALTER TABLE ${name} ${added}`);
        }
        const columns = row.map(({ column }) => quoteIdentifier(column)).join(', ');
        const places = row.map((_, index) => `$${index + 1}`).join(', ');
        const what = row.length === 0 ? 'DEFAULT VALUES' : `(${columns}) VALUES (${places})`;
        const texts = row.map(({ text }) => text);
        await doing('insert data in PostgreSQL table', `INSERT INTO ${name} ${what}`, texts);
      }
      await client.query('COMMIT');
      isSound = true;
    } finally {
      client.release(!isSound);
    }
  }

  async #query<Row extends object>(
    what: string,
    sql: string,
    values: (string | null)[] = [],
  ): Promise<Row[]> {
    try {
      return (await this.#pool.query(sql, values)).rows as Row[];
    } catch (thrown) {
      throw statementFailure(what, thrown);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

function wireRow(
  row: readonly (string | null)[],
  fields: readonly pg.FieldDef[],
  isNamed: boolean,
): WireRow {
  const paths: (readonly string[])[] = [];
  const atoms: WireAtom[] = [];
  for (let i = isNamed ? 1 : 0; i < fields.length; i++) {
    const { name, dataTypeID } = fields[i] as pg.FieldDef;
    readValue([name], dataTypeID, row[i] ?? null, (path, atom) => {
      paths.push(path);
      atoms.push(atom);
    });
  }
  return { name: isNamed ? [row[0] ?? 'null'] : undefined, ts: Number.NaN, paths, atoms };
}

function messageOf(thrown: unknown): string {
  const error = thrown as { readonly message?: string; readonly code?: string };
  return error.message || error.code || String(thrown);
}

function statementFailure(what: string, thrown: unknown): RowanError {
  if (thrown instanceof RowanError) return thrown;
  const { code, detail, hint } = thrown as {
    readonly [key in 'code' | 'detail' | 'hint']?: string;
  };
  const message = messageOf(thrown);
  return failure('REMOTE_FAILED', `Could not ${what}: ${message}`, {
    serverText: message,
    ...(code === undefined ? {} : { serverCode: code }),
    ...(detail === undefined ? {} : { serverDetail: detail }),
    ...(hint === undefined ? {} : { serverHint: hint }),
  });
}
