// Rows of atoms that are kept by themselves: numbers as they are, other atoms by numbers that they get
// when they are first met, so that two rows are compared word by word.
import type { Atom } from '../../../value/atom.ts';
import { type CanonicalKey, keyOfAtom } from '../../../value/canonical-key.ts';
import {
  type ChunkView,
  CodesChunkView,
  type ColumnView,
  ConstantChunkView,
  NumericChunkView,
} from '../../../value/column/column-view.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { NotSuited } from '../not-suited.ts';
import type { RunMemory } from '../run-memory.ts';
import { chunksOf, type MadeColumn } from './batch-table.ts';
import { encodeAtoms, encodeGroupColumn, encodeNumberColumn } from './encode-column.ts';

const CHUNK_ROW_COUNT = 65_536;
const CAPACITY_MIN = 1024;

/** The high words of doubles that no number has: those of numbers are numbers, all NaN are one. */
const NULL_WORD = 0x7ffa0000;
const ATOM_WORD = 0x7ffb0000;
const MINUS_ZERO_WORD = 0x80000000 | 0;

/** The words of a column: two for each row, which are also a double. */
class KeptColumn {
  words = new Int32Array(CAPACITY_MIN * 2);
  doubles = new Float64Array(this.words.buffer);
  readonly #atoms: Atom[] = [];
  readonly #numbers = new Map<CanonicalKey, number>();

  grow(capacity: number): void {
    if (capacity <= this.doubles.length) return;
    const words = new Int32Array(Math.max(capacity, this.doubles.length * 2) * 2);
    words.set(this.words);
    this.words = words;
    this.doubles = new Float64Array(words.buffer);
  }

  /** Puts the rows of a chunk behind row `at`. */
  put(chunk: ChunkView, at: number): void {
    if (chunk instanceof NumericChunkView && chunk.kind !== 'timestamp') {
      this.#putNumbers(chunk, at);
    } else if (chunk instanceof ConstantChunkView) {
      if (chunk.rowCount === 0) return;
      this.#putAtom(chunk.atom, at);
      this.doubles.fill(this.doubles[at] as number, at, at + chunk.rowCount);
      for (let i = 1; i < chunk.rowCount; i++) this.copy(at, at + i);
    } else if (chunk instanceof CodesChunkView) {
      this.#putCodes(chunk, at);
    } else {
      for (let i = 0; i < chunk.rowCount; i++) this.#putAtom(chunk.atomAt(i), at + i);
    }
  }

  copy(from: number, to: number): void {
    const { words } = this;
    words[to * 2] = words[from * 2] as number;
    words[to * 2 + 1] = words[from * 2 + 1] as number;
  }

  atomAt(row: number): Atom {
    const high = this.words[row * 2 + 1];
    if (high === NULL_WORD) return null;
    if (high === ATOM_WORD) return this.#atoms[this.words[row * 2] as number] as Atom;
    return this.doubles[row] as number;
  }

  encode(from: number, to: number, chunkRowCounts: readonly number[], memory: RunMemory) {
    const count = to - from;
    let nulls: Uint8Array | undefined;
    let atomCount = 0;
    let nullCount = 0;
    for (let row = from; row < to; row++) {
      const high = this.words[row * 2 + 1];
      if (high === ATOM_WORD) atomCount++;
      else if (high === NULL_WORD) {
        nullCount++;
        nulls ??= new Uint8Array(count);
        nulls[row - from] = 1;
      }
    }
    if (atomCount === 0) {
      const values = this.doubles.slice(from, to);
      const snapshot = encodeNumberColumn([], { values, nulls }, 'number', chunkRowCounts, memory);
      return { snapshot, ts: MINUS_INFINITY };
    }
    if (atomCount + nullCount < count) {
      const atoms = Array.from({ length: count }, (_, i) => this.atomAt(from + i));
      return { snapshot: encodeAtoms([], atoms, chunkRowCounts, memory), ts: MINUS_INFINITY };
    }
    const codes = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      const word = (from + i) * 2;
      codes[i] = this.words[word + 1] === NULL_WORD ? 0 : (this.words[word] as number) + 1;
    }
    const atom = (code: number) => this.#atoms[code - 1] as Atom;
    const column = { kind: 'codes', codes, atom, order: noOrder, ts: MINUS_INFINITY } as const;
    return encodeGroupColumn([], column, chunkRowCounts, memory);
  }

  #putNumbers(chunk: NumericChunkView, at: number): void {
    const { values, validity, rowCount } = chunk;
    const { doubles } = this;
    for (let i = 0; i < rowCount; i++) doubles[at + i] = values[i] as number;
    if (validity !== undefined) {
      for (let i = 0; i < rowCount; i++) if (chunk.isNull(i)) this.#putWord(at + i, NULL_WORD, 0);
    }
    if (values instanceof Int32Array) return;
    for (let i = 0; i < rowCount; i++) {
      if (Number.isNaN(values[i]) && !chunk.isNull(i)) doubles[at + i] = Number.NaN;
    }
  }

  #putCodes(chunk: CodesChunkView, at: number): void {
    const rows = new Map<number, number>();
    for (let i = 0; i < chunk.rowCount; i++) {
      const code = chunk.codes[i] as number;
      const same = rows.get(code);
      if (same !== undefined) this.copy(same, at + i);
      else {
        this.#putAtom(chunk.atomAt(i), at + i);
        rows.set(code, at + i);
      }
    }
  }

  #putAtom(atom: Atom, row: number): void {
    if (atom === null) this.#putWord(row, NULL_WORD, 0);
    else if (typeof atom === 'number') this.doubles[row] = atom;
    // Some of these are equal to doubles.
    else if (typeof atom === 'bigint') throw new NotSuited();
    else {
      const key = keyOfAtom(atom);
      let number = this.#numbers.get(key);
      if (number === undefined) {
        number = this.#atoms.push(atom) - 1;
        this.#numbers.set(key, number);
      }
      this.#putWord(row, ATOM_WORD, number);
    }
  }

  #putWord(row: number, high: number, low: number): void {
    this.words[row * 2] = low;
    this.words[row * 2 + 1] = high;
  }
}

