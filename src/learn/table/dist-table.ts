// Statistics of numeric outcomes by the values of some columns.
import { failure } from '../../util/error.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readText,
} from '../model/container.ts';

export const STATISTICS = ['count', 'avg', 'std', 'min', 'max', 'last', 'sum'] as const;
export type Statistic = (typeof STATISTICS)[number];
export const DEFAULT_STATISTICS: readonly Statistic[] = ['count', 'avg', 'std', 'min', 'max'];
export const TABLE_MODES = ['fixedColumns', 'bagOfWords'] as const;
export type TableMode = (typeof TABLE_MODES)[number];

/** Of one outcome and one key: count, mean, sum of squared differences, min, max, last, sum. */
export type Moments = Float64Array;
const MOMENT_COUNT = 7;
const EMPTY: Moments = Float64Array.of(0, 0, 0, Number.NaN, Number.NaN, Number.NaN, 0);

export interface DistTables {
  readonly mode: TableMode;
  readonly outcomes: readonly string[];
  /** by printed path of the column, then by key: moments of the outcomes, one after the other */
  readonly columns: Map<string, Map<string, Float64Array>>;
}

/** The only table of a bag of words. */
export const WORDS = 'words';

const VERSION = 1;

/** The moments of an outcome for a key; those of no value for one that was never seen. */
export function momentsOf(table: Map<string, Float64Array>, key: string, outcome: number): Moments {
  const all = table.get(key);
  return all?.subarray(outcome * MOMENT_COUNT, (outcome + 1) * MOMENT_COUNT) ?? EMPTY;
}

export function statisticOf(moments: Moments, statistic: Statistic): number {
  const [count, mean, squares, min, max, last, sum] = moments as unknown as readonly number[];
  switch (statistic) {
    case 'count':
      return count as number;
    case 'avg':
      return count === 0 ? Number.NaN : (mean as number);
    case 'std':
      return (count as number) < 2
        ? Number.NaN
        : Math.sqrt((squares as number) / ((count as number) - 1));
    case 'min':
      return min as number;
    case 'max':
      return max as number;
    case 'last':
      return last as number;
    case 'sum':
      return sum as number;
  }
}

/** Adds the outcomes of one row to a key. @param values NaN where the row has none */
export function observe(
  { columns, outcomes }: DistTables,
  column: string,
  key: string,
  values: ArrayLike<number>,
): void {
  let table = columns.get(column);
  if (table === undefined) {
    table = new Map();
    columns.set(column, table);
  }
  let all = table.get(key);
  if (all === undefined) {
    all = new Float64Array(outcomes.length * MOMENT_COUNT);
    for (let i = 0; i < outcomes.length; i++) all.set(EMPTY, i * MOMENT_COUNT);
    table.set(key, all);
  }
  for (let i = 0; i < outcomes.length; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) continue;
    add(all.subarray(i * MOMENT_COUNT, (i + 1) * MOMENT_COUNT), value);
  }
}

/** @see Welford, "Note on a method for calculating corrected sums of squares and products", 1962 */
function add(moments: Moments, value: number): void {
  const count = (moments[0] as number) + 1;
  const difference = value - (moments[1] as number);
  const mean = (moments[1] as number) + difference / count;
  moments[0] = count;
  moments[1] = mean;
  moments[2] = (moments[2] as number) + difference * (value - mean);
  moments[3] = count === 1 ? value : Math.min(moments[3] as number, value);
  moments[4] = count === 1 ? value : Math.max(moments[4] as number, value);
  moments[5] = value;
  moments[6] = (moments[6] as number) + value;
}

export function distTablesToJson({ mode, outcomes, columns }: DistTables): JsonObject {
  const names = [...columns.keys()];
  return makeContainer('experimental.distTable.getStats', VERSION, names, {
    mode,
    outcomes,
    tables: names.map((name) =>
      Array.from(columns.get(name) ?? [], ([key, moments]) => [
        key,
        // NaN is no JSON: null stands for it.
        ...Array.from(moments, (value) => (Number.isNaN(value) ? null : value)),
      ]),
    ),
  });
}

/** @throws DATA_ERROR when it is not what distTablesToJson writes */
export function distTablesFromJson(json: unknown): DistTables {
  const file = openContainer(json, 'experimental.distTable.getStats', VERSION);
  const outcomes = readList(file, 'outcomes').map((name) => readText(name, 'outcomes'));
  const names = readList(file, 'columnNames').map((name) => readText(name, 'columnNames'));
  const tables = readList(file, 'tables');
  if (tables.length !== names.length) throw invalidMember('tables', 'one for each column');
  const width = outcomes.length * MOMENT_COUNT;
  const columns = new Map<string, Map<string, Float64Array>>();
  for (const [index, name] of names.entries()) {
    const table = new Map<string, Float64Array>();
    for (const entry of readList({ table: tables[index] }, 'table')) {
      const [key, ...moments] = readList({ entry }, 'entry');
      if (moments.length !== width) throw invalidMember('moments of a key', `${width} numbers`);
      table.set(
        readText(key, 'key'),
        Float64Array.from(moments, (value) => {
          if (value !== null && typeof value !== 'number') {
            throw invalidMember('moments of a key', 'numbers');
          }
          return value ?? Number.NaN;
        }),
      );
    }
    columns.set(name, table);
  }
  return { mode: readChoice(file.mode, 'mode', TABLE_MODES), outcomes, columns };
}

/** Names as statistics, the default for none. @throws INVALID_PARAMETER for one that there is not */
export function readStatistics(names: readonly string[]): readonly Statistic[] {
  if (names.length === 0) return DEFAULT_STATISTICS;
  return names.map((name) => {
    const statistic = STATISTICS.find((known) => known === name);
    if (statistic !== undefined) return statistic;
    throw failure(
      'INVALID_PARAMETER',
      `Unknown distribution table statistic '${name}'; accepted are ${STATISTICS.join(', ')}`,
    );
  });
}
