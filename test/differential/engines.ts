// The two engines that answer random queries, over the same small tables.
import { Rowan } from '../../src/index.ts';
import { Choices } from './choices.ts';
import type { NamedTable, Type } from './grammar.ts';

export type Cell = number | string | null;
export type Answer = { readonly rows: readonly (readonly Cell[])[] } | { readonly error: string };

export interface Engines {
  rowan(sql: string): Promise<Answer>;
  duckdb(sql: string): Promise<Answer>;
  close(): Promise<void>;
}

const COLUMNS: NamedTable['columns'] = [
  { name: 'id', type: 'int' },
  { name: 'a', type: 'int' },
  { name: 'b', type: 'int' },
  { name: 'd', type: 'num' },
  { name: 's', type: 'text' },
  { name: 'u', type: 'text' },
  { name: 'ts', type: 'time' },
];

export const TABLES: readonly NamedTable[] = [
  { name: 't0', columns: COLUMNS },
  { name: 't1', columns: COLUMNS },
  { name: 't2', columns: COLUMNS },
];
const ROW_COUNTS = [24, 13, 8];
const DATASET_TYPES = ['tabular', 'tabular', 'sparse.mutable'];

const DUCKDB_TYPES: Readonly<Record<Type, string>> = {
  int: 'BIGINT',
  num: 'DOUBLE',
  text: 'VARCHAR',
  time: 'TIMESTAMP',
  bool: 'BOOLEAN',
};

/** DuckDB publishes its module for these; elsewhere npm leaves it out. */
export const DUCKDB_PLATFORMS = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64',
  'linux-x64',
  'win32-arm64',
  'win32-x64',
];

/** DuckDB's module; undefined where there is none that loads. */
export const duckdbModule = await import('@duckdb/node-api').catch(() => undefined);

export async function openEngines(): Promise<Engines> {
  if (duckdbModule === undefined) throw new Error('@duckdb/node-api does not load');
  const { DuckDBInstance } = duckdbModule;
  const rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await connection.run("SET default_null_order = 'nulls_first_on_asc_last_on_desc'");
  await connection.run("SET TimeZone = 'UTC'");
  const choices = Choices.ofSeed(11);
  for (const [at, { name, columns }] of TABLES.entries()) {
    const rows = Array.from({ length: ROW_COUNTS[at] as number }, (_, id) => tableRow(choices, id));
    const declared = columns.map((column) => `${column.name} ${DUCKDB_TYPES[column.type]}`);
    await connection.run(`CREATE TABLE ${name} (${declared.join(', ')})`);
    for (const row of rows) {
      const values = row.map((cell) =>
        cell === null ? 'NULL' : typeof cell === 'string' ? `'${cell}'` : `${cell}`,
      );
      await connection.run(`INSERT INTO ${name} VALUES (${values.join(', ')})`);
    }
    await record(rowan, name, DATASET_TYPES[at] as string, columns, rows);
  }
  return {
    rowan: async (sql) => {
      try {
        const [, ...rows] = (await rowan.query(sql, { rowNames: false })) as Cell[][];
        return { rows };
      } catch (error) {
        return { error: (error as Error).message };
      }
    },
    duckdb: async (sql) => {
      try {
        const rows = (await connection.runAndReadAll(sql)).getRowsJS();
        return { rows: rows.map((row) => row.map(plain)) };
      } catch (error) {
        return { error: (error as Error).message };
      }
    },
    close: async () => {
      connection.closeSync();
      await rowan.close();
    },
  };
}

/** Numbers are sums of powers of two, so that their sums are exact in any order. */
function tableRow(choices: Choices, id: number): Cell[] {
  const orNull = <T>(value: T) => (choices.once(5) ? null : value);
  const text = () => choices.pick(['a', '', 'B', 'abc', 'zoé', '12', 'bca', 'A c']);
  const day = 1 + choices.below(27);
  const time = `2024-0${1 + choices.below(3)}-${`${day}`.padStart(2, '0')} ${choices.pick(['00:00:00', '12:30:00', '23:59:59'])}`;
  return [
    id,
    orNull(choices.below(9) - 2),
    choices.below(6),
    orNull((choices.below(40) - 10) / 4),
    orNull(text()),
    text(),
    orNull(time),
  ];
}

async function record(
  rowan: Rowan,
  id: string,
  type: string,
  columns: NamedTable['columns'],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  const asked = [
    ['PUT', `/v1/datasets/${id}`, { type }],
    [
      'POST',
      `/v1/datasets/${id}/multirows`,
      rows.map((row, at) => [
        `row${at}`,
        row.flatMap((cell, index) => {
          if (cell === null && type !== 'tabular') return [];
          const column = columns[index] as NamedTable['columns'][number];
          const value =
            cell !== null && column.type === 'time' ? { ts: `${cell}`.replace(' ', 'T') } : cell;
          return [[column.name, value, 0]];
        }),
      ]),
    ],
    ['POST', `/v1/datasets/${id}/commit`, undefined],
  ] as const;
  for (const [verb, path, body] of asked) {
    const { status, text } = await rowan.perform(verb, path, body === undefined ? {} : { body });
    if (status >= 400) throw new Error(text);
  }
}

/** As Rowan's JSON has it. */
function plain(cell: unknown): Cell {
  if (typeof cell === 'bigint') return Number(cell);
  if (typeof cell === 'boolean') return cell ? 1 : 0;
  if (cell instanceof Date) return cell.toISOString().replace('.000Z', 'Z');
  if (typeof cell === 'number' || typeof cell === 'string') return cell;
  if (cell === null || cell === undefined) return null;
  return JSON.stringify(cell, (_key, value) => (typeof value === 'bigint' ? Number(value) : value));
}
