// Tables of any SQLite file, read in parts of columns.
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnBuilder } from '../../value/column/column-builder.ts';
import type { TablePart } from '../../value/column/concatenate.ts';
import { chunkRowCounts } from '../../value/column/table-builder.ts';

type Database = InstanceType<typeof sqlite.Database>;
type Cell = number | bigint | string | Uint8Array | null;

const PART_ROW_COUNT = 262_144;
const ROWS_PER_CHECK = 1024;
/** SQLite's own tables, which hold no data of people. */
const OWN_TABLE = /^sqlite_/i;

/**
 * A table or view of an SQLite file. It is read from a copy, with what other programs have written
 * to its log and not to the file yet: their locks are not those of SQLite in WebAssembly.
 */
export class SqliteTable {
  readonly columns: readonly string[];
  readonly #directory: string;
  readonly #database: Database;
  readonly #table: string;
  readonly #url: string;

  /**
   * @param path a local file
   * @param url what messages call it
   * @param table may be absent when there is one
   * @param directory for a copy of the file; gone when the table is closed
   * @throws DATA_ERROR when the file or the table cannot be read
   */
  constructor(path: string, url: string, table: string | undefined, directory: string) {
    this.#url = url;
    this.#directory = directory;
    let database: Database | undefined;
    try {
      const copy = join(this.#directory, 'content.sqlite');
      copyFileSync(path, copy);
      if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
      database = new sqlite.Database(copy);
      // A log can be read without shared memory by the only one that uses the file.
      database.exec('PRAGMA locking_mode=EXCLUSIVE');
      this.#database = database;
      this.#table = this.#select(table);
      const columns = database.all('SELECT name FROM pragma_table_info(?)', [this.#table]);
      this.columns = (columns as { readonly name: string }[]).map(({ name }) => name);
    } catch (thrown) {
      database?.close();
      rmSync(this.#directory, { recursive: true, force: true });
      throw this.#readable(thrown);
    }
  }

  /** Rows in the order of the table. @param columns names of some columns */
  *read(
    columns: readonly string[],
    arenas: ArenaAllocator,
    checkCancelled: () => void,
  ): Iterable<TablePart> {
    const list = columns.map(quote).join(', ');
    const rows = this.#database.prepare(`SELECT ${list} FROM ${quote(this.#table)}`);
    let part = new Part(columns, arenas);
    // A part belongs to the caller from here on.
    const handOver = () => {
      const full = part;
      part = new Part(columns, arenas);
      return full.seal();
    };
    try {
      for (const row of rows.iterate() as Iterable<Record<string, Cell>>) {
        part.add(row);
        if (part.rowCount % ROWS_PER_CHECK === 0) checkCancelled();
        if (part.rowCount === PART_ROW_COUNT) yield handOver();
      }
      if (part.rowCount > 0) yield handOver();
    } catch (thrown) {
      throw this.#readable(thrown);
    } finally {
      part.release();
      rows.finalize();
    }
  }

  close(): void {
    this.#database.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #select(wanted: string | undefined): string {
    const found = this.#database.all(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid",
    ) as { readonly name: string }[];
    const names = found.map(({ name }) => name).filter((name) => !OWN_TABLE.test(name));
    const [first] = names;
    if (wanted === undefined && first !== undefined && names.length === 1) return first;
    // Names are compared as SQLite does.
    const table = names.find((name) => name.toLowerCase() === wanted?.toLowerCase());
    if (table !== undefined) return table;
    const choice = names.length === 0 ? 'it has none' : `accepted are ${names.join(', ')}`;
    const message =
      wanted === undefined
        ? `${this.#url}: the parameter table says which table to read; ${choice}`
        : `${this.#url} has no table ${wanted}; ${choice}`;
    throw failure('INVALID_PARAMETER', message, { url: this.#url, tables: names });
  }

  #readable(thrown: unknown): Error {
    if (!(thrown instanceof sqlite.SQLite3Error)) return thrown as Error;
    const message = `${this.#url} is no SQLite database that can be read: ${thrown.message}`;
    return failure('DATA_ERROR', message, { url: this.#url });
  }
}

/** Some rows that follow each other. */
class Part {
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnBuilder[];
  rowCount = 0;

  constructor(names: readonly string[], arenas: ArenaAllocator) {
    this.#names = names;
    this.#columns = names.map((name) => new ColumnBuilder([name], arenas));
  }

  add(row: Readonly<Record<string, Cell>>): void {
    this.#columns.forEach((column, index) => {
      column.append(row[this.#names[index] as string] as Atom);
    });
    this.rowCount++;
  }

  seal(): TablePart {
    return {
      chunkRowCounts: chunkRowCounts(this.rowCount),
      columns: this.#columns.map((column) => column.seal()),
    };
  }

  release(): void {
    for (const column of this.#columns) column.release();
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
