// Recorded rows as bytes: what the write log keeps and what a commit reads. Column paths are stored
// once a batch.

import type { Atom } from '../value/atom.ts';
import { atomSizeMax, readAtom, writeAtom } from '../value/atom-codec.ts';
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
    for (const [column, atom, ts] of cells) {
      body.u32(this.#indexOf(column));
      body.f64(ts);
      body.atom(atom);
    }
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
    const head = new BatchWriter();
    head.u32(this.#paths.length);
    for (const path of this.#paths) head.atom(path);
    head.u32(this.rowCount);
    const parts = [head.bytes(), this.#body.bytes()] as const;
    const bytes = new Uint8Array(new SharedArrayBuffer(parts[0].length + parts[1].length));
    bytes.set(parts[0], 0);
    bytes.set(parts[1], parts[0].length);
    return bytes;
  }
}

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

class BatchWriter {
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

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
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
