// Rows of a result as bytes: the texts of the extra columns, then number and atom of each cell.
import type { ByteSpool } from '../../util/byte-spool.ts';
import type { Atom } from '../../value/atom.ts';
import { atomSizeMax, readAtom, readUtf8, writeAtom } from '../../value/atom-codec.ts';
import { utf8SizeMax, writeUtf8 } from '../../value/utf8.ts';

export interface SpooledRow {
  readonly extras: readonly string[];
  /** column number and atom of each cell that the row has */
  readonly columns: readonly number[];
  readonly atoms: readonly Atom[];
}

const BLOCK_SIZE = 256 * 1024;
/** bytes of a number: sizes, counts and columns */
const NUMBER_SIZE = 4;

export class SpooledRowWriter {
  readonly #spool: ByteSpool;
  #bytes = new Uint8Array(BLOCK_SIZE);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;
  rowCount = 0;

  constructor(spool: ByteSpool) {
    this.#spool = spool;
  }

  write({ extras, columns, atoms }: SpooledRow): void {
    this.rowCount++;
    if (this.#size >= BLOCK_SIZE / 2) this.end();
    const start = this.#size;
    this.#reserve(2 * NUMBER_SIZE);
    this.#size += NUMBER_SIZE;
    for (const text of extras) {
      this.#reserve(NUMBER_SIZE + utf8SizeMax(text));
      const end = writeUtf8(this.#bytes, this.#size + NUMBER_SIZE, text);
      this.#number(end - this.#size - NUMBER_SIZE);
      this.#size = end;
    }
    this.#reserve(NUMBER_SIZE);
    this.#number(columns.length);
    for (let i = 0; i < columns.length; i++) {
      const atom = atoms[i] ?? null;
      this.#reserve(2 * NUMBER_SIZE + (atom === null ? 0 : atomSizeMax(atom)));
      this.#number(columns[i] as number);
      const from = this.#size + NUMBER_SIZE;
      const end = atom === null ? from : writeAtom(this.#bytes, from, atom);
      this.#number(end - from);
      this.#size = end;
    }
    this.#view.setUint32(start, this.#size - start - NUMBER_SIZE, true);
  }

  /** Hands on what is left. */
  end(): void {
    this.#spool.append(this.#bytes.subarray(0, this.#size));
    this.#size = 0;
  }

  #number(value: number): void {
    this.#view.setUint32(this.#size, value, true);
    this.#size += NUMBER_SIZE;
  }

  #reserve(count: number): void {
    const needed = this.#size + count;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

export class SpooledRowReader {
  readonly #spool: ByteSpool;
  readonly #extraCount: number;

  constructor(spool: ByteSpool, extraCount: number) {
    this.#spool = spool;
    this.#extraCount = extraCount;
  }

  /** @param positions by column number: which column it is now */
  *rows(positions: readonly number[]): Iterable<SpooledRow> {
    const total = this.#spool.sizeBytes;
    let block = new Uint8Array(BLOCK_SIZE);
    for (let position = 0; position < total; ) {
      const size = this.#spool.read(position, block);
      const view = new DataView(block.buffer);
      let at = 0;
      let rowSize = 0;
      while (at + NUMBER_SIZE <= size) {
        rowSize = NUMBER_SIZE + view.getUint32(at, true);
        if (at + rowSize > size) break;
        yield this.#row(block, view, at + NUMBER_SIZE, positions);
        at += rowSize;
      }
      position += at;
      if (rowSize > block.length) block = new Uint8Array(rowSize);
    }
  }

  #row(bytes: Uint8Array, view: DataView, start: number, positions: readonly number[]): SpooledRow {
    let at = start;
    const next = () => {
      at += NUMBER_SIZE;
      return view.getUint32(at - NUMBER_SIZE, true);
    };
    const extras: string[] = [];
    for (let i = 0; i < this.#extraCount; i++) {
      const size = next();
      extras.push(readUtf8(bytes, at, at + size));
      at += size;
    }
    const count = next();
    const columns = new Array<number>(count);
    const atoms = new Array<Atom>(count);
    for (let i = 0; i < count; i++) {
      columns[i] = positions[next()] as number;
      const size = next();
      atoms[i] = size === 0 ? null : readAtom(bytes, at, at + size);
      at += size;
    }
    return { extras, columns, atoms };
  }
}
