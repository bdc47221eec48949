// Writes the points of a sparse snapshot row by row, each row sorted and freed of repetitions.
import { assert } from '../../util/assert.ts';
import type { ArenaAllocator } from './arena-set.ts';
import type { SparseSnapshot } from './snapshot.ts';
import { bytesOf, float64Of, uint32Of } from './span-view.ts';
import { type PointSegments, RowPoints } from './sparse-points.ts';

/** Rows of up to so many points are sorted by insertion. */
const INSERTION_COUNT_MAX = 48;

/** Rows between two checks, and points in wide ones. */
const ROWS_PER_CHECK = 4096;
const POINTS_PER_CHECK = 65_536;

export interface SparseParts {
  readonly base: SparseSnapshot | undefined;
  readonly rowCount: number;
  /** final id of each provisional column id; ids of the base come first */
  readonly ranks: Uint32Array;
  /** row of each recording, and its first point */
  readonly recordedRows: Uint32Array;
  readonly recordedStarts: Float64Array;
  readonly points: PointSegments;
  /** called every few thousand rows */
  check(): void;
}

export type WrittenPoints = Pick<
  SparseSnapshot,
  | 'pointCount'
  | 'columnRowCounts'
  | 'rowOffsets'
  | 'columnIds'
  | 'kinds'
  | 'payloads'
  | 'timestamps'
>;

/** The arrays of a snapshot while they are filled. */
interface Output {
  readonly rowCounts: Uint32Array;
  readonly rowOffsets: Float64Array;
  readonly columnIds: Uint32Array;
  readonly kinds: Uint8Array;
  /** two words a payload, the low one first */
  readonly payloads: Uint32Array;
  readonly timestamps: Float64Array | undefined;
  count: number;
}

/** Writes rows of points as the parts of a sparse snapshot. */
export class SparseWriter {
  readonly #allocator: ArenaAllocator;
  readonly #parts: SparseParts;
  readonly #row = new RowPoints();
  #order = new Uint32Array(64);

  constructor(allocator: ArenaAllocator, parts: SparseParts) {
    this.#allocator = allocator;
    this.#parts = parts;
  }

  write(): WrittenPoints {
    const { base, rowCount, ranks, points } = this.#parts;
    const allocator = this.#allocator;
    const capacity = (base?.pointCount ?? 0) + points.count;
    const constantTs = this.#constantTs();
    const columnRowCounts = allocator.allocate(ranks.length * 4);
    const rowOffsets = allocator.allocate((rowCount + 1) * 8);
    const columnIds = allocator.allocate(capacity * 4);
    const kinds = allocator.allocate(capacity);
    const payloads = allocator.allocate(capacity * 8);
    const perPoint = constantTs === undefined ? allocator.allocate(capacity * 8) : undefined;
    const out: Output = {
      rowCounts: uint32Of(allocator, columnRowCounts).fill(0),
      rowOffsets: float64Of(allocator, rowOffsets),
      columnIds: uint32Of(allocator, columnIds),
      kinds: bytesOf(allocator, kinds),
      payloads: uint32Of(allocator, payloads),
      timestamps: perPoint === undefined ? undefined : float64Of(allocator, perPoint),
      count: 0,
    };
    this.#writeRows(out);
    const { count } = out;
    return {
      pointCount: count,
      columnRowCounts,
      rowOffsets,
      columnIds: allocator.shrink(columnIds, count * 4),
      kinds: allocator.shrink(kinds, count),
      payloads: allocator.shrink(payloads, count * 8),
      timestamps:
        perPoint === undefined
          ? { constant: constantTs as number }
          : { perPoint: allocator.shrink(perPoint, count * 8) },
    };
  }

