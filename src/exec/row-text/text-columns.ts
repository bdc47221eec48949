// The columns of a chunk as the kernels that write lines read them.
import { TEXT_COLUMN, TEXT_COLUMN_KIND, TEXT_COLUMN_SIZE } from '../../kernel/generated.ts';
import type { Atom } from '../../value/atom.ts';
import { codesOf } from '../../value/column/chunk-encoder.ts';
import { chunkView } from '../../value/column/column-view.ts';
import { dictionaryView } from '../../value/column/dictionary.ts';
import { isInFile, rowsOfFileSpan } from '../../value/column/file-span.ts';
import type { ChunkSnapshot, DictionarySnapshot, Span } from '../../value/column/snapshot.ts';
import { uint16Of } from '../../value/column/span-view.ts';
import { threadArenas } from '../thread-memory.ts';
import type { Scratch } from '../vector/scratch.ts';
import type { CellText } from './cell-text.ts';

/** A column of one chunk of rows. */
export type LineColumn =
  | {
      readonly kind: 'chunk';
      readonly chunk: ChunkSnapshot;
      readonly dictionary: DictionarySnapshot | undefined;
      /** true: values are texts, numbers their digits */
      readonly isText: boolean;
    }
  /** row i of the chunk has the text of the integer first + i */
  | { readonly kind: 'sequence'; readonly first: number }
  /** row i of the chunk has the text first + i */
  | {
      readonly kind: 'texts';
      readonly bytes: Span;
      readonly offsets: Span;
      readonly first: number;
    };

/** A dictionary in another arena is copied for each unit up to this size. */
const COPIED_SIZE_MAX = 65_536;

export interface TextColumnsOptions {
  /** rows of the chunk that are written */
  readonly from: number;
  readonly to: number;
  readonly scratch: Scratch;
  readonly cellText: CellText;
}

type Fields = Partial<Record<Exclude<keyof typeof TEXT_COLUMN, 'kind' | 'first'>, number>>;

export class TextColumns {
  readonly address: number;
  readonly count: number;
  readonly from: number;
  readonly to: number;
  readonly #columns: readonly LineColumn[];
  readonly #scratch: Scratch;
  readonly #cellText: CellText;

  constructor(columns: readonly LineColumn[], { from, to, scratch, cellText }: TextColumnsOptions) {
    this.from = from;
    this.to = to;
    this.#columns = columns;
    this.#scratch = scratch;
    this.#cellText = cellText;
    this.count = columns.length;
    this.address = scratch.take(columns.length * TEXT_COLUMN_SIZE);
    columns.forEach((column, index) => {
      if (column.kind === 'chunk') {
        this.#setChunk(index, column.chunk, column);
        return;
      }
      if (column.kind === 'sequence') {
        this.#set(index, 'sequence', {});
        const at = this.address + index * TEXT_COLUMN_SIZE + TEXT_COLUMN.first;
        scratch.arena.f64[at >> 3] = column.first;
        return;
      }
      const offsets = this.#addressOf(column.offsets) + column.first * 4;
      this.#set(index, 'texts', { bytes: this.#addressOf(column.bytes), offsets });
    });
  }

  /** Writes the values of a column here, each different one once. */
  printCells(index: number): void {
    const column = this.#columns[index] as LineColumn;
    if (column.kind !== 'chunk') return;
    const { chunk, dictionary, isText } = column;
    const arenas = threadArenas();
    const view = chunkView(chunk, dictionary && dictionaryView(dictionary, arenas), arenas);
    const printed = new PrintedCells(this.#cellText);
    const codes = new Uint32Array(this.to - this.from);
    for (let row = this.from; row < this.to; row++) {
      const atom = view.atomAt(row);
      codes[row - this.from] = printed.codeOf(isText && atom !== null ? String(atom) : atom);
    }
    this.#setReady(index, codes, printed);
  }

  #setChunk(
    index: number,
    chunk: ChunkSnapshot,
    column: Extract<LineColumn, { kind: 'chunk' }>,
  ): void {
    const { dictionary } = column;
    switch (chunk.kind) {
      case 'constant':
        if (chunk.atom === null) this.#set(index, 'nulls', {});
        else this.printCells(index);
        return;
      case 'codes': {
        const texts = dictionary && this.#textsOf(dictionary);
        if (texts === undefined) this.#printCodes(index, chunk, dictionary as DictionarySnapshot);
        else {
          const data = this.#rowsAt(chunk.data, chunk.width);
          this.#set(index, 'codes', { width: chunk.width, data, ...texts });
        }
        return;
      }
      case 'sparse':
        this.#setSparse(index, chunk, column);
        return;
      default: {
        if (column.isText) {
          this.printCells(index);
          return;
        }
        const data = this.#rowsAt(chunk.data, chunk.kind === 'int32' ? 4 : 8);
        const valid = chunk.validity === undefined ? 0 : this.#rowsAt(chunk.validity, 1 / 8);
        this.#set(index, chunk.kind, { data, valid });
      }
    }
  }

