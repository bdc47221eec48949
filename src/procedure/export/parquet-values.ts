// The values of a column as Parquet has them.
import type { ParquetValues, TextValues, WordValues } from '../../format/parquet/parquet-column.ts';
import type { Atom } from '../../value/atom.ts';
import {
  CodesChunkView,
  type ColumnView,
  NumericChunkView,
  SparseChunkView,
} from '../../value/column/column-view.ts';
import type { DictionaryView } from '../../value/column/dictionary.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { type FileColumnType, fileCell } from './export-column-type.ts';

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The values of some rows. */
export function columnValues(view: ColumnView, type: FileColumnType, range: Range): ParquetValues {
  if (type === 'text' || type === 'binary') return textsOf(view, type, range);
  return wordsOf(view, type, range);
}

/** One text a row. */
export function textValues(texts: readonly string[]): ParquetValues {
  const distinct = new DistinctTexts();
  const numbers = Uint32Array.from(texts, (text) => distinct.add(text));
  return { rowCount: texts.length, values: { kind: 'texts', numbers, ...distinct.entries() } };
}

/** The chunks that rows lie in, with the part of them that is asked for. */
function* chunksOf(view: ColumnView, { from, to }: Range) {
  let start = 0;
  for (let index = 0; index < view.chunkCount && start < to; index++) {
    const chunk = view.chunk(index);
    const first = Math.max(0, from - start);
    const end = Math.min(chunk.rowCount, to - start);
    if (first < end) yield { chunk, first, end, row: start + first - from };
    start += chunk.rowCount;
  }
}

const MICROSECONDS = 1e6;
/** Below here microseconds are safe integers. */
const SAFE_SECONDS = 9e9;

type WordType = Exclude<FileColumnType, 'text' | 'binary'>;

function wordsOf(view: ColumnView, type: WordType, range: Range): ParquetValues {
  const rowCount = range.to - range.from;
  const out = new WordWriter(rowCount, type);
  const present = new Uint8Array(rowCount);
  for (const { chunk, first, end, row } of chunksOf(view, range)) {
    if (chunk instanceof NumericChunkView) {
      for (let i = first; i < end; i++) {
        if (chunk.isNull(i)) continue;
        if (out.addNumber(chunk.values[i] as number)) present[row + i - first] = 1;
      }
      continue;
    }
    for (let i = first; i < end; i++) {
      if (out.add(chunk.atomAt(i))) present[row + i - first] = 1;
    }
  }
  const values = out.values();
  const hasNulls = values.words.length < 2 * rowCount;
  return { rowCount, values, ...(hasNulls ? { present } : {}) };
}

class WordWriter {
  readonly #type: WordType;
  readonly #words: Uint32Array;
  readonly #doubles: Float64Array;
  readonly #integers: BigInt64Array;
  #count = 0;

  constructor(rowCount: number, type: WordType) {
    this.#type = type;
    this.#words = new Uint32Array(2 * rowCount);
    this.#doubles = new Float64Array(this.#words.buffer);
    this.#integers = new BigInt64Array(this.#words.buffer);
  }

  /** @param value the number, or the seconds of a timestamp; @returns false when it has no form */
  addNumber(value: number): boolean {
    if (this.#type === 'double') {
      this.#doubles[this.#count++] = value;
      return true;
    }
    if (this.#type !== 'timestamp') {
      this.#addInteger(value);
      return true;
    }
    if (!(Math.abs(value) < SAFE_SECONDS)) return this.add(new Timestamp(value));
    const whole = Math.floor(value);
    this.#addInteger(whole * MICROSECONDS + Math.round((value - whole) * MICROSECONDS));
    return true;
  }

  add(atom: Atom): boolean {
    const cell = fileCell(atom, this.#type);
    if (cell === null) return false;
    if (typeof cell === 'number') this.#doubles[this.#count++] = cell;
    else this.#integers[this.#count++] = cell as bigint;
    return true;
  }

  values(): WordValues {
    const { length } = this.#words;
    const used = 2 * this.#count;
    const type = this.#type === 'timestamp' ? 'int64' : this.#type;
    return {
      kind: 'words',
      type,
      words: used === length ? this.#words : this.#words.slice(0, used),
    };
  }

  #addInteger(value: number): void {
    const at = 2 * this.#count++;
    this.#words[at] = value;
    this.#words[at + 1] = Math.floor(value / 2 ** 32);
  }
}