  #writeRows(out: Output): void {
    const { rowCount, ranks, points } = this.#parts;
    points.mapColumns(ranks);
    this.#parts.check();
    const base = this.#openBase(out);
    const { first, order } = this.#recordingsByRow();
    this.#parts.check();
    out.rowOffsets[0] = 0;
    let checkedRow = 0;
    let checkedPoint = 0;
    for (let r = 0; r < rowCount; ) {
      if (r >= checkedRow + ROWS_PER_CHECK || out.count >= checkedPoint + POINTS_PER_CHECK) {
        this.#parts.check();
        checkedRow = r;
        checkedPoint = out.count;
      }
      let end = r;
      while (end < base.rowCount && first[end] === first[end + 1]) end++;
      if (end > r) {
        base.copyRows(r, end);
        r = end;
        continue;
      }
      this.#row.count = 0;
      if (r < base.rowCount) base.addRow(this.#row, r);
      let checkedCount = 0;
      for (let i = first[r] as number; i < (first[r + 1] as number); i++) {
        if (this.#row.count >= checkedCount + POINTS_PER_CHECK) {
          this.#parts.check();
          checkedCount = this.#row.count;
        }
        const recording = order[i] as number;
        const start = this.#parts.recordedStarts[recording] as number;
        points.copyTo(this.#row, start, this.#parts.recordedStarts[recording + 1] ?? points.count);
      }
      this.#writeRow(out);
      r++;
      out.rowOffsets[r] = out.count;
    }
  }

  /** Writes the collected row in order, equal points once. */
  #writeRow(out: Output): void {
    const row = this.#row;
    const order = this.#sortRow();
    if (row.count > POINTS_PER_CHECK) this.#parts.check();
    const start = out.count;
    let count = start;
    let previous = -1;
    for (let i = 0; i < row.count; i++) {
      const point = order[i] as number;
      if (previous !== -1 && row.compare(previous, point) === 0) continue;
      out.columnIds[count] = row.columns[point] as number;
      out.kinds[count] = row.kinds[point] as number;
      out.payloads[count * 2] = row.low[point] as number;
      out.payloads[count * 2 + 1] = row.high[point] as number;
      if (out.timestamps !== undefined) out.timestamps[count] = row.timestamps[point] as number;
      count++;
      previous = point;
    }
    out.count = count;
    countRow(out.rowCounts, out.columnIds, start, count, 1);
  }

