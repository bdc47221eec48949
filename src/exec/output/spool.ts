// Results as a table: column numbers in order of first appearance, one latest value a cell.
import type { RelationRow } from '../../plan/catalog.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { ColumnPrinter } from './cell.ts';
import { extraValues, type OutputOptions } from './options.ts';

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
  const columns = [...numbers.keys()];
  return options.sortColumns ? sortColumns(columns, all) : { columns, rows: all };
}

function* spoolRows(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  numbers: Map<string, number>,
): Iterable<SpooledRow> {
  const printer = new ColumnPrinter();
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

function sortColumns(columns: readonly string[], rows: readonly SpooledRow[]): SpooledTable {
  const paths = columns.map((column) => Path.parse(column));
  const order = columns.map((_, index) => index);
  order.sort((a, b) => comparePaths(paths[a] as Path, paths[b] as Path));
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
