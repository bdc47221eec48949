// Cells of result rows: flattened columns in natural order, with one value or all of them.
import { type Atom, compareAtoms } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { compareSeconds } from '../../value/timestamp.ts';
import { type Cell, flatten, type Row, Scalar } from '../../value/value.ts';

/** Compares column paths; undefined: natural order. */
export type PathComparer = ((a: readonly string[], b: readonly string[]) => number) | undefined;

/** All values of all cells: columns in order, values ascending, then by timestamp. */
export function allCells(row: Row, compare?: PathComparer): Cell[] {
  const cells = naturalCells(row);
  if (compare === undefined) return cells;
  return cells.sort((a, b) => compare(a.path.elements, b.path.elements));
}

function naturalCells(row: Row): Cell[] {
  const cells: Cell[] = [];
  let repeated = false;
  flatten(row, [], (path, atom, ts) => {
    const previous = cells[cells.length - 1];
    repeated ||= previous?.path.equals(path) === true;
    cells.push({ path, atom, ts });
  });
  return repeated ? sortRepeats(cells) : cells;
}

function sortRepeats(cells: Cell[]): Cell[] {
  const sorted: Cell[] = [];
  for (let i = 0; i < cells.length; ) {
    const { path } = cells[i] as Cell;
    let end = i + 1;
    while (end < cells.length && (cells[end] as Cell).path.equals(path)) end++;
    sorted.push(...cells.slice(i, end).sort(comparePoints));
    i = end;
  }
  return sorted;
}

function comparePoints(a: Cell, b: Cell): number {
  return compareAtoms(a.atom, b.atom) || compareSeconds(a.ts, b.ts);
}

/** Receives each column of a row with its one value: the latest, the greatest among equally late. */
export type LatestVisitor = (key: string, atom: Atom) => void;

/** Printed column paths of rows that share a list of names, so that they are printed once. */
export class ColumnPrinter {
  readonly #compare: PathComparer;
  #names: readonly string[] | undefined;
  /** positions of the names in the order of the columns */
  #positions: number[] = [];
  #printed: string[] = [];

  /** @param compare the order of the columns; absent: natural order */
  constructor(compare?: PathComparer) {
    this.#compare = compare;
  }

  /** Visits the latest value of each column in order. */
  visitLatest(row: Row, visit: LatestVisitor): void {
    if (this.#visitFlat(row, visit)) return;
    const cells = allCells(row, this.#compare);
    for (let i = 0; i < cells.length; ) {
      let best = cells[i] as Cell;
      let end = i + 1;
      for (; end < cells.length && (cells[end] as Cell).path.equals(best.path); end++) {
        const next = cells[end] as Cell;
        if (compareSeconds(next.ts, best.ts) >= 0) best = next;
      }
      visit(best.path.toString(), best.atom);
      i = end;
    }
  }

  /** The usual row: one atom a column, no nesting. */
  #visitFlat(row: Row, visit: LatestVisitor): boolean {
    const { names, values } = row;
    for (let i = 0; i < names.length; i++) {
      if (!(values[i] instanceof Scalar) || names[i] === names[i - 1]) return false;
    }
    if (names !== this.#names) this.#print(names);
    const positions = this.#positions;
    for (let i = 0; i < positions.length; i++) {
      visit(this.#printed[i] as string, (values[positions[i] as number] as Scalar).atom);
    }
    return true;
  }

  #print(names: readonly string[]): void {
    const compare = this.#compare;
    this.#names = names;
    this.#positions = names.map((_, index) => index);
    if (compare !== undefined) {
      this.#positions.sort((a, b) => compare([names[a] as string], [names[b] as string]));
    }
    this.#printed = this.#positions.map((index) => new Path([names[index] as string]).toString());
  }
}