/** Codes of kept atoms are never put in order. */
function noOrder(): Uint32Array {
  throw new NotSuited();
}

export class KeptRows {
  readonly names: readonly string[];
  readonly #columns: readonly KeptColumn[];
  #count = 0;
  /** row numbers from 1 on, by the hashes of rows; of which half is free */
  #table: Int32Array | undefined;

  /** @param isDistinct a row that came before is left out */
  constructor(names: readonly string[], isDistinct: boolean) {
    this.names = names;
    this.#columns = names.map(() => new KeptColumn());
    if (isDistinct) this.#table = new Int32Array(CAPACITY_MIN * 2);
  }

  get rowCount(): number {
    return this.#count;
  }

  /**
   * Puts rows behind those that there are. @param columns by their names @param look at the cancel flag
   * @returns the number that each row has among those that are kept
   */
  add(columns: readonly ColumnView[], rowCount: number, look: () => void): Int32Array {
    const before = this.#count;
    this.#columns.forEach((column, index) => {
      column.grow(before + rowCount);
      const view = columns[index] as ColumnView;
      let at = before;
      for (let chunk = 0; chunk < view.chunkCount; chunk++) {
        look();
        column.put(view.chunk(chunk), at);
        at += view.chunk(chunk).rowCount;
      }
    });
    const numbers = new Int32Array(rowCount);
    if (this.#table !== undefined) this.#addDistinct(numbers, look);
    else for (let i = 0; i < rowCount; i++) numbers[i] = this.#count++;
    return numbers;
  }

  /** The columns of the rows from `from` to `to`, encoded when they are asked for. */
  makers(from: number, to: number, memory: RunMemory) {
    const chunkRowCounts = chunksOf(to - from, CHUNK_ROW_COUNT);
    const makers = new Map(
      this.names.map((name, index) => [
        name,
        (): MadeColumn => {
          const column = this.#columns[index] as KeptColumn;
          const made = column.encode(from, to, chunkRowCounts, memory);
          return { ...made, snapshot: { ...made.snapshot, path: [name] } };
        },
      ]),
    );
    return { chunkRowCounts, makers };
  }

  #addDistinct(numbers: Int32Array, look: () => void): void {
    const first = this.#count;
    for (let i = 0; i < numbers.length; i++) {
      const row = first + i;
      if (i % CHUNK_ROW_COUNT === 0) look();
      const table = this.#roomyTable(look);
      const mask = table.length - 1;
      let place = this.#hash(row) & mask;
      for (;;) {
        const met = table[place] as number;
        if (met === 0) {
          if (row !== this.#count)
            for (const column of this.#columns) column.copy(row, this.#count);
          numbers[i] = this.#count;
          table[place] = ++this.#count;
          break;
        }
        if (this.#isSame(met - 1, row)) {
          numbers[i] = met - 1;
          break;
        }
        place = (place + 1) & mask;
      }
    }
  }

  #roomyTable(look: () => void): Int32Array {
    const table = this.#table as Int32Array;
    if (this.#count * 2 < table.length) return table;
    const larger = new Int32Array(table.length * 4);
    const mask = larger.length - 1;
    for (let row = 0; row < this.#count; row++) {
      if (row % CHUNK_ROW_COUNT === 0) look();
      let place = this.#hash(row) & mask;
      while (larger[place] !== 0) place = (place + 1) & mask;
      larger[place] = row + 1;
    }
    this.#table = larger;
    return larger;
  }

  #hash(row: number): number {
    let hash = 0;
    for (let i = 0; i < this.#columns.length; i++) {
      const { words } = this.#columns[i] as KeptColumn;
      const low = words[row * 2] as number;
      const high = highWord(low, words[row * 2 + 1] as number);
      hash = Math.imul(hash ^ low, 0x9e3779b1);
      hash = Math.imul(hash ^ (hash >>> 15) ^ high, 0x85ebca6b);
      hash ^= hash >>> 13;
    }
    return hash;
  }

  #isSame(a: number, b: number): boolean {
    for (let i = 0; i < this.#columns.length; i++) {
      const { words } = this.#columns[i] as KeptColumn;
      const low = words[a * 2] as number;
      if (low !== words[b * 2]) return false;
      const [one, other] = [words[a * 2 + 1] as number, words[b * 2 + 1] as number];
      if (one !== other && highWord(low, one) !== highWord(low, other)) return false;
    }
    return true;
  }
}

/** That of 0 for -0, which is the same number. */
function highWord(low: number, high: number): number {
  return high === MINUS_ZERO_WORD && low === 0 ? 0 : high;
}
