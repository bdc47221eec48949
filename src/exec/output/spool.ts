// Results as a table: numbered columns, one latest value a cell.
import type { RelationRow } from '../../plan/namespace.ts';
import { ByteSpool } from '../../util/byte-spool.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { ColumnPrinter } from './cell.ts';
import { columnComparer, extraColumns, extraValues, type OutputOptions } from './options.ts';
import { type SpooledRow, SpooledRowReader, SpooledRowWriter } from './spooled-row.ts';

export interface SpooledTable {
  /** printed column paths */
  readonly columns: readonly string[];
  /** may be read once */
  readonly rows: Iterable<SpooledRow>;
}

/**
 * Gives `use` the rows as a table. When the columns are known they pass through; else all rows go
 * to disk until the last has told whether it has a column of its own.
 */
export function withTable(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  use: (table: SpooledTable) => void,
): void {
  const { knownColumns } = options;
  if (knownColumns === undefined) withSpooledTable(rows, options, {}, use);
  else {
    const numbers = new Map(knownColumns.map((column, index) => [column, index]));
    use({ columns: knownColumns, rows: numberedRows(rows, options, numbers) });
  }
}

interface SpoolWatch {
  /** told of each cell; columns are numbered in the order in which they are met */
  readonly onCell?: (column: number, atom: Atom) => void;
}

/** The same of rows that were all read before. `positions`: where a column that was met stands. */
export function withSpooledTable(
  rows: Iterable<RelationRow>,
  options: OutputOptions,
  { onCell }: SpoolWatch,
  use: (table: SpooledTable & { readonly positions: readonly number[] }) => void,
): void {
  const spool = new ByteSpool();
  try {
    const numbers = new Map(options.knownColumns?.map((column, index) => [column, index]));
    const writer = new SpooledRowWriter(spool);
    for (const row of numberedRows(rows, options, numbers)) {
      if (onCell !== undefined) {
        for (let i = 0; i < row.columns.length; i++) {
          onCell(row.columns[i] as number, row.atoms[i] ?? null);
        }
      }
      writer.write(row);
    }
    writer.end();
    const met = writer.rowCount === 0 ? undefined : [...numbers.keys()];
    const { columns, positions } = presented(met, options);
    const reader = new SpooledRowReader(spool, extraColumns(options).length);
    use({ columns, positions, rows: reader.rows(positions) });
  } finally {
    spool.close();
  }
}

/** Without rows, the columns that the select list names are all that is known. */
function namesWithoutRows({ order, knownColumns }: OutputOptions): readonly string[] {
  return knownColumns ?? (order?.paths ?? []).map((elements) => new Path(elements).toString());
}

/**
 * Columns in the order that is asked for, and the position there of each column that was met.
 * @param met undefined: there were no rows
 */
export function presented(
  met: readonly string[] | undefined,
  options: OutputOptions,
): { readonly columns: readonly string[]; readonly positions: readonly number[] } {
  const names = met ?? namesWithoutRows(options);
  const given = names.map((_, index) => index);
  const compare = columnComparer(options) ?? (options.sortColumns ? compareNaturally : undefined);
  if (compare === undefined || options.knownColumns !== undefined) {
    return { columns: names, positions: given };
  }
  const paths = names.map((name) => Path.parse(name));
  const order = [...given];
  order.sort((a, b) => compare((paths[a] as Path).elements, (paths[b] as Path).elements));
  const positions = new Array<number>(names.length);
  order.forEach((column, index) => {
    positions[column] = index;
  });
  return { columns: order.map((index) => names[index] as string), positions };
}

function compareNaturally(a: readonly string[], b: readonly string[]): number {
  return comparePaths(new Path(a), new Path(b));
}

/** Rows whose columns are numbered in the order in which they are met. */
export function* numberedRows(
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
