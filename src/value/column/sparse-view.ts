// Reading sparse snapshots: rows as values, rows by name, and the transpose.

import { every } from '../../util/every.ts';
import type { Atom } from '../atom.ts';
import { normalizeInteger } from '../atom.ts';
import { ATOM_TAG } from '../atom-codec.ts';
import { nestCells } from '../nest.ts';
import { comparePaths, Path } from '../path.ts';
import { laterOf, MINUS_INFINITY, Timestamp } from '../timestamp.ts';
import { EMPTY_ROW, type Row, Scalar } from '../value.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { type DictionaryView, dictionaryView } from './dictionary.ts';
import { type RowNamesView, rowNamesView } from './row-names.ts';
import type { SparseSnapshot } from './snapshot.ts';
import { bytesOf, float64Of, uint32Of } from './span-view.ts';

/** Column ids [from, to). */
export interface ColumnRange {
  readonly from: number;
  readonly to: number;
}

/** The points of each column: those of column c are [offsets[c], offsets[c + 1]). */
export interface SparseColumns {
  readonly offsets: Float64Array;
  /** row of each point, ascending within a column */
  readonly rows: Uint32Array;
  /** index of each point in the snapshot */
  readonly points: Uint32Array;
}

/** The values of each column, nulls left out. */
export interface ColumnValues {
  readonly counts: Uint32Array;
  /** of a column without values: minus infinity */
  latestTs(column: number): number;
}

const scratch = new DataView(new ArrayBuffer(8));

/** Reads the rows of a sparse snapshot. */
export class SparseView {
  readonly snapshot: SparseSnapshot;
  readonly names: RowNamesView;
  readonly rowOffsets: Float64Array;
  readonly columnIds: Uint32Array;
  readonly columnRowCounts: Uint32Array;
  readonly kinds: Uint8Array;
  /** two words a payload, the low one first */
  readonly payloads: Uint32Array;
  readonly #heap: DictionaryView;
  readonly #constantTs: number;
  readonly #timestamps: Float64Array | undefined;
  readonly #columnOffsets: Uint32Array;
  readonly #columnBytes: Buffer;
  readonly #columnPaths: (Path | undefined)[] = [];
  #columns: SparseColumns | undefined;

  constructor(snapshot: SparseSnapshot, arenas: Pick<ArenaAllocator, 'get'>) {
    this.snapshot = snapshot;
    this.names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
    this.rowOffsets = float64Of(arenas, snapshot.rowOffsets);
    this.columnIds = uint32Of(arenas, snapshot.columnIds);
    this.columnRowCounts = uint32Of(arenas, snapshot.columnRowCounts);
    this.kinds = bytesOf(arenas, snapshot.kinds);
    this.payloads = uint32Of(arenas, snapshot.payloads);
    this.#heap = dictionaryView(snapshot.heap, arenas);
    const { timestamps } = snapshot;
    this.#constantTs = 'constant' in timestamps ? timestamps.constant : 0;
    this.#timestamps =
      'constant' in timestamps ? undefined : float64Of(arenas, timestamps.perPoint);
    this.#columnOffsets = uint32Of(arenas, snapshot.columnNames.offsets);
    const bytes = bytesOf(arenas, snapshot.columnNames.bytes);
    this.#columnBytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get rowCount(): number {
    return this.snapshot.rowCount;
  }

  get columnCount(): number {
    return this.snapshot.columnCount;
  }

  columnPath(id: number): Path {
    let path = this.#columnPaths[id];
    if (path === undefined) {
      path = Path.parse(this.columnText(id));
      this.#columnPaths[id] = path;
    }
    return path;
  }

  /** The printed path of a column. */
  columnText(id: number): string {
    const start = this.#columnOffsets[id] as number;
    return this.#columnBytes.toString('utf8', start, this.#columnOffsets[id + 1] as number);
  }

  findColumn(path: Path): number | undefined {
    const id = this.#lowerBound(path);
    return id < this.columnCount && this.columnPath(id).equals(path) ? id : undefined;
  }