function textsOf(view: ColumnView, type: 'text' | 'binary', range: Range): ParquetValues {
  const rowCount = range.to - range.from;
  const present = new Uint8Array(rowCount);
  const numbers = new Uint32Array(rowCount);
  const texts = type === 'text' ? pickedTexts(view) : undefined;
  const distinct = new DistinctTexts();
  const others = new Map<number, number>();
  let count = 0;
  for (const { chunk, first, end, row } of chunksOf(view, range)) {
    if (chunk instanceof CodesChunkView) {
      for (let i = first; i < end; i++) {
        const code = chunk.codes[i] as number;
        if (code === 0) continue;
        present[row + i - first] = 1;
        let number = texts === undefined ? others.get(code) : texts.numberOf(code);
        if (number === undefined) {
          number = distinct.add(fileCell(chunk.dictionary.atom(code), type) as string | Uint8Array);
          others.set(code, number);
        }
        numbers[count++] = number;
      }
      continue;
    }
    if (texts !== undefined) {
      if (!(chunk instanceof SparseChunkView)) continue;
      for (let i = first; i < end; i++) {
        const code = chunk.codeAt(i);
        if (code === 0) continue;
        present[row + i - first] = 1;
        numbers[count++] = texts.numberOf(code);
      }
      continue;
    }
    for (let i = first; i < end; i++) {
      const cell = fileCell(chunk.atomAt(i), type);
      if (cell === null) continue;
      present[row + i - first] = 1;
      numbers[count++] = distinct.add(cell as string | Uint8Array);
    }
  }
  const entries = texts?.entries() ?? distinct.entries();
  return {
    rowCount,
    values: { kind: 'texts', numbers: numbers.subarray(0, count), ...entries },
    ...(count < rowCount ? { present } : {}),
  };
}

/** The texts of a column all of whose values are codes of texts. */
function pickedTexts({ dictionary, snapshot }: ColumnView): PickedTexts | undefined {
  if (dictionary?.snapshot.kind !== 'text') return undefined;
  const isCoded = snapshot.chunks.every((chunk) => {
    if (chunk.kind === 'constant') return chunk.atom === null;
    return (chunk.kind === 'sparse' ? chunk.values : chunk).kind === 'codes';
  });
  return isCoded ? new PickedTexts(dictionary) : undefined;
}

type Entries = Pick<TextValues, 'bytes' | 'starts' | 'ends'>;

/** Larger dictionaries are looked up by what occurs. */
const TABLE_COUNT_MAX = 1 << 20;

/** Entries of a dictionary, numbered as they occur; their bytes stay where they are. */
class PickedTexts {
  readonly #dictionary: DictionaryView;
  readonly #table: Uint32Array | undefined;
  readonly #map = new Map<number, number>();
  readonly #codes: number[] = [];

  constructor(dictionary: DictionaryView) {
    this.#dictionary = dictionary;
    const { count } = dictionary.snapshot;
    if (count < TABLE_COUNT_MAX) this.#table = new Uint32Array(count + 1);
  }

  numberOf(code: number): number {
    const table = this.#table;
    const known = table === undefined ? this.#map.get(code) : table[code];
    if (known !== undefined && known !== 0) return known - 1;
    const number = this.#codes.push(code);
    if (table === undefined) this.#map.set(code, number);
    else table[code] = number;
    return number - 1;
  }

  entries(): Entries {
    const { bytes, offsets } = this.#dictionary;
    return {
      bytes,
      starts: Uint32Array.from(this.#codes, (code) => offsets[code] as number),
      ends: Uint32Array.from(this.#codes, (code) => offsets[code + 1] as number),
    };
  }
}

/** Texts and bytes, equal texts once. */
class DistinctTexts {
  readonly #parts: Uint8Array[] = [];
  readonly #starts: number[] = [0];
  readonly #known = new Map<string, number>();

  add(cell: string | Uint8Array): number {
    if (typeof cell !== 'string') return this.#append(cell);
    const known = this.#known.get(cell);
    if (known !== undefined) return known;
    const number = this.#append(Buffer.from(cell));
    this.#known.set(cell, number);
    return number;
  }

  entries(): Entries {
    return {
      bytes: Buffer.concat(this.#parts),
      starts: Uint32Array.from(this.#starts.slice(0, -1)),
      ends: Uint32Array.from(this.#starts.slice(1)),
    };
  }

  #append(bytes: Uint8Array): number {
    this.#starts.push((this.#starts.at(-1) as number) + bytes.length);
    return this.#parts.push(bytes) - 1;
  }
}
