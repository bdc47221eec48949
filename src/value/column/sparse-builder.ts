// Builds sparse snapshots: compressed sparse rows of points, from rows recorded in any order.
import { assert } from '../../util/assert.ts';
import type { Atom } from '../atom.ts';
import { ATOM_TAG, atomTag, readAtom } from '../atom-codec.ts';
import { naturalKeys, sortKeys } from '../natural-key.ts';
import { isPlainElement, type Path } from '../path.ts';
import type { Timestamp } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { DictionaryBuilder } from './dictionary.ts';
import { RowNamesBuilder, type RowNamesView, rowNamesView } from './row-names.ts';
import type { DictionarySnapshot, SparseSnapshot } from './snapshot.ts';
import { bytesOf, spanOf, uint32Of } from './span-view.ts';
import { PointSegments } from './sparse-points.ts';
import { SparseWriter } from './sparse-writer.ts';
import type { RecordedCell } from './table-builder.ts';

const KNOWN_COLUMN_COUNT_MAX = 65_536;

const scratch = new DataView(new ArrayBuffer(8));

/**
 * Records rows on top of an older snapshot or of nothing. Rows recorded several times are one row,
 * at the place of their first recording; points that agree in row, column, timestamp and value are
 * one point. Points of a cell end up in the order of their timestamps.
 */
export class SparseBuilder {
  readonly #allocator: ArenaAllocator;
  readonly #base: SparseSnapshot | undefined;
  readonly #baseNames: RowNamesView | undefined;
  readonly #rowNames: RowNamesBuilder;
  /** new rows by name; code k is row #baseRowCount + k - 1 */
  readonly #newRows: DictionaryBuilder;
  /** all columns by printed path; code k is the provisional id k - 1 */
  readonly #columns: DictionaryBuilder;
  /** ids of the first columns: a text that was looked up before is found several times faster here */
  readonly #knownColumns = new Map<string, number>();
  readonly #baseRowCount: number;
  readonly #baseColumnCount: number;
  readonly #points: PointSegments;
  /** rows that were added beside those of `#newRows` */
  #repeatedCount = 0;
  #heap: DictionaryBuilder | undefined;
  // Recorded rows, in the order of recording: the row, and its first point.
  #recordedRows = new Uint32Array(1024);
  #recordedStarts = new Float64Array(1024);
  #recordedCount = 0;

  constructor(allocator: ArenaAllocator, base?: SparseSnapshot) {
    this.#allocator = allocator;
    this.#base = base;
    this.#baseRowCount = base?.rowCount ?? 0;
    this.#baseColumnCount = base?.columnCount ?? 0;
    this.#points = new PointSegments(allocator);
    this.#newRows = new DictionaryBuilder(allocator);
    this.#columns = new DictionaryBuilder(allocator);
    if (base === undefined) {
      this.#rowNames = new RowNamesBuilder(allocator);
      return;
    }
    this.#baseNames = rowNamesView(base.rowNames, base.rowCount, allocator);
    this.#rowNames = RowNamesBuilder.from(base.rowNames, base.rowCount, allocator);
    const bytes = bytesOf(allocator, base.columnNames.bytes);
    const offsets = uint32Of(allocator, base.columnNames.offsets);
    for (let id = 0; id < base.columnCount; id++) {
      this.#columns.addTextBytes(bytes, offsets[id] as number, offsets[id + 1] as number);
    }
  }

  get rowCount(): number {
    return this.#baseRowCount + this.#newRows.count + this.#repeatedCount;
  }

