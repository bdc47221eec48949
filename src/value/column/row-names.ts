// Row names: kept as a sequence while they are one, as numbers while they are, else as paths.

import { Path } from '../path.ts';
import { hashBytes, utf8Bytes, utf8SizeMax, writeUtf8 } from '../utf8.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { ColumnBuilder } from './column-builder.ts';
import { ColumnView } from './column-view.ts';
import { GrowableSpan } from './growable-span.ts';
import type { RowNames } from './snapshot.ts';
import { columnSpans } from './snapshot-memory.ts';
import { bytesOf, uint32Of } from './span-view.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

/** Decimal integers that print as they were written, within ±(10^15 - 1). */
const NUMBER_NAME = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** Collects row names in the smallest form that holds them all. */
export class RowNamesBuilder {
  readonly #allocator: ArenaAllocator;
  readonly #chunkRowCount: number | undefined;
  #mode: 'sequence' | 'numbers' | 'paths' = 'sequence';
  #first = 0;
  #count = 0;
  #numbers: ColumnBuilder | undefined;
  #heap: GrowableSpan | undefined;
  #offsets: GrowableSpan | undefined;
  #size = 0;

  constructor(allocator: ArenaAllocator, chunkRowCount?: number) {
    this.#allocator = allocator;
    this.#chunkRowCount = chunkRowCount;
  }

  /** Starts with the names of a snapshot. */
  static from(
    names: RowNames,
    rowCount: number,
    allocator: ArenaAllocator,
    chunkRowCount?: number,
  ): RowNamesBuilder {
    const builder = new RowNamesBuilder(allocator, chunkRowCount);
    if (names.kind === 'sequence') {
      builder.#first = names.first;
      builder.#count = rowCount;
    } else if (names.kind === 'numbers') {
      const column = { path: [], type: 'integer', chunks: names.chunks, nullCount: 0 } as const;
      builder.#numbers = ColumnBuilder.from(column, allocator, chunkRowCount);
      builder.#mode = 'numbers';
      builder.#count = rowCount;
    } else {
      builder.#adoptPaths(bytesOf(allocator, names.bytes), uint32Of(allocator, names.offsets));
    }
    return builder;
  }

  get rowCount(): number {
    return this.#count;
  }

  add(name: Path): void {
    if (this.#mode === 'paths') {
      this.#addText(name.toString());
      return;
    }
    const element = name.length === 1 ? (name.elements[0] as string) : '';
    if (NUMBER_NAME.test(element)) this.addNumber(Number(element));
    else this.#toPaths().#addText(name.toString());
  }