  /** The columns at a path and below it; natural order keeps them together. */
  columnsUnder(path: Path): ColumnRange {
    const from = this.#lowerBound(path);
    let low = from;
    let high = this.columnCount;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.columnPath(middle).startsWith(path)) low = middle + 1;
      else high = middle;
    }
    return { from, to: low };
  }

  /** The columns at or below any of the paths, as disjoint ascending ranges. */
  columnRanges(paths: readonly Path[]): ColumnRange[] {
    // Two such ranges are apart or one contains the other; the larger one comes first.
    const ranges = paths
      .map((path) => this.columnsUnder(path))
      .sort((a, b) => a.from - b.from || b.to - a.to);
    const out: ColumnRange[] = [];
    for (const range of ranges) {
      const last = out.at(-1);
      if (range.from === range.to || (last !== undefined && range.to <= last.to)) continue;
      out.push(range);
    }
    return out;
  }

  atomAt(point: number): Atom {
    const low = this.payloads[point * 2] as number;
    const high = this.payloads[point * 2 + 1] as number;
    switch (this.kinds[point]) {
      case ATOM_TAG.null:
        return null;
      case ATOM_TAG.integer: {
        const value = (high | 0) * 2 ** 32 + low;
        if (Number.isSafeInteger(value)) return value;
        return normalizeInteger((BigInt(high | 0) << 32n) | BigInt(low));
      }
      case ATOM_TAG.unsigned:
        return (BigInt(high) << 32n) | BigInt(low);
      case ATOM_TAG.double:
        return double(low, high);
      case ATOM_TAG.timestamp:
        return new Timestamp(double(low, high));
      default:
        return this.#heap.atom(low);
    }
  }

  tsAt(point: number): number {
    return this.#timestamps === undefined ? this.#constantTs : (this.#timestamps[point] as number);
  }

  /** @param needed columns to read; absent: all */
  row(row: number, needed?: readonly ColumnRange[]): Row {
    const start = this.rowOffsets[row] as number;
    const end = this.rowOffsets[row + 1] as number;
    const paths: Path[] = [];
    const cells: Scalar[] = [];
    if (needed === undefined) {
      this.#readPoints(start, end, paths, cells);
    } else {
      for (const { from, to } of needed) {
        const first = this.#findPoint(start, end, from);
        this.#readPoints(first, this.#findPoint(first, end, to), paths, cells);
      }
    }
    return cells.length === 0 ? EMPTY_ROW : nestCells(paths, cells);
  }

  /** Visits the points of a column in the order of rows. */
  visitColumn(id: number, visit: (cell: Scalar, row: number) => void): void {
    const { offsets, rows, points } = this.columns();
    const end = offsets[id + 1] as number;
    for (let i = offsets[id] as number; i < end; i++) {
      const point = points[i] as number;
      visit(new Scalar(this.atomAt(point), this.tsAt(point)), rows[i] as number);
    }
  }

  /** The transpose, made when it is first asked for. @param check called now and then meanwhile */
  columns(check: () => void = () => undefined): SparseColumns {
    this.#columns ??= this.#transpose(check);
    return this.#columns;
  }

  /** What can be told of the values of each column by one pass over kinds and column ids. */
  columnValues(check: () => void): ColumnValues {
    const { pointCount } = this.snapshot;
    const { columnIds, kinds } = this;
    const timestamps = this.#timestamps;
    const counts = new Uint32Array(this.columnCount);
    const latest = timestamps && new Float64Array(this.columnCount).fill(MINUS_INFINITY);
    for (let from = 0; from < pointCount; from += POINTS_PER_CHECK) {
      check();
      const to = Math.min(from + POINTS_PER_CHECK, pointCount);
      for (let point = from; point < to; point++) {
        if (kinds[point] === ATOM_TAG.null) continue;
        const id = columnIds[point] as number;
        counts[id] = (counts[id] as number) + 1;
        if (latest === undefined) continue;
        latest[id] = laterOf(latest[id] as number, (timestamps as Float64Array)[point] as number);
      }
    }
    return {
      counts,
      latestTs: (id) => {
        if (latest !== undefined) return latest[id] as number;
        return counts[id] === 0 ? MINUS_INFINITY : laterOf(MINUS_INFINITY, this.#constantTs);
      },
    };
  }

  #readPoints(start: number, end: number, paths: Path[], cells: Scalar[]): void {
    for (let point = start; point < end; point++) {
      paths.push(this.columnPath(this.columnIds[point] as number));
      cells.push(new Scalar(this.atomAt(point), this.tsAt(point)));
    }
  }

  /** The first point of [start, end) whose column is `column` or behind it. */
  #findPoint(start: number, end: number, column: number): number {
    let low = start;
    let high = end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.columnIds[middle] as number) < column) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #lowerBound(path: Path): number {
    let low = 0;
    let high = this.columnCount;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (comparePaths(this.columnPath(middle), path) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Counting sort in two steps: first by groups of columns, then within each group, whose part of
   * the result fits the cache. In one step every write would wait for memory.
   */
  #transpose(check: () => void): SparseColumns {
    const { pointCount, rowCount } = this.snapshot;
    const { columnIds } = this;
    const checkSometimes = every(POINTS_PER_CHECK, check);
    const offsets = new Float64Array(this.columnCount + 1);
    for (let point = 0; point < pointCount; point++) {
      checkSometimes();
      const next = (columnIds[point] as number) + 1;
      offsets[next] = (offsets[next] as number) + 1;
    }
    for (let c = 1; c < offsets.length; c++) {
      offsets[c] = (offsets[c] as number) + (offsets[c - 1] as number);
    }
    const shift = Math.max(0, Math.ceil(Math.log2(this.columnCount / GROUP_COUNT)));
    const groupStarts = new Float64Array((this.columnCount >>> shift) + 2);
    for (let group = 0; group < groupStarts.length; group++) {
      groupStarts[group] = offsets[Math.min(group << shift, this.columnCount)] as number;
    }
    const next = groupStarts.slice();
    const columns = new Uint32Array(pointCount);
    const rows = new Uint32Array(pointCount);
    const points = new Uint32Array(pointCount);
    for (let row = 0; row < rowCount; row++) {
      const end = this.rowOffsets[row + 1] as number;
      for (let point = this.rowOffsets[row] as number; point < end; point++) {
        checkSometimes();
        const column = columnIds[point] as number;
        const group = column >>> shift;
        const position = next[group] as number;
        next[group] = position + 1;
        columns[position] = column;
        rows[position] = row;
        points[position] = point;
      }
    }
    if (shift > 0) {
      const places = offsets.slice();
      for (let group = 0; group + 1 < groupStarts.length; group++) {
        const start = groupStarts[group] as number;
        const end = groupStarts[group + 1] as number;
        const groupRows = rows.slice(start, end);
        const groupPoints = points.slice(start, end);
        for (let i = start; i < end; i++) {
          checkSometimes();
          const column = columns[i] as number;
          const place = places[column] as number;
          places[column] = place + 1;
          rows[place] = groupRows[i - start] as number;
          points[place] = groupPoints[i - start] as number;
        }
      }
    }
    return { offsets, rows, points };
  }
}

/** Points of a loop between two checks: a few milliseconds. */
const POINTS_PER_CHECK = 2 ** 18;

/** About so many groups of columns are written to at a time. */
const GROUP_COUNT = 1024;

function double(low: number, high: number): number {
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, high, true);
  return scratch.getFloat64(0, true);
}
