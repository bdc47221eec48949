// Recorded rows as bytes: what the write log keeps and what a commit reads. Column paths are stored
// once a batch.

import { assert } from '../util/assert.ts';
import type { Atom } from '../value/atom.ts';
import { ATOM_TAG, atomSizeMax, readAtom, writeAtom } from '../value/atom-codec.ts';
import type { Path } from '../value/path.ts';
import type { RecordedCell, RecordedRow } from './recorded-row.ts';

// Layout, all numbers little endian:
//   u32 columnCount, then each column path as sized atom
//   u32 rowCount, then for each row its name as sized atom, u32 cellCount, and for each cell
//   u32 column index, f64 timestamp, sized atom
// A sized atom is u32 size and the bytes of atom-codec.ts.

/** The bytes of a batch, in shared memory so that threads can read them without a copy. */
export function encodeBatch(rows: readonly RecordedRow[]): Uint8Array {
  const encoder = new BatchEncoder();
  for (const row of rows) encoder.add(row);
  return encoder.finish();
}

/** Makes a batch of rows that come one by one. */
export class BatchEncoder {
  rowCount = 0;
  readonly #columns = new Map<string, number>();
  readonly #paths: Path[] = [];
  readonly #body = new BatchWriter();

  add({ name, cells }: RecordedRow): void {
    const body = this.#body;
    body.atom(name);
    body.u32(cells.length);
    for (const [column, atom, ts] of cells) body.cell(this.#indexOf(column), ts, atom);
    this.rowCount++;
  }

  #indexOf(column: Path): number {
    const key = column.toString();
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    this.#columns.set(key, this.#paths.length);
    return this.#paths.push(column) - 1;
  }