  /** Adds the name that an integer prints as. */
  addNumber(name: number): void {
    if (this.#mode === 'sequence') {
      if (this.#count === 0) this.#first = name;
      if (name === this.#first + this.#count) {
        this.#count++;
        return;
      }
      this.#toNumbers();
    }
    if (this.#mode === 'paths') {
      this.#addText(String(name));
      return;
    }
    this.#numbers?.append(name);
    this.#count++;
  }

  seal(): RowNames {
    if (this.#mode === 'sequence') return { kind: 'sequence', first: this.#first };
    if (this.#numbers !== undefined) {
      return { kind: 'numbers', chunks: this.#numbers.seal().chunks };
    }
    const bytes = (this.#heap as GrowableSpan).seal(this.#size);
    return {
      kind: 'paths',
      bytes,
      offsets: (this.#offsets as GrowableSpan).seal((this.#count + 1) * 4),
    };
  }

  release(): void {
    this.#numbers?.release();
    this.#heap?.release();
    this.#offsets?.release();
  }

  #toNumbers(): void {
    this.#mode = 'numbers';
    this.#numbers = new ColumnBuilder([], this.#allocator, this.#chunkRowCount);
    for (let i = 0; i < this.#count; i++) this.#numbers.append(this.#first + i);
  }

  #toPaths(): this {
    const count = this.#count;
    this.#mode = 'paths';
    this.#heap = new GrowableSpan(this.#allocator);
    this.#offsets = new GrowableSpan(this.#allocator, (count + 1) * 4);
    this.#offsets.u32[0] = 0;
    this.#count = 0;
    if (this.#numbers === undefined) {
      for (let i = 0; i < count; i++) this.#addText(String(this.#first + i));
      return this;
    }
    const numbers = this.#numbers.seal();
    this.#numbers = undefined;
    for (const name of new ColumnView(numbers, this.#allocator).atoms()) {
      this.#addText(String(name));
    }
    for (const span of columnSpans(numbers)) this.#allocator.free(span);
    return this;
  }

  /** @param text a printed path */
  #addText(text: string): void {
    const heap = this.#heap as GrowableSpan;
    heap.reserve(this.#size + utf8SizeMax(text));
    this.#size = writeUtf8(heap.u8, this.#size, text);
    this.#endPath();
  }

  #endPath(): void {
    const offsets = this.#offsets as GrowableSpan;
    this.#count++;
    offsets.reserve((this.#count + 1) * 4);
    offsets.u32[this.#count] = this.#size;
  }

  #adoptPaths(bytes: Uint8Array, offsets: Uint32Array): void {
    this.#toPaths();
    const heap = this.#heap as GrowableSpan;
    heap.reserve(bytes.length);
    heap.u8.set(bytes);
    this.#offsets?.reserve(offsets.length * 4);
    this.#offsets?.u32.set(offsets);
    this.#size = bytes.length;
    this.#count = offsets.length - 1;
  }
}

/** Reads row names; the index by name is built when the first name is looked up. */
export interface RowNamesView {
  readonly rowCount: number;
  pathAt(row: number): Path;
  /** the printed path */
  textAt(row: number): string;
  /** rows of a name in ascending order */
  find(name: Path): number[];
  /** one row of each name that several rows have, the first of them */
  duplicates(): number[];
}

/** The view of the names of `rowCount` rows. */
export function rowNamesView(names: RowNames, rowCount: number, arenas: Arenas): RowNamesView {
  switch (names.kind) {
    case 'sequence':
      return new SequenceNamesView(names.first, rowCount);
    case 'numbers':
      return new NumberNamesView(names.chunks, arenas);
    case 'paths':
      return new PathNamesView(bytesOf(arenas, names.bytes), uint32Of(arenas, names.offsets));
  }
}

class SequenceNamesView implements RowNamesView {
  readonly rowCount: number;
  readonly #first: number;

  constructor(first: number, rowCount: number) {
    this.#first = first;
    this.rowCount = rowCount;
  }

  pathAt(row: number): Path {
    return new Path([this.textAt(row)]);
  }

  textAt(row: number): string {
    return String(this.#first + row);
  }

  find(name: Path): number[] {
    const number = numberOfName(name);
    if (number === undefined) return [];
    const row = number - this.#first;
    return row >= 0 && row < this.rowCount ? [row] : [];
  }

  duplicates(): number[] {
    return [];
  }
}

class NumberNamesView implements RowNamesView {
  readonly rowCount: number;
  readonly #numbers: ColumnView;
  #index: RowIndex | undefined;

  constructor(chunks: Extract<RowNames, { kind: 'numbers' }>['chunks'], arenas: Arenas) {
    this.#numbers = new ColumnView({ path: [], type: 'integer', chunks, nullCount: 0 }, arenas);
    this.rowCount = this.#numbers.rowCount;
  }

  pathAt(row: number): Path {
    return new Path([this.textAt(row)]);
  }

  textAt(row: number): string {
    return String(this.#numbers.numberAt(row));
  }

  find(name: Path): number[] {
    const number = numberOfName(name);
    if (number === undefined) return [];
    return this.#rowIndex().find(
      hashNumber(number),
      (row) => this.#numbers.numberAt(row) === number,
    );
  }

  duplicates(): number[] {
    return this.#rowIndex().duplicates();
  }

  #rowIndex(): RowIndex {
    const numbers = this.#numbers;
    this.#index ??= new RowIndex(
      this.rowCount,
      (row) => hashNumber(numbers.numberAt(row)),
      (a, b) => numbers.numberAt(a) === numbers.numberAt(b),
    );
    return this.#index;
  }
}

class PathNamesView implements RowNamesView {
  readonly rowCount: number;
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #buffer: Buffer;
  #index: RowIndex | undefined;

  constructor(bytes: Uint8Array, offsets: Uint32Array) {
    this.rowCount = offsets.length - 1;
    this.#bytes = bytes;
    this.#offsets = offsets;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  pathAt(row: number): Path {
    return Path.parse(this.textAt(row));
  }

  textAt(row: number): string {
    const start = this.#offsets[row] as number;
    return this.#buffer.toString('utf8', start, this.#offsets[row + 1] as number);
  }

  find(name: Path): number[] {
    const bytes = utf8Bytes(name.toString());
    return this.#rowIndex().find(hashBytes(bytes, 0, bytes.length), (row) =>
      this.#equalsRange(row, bytes, 0, bytes.length),
    );
  }

  duplicates(): number[] {
    return this.#rowIndex().duplicates();
  }

  #equalsRange(row: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#offsets[row] as number;
    if ((this.#offsets[row + 1] as number) - from !== end - start) return false;
    for (let i = 0; start + i < end; i++) {
      if (this.#bytes[from + i] !== bytes[start + i]) return false;
    }
    return true;
  }

  #rowIndex(): RowIndex {
    const bytes = this.#bytes;
    const offsets = this.#offsets;
    this.#index ??= new RowIndex(
      this.rowCount,
      (row) => hashBytes(bytes, offsets[row] as number, offsets[row + 1] as number),
      (a, b) => this.#equalsRange(a, bytes, offsets[b] as number, offsets[b + 1] as number),
    );
    return this.#index;
  }
}

/** @returns the integer that a name is the decimal text of */
function numberOfName(name: Path): number | undefined {
  const element = name.length === 1 ? (name.elements[0] as string) : '';
  return NUMBER_NAME.test(element) ? Number(element) : undefined;
}

function hashNumber(value: number): number {
  let hash = Math.imul(
    (value | 0) ^ Math.imul(Math.floor(value / 2 ** 32), 0x9e3779b1),
    0x85ebca6b,
  );
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Rows by the hash of their names; rows of one name form a chain from the first on. */
class RowIndex {
  /** row + 1; 0 is free; at most half full */
  readonly #slots: Int32Array;
  readonly #mask: number;
  /** the next row of the same name + 1, made when the first name repeats */
  #next: Int32Array | undefined;

  constructor(
    rowCount: number,
    hashAt: (row: number) => number,
    equals: (a: number, b: number) => boolean,
  ) {
    const size = 2 ** Math.max(4, Math.ceil(Math.log2(rowCount * 1.5 + 1)));
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
    // From the end, so that the first row of a name heads its chain.
    for (let row = rowCount - 1; row >= 0; row--) {
      for (let i = hashAt(row) & this.#mask; ; i = (i + 1) & this.#mask) {
        const head = this.#slots[i] as number;
        if (head !== 0 && !equals(head - 1, row)) continue;
        if (head !== 0) {
          this.#next ??= new Int32Array(rowCount);
          this.#next[row] = head;
        }
        this.#slots[i] = row + 1;
        break;
      }
    }
  }

  find(hash: number, equals: (row: number) => boolean): number[] {
    for (let i = hash & this.#mask; ; i = (i + 1) & this.#mask) {
      const head = this.#slots[i] as number;
      if (head === 0) return [];
      if (equals(head - 1)) return this.#chain(head);
    }
  }

  duplicates(): number[] {
    const next = this.#next;
    if (next === undefined) return [];
    return Array.from(this.#slots)
      .filter((head) => head !== 0 && next[head - 1] !== 0)
      .map((head) => head - 1)
      .sort((a, b) => a - b);
  }

  #chain(head: number): number[] {
    const rows: number[] = [];
    for (let entry = head; entry !== 0; entry = this.#next?.[entry - 1] ?? 0) rows.push(entry - 1);
    return rows;
  }
}