  #constantTs(): number | undefined {
    const { base, points } = this.#parts;
    if (base === undefined || base.pointCount === 0) return points.constantTs;
    if (!('constant' in base.timestamps)) return undefined;
    const { constant } = base.timestamps;
    if (points.count === 0 || Object.is(points.constantTs, constant)) return constant;
    return undefined;
  }

  /** Counting sort of the recordings by row; each row's keep their order. */
  #recordingsByRow(): { first: Uint32Array; order: Uint32Array } {
    const { rowCount, recordedRows } = this.#parts;
    const first = new Uint32Array(rowCount + 2);
    for (const row of recordedRows) first[row + 2] = (first[row + 2] as number) + 1;
    for (let row = 2; row < first.length; row++) {
      first[row] = (first[row] as number) + (first[row - 1] as number);
    }
    const order = new Uint32Array(recordedRows.length);
    recordedRows.forEach((row, recording) => {
      const position = first[row + 1] as number;
      order[position] = recording;
      first[row + 1] = position + 1;
    });
    return { first, order };
  }

  /** What is there already: rows are copied as they are, or taken up to be merged with new ones. */
  #openBase(out: Output): {
    readonly rowCount: number;
    copyRows(from: number, to: number): void;
    addRow(row: RowPoints, r: number): void;
  } {
    const { base, ranks } = this.#parts;
    if (base === undefined) return { rowCount: 0, copyRows() {}, addRow() {} };
    const allocator = this.#allocator;
    const offsets = float64Of(allocator, base.rowOffsets);
    const columnIds = uint32Of(allocator, base.columnIds);
    const kinds = bytesOf(allocator, base.kinds);
    const payloads = uint32Of(allocator, base.payloads);
    const { timestamps } = base;
    const constant = 'constant' in timestamps ? timestamps.constant : 0;
    const perPoint =
      'perPoint' in timestamps ? float64Of(allocator, timestamps.perPoint) : undefined;
    const sameIds = ranks.length === base.columnCount;
    uint32Of(allocator, base.columnRowCounts).forEach((count, id) => {
      out.rowCounts[ranks[id] as number] = count;
    });
    return {
      rowCount: base.rowCount,
      copyRows(fromRow, toRow) {
        const start = offsets[fromRow] as number;
        const end = offsets[toRow] as number;
        const at = out.count;
        if (sameIds) out.columnIds.set(columnIds.subarray(start, end), at);
        else {
          for (let i = start; i < end; i++) {
            out.columnIds[at + i - start] = ranks[columnIds[i] as number] as number;
          }
        }
        out.kinds.set(kinds.subarray(start, end), at);
        out.payloads.set(payloads.subarray(start * 2, end * 2), at * 2);
        if (perPoint !== undefined) out.timestamps?.set(perPoint.subarray(start, end), at);
        else out.timestamps?.fill(constant, at, at + end - start);
        for (let r = fromRow; r < toRow; r++) {
          out.rowOffsets[r + 1] = at + (offsets[r + 1] as number) - start;
        }
        out.count = at + end - start;
      },
      addRow(row, r) {
        const start = offsets[r] as number;
        const end = offsets[r + 1] as number;
        row.reserve(end - start);
        for (let i = start; i < end; i++) {
          row.push(
            ranks[columnIds[i] as number] as number,
            kinds[i] as number,
            payloads[i * 2] as number,
            payloads[i * 2 + 1] as number,
            perPoint === undefined ? constant : (perPoint[i] as number),
          );
        }
        // The row is counted anew when it is written.
        countRow(out.rowCounts, row.columns, 0, row.count, -1);
      },
    };
  }

  /** @returns positions in the row, ordered by column, timestamp and value */
  #sortRow(): Uint32Array {
    const row = this.#row;
    const { count, columns } = row;
    if (this.#order.length < count) this.#order = new Uint32Array(count * 2);
    const order = this.#order;
    if (count <= INSERTION_COUNT_MAX) {
      for (let i = 0; i < count; i++) {
        const column = columns[i] as number;
        let j = i;
        for (; j > 0; j--) {
          const before = order[j - 1] as number;
          const other = columns[before] as number;
          if (other < column || (other === column && row.compare(before, i) <= 0)) break;
          order[j] = before;
        }
        order[j] = i;
      }
      return order;
    }
    const keys = new Float64Array(count);
    assert(this.#parts.ranks.length * count < 2 ** 53, 'a row has too many points to be sorted');
    for (let i = 0; i < count; i++) keys[i] = (columns[i] as number) * count + i;
    if (count > POINTS_PER_CHECK) this.#parts.check();
    keys.sort();
    if (count > POINTS_PER_CHECK) this.#parts.check();
    for (let i = 0; i < count; i++) order[i] = (keys[i] as number) % count;
    this.#sortCells(order, count);
    return order;
  }

  /** Puts the points of each cell in order, once the columns are. */
  #sortCells(order: Uint32Array, count: number): void {
    const row = this.#row;
    for (let start = 0; start < count; ) {
      const column = row.columns[order[start] as number];
      let end = start + 1;
      while (end < count && row.columns[order[end] as number] === column) end++;
      if (end - start > 1) order.subarray(start, end).sort((a, b) => row.compare(a, b));
      start = end;
    }
  }
}

/** Adds `change` to the count of each column that occurs in a row's sorted points. */
function countRow(
  rowCounts: Uint32Array,
  columnIds: Uint32Array,
  start: number,
  end: number,
  change: number,
): void {
  let previous = -1;
  for (let i = start; i < end; i++) {
    const column = columnIds[i] as number;
    if (column !== previous) rowCounts[column] = (rowCounts[column] as number) + change;
    previous = column;
  }
}
