// A dataset's committed content as a relation that queries can read row by row.
import type {
  ColumnCell,
  FlatColumn,
  Relation,
  RelationColumn,
  RelationRow,
} from '../plan/namespace.ts';
import type { NeededColumns } from '../plan/needed-columns.ts';
import { every } from '../util/every.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { ColumnView } from '../value/column/column-view.ts';
import { type FrequentValues, frequentValuesOf } from '../value/column/frequent-values.ts';
import { type RowNamesView, rowNamesView } from '../value/column/row-names.ts';
import { RowTimestampsView } from '../value/column/row-timestamps.ts';
import type {
  ColumnarSnapshot,
  ColumnSnapshot,
  Snapshot,
  SparseSnapshot,
} from '../value/column/snapshot.ts';
import { type ColumnRange, type ColumnValues, SparseView } from '../value/column/sparse-view.ts';
import { nestCells } from '../value/nest.ts';
import { comparePaths, Path } from '../value/path.ts';
import { EMPTY_ROW, type Row, RowBuilder, Scalar } from '../value/value.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

/** A relation that also reads by column. */
export interface SnapshotRelation extends Relation {
  readonly snapshot: Snapshot;
  /** the points of one column in the order of rows, each under the path of its row */
  columnCells(column: Path, check: () => void): Iterable<ColumnCell>;
}

const relations = new WeakMap<Arenas, Map<number, WeakRef<SnapshotRelation>>>();

/** The relation of a snapshot; a thread has one as long as somebody uses it, with its indexes. */
export function snapshotRelation(snapshot: Snapshot, arenas: Arenas): SnapshotRelation {
  let known = relations.get(arenas);
  if (known === undefined) {
    known = new Map();
    relations.set(arenas, known);
  }
  const existing = known.get(snapshot.id)?.deref();
  if (existing !== undefined) return existing;
  for (const [id, reference] of known) if (reference.deref() === undefined) known.delete(id);
  const relation =
    snapshot.layout === 'columnar'
      ? new ColumnarRelation(snapshot, arenas)
      : new SparseRelation(snapshot, arenas);
  known.set(snapshot.id, new WeakRef(relation));
  return relation;
}

/** A column whose values are looked at when a row needs them: until then they may be in a file. */
class Column {
  readonly path: Path;
  readonly nullCount: number;
  readonly #snapshot: ColumnSnapshot;
  readonly #arenas: Arenas;
  #view: ColumnView | undefined;

  constructor(snapshot: ColumnSnapshot, arenas: Arenas) {
    this.path = new Path(snapshot.path);
    this.nullCount = snapshot.nullCount;
    this.#snapshot = snapshot;
    this.#arenas = arenas;
  }

  #frequent: FrequentValues | undefined;

  /** Found once for each version of the dataset. */
  get frequentValues(): FrequentValues {
    this.#frequent ??= frequentValuesOf(this.#snapshot, this.#arenas);
    return this.#frequent;
  }

  get view(): ColumnView {
    this.#view ??= new ColumnView(this.#snapshot, this.#arenas);
    return this.#view;
  }
}

class ColumnarRelation implements SnapshotRelation {
  readonly snapshot: ColumnarSnapshot;
  readonly rowCount: number;
  readonly #names: RowNamesView;
  readonly #timestamps: RowTimestampsView;
  /** in natural order, as rows have their cells */
  readonly #columns: readonly Column[];
  /** A function of its own, since a relation may stand behind another one with other rows. */
  readonly frequentValues = (column: readonly string[]): FrequentValues | undefined => {
    const path = new Path(column);
    return this.#columns.find((each) => each.path.equals(path))?.frequentValues;
  };

  constructor(snapshot: ColumnarSnapshot, arenas: Arenas) {
    this.snapshot = snapshot;
    this.rowCount = snapshot.rowCount;
    this.#names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
    this.#timestamps = new RowTimestampsView(snapshot.timestamps, arenas);
    this.#columns = snapshot.columns
      .map((column) => new Column(column, arenas))
      .sort((a, b) => comparePaths(a.path, b.path));
  }

  columns(): readonly RelationColumn[] {
    return this.#columns.map(({ path, nullCount }) => ({
      path,
      rowCount: this.rowCount - nullCount,
    }));
  }

  columnCount(): number {
    return this.#columns.length;
  }

  *scan(needed: NeededColumns): Iterable<RelationRow> {
    const columns = this.#needed(needed);
    for (let row = 0; row < this.rowCount; row++) {
      yield { name: this.#names.pathAt(row), row: this.#row(row, columns) };
    }
  }

  findRows(name: Path, needed: NeededColumns): readonly RelationRow[] {
    const columns = this.#needed(needed);
    return this.#names.find(name).map((row) => ({ name, row: this.#row(row, columns) }));
  }

  *rowNames(): Iterable<Path> {
    for (let row = 0; row < this.rowCount; row++) yield this.#names.pathAt(row);
  }

  *columnCells(column: Path): Iterable<ColumnCell> {
    const found = this.#columns.find(({ path }) => path.equals(column));
    if (found === undefined) return;
    for (let row = 0; row < this.rowCount; row++) {
      const atom = found.view.atomAt(row);
      if (atom === null) continue;
      const path = this.#names.pathAt(row);
      yield { path, position: row, atom, ts: this.#timestamps.at(row) };
    }
  }

  hasColumnsBelow(column: Path): boolean {
    return this.#columns.some(({ path }) => path.length > column.length && path.startsWith(column));
  }

  #needed(needed: NeededColumns): readonly Column[] {
    if (needed === 'all') return this.#columns;
    return this.#columns.filter(({ path }) => needed.some((wanted) => path.startsWith(wanted)));
  }

  #row(row: number, columns: readonly Column[]): Row {
    const ts = this.#timestamps.at(row);
    const paths: Path[] = [];
    const cells: Scalar[] = [];
    for (const { path, view } of columns) {
      const atom = view.atomAt(row);
      if (atom === null) continue;
      paths.push(path);
      cells.push(new Scalar(atom, ts));
    }
    return cells.length === 0 ? EMPTY_ROW : nestCells(paths, cells);
  }
}

