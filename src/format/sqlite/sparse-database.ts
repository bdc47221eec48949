// Sparse rows in an SQLite file: tables of rows, columns and values.
import sqlite from 'node-sqlite3-wasm';
import { failure, RowanError } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { SparseSnapshot } from '../../value/column/snapshot.ts';
import { SparseBuilder } from '../../value/column/sparse-builder.ts';
import type { RecordedCell } from '../../value/column/table-builder.ts';
import { atomFromJson, atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { hashPath } from '../../value/path-hash.ts';

const { Database } = sqlite;
type Database = InstanceType<typeof Database>;

export interface SqliteRow {
  readonly name: Path;
  readonly cells: readonly RecordedCell[];
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS rows (rowNum INTEGER PRIMARY KEY, rowHash BIGINT, rowName TEXT);
CREATE TABLE IF NOT EXISTS cols (colNum INTEGER PRIMARY KEY, colHash BIGINT, colName TEXT);
CREATE TABLE IF NOT EXISTS vals (rowNum INTEGER, colNum INTEGER, ts BIGINT, val TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS rowIndex ON rows (rowHash, rowName);
CREATE UNIQUE INDEX IF NOT EXISTS colIndex ON cols (colHash, colName);
CREATE UNIQUE INDEX IF NOT EXISTS valIndex ON vals (rowNum, colNum, val, ts);
`;

const TABLES: Readonly<Record<string, readonly string[]>> = {
  rows: ['rowNum', 'rowHash', 'rowName'],
  cols: ['colNum', 'colHash', 'colName'],
  vals: ['rowNum', 'colNum', 'ts', 'val'],
};

/** What stands for timestamps that are no milliseconds. */
const MINUS_INFINITY = -(2n ** 63n);
const INFINITY = 2n ** 63n - 1n;

/** A database, made when there is none. @throws DATA_ERROR for one with other tables */
function open(path: string): Database {
  let database: Database | undefined;
  try {
    database = new Database(path);
    database.exec('PRAGMA busy_timeout=10000');
    const existing = database.all("SELECT name FROM sqlite_master WHERE type = 'table'") as {
      readonly name: string;
    }[];
    if (existing.length === 0) {
      // Where files cannot be shared in memory the mode stays what it was.
      database.exec('PRAGMA journal_mode=WAL');
      database.exec(SCHEMA);
    } else checkTables(database, existing);
    return database;
  } catch (thrown) {
    database?.close();
    throw thrown instanceof sqlite.SQLite3Error ? unusable(path, thrown) : thrown;
  }
}

function unusable(path: string, thrown: unknown): Error {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return failure('DATA_ERROR', `${path} is no SQLite database that can be used: ${reason}`, {
    path,
  });
}

function checkTables(database: Database, existing: readonly { readonly name: string }[]): void {
  const names = new Set(existing.map(({ name }) => name));
  for (const [table, columns] of Object.entries(TABLES)) {
    const found = names.has(table)
      ? (database.all(`SELECT name FROM pragma_table_info('${table}')`) as { name: string }[])
      : [];
    const have = new Set(found.map(({ name }) => name));
    if (columns.every((column) => have.has(column))) continue;
    throw failure(
      'DATA_ERROR',
      `the SQLite database has other tables: sqliteSparse needs ${table} (${columns.join(', ')})`,
    );
  }
}

/** Adds rows, all of them or none. Equal points are kept once. */
export function appendSqlite(path: string, rows: Iterable<SqliteRow>): void {
  const database = open(path);
  try {
    database.exec('BEGIN IMMEDIATE');
    try {
      const writer = new Writer(database);
      for (const row of rows) writer.add(row);
      writer.finish();
      database.exec('COMMIT');
    } catch (thrown) {
      if (thrown instanceof sqlite.SQLite3Error) throw unusable(path, thrown);
      throw thrown;
    }
  } finally {
    // What was not committed is rolled back.
    database.close();
  }
}

class Writer {
  readonly #numbers = { rows: new Map<string, number>(), cols: new Map<string, number>() };
  readonly #statements;

  constructor(database: Database) {
    this.#statements = {
      findRow: database.prepare('SELECT rowNum AS n FROM rows WHERE rowHash = ? AND rowName = ?'),
      addRow: database.prepare('INSERT INTO rows (rowHash, rowName) VALUES (?, ?)'),
      findCol: database.prepare('SELECT colNum AS n FROM cols WHERE colHash = ? AND colName = ?'),
      addCol: database.prepare('INSERT INTO cols (colHash, colName) VALUES (?, ?)'),
      addValue: database.prepare('INSERT OR IGNORE INTO vals VALUES (?, ?, ?, ?)'),
    };
  }

  add({ name, cells }: SqliteRow): void {
    const { findRow, addRow, findCol, addCol, addValue } = this.#statements;
    const row = this.#numberOf(name, this.#numbers.rows, findRow, addRow);
    for (const [column, atom, ts] of cells) {
      const col = this.#numberOf(column, this.#numbers.cols, findCol, addCol);
      addValue.run([row, col, milliseconds(ts), atomToJsonText(atom)]);
    }
  }

  #numberOf(
    path: Path,
    known: Map<string, number>,
    find: ReturnType<Database['prepare']>,
    add: ReturnType<Database['prepare']>,
  ): number {
    const text = path.toString();
    let number = known.get(text);
    if (number !== undefined) return number;
    const key = [BigInt.asIntN(64, hashPath(path)), text];
    const found = find.get(key) as { readonly n: number | bigint } | null | undefined;
    number = Number(found?.n ?? add.run(key).lastInsertRowid);
    known.set(text, number);
    return number;
  }

  finish(): void {
    for (const statement of Object.values(this.#statements)) statement.finalize();
  }
}

function milliseconds(ts: number): bigint | null {
  if (Number.isNaN(ts)) return null;
  if (!Number.isFinite(ts)) return ts < 0 ? MINUS_INFINITY : INFINITY;
  return BigInt(Math.round(ts * 1000));
}

function secondsOf(ms: number | bigint | null): number {
  if (ms === null) return Number.NaN;
  if (ms === MINUS_INFINITY) return Number.NEGATIVE_INFINITY;
  if (ms === INFINITY) return Number.POSITIVE_INFINITY;
  return Number(ms) / 1000;
}

const ROWS_PER_CHECK = 1024;

/** Reads all rows; a file that is not there is made. */
export function readSqlite(
  path: string,
  { arenas, checkCancelled }: { readonly arenas: ArenaAllocator; checkCancelled(): void },
): SparseSnapshot {
  const database = open(path);
  const builder = new SparseBuilder(arenas);
  try {
    const columns = new Map<number, Path>();
    for (const { n, name } of all(database, 'SELECT colNum AS n, colName AS name FROM cols')) {
      columns.set(Number(n), Path.parse(name as string));
    }
    const points = database.prepare(
      'SELECT rows.rowNum AS r, rowName AS name, colNum AS c, ts, val FROM rows LEFT JOIN vals ON vals.rowNum = rows.rowNum ORDER BY rows.rowNum',
    );
    let row: { readonly number: number; readonly name: Path } | undefined;
    let cells: RecordedCell[] = [];
    let count = 0;
    try {
      for (const point of points.iterate() as Iterable<Record<string, unknown>>) {
        const number = Number(point.r);
        if (number !== row?.number) {
          if (row !== undefined) builder.addRow(row.name, cells);
          row = { number, name: Path.parse(point.name as string) };
          cells = [];
          if (count++ % ROWS_PER_CHECK === 0) checkCancelled();
        }
        const column = columns.get(Number(point.c));
        if (column === undefined) continue;
        const atom = atomFromJson(parseJson(point.val as string));
        cells.push([column, atom, secondsOf(point.ts as number | bigint | null)]);
      }
    } finally {
      points.finalize();
    }
    if (row !== undefined) builder.addRow(row.name, cells);
    return builder.seal(checkCancelled);
  } catch (thrown) {
    builder.release();
    // Names and values are text that may be damaged.
    throw thrown instanceof RowanError ? thrown : unusable(path, thrown);
  } finally {
    database.close();
  }
}

function all(database: Database, sql: string): Iterable<Record<string, unknown>> {
  return database.all(sql) as Record<string, unknown>[];
}