  /** A number for `addCell`, valid in this builder only. */
  columnId(path: Path): number {
    const text = path.toString();
    const known = this.#knownColumns.get(text);
    if (known !== undefined) return known;
    const id = this.#columns.addText(text) - 1;
    if (this.#knownColumns.size < KNOWN_COLUMN_COUNT_MAX) this.#knownColumns.set(text, id);
    return id;
  }

  /**
   * As `columnId`, of a path whose bytes (atom-codec.ts) lie in [start, end): one element that prints
   * as it is is looked up without a text being made.
   */
  columnIdOfBytes(bytes: Uint8Array, start: number, end: number): number {
    const element = plainElementStart(bytes, start, end);
    if (element === undefined) return this.columnId(readAtom(bytes, start, end) as Path);
    return this.#columns.addTextBytes(bytes, element, end) - 1;
  }

  addRow(name: Path, cells: readonly RecordedCell[]): void {
    this.beginRow(name);
    for (const [column, atom, ts] of cells) this.addCell(this.columnId(column), atom, ts);
  }

  /** The cells that follow belong to this row; without any the row exists all the same. */
  beginRow(name: Path): void {
    this.#begin(this.#rowIndex(name));
  }

  /** As `beginRow`, of a row that is one of its own whatever its name; then all rows are begun so. */
  beginOwnRow(name: Path): void {
    assert(this.#newRows.count === 0, 'all rows are merged by their names, or none');
    const row = this.rowCount;
    this.#rowNames.add(name);
    this.#repeatedCount++;
    this.#begin(row);
  }

  #begin(row: number): void {
    const count = this.#recordedCount;
    if (count === this.#recordedRows.length) {
      this.#recordedRows = grown(this.#recordedRows, new Uint32Array(count * 2));
      this.#recordedStarts = grown(this.#recordedStarts, new Float64Array(count * 2));
    }
    this.#recordedRows[count] = row;
    this.#recordedStarts[count] = this.#points.count;
    this.#recordedCount++;
  }

  /** @param ts seconds, already quantised */
  addCell(columnId: number, atom: Atom, ts: number): void {
    assert(this.#recordedCount > 0, 'a cell belongs to a row');
    const tag = atomTag(atom);
    let low = 0;
    let high = 0;
    switch (tag) {
      case ATOM_TAG.null:
        break;
      case ATOM_TAG.integer:
        if (typeof atom === 'number' && Number.isSafeInteger(atom)) {
          low = atom >>> 0;
          high = Math.floor(atom / 2 ** 32) >>> 0;
        } else {
          scratch.setBigInt64(0, BigInt(atom as bigint), true);
          low = scratch.getUint32(0, true);
          high = scratch.getUint32(4, true);
        }
        break;
      case ATOM_TAG.unsigned:
        scratch.setBigUint64(0, atom as bigint, true);
        low = scratch.getUint32(0, true);
        high = scratch.getUint32(4, true);
        break;
      case ATOM_TAG.double:
      case ATOM_TAG.timestamp: {
        const value = tag === ATOM_TAG.double ? (atom as number) : (atom as Timestamp).seconds;
        scratch.setFloat64(0, Number.isNaN(value) ? Number.NaN : value + 0, true);
        low = scratch.getUint32(0, true);
        high = scratch.getUint32(4, true);
        break;
      }
      default:
        low = this.#heapBuilder().add(atom);
    }
    this.#points.add(columnId, tag, low, high, ts + 0);
  }

  /** As `addCell`, of an atom whose bytes (atom-codec.ts) lie in [start, end). */
  addCellBytes(columnId: number, bytes: Uint8Array, start: number, end: number, ts: number): void {
    assert(this.#recordedCount > 0, 'a cell belongs to a row');
    const tag = bytes[start] as number;
    let low = 0;
    let high = 0;
    switch (tag) {
      case ATOM_TAG.null:
        break;
      case ATOM_TAG.integer:
      case ATOM_TAG.unsigned:
      case ATOM_TAG.double:
      case ATOM_TAG.timestamp:
        low = wordAt(bytes, start + 1);
        high = wordAt(bytes, start + 5);
        break;
      case ATOM_TAG.string:
        low = this.#heapBuilder().addTextBytes(bytes, start + 1, end);
        break;
      default:
        low = this.#heapBuilder().add(readAtom(bytes, start, end));
    }
    this.#points.add(columnId, tag, low, high, ts + 0);
  }

  /**
   * Ends the recording; the builder is used up, the older snapshot stays as it is.
   * @param check called now and then; what it throws leaves the spans to the allocator's owner
   */
  seal(check: () => void = () => {}): SparseSnapshot {
    const base = this.#base;
    check();
    const { names, ranks } = this.#sortColumns(check);
    const writer = new SparseWriter(this.#allocator, {
      base,
      rowCount: this.rowCount,
      ranks,
      recordedRows: this.#recordedRows.subarray(0, this.#recordedCount),
      recordedStarts: this.#recordedStarts.subarray(0, this.#recordedCount),
      points: this.#points,
      check,
    });
    const written = writer.write();
    check();
    const snapshot: SparseSnapshot = {
      layout: 'sparse',
      id: this.#allocator.nextId(),
      rowCount: this.rowCount,
      columnCount: ranks.length,
      rowNames: this.#rowNames.seal(),
      columnNames: names,
      heap: this.#sealHeap(),
      ...written,
    };
    this.#points.release();
    this.#newRows.release();
    this.#columns.release();
    return snapshot;
  }

  /** Frees what a builder that is given up has written. */
  release(): void {
    this.#rowNames.release();
    this.#newRows.release();
    this.#columns.release();
    this.#points.release();
    this.#heap?.release();
  }

  #rowIndex(name: Path): number {
    const known = this.#baseNames?.find(name)[0];
    if (known !== undefined) return known;
    const count = this.#newRows.count;
    const code = this.#newRows.addText(name.toString());
    if (code > count) this.#rowNames.add(name);
    return this.#baseRowCount + code - 1;
  }

  #heapBuilder(): DictionaryBuilder {
    this.#heap ??=
      this.#base === undefined
        ? new DictionaryBuilder(this.#allocator)
        : DictionaryBuilder.from(this.#allocator, this.#base.heap);
    return this.#heap;
  }

  #sealHeap(): DictionarySnapshot {
    if (this.#heap === undefined && this.#base !== undefined) {
      const { heap } = this.#base;
      this.#allocator.retain(heap.bytes);
      this.#allocator.retain(heap.offsets);
      return heap;
    }
    return this.#heapBuilder().seal();
  }

  /** @returns the names in natural order, and the final id of each provisional one */
  #sortColumns(check: () => void): { names: SparseSnapshot['columnNames']; ranks: Uint32Array } {
    const count = this.#columns.count;
    if (this.#base !== undefined && count === this.#baseColumnCount) {
      const names = this.#base.columnNames;
      this.#allocator.retain(names.bytes);
      this.#allocator.retain(names.offsets);
      return { names, ranks: Uint32Array.from({ length: count }, (_, id) => id) };
    }
    const { bytes, offsets } = this.#columns.entries();
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const textAt = (id: number) =>
      buffer.toString('utf8', offsets[id + 1] as number, offsets[id + 2] as number);
    const keys = naturalKeys(count, textAt, check);
    const order = sortKeys(keys, check);
    check();
    const ranks = new Uint32Array(count);
    const sortedBytes = this.#allocator.allocate(offsets[count + 1] as number);
    const target = bytesOf(this.#allocator, sortedBytes);
    const sortedOffsets = new Uint32Array(count + 1);
    let size = 0;
    order.forEach((id, rank) => {
      ranks[id] = rank;
      const end = offsets[id + 2] as number;
      for (let i = offsets[id + 1] as number; i < end; i++) target[size++] = bytes[i] as number;
      sortedOffsets[rank + 1] = size;
    });
    return {
      names: { bytes: sortedBytes, offsets: spanOf(this.#allocator, sortedOffsets) },
      ranks,
    };
  }
}

/** Little endian, at any place. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}

/** Of an encoded path: where its only element begins, when it prints as it is. */
function plainElementStart(bytes: Uint8Array, start: number, end: number): number | undefined {
  const element = start + 5;
  if (element >= end || wordAt(bytes, start + 1) !== end - element) return undefined;
  return isPlainElement(bytes, element, end) ? element : undefined;
}

function grown<T extends Uint32Array | Float64Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}
