// Columns of cells as the numeric columns of a decomposition: numbers scaled, other values one
// column each.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import { comparePaths, Path } from '../../value/path.ts';

/** One numeric column: x~ = (x - offset) * scale, or 1 where the cell equals `cellValue`. */
export type VirtualColumn =
  | {
      readonly op: 'VALUE';
      readonly columnName: string;
      readonly offset: number;
      readonly scale: number;
      readonly rowCount: number;
    }
  | {
      readonly op: 'EQUAL';
      readonly columnName: string;
      readonly cellValue: Atom;
      readonly rowCount: number;
    };

/** What rows have in one column: numbers of rows, and the values there. NaN is missing. */
export interface CellColumn {
  /** printed path */
  readonly name: string;
  readonly rows: ArrayLike<number>;
  readonly atoms: readonly Atom[];
}

/**
 * A column of numbers of at least two values is one continuous column, centred and scaled to a
 * variance of 1 over the rows that have it; a null beside numbers is missing. Any other column is one
 * discrete column for each of its values. Continuous ones first, then by descending rows, then by
 * name and value.
 */
export function virtualColumns(columns: readonly CellColumn[], look: () => void): VirtualColumn[] {
  const found = columns.flatMap((column) => continuous(column, look) ?? discrete(column, look));
  return virtualOrder(found, (column) => column, look);
}

/** Items in the order of their virtual columns. */
export function virtualOrder<Item>(
  items: readonly Item[],
  columnOf: (item: Item) => VirtualColumn,
  look: () => void = () => undefined,
): Item[] {
  return [...items].sort((first, second) => {
    look();
    const [a, b] = [columnOf(first), columnOf(second)];
    return (
      Number(a.op === 'EQUAL') - Number(b.op === 'EQUAL') ||
      b.rowCount - a.rowCount ||
      comparePaths(Path.parse(a.columnName), Path.parse(b.columnName)) ||
      compareTexts(valueKey(a), valueKey(b))
    );
  });
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function valueKey(column: VirtualColumn): string {
  return column.op === 'EQUAL' ? String(keyOfAtom(column.cellValue)) : '';
}

function continuous(
  { name, atoms }: CellColumn,
  look: () => void,
): readonly VirtualColumn[] | undefined {
  let count = 0;
  let mean = 0;
  let squares = 0;
  let first: number | undefined;
  let hasSeveral = false;
  for (const atom of atoms) {
    look();
    const value = typeof atom === 'bigint' ? Number(atom) : atom;
    if (value === null || Number.isNaN(value)) continue;
    if (typeof value !== 'number') return undefined;
    first ??= value;
    hasSeveral ||= value !== first;
    count++;
    const difference = value - mean;
    mean += difference / count;
    squares += difference * (value - mean);
  }
  if (!hasSeveral) return undefined;
  const deviation = Math.sqrt(squares / count);
  const scale = deviation > 0 ? 1 / deviation : 1;
  return [{ op: 'VALUE', columnName: name, offset: mean, scale, rowCount: count }];
}

/** @param column its printed path */
export function infiniteValue(column: string, value: number): Error {
  return failure('DATA_ERROR', `value ${value} of column '${column}' is not a finite number`);
}

function discrete({ name, atoms }: CellColumn, look: () => void): VirtualColumn[] {
  const counts = new Map<unknown, { readonly atom: Atom; count: number }>();
  for (const atom of atoms) {
    look();
    if (Number.isNaN(atom)) continue;
    if (atom === Number.POSITIVE_INFINITY || atom === Number.NEGATIVE_INFINITY) {
      throw infiniteValue(name, atom);
    }
    const key = keyOfAtom(atom);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { atom, count: 1 });
    else known.count++;
  }
  return [...counts.values()].map(({ atom, count }) => ({
    op: 'EQUAL',
    columnName: name,
    cellValue: atom,
    rowCount: count,
  }));
}