/** A column as a row of the transposition, whose cells are read when somebody looks at them. */
class SparseColumnRow implements RelationRow {
  readonly #view: SparseView;
  readonly #id: number;
  readonly #check: () => void;

  constructor(view: SparseView, id: number, check: () => void) {
    this.#view = view;
    this.#id = id;
    this.#check = check;
  }

  get name(): Path {
    return this.#view.columnPath(this.#id);
  }

  get row(): Row {
    const builder = new RowBuilder();
    this.#view.columns(this.#check);
    this.#view.visitColumn(this.#id, (cell, row) => {
      builder.addPath(this.#view.names.pathAt(row), cell);
    });
    return builder.build();
  }
}

/** A column of one element, of which no cell has several points. */
class SparseFlatColumn implements FlatColumn {
  readonly name: string;
  readonly valueCount: number;
  readonly latestTs: number;
  readonly #view: SparseView;
  readonly #id: number;
  readonly #check: () => void;

  constructor(view: SparseView, id: number, name: string, values: ColumnValues, check: () => void) {
    this.#view = view;
    this.#id = id;
    this.#check = check;
    this.name = name;
    this.valueCount = values.counts[id] as number;
    this.latestTs = values.latestTs(id);
  }

  visitCells(visit: (cell: Scalar) => void): void {
    this.#view.columns(this.#check);
    this.#view.visitColumn(this.#id, visit);
  }
}

/** Columns whose names are read between two checks. */
const COLUMNS_PER_CHECK = 8192;

class SparseRelation implements SnapshotRelation {
  readonly snapshot: SparseSnapshot;
  readonly rowCount: number;
  readonly #view: SparseView;

  constructor(snapshot: SparseSnapshot, arenas: Arenas) {
    this.snapshot = snapshot;
    this.rowCount = snapshot.rowCount;
    this.#view = new SparseView(snapshot, arenas);
  }

  columns(): readonly RelationColumn[] {
    return Array.from({ length: this.columnCount() }, (_, id) => ({
      path: this.#view.columnPath(id),
      rowCount: this.#view.columnRowCounts[id] as number,
    }));
  }

  columnCount(): number {
    return this.#view.columnCount;
  }

  *scan(needed: NeededColumns): Iterable<RelationRow> {
    const ranges = this.#needed(needed);
    for (let row = 0; row < this.rowCount; row++) {
      yield { name: this.#view.names.pathAt(row), row: this.#view.row(row, ranges) };
    }
  }

  findRows(name: Path, needed: NeededColumns): readonly RelationRow[] {
    const ranges = this.#needed(needed);
    return this.#view.names.find(name).map((row) => ({ name, row: this.#view.row(row, ranges) }));
  }

  *rowNames(): Iterable<Path> {
    for (let row = 0; row < this.rowCount; row++) yield this.#view.names.pathAt(row);
  }

  *columnCells(column: Path, check: () => void): Iterable<ColumnCell> {
    const id = this.#view.findColumn(column);
    if (id === undefined) return;
    const { offsets, rows, points } = this.#view.columns(check);
    for (let i = offsets[id] as number; i < (offsets[id + 1] as number); i++) {
      const point = points[i] as number;
      const position = rows[i] as number;
      yield {
        path: this.#view.names.pathAt(position),
        position,
        atom: this.#view.atomAt(point),
        ts: this.#view.tsAt(point),
      };
    }
  }

  *transposedRows(check: () => void): Iterable<RelationRow> {
    for (let id = 0; id < this.columnCount(); id++) {
      yield new SparseColumnRow(this.#view, id, check);
    }
  }

  flatColumns(check: () => void): Iterable<FlatColumn> | undefined {
    const view = this.#view;
    const cellCount = view.columnRowCounts.reduce((sum, count) => sum + count, 0);
    if (cellCount !== view.snapshot.pointCount) return undefined;
    const values = view.columnValues(check);
    const checkSometimes = every(COLUMNS_PER_CHECK, check);
    const columns: FlatColumn[] = [];
    for (let id = 0; id < view.columnCount; id++) {
      checkSometimes();
      const { elements } = view.columnPath(id);
      if (elements.length !== 1) return undefined;
      columns.push(new SparseFlatColumn(view, id, elements[0] as string, values, check));
    }
    return columns;
  }

  hasColumnsBelow(column: Path): boolean {
    const { from, to } = this.#view.columnsUnder(column);
    return to - from > (this.#view.findColumn(column) === undefined ? 0 : 1);
  }

  #needed(needed: NeededColumns): ColumnRange[] | undefined {
    return needed === 'all' ? undefined : this.#view.columnRanges(needed);
  }
}
