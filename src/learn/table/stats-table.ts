// How often each value of some columns was seen, and with which outcomes.
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readList,
  readNumber,
  readText,
} from '../model/container.ts';

/** Counts of one key: how often it was seen, then how often with each outcome. */
export type KeyCounts = Float64Array;

/** The counts of the keys of one column. */
export type KeyTable = Map<string, KeyCounts>;

export interface StatsTables {
  /** names of the outcomes, in the order of the counts */
  readonly outcomes: readonly string[];
  /** by printed path of the column */
  readonly columns: Map<string, KeyTable>;
}

const VERSION = 1;

/** The counts of a key so far: zeros for one that was never seen. */
export function countsOf({ outcomes }: StatsTables, table: KeyTable, key: string): KeyCounts {
  return table.get(key) ?? new Float64Array(outcomes.length + 1);
}

/** Counts one more row with a key. @param isTrue whether each outcome is */
export function count(tables: StatsTables, column: string, key: string, isTrue: Uint8Array): void {
  let table = tables.columns.get(column);
  if (table === undefined) {
    table = new Map();
    tables.columns.set(column, table);
  }
  let counts = table.get(key);
  if (counts === undefined) {
    counts = new Float64Array(tables.outcomes.length + 1);
    table.set(key, counts);
  }
  counts[0] = (counts[0] as number) + 1;
  for (let i = 0; i < isTrue.length; i++) {
    counts[i + 1] = (counts[i + 1] as number) + (isTrue[i] as number);
  }
}

/** @param kind the function type that reads the file */
export function statsTablesToJson(kind: string, { outcomes, columns }: StatsTables): JsonObject {
  const names = [...columns.keys()];
  return makeContainer(kind, VERSION, names, {
    outcomes,
    tables: names.map((name) => {
      const table = columns.get(name) as KeyTable;
      return Array.from(table, ([key, counts]) => [key, ...counts]);
    }),
  });
}

/** @throws DATA_ERROR when it is not what statsTablesToJson writes for that kind */
export function statsTablesFromJson(kind: string, json: unknown): StatsTables {
  const file = openContainer(json, kind, VERSION);
  const outcomes = readList(file, 'outcomes').map((name) => readText(name, 'outcomes'));
  const names = readList(file, 'columnNames').map((name) => readText(name, 'columnNames'));
  const tables = readList(file, 'tables');
  if (tables.length !== names.length) throw invalidMember('tables', 'one for each column');
  const columns = new Map<string, KeyTable>();
  for (const [index, name] of names.entries()) {
    columns.set(name, readTable(tables[index], outcomes.length + 1));
  }
  return { outcomes, columns };
}

function readTable(value: unknown, width: number): KeyTable {
  const table: KeyTable = new Map();
  for (const entry of readList({ table: value }, 'table')) {
    const [key, ...counts] = readList({ entry }, 'entry');
    if (counts.length !== width) throw invalidMember('counts of a key', `${width} numbers`);
    const numbers = counts.map((each) => readNumber(each, 'counts of a key', 0));
    table.set(readText(key, 'key'), Float64Array.from(numbers));
  }
  return table;
}
