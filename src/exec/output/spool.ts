// Results as a table: numbered columns, one latest value a cell.
import type { RelationRow } from '../../plan/catalog.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { ColumnPrinter } from './cell.ts';
import { columnComparer, extraValues, type OutputOptions } from './options.ts';

export interface SpooledRow {
  readonly extras: readonly string[];
  /** column number and atom of each cell that the row has */
  readonly columns: readonly number[];
  readonly atoms: readonly Atom[];
}

export interface SpooledTable {
  /** printed column paths */
  readonly columns: readonly string[];
  readonly rows: Iterable<SpooledRow>;
}

/**
 * Reads the rows once. When the columns are known they pass through; else all rows are held until
 * the last has told whether it has a column of its own.
 */
export function spoolTable(rows: Iterable<RelationRow>, options: OutputOptions): SpooledTable {
  const { knownColumns } = options;
  const numbers = new Map(knownColumns?.map((column, index) => [column, index]));
  const spooled = spoolRows(rows, options, numbers);
  if (knownColumns !== undefined) return { columns: knownColumns, rows: spooled };
  const all = [...spooled];
  // Without rows, the columns that the select list names are all that is known.
  if (all.length === 0) return { columns: namedColumns(options), rows: all };
  const columns = [...numbers.keys()];
  const compare = columnComparer(options);
  if (compare === undefined && !options.sortColumns) return { columns, rows: all };
  return sortColumns(columns, all, compare ?? compareNaturally);
}

function namedColumns({ order, sortColumns: sorts }: OutputOptions): string[] {
  const paths = (order?.paths ?? []).map((elements) => new Path(elements));
  return (sorts ? paths.sort(comparePaths) : paths).map(String);
}

function compareNaturally(a: readonly string[], b: readonly string[]): number {
  return comparePaths(new Path(a), new Path(b));
}

function* spoolRows(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  numbers: Map<string, number>,
): Iterable<SpooledRow> {
  const printer = new ColumnPrinter(columnComparer(options));
  for (const { name, row } of rows) {
    const columns: number[] = [];
    const atoms: Atom[] = [];
    printer.visitLatest(row, (key, atom) => {
      let number = numbers.get(key);
      if (number === undefined) {
        number = numbers.size;
        numbers.set(key, number);
      }
      columns.push(number);
      atoms.push(atom);
    });
    yield { extras: extraValues(name, options), columns, atoms };
  }
}

function sortColumns(
  columns: readonly string[],
  rows: readonly SpooledRow[],
  compare: (a: readonly string[], b: readonly string[]) => number,
): SpooledTable {
  const paths = columns.map((column) => Path.parse(column));
  const order = columns.map((_, index) => index);
  order.sort((a, b) => compare((paths[a] as Path).elements, (paths[b] as Path).elements));
  const position = new Array<number>(columns.length);
  order.forEach((column, index) => {
    position[column] = index;
  });
  return {
    columns: order.map((index) => columns[index] as string),
    rows: rows.map((row) => ({
      ...row,
      columns: row.columns.map((column) => position[column] as number),
    })),
  };
}