  /** In shared memory. */
  finish(): Uint8Array {
    const columns = new BatchWriter();
    for (const path of this.#paths) columns.atom(path);
    return joinBatch(columns, this.#paths.length, this.#body, this.rowCount);
  }
}

/** The parts of a batch behind each other, in shared memory. */
export function joinBatch(
  columns: BatchWriter,
  columnCount: number,
  rows: BatchWriter,
  rowCount: number,
): Uint8Array {
  const paths = columns.bytes();
  const cells = rows.bytes();
  const bytes = new Uint8Array(new SharedArrayBuffer(8 + paths.length + cells.length));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, columnCount, true);
  bytes.set(paths, 4);
  view.setUint32(4 + paths.length, rowCount, true);
  bytes.set(cells, 8 + paths.length);
  return bytes;
}

/** The rows of a batch as objects, one by one, in the order of their recording. */
export function* decodeBatch(bytes: Uint8Array): Generator<RecordedRow> {
  const reader = new BatchReader(bytes);
  const columns: Path[] = [];
  for (let left = reader.u32(); left > 0; left--) columns.push(reader.atom() as Path);
  for (let left = reader.u32(); left > 0; left--) {
    const name = reader.atom() as Path;
    const cells: RecordedCell[] = [];
    for (let cellsLeft = reader.u32(); cellsLeft > 0; cellsLeft--) {
      const column = columns[reader.u32()] as Path;
      const ts = reader.f64();
      cells.push([column, reader.atom(), ts]);
    }
    yield { name, cells };
  }
}

/** What takes a batch without atoms being made of its bytes; ranges are those of atom-codec.ts. */
export interface BatchTarget {
  /** Called for each path once, before all rows. @returns its number in the calls of `cell` */
  column(bytes: Uint8Array, start: number, end: number): number;
  row(name: Path): void;
  /** @param ts seconds */
  cell(column: number, bytes: Uint8Array, start: number, end: number, ts: number): void;
}

/** Rows and cells between two checks. */
const CELLS_PER_CHECK = 4096;

/** Gives a batch to a target, row by row. @param check called now and then; may throw */
export function visitBatch(bytes: Uint8Array, target: BatchTarget, check: () => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let position = 4;
  let untilCheck = CELLS_PER_CHECK;
  const columns = new Uint32Array(view.getUint32(0, true));
  for (let i = 0; i < columns.length; i++) {
    const start = position + 4;
    position = start + view.getUint32(position, true);
    columns[i] = target.column(bytes, start, position);
    if (--untilCheck > 0) continue;
    check();
    untilCheck = CELLS_PER_CHECK;
  }
  let rowsLeft = view.getUint32(position, true);
  position += 4;
  for (; rowsLeft > 0; rowsLeft--) {
    const nameStart = position + 4;
    position = nameStart + view.getUint32(position, true);
    target.row(readAtom(bytes, nameStart, position) as Path);
    let cellsLeft = view.getUint32(position, true);
    position += 4;
    for (untilCheck--; cellsLeft > 0; cellsLeft--) {
      const column = columns[view.getUint32(position, true)] as number;
      const ts = view.getFloat64(position + 4, true);
      const start = position + 16;
      position = start + view.getUint32(position + 12, true);
      target.cell(column, bytes, start, position, ts);
      if (--untilCheck > 0) continue;
      check();
      untilCheck = CELLS_PER_CHECK;
    }
  }
  assert(position === bytes.length, 'a batch ends with its last cell');
}

/** Appends the parts of a batch, as the layout above has them. */
export class BatchWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#size, value, true);
    this.#size += 4;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#size, value, true);
    this.#size += 8;
  }

  atom(atom: Atom): void {
    this.#reserve(4 + atomSizeMax(atom));
    const end = writeAtom(this.#bytes, this.#size + 4, atom);
    this.#view.setUint32(this.#size, end - this.#size - 4, true);
    this.#size = end;
  }

  /** A path of one element, given as UTF-8. */
  pathElement(utf8: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.#reserve(9 + size);
    const at = this.#size;
    this.#view.setUint32(at, 5 + size, true);
    this.#bytes[at + 4] = ATOM_TAG.path;
    this.#view.setUint32(at + 5, size, true);
    this.#copy(utf8, start, end, at + 9);
  }

  cell(column: number, ts: number, atom: Atom): void {
    this.u32(column);
    this.f64(ts);
    this.atom(atom);
  }

  /** @param low, high the words of a signed integer */
  integerCell(column: number, ts: number, low: number, high: number): void {
    this.#reserve(25);
    const at = this.#size;
    const view = this.#view;
    view.setUint32(at, column, true);
    view.setFloat64(at + 4, ts, true);
    view.setUint32(at + 12, 9, true);
    this.#bytes[at + 16] = ATOM_TAG.integer;
    view.setInt32(at + 17, low, true);
    view.setInt32(at + 21, high, true);
    this.#size = at + 25;
  }

  /** A text given as UTF-8. */
  textCell(column: number, ts: number, utf8: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.#reserve(17 + size);
    const at = this.#size;
    this.#view.setUint32(at, column, true);
    this.#view.setFloat64(at + 4, ts, true);
    this.#view.setUint32(at + 12, 1 + size, true);
    this.#bytes[at + 16] = ATOM_TAG.string;
    this.#copy(utf8, start, end, at + 17);
  }

  /** Room for a number that is known later. @returns its place, for `setU32` */
  reserveU32(): number {
    this.u32(0);
    return this.#size - 4;
  }

  setU32(place: number, value: number): void {
    this.#view.setUint32(place, value, true);
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** For short texts a loop costs less than a call of the library. */
  #copy(source: Uint8Array, start: number, end: number, at: number): void {
    const target = this.#bytes;
    if (end - start > 64) target.set(source.subarray(start, end), at);
    else for (let i = start; i < end; i++) target[at + i - start] = source[i] as number;
    this.#size = at + end - start;
  }

  #reserve(sizeBytes: number): void {
    if (this.#size + sizeBytes <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#size + sizeBytes));
    grown.set(this.bytes());
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

class BatchReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u32(): number {
    const value = this.#view.getUint32(this.#position, true);
    this.#position += 4;
    return value;
  }

  f64(): number {
    const value = this.#view.getFloat64(this.#position, true);
    this.#position += 8;
    return value;
  }

  atom(): Atom {
    const size = this.u32();
    const start = this.#position;
    this.#position += size;
    return readAtom(this.#bytes, start, this.#position);
  }
}