  /** The few values of a sparse chunk at their rows. */
  #setSparse(
    index: number,
    { rows, values }: Extract<ChunkSnapshot, { kind: 'sparse' }>,
    { dictionary, isText }: Extract<LineColumn, { kind: 'chunk' }>,
  ): void {
    const arenas = threadArenas();
    const numbers = uint16Of(arenas, rows);
    const view = chunkView(values, dictionary && dictionaryView(dictionary, arenas), arenas);
    const printed = new PrintedCells(this.#cellText);
    const codes = new Uint32Array(this.to - this.from);
    for (let i = 0; i < numbers.length; i++) {
      const row = numbers[i] as number;
      if (row < this.from || row >= this.to) continue;
      const atom = view.atomAt(i);
      codes[row - this.from] = printed.codeOf(isText && atom !== null ? String(atom) : atom);
    }
    this.#setReady(index, codes, printed);
  }

  /** Codes of values that are no texts, or of texts that lie elsewhere. */
  #printCodes(
    index: number,
    chunk: Extract<ChunkSnapshot, { kind: 'codes' }>,
    dictionary: DictionarySnapshot,
  ): void {
    const arenas = threadArenas();
    const view = dictionaryView(dictionary, arenas);
    const stored = codesOf(arenas, chunk.data, chunk.width);
    const printed = new PrintedCells(this.#cellText);
    const own = new Map<number, number>();
    const codes = new Uint32Array(this.to - this.from);
    for (let row = this.from; row < this.to; row++) {
      const code = stored[row] as number;
      let printedCode = own.get(code);
      if (printedCode === undefined) {
        printedCode = printed.add(view.atom(code));
        own.set(code, printedCode);
      }
      codes[row - this.from] = printedCode;
    }
    this.#setReady(index, codes, printed);
  }

  #setReady(index: number, codes: Uint32Array, printed: PrintedCells): void {
    const { arena } = this.#scratch;
    const data = this.#scratch.take(codes.byteLength);
    arena.u32.set(codes, data >> 2);
    const offsets = this.#scratch.take(printed.offsets.length * 4);
    arena.u32.set(printed.offsets, offsets >> 2);
    const bytes = this.#scratch.take(printed.sizeBytes);
    printed.copyTo(arena.u8, bytes);
    // Kernels count rows from the start of the chunk.
    this.#set(index, 'ready', { width: 4, data: data - this.from * 4, bytes, offsets });
  }

  #textsOf({ kind, bytes, offsets }: DictionarySnapshot): Fields | undefined {
    if (kind !== 'text') return undefined;
    const isHere = (span: Span) => span.arena === this.#scratch.arena.id;
    const isSmall = bytes.sizeBytes + offsets.sizeBytes <= COPIED_SIZE_MAX;
    if (!isSmall && !(isHere(bytes) && isHere(offsets))) return undefined;
    return { bytes: this.#addressOf(bytes), offsets: this.#addressOf(offsets) };
  }

  /** Of what lies in a file only the rows that are written are read. */
  #rowsAt(span: Span, bytesPerRow: number): number {
    if (!isInFile(span)) return this.#addressOf(span);
    // Kernels count rows from the start of the chunk; bitmaps have eight of them in a byte.
    const from = this.from & ~7;
    const part = rowsOfFileSpan(span, { from, to: this.to }, bytesPerRow);
    return this.#addressOf(part) - from * bytesPerRow;
  }

  #addressOf(span: Span): number {
    return this.#scratch.addressOf(span);
  }

  #set(index: number, kind: keyof typeof TEXT_COLUMN_KIND, fields: Fields): void {
    const { i32 } = this.#scratch.arena;
    const word = (this.address + index * TEXT_COLUMN_SIZE) >> 2;
    i32.fill(0, word, word + (TEXT_COLUMN_SIZE >> 2));
    i32[word + (TEXT_COLUMN.kind >> 2)] = TEXT_COLUMN_KIND[kind];
    for (const [name, value] of Object.entries(fields)) {
      i32[word + (TEXT_COLUMN[name as keyof Fields] >> 2)] = value;
    }
  }
}

/** Texts of values, numbered from 1; 0 is null and what has no text. */
class PrintedCells {
  readonly #cellText: CellText;
  readonly #parts: Uint8Array[] = [];
  readonly offsets: number[] = [0, 0];
  readonly #known = new Map<Atom, number>();
  sizeBytes = 0;

  constructor(cellText: CellText) {
    this.#cellText = cellText;
  }

  /** Equal numbers and texts have one code. */
  codeOf(atom: Atom): number {
    const known = this.#known.get(atom);
    if (known !== undefined) return known;
    const code = this.add(atom);
    this.#known.set(atom, code);
    return code;
  }

  add(atom: Atom): number {
    const text = atom === null ? undefined : this.#cellText(atom);
    if (text === undefined) return 0;
    this.#parts.push(text);
    this.sizeBytes += text.length;
    this.offsets.push(this.sizeBytes);
    return this.offsets.length - 2;
  }

  copyTo(target: Uint8Array, at: number): void {
    let position = at;
    for (const part of this.#parts) {
      target.set(part, position);
      position += part.length;
    }
  }
}
