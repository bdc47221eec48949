// The part of a columnar dataset that a query needs, as the lowering of its expressions sees it.
import type { Relation } from '../../plan/namespace.ts';
import type {
  ChunkSnapshot,
  ColumnarSnapshot,
  ColumnSnapshot,
} from '../../value/column/snapshot.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';

/** Columns as expressions name them: those of a table, or of the two tables of a join. */
export interface ColumnScope {
  /** columns that were asked for, by number */
  readonly columns: readonly ColumnSnapshot[];
  /**
   * The number of a column. @returns `absent` for a path that no row has, undefined for one that
   * names more than one plain column
   */
  find(path: readonly string[]): number | 'absent' | undefined;
  /** the path of a column in the rows that expressions read */
  pathOf(column: number): readonly string[];
  /** the timestamp of the cells of a column, in seconds */
  tsOf(column: number): number;
  /** true: all values of a column have its timestamp; else the column that is valid where they do */
  timedOf(column: number): true | number;
  /** false: every row has a value in the column */
  hasNulls(column: number): boolean;
}

export class VectorTable implements ColumnScope {
  readonly snapshot: ColumnarSnapshot;
  /** the one timestamp of all cells, in seconds */
  readonly ts: number;
  readonly #columns: ColumnSnapshot[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #paths: PathIndex;

  private constructor(snapshot: ColumnarSnapshot, ts: number) {
    this.snapshot = snapshot;
    this.ts = ts;
    this.#paths = pathIndexOf(snapshot);
  }

  /**
   * Undefined when the relation does not lie in columns, or when its cells have timestamps of
   * their own, which vectors do not carry, and somebody looks at them.
   */
  static of(relation: Relation, exactTimestamps = true): VectorTable | undefined {
    const { snapshot } = relation;
    if (snapshot?.layout !== 'columnar') return undefined;
    if (!exactTimestamps) return new VectorTable(snapshot, MINUS_INFINITY);
    if (snapshot.timestamps.kind !== 'constant') return undefined;
    const { ts } = snapshot.timestamps;
    return Number.isNaN(ts) ? undefined : new VectorTable(snapshot, ts);
  }

  /** The same columns, with all that is known of their values, but no rows: chunks are empty. */
  withoutRows(): VectorTable {
    const chunkRowCounts = this.snapshot.chunkRowCounts.map(() => 0);
    return new VectorTable({ ...this.snapshot, rowCount: 0, chunkRowCounts }, this.ts);
  }

  get columns(): readonly ColumnSnapshot[] {
    return this.#columns;
  }

  pathOf(column: number): readonly string[] {
    return (this.#columns[column] as ColumnSnapshot).path;
  }

  tsOf(): number {
    return this.ts;
  }

  timedOf(): true {
    return true;
  }

  get rowCount(): number {
    return this.snapshot.rowCount;
  }

  get chunkRowCounts(): readonly number[] {
    return this.snapshot.chunkRowCounts;
  }

  hasNulls(column: number): boolean {
    return (this.#columns[column] as ColumnSnapshot).nullCount > 0;
  }

  find(path: readonly string[]): number | 'absent' | undefined {
    const key = keyOf(path);
    if (this.#paths.prefixes.has(key)) return undefined;
    const column = this.#paths.columns.get(key);
    if (column === undefined) return this.#liesBelowColumn(path) ? undefined : 'absent';
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#columns.push(this.rowCount === 0 ? withoutRows(column) : column) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  #liesBelowColumn(path: readonly string[]): boolean {
    return path.some(
      (_, length) => length > 0 && this.#paths.columns.has(keyOf(path.slice(0, length))),
    );
  }
}

const columnsWithoutRows = new WeakSet<ColumnSnapshot>();

/** Whether a column is one of a dataset, of which all but the rows is known. */
export function isWithoutRows(column: ColumnSnapshot): boolean {
  return columnsWithoutRows.has(column);
}

function withoutRows(column: ColumnSnapshot): ColumnSnapshot {
  const empty = { ...column, chunks: column.chunks.map(emptyChunk) };
  columnsWithoutRows.add(empty);
  return empty;
}

function emptyChunk(chunk: ChunkSnapshot): ChunkSnapshot {
  if (chunk.kind !== 'sparse') return { ...chunk, rowCount: 0 };
  return { ...chunk, rowCount: 0, values: emptyChunk(chunk.values) };
}

/** The columns of a snapshot by path, and the paths that have columns below them. */
interface PathIndex {
  readonly columns: ReadonlyMap<string, ColumnSnapshot>;
  readonly prefixes: ReadonlySet<string>;
}

const pathIndexes = new WeakMap<ColumnarSnapshot, PathIndex>();

function pathIndexOf(snapshot: ColumnarSnapshot): PathIndex {
  let index = pathIndexes.get(snapshot);
  if (index === undefined) {
    const prefixes = snapshot.columns.flatMap(({ path }) =>
      path.slice(0, -1).map((_, i) => keyOf(path.slice(0, i + 1))),
    );
    index = {
      columns: new Map(snapshot.columns.map((column) => [keyOf(column.path), column])),
      prefixes: new Set(prefixes),
    };
    pathIndexes.set(snapshot, index);
  }
  return index;
}

/** U+0000 cannot occur in an element. */
function keyOf(path: readonly string[]): string {
  return path.join('\u0000');
}
