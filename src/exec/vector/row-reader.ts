// Rows of a columnar table by number, for operators that select rows before anyone looks at them.
import type { NeededColumns } from '../../plan/needed-columns.ts';
import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { type RowNamesView, rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { Row, RowBuilder, Scalar, type Value } from '../../value/value.ts';
import { TableRow } from '../general/row.ts';
import { isPaged, PickedBlocks, PickedColumn } from './picked-column.ts';

interface AtomColumn {
  readonly path: Path;
  readonly view: { atomAt(index: number): Atom };
}

interface ReadColumn {
  readonly path: Path;
  readonly view: ColumnView;
}

export class RowReader {
  readonly #names: RowNamesView;
  readonly #columns: readonly ReadColumn[];
  readonly snapshot: ColumnarSnapshot;
  /** of all cells, in seconds */
  readonly ts: number;
  readonly #isFlat: boolean;

  constructor(
    snapshot: ColumnarSnapshot,
    needed: NeededColumns,
    arenas: ArenaAllocator,
    ts: number,
  ) {
    this.snapshot = snapshot;
    this.#names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
    this.#columns = snapshot.columns
      .map((column) => ({ path: new Path(column.path), column }))
      .filter(({ path }) => isNeeded(path, needed))
      .map(({ path, column }) => ({ path, view: new ColumnView(column, arenas) }))
      .sort((a, b) => comparePaths(a.path, b.path));
    this.ts = ts;
    this.#isFlat = this.#columns.every(({ path }) => path.length === 1);
  }

  nameAt(index: number): Path {
    return this.#names.pathAt(index);
  }

  /** The column that a path names; undefined when it names none, or more than one. */
  columnAt(path: readonly string[]): ColumnView | undefined {
    const wanted = new Path(path);
    const related = this.#columns.filter(
      (column) => column.path.startsWith(wanted) || wanted.startsWith(column.path),
    );
    const [only] = related;
    return related.length === 1 && only?.path.equals(wanted) ? only.view : undefined;
  }

  at(index: number): TableRow {
    return this.#row(index, this.#columns, index);
  }

  /** Rows of these numbers in their order. */
  *rows(numbers: Uint32Array): Iterable<TableRow> {
    if (!this.#columns.some(({ view }) => isPaged(view))) {
      for (const number of numbers) yield this.at(number);
      return;
    }
    const blocks = new PickedBlocks(numbers, this.snapshot.chunkRowCounts, this.#columns.length);
    const columns = this.#columns.map(({ path, view }) => {
      return { path, view: new PickedColumn(view, blocks, () => undefined) };
    });
    for (let i = 0; i < numbers.length; i++) yield this.#row(numbers[i] as number, columns, i);
  }

  /** @param at where the columns have the values of the row */
  #row(number: number, columns: readonly AtomColumn[], at: number): TableRow {
    const row = this.#isFlat ? this.#flat(columns, at) : this.#nested(columns, at);
    return new TableRow(this.#names.pathAt(number), row);
  }

  #flat(columns: readonly AtomColumn[], index: number): Row {
    const names: string[] = [];
    const values: Value[] = [];
    for (const { path, view } of columns) {
      const atom = view.atomAt(index);
      if (atom === null) continue;
      names.push(path.elements[0] as string);
      values.push(new Scalar(atom, this.ts));
    }
    return new Row(names, values);
  }

  #nested(columns: readonly AtomColumn[], index: number): Row {
    const builder = new RowBuilder();
    for (const { path, view } of columns) {
      const atom = view.atomAt(index);
      if (atom !== null) builder.addPath(path, new Scalar(atom, this.ts));
    }
    return builder.build();
  }
}

/** A needed path asks for its column, for those below it and for those it lies in. */
function isNeeded(path: Path, needed: NeededColumns): boolean {
  return needed === 'all' || needed.some((each) => path.startsWith(each) || each.startsWith(path));
}
