// Puts the units of one import together: one dictionary a column, codes of one width, row names.

import { CSV_NUMBER } from '../../kernel/generated.ts';
import type { Atom } from '../../value/atom.ts';
import { isInteger } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { chunkNullCount, encodeCodes } from '../../value/column/chunk-encoder.ts';
import { chunkView } from '../../value/column/column-view.ts';
import { DictionaryBuilder, DictionaryView } from '../../value/column/dictionary.ts';
import type {
  ChunkSnapshot,
  ColumnarSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
  RowNames,
  RowTimestamps,
  Span,
} from '../../value/column/snapshot.ts';
import { freeChunk, freeSnapshot } from '../../value/column/snapshot-memory.ts';
import { bytesOf, float64Of } from '../../value/column/span-view.ts';
import { codeWidth } from './column-parser.ts';
import type { CsvUnit, DictionaryDelta } from './csv-job.ts';
import { LineNames } from './line-names.ts';
import type { RecodeJob, RecodeWork } from './recode.ts';
import type { Scratch } from './scratch.ts';
import { ScratchDictionary } from './scratch.ts';
import { inferAtom } from './text-format.ts';

/** Dictionaries up to this size are put in order, so that their codes compare as their texts do. */
const SORTED_COUNT_MAX = 8192;
/** Chunks that one thread recodes before it looks for more work. */
const RECODE_CHUNK_COUNT = 16;

interface ColumnChunk {
  chunk: ChunkSnapshot;
  readonly isIntegral: boolean;
  readonly thread: string;
}

/** What has come of one column so far. */
interface ColumnParts {
  readonly path: readonly string[];
  readonly chunks: ColumnChunk[];
  /** by thread, in the order in which the thread met the texts */
  readonly deltas: { readonly thread: string; readonly delta: DictionaryDelta }[];
}

export type RunRecode = (job: RecodeJob, unitCount: number) => void;

/** The table that units are added to, in their order. */
export class CsvTable {
  readonly #arenas: ArenaAllocator;
  readonly #columns: readonly ColumnParts[];
  readonly #chunkRowCounts: number[] = [];
  /** timestamp of the rows of each chunk */
  readonly #chunkTs: number[] = [];
  readonly #names: LineNames;
  #rowCount = 0;
  #refusedCount = 0;

  /** @param hasManyFiles row names are `fileIndex.lineNumber` instead of `lineNumber` */
  constructor(
    paths: readonly (readonly string[])[],
    arenas: ArenaAllocator,
    hasManyFiles: boolean,
  ) {
    this.#arenas = arenas;
    this.#columns = paths.map((path) => ({ path, chunks: [], deltas: [] }));
    this.#names = new LineNames(hasManyFiles);
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Lines that were not accepted. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** Adds the next unit in the order of the text. @param firstLine number of its first line */
  add(unit: CsvUnit, firstLine: number, fileIndex: number, ts: number): void {
    let unitRowCount = 0;
    for (const staged of unit.chunks) {
      const rowCount = staged[0]?.chunk.rowCount ?? 0;
      unitRowCount += rowCount;
      this.#chunkRowCounts.push(rowCount);
      this.#chunkTs.push(ts);
      staged.forEach(({ chunk, isIntegral }, index) => {
        this.#columns[index]?.chunks.push({ chunk, isIntegral, thread: unit.thread });
      });
    }
    for (const delta of unit.deltas) {
      this.#columns[delta.column]?.deltas.push({ thread: unit.thread, delta });
    }
    this.#rowCount += unitRowCount;
    this.#refusedCount += unit.refused.length;
    this.#names.add(fileIndex, firstLine, unit.lineCount, unit.refused);
  }

  /** Frees everything; for imports that fail. */
  release(): void {
    for (const { chunks, deltas } of this.#columns) {
      for (const { chunk } of chunks) freeChunk(chunk, this.#arenas);
      for (const { delta } of deltas) this.#freeDelta(delta);
    }
  }

  /** Ends the table, which is used up also when this throws. */
  seal(scratch: Scratch, runRecode: RunRecode): ColumnarSnapshot {
    const columns: ColumnSnapshot[] = [];
    let rowNames: RowNames = { kind: 'sequence', first: 0 };
    try {
      for (const parts of this.#columns) columns.push(this.#sealColumn(parts, scratch, runRecode));
      rowNames = this.#names.seal(this.#chunkRowCounts, this.#arenas);
      return this.#snapshot(columns, rowNames, this.#sealTimestamps());
    } catch (error) {
      const timestamps = { kind: 'constant', ts: 0 } as const;
      freeSnapshot(this.#snapshot(columns, rowNames, timestamps), this.#arenas);
      for (const parts of this.#columns.slice(columns.length)) {
        for (const { chunk } of parts.chunks) freeChunk(chunk, this.#arenas);
        for (const { delta } of parts.deltas) this.#freeDelta(delta);
      }
      throw error;
    }
  }

  #snapshot(
    columns: readonly ColumnSnapshot[],
    rowNames: RowNames,
    timestamps: RowTimestamps,
  ): ColumnarSnapshot {
    return {
      layout: 'columnar',
      id: this.#arenas.nextId(),
      rowCount: this.#rowCount,
      chunkRowCounts: this.#chunkRowCounts,
      columns,
      rowNames,
      timestamps,
    };
  }

  /** Files have their own times. */
  #sealTimestamps(): RowTimestamps {
    const ts = this.#chunkTs[0] ?? 0;
    if (this.#chunkTs.every((other) => other === ts)) return { kind: 'constant', ts };
    const chunks: Span[] = [];
    try {
      for (const [index, rowCount] of this.#chunkRowCounts.entries()) {
        const span = this.#arenas.allocate(rowCount * 8);
        chunks.push(span);
        float64Of(this.#arenas, span).fill(this.#chunkTs[index] as number);
      }
    } catch (error) {
      for (const span of chunks) this.#arenas.free(span);
      throw error;
    }
    return { kind: 'per-row', chunks };
  }

  #freeDelta({ bytes, offsets }: DictionaryDelta): void {
    this.#arenas.free(bytes);
    this.#arenas.free(offsets);
  }

  #sealColumn(parts: ColumnParts, scratch: Scratch, runRecode: RunRecode): ColumnSnapshot {
    if (!parts.chunks.some(({ chunk }) => chunk.kind === 'codes')) return numericColumn(parts);
    const merge = new DictionaryMerge(scratch, this.#arenas);
    let sealed: SealedDictionary;
    try {
      for (const { thread, delta } of parts.deltas) merge.add(thread, delta);
      sealed = merge.seal(parts.chunks);
    } finally {
      merge.release();
    }
    for (const { delta } of parts.deltas.splice(0)) this.#freeDelta(delta);
    const { dictionary, type } = sealed;
    try {
      this.#recode(parts, sealed, runRecode);
    } catch (error) {
      this.#arenas.free(dictionary.bytes);
      this.#arenas.free(dictionary.offsets);
      throw error;
    }
    const chunks = parts.chunks.map(({ chunk }) => chunk);
    return { path: parts.path, type, chunks, dictionary, nullCount: countNulls(chunks) };
  }

  /** Gives every chunk of codes the codes and the width of the final dictionary. */
  #recode(parts: ColumnParts, sealed: SealedDictionary, runRecode: RunRecode): void {
    const width = codeWidth(sealed.dictionary.count);
    const threads = [...sealed.maps.keys()];
    const work: RecodeWork[] = [];
    const targets: { column: ColumnChunk; span: Span }[] = [];
    try {
      for (const column of parts.chunks) {
        const { chunk } = column;
        if (chunk.kind !== 'codes') continue;
        const mapIndex = threads.indexOf(column.thread);
        // A chunk whose width stays is changed where it is.
        const target =
          chunk.width === width ? chunk.data : this.#arenas.allocate(chunk.rowCount * width);
        if (target !== chunk.data) targets.push({ column, span: target });
        const { data: source, width: sourceWidth, rowCount } = chunk;
        work.push({ mapIndex, source, sourceWidth, rowCount, target });
      }
      work.sort((a, b) => a.mapIndex - b.mapIndex);
      const maps = threads.map((thread) => sealed.maps.get(thread) as Uint32Array);
      const job = { maps, work, width, batchCount: RECODE_CHUNK_COUNT };
      runRecode(job, Math.ceil(work.length / RECODE_CHUNK_COUNT));
    } catch (error) {
      for (const { span } of targets) this.#arenas.free(span);
      throw error;
    }
    for (const { column, span } of targets) {
      if (column.chunk.kind !== 'codes') continue;
      this.#arenas.free(column.chunk.data);
      column.chunk = { ...column.chunk, data: span, width };
    }
    for (const column of parts.chunks) {
      const { chunk } = column;
      if (chunk.kind !== 'int32' && chunk.kind !== 'float64') continue;
      column.chunk = this.#numbersToCodes(chunk, sealed);
      freeChunk(chunk, this.#arenas);
    }
  }

  /** In a column of mixed values the numbers are entries of the dictionary as well. */
  #numbersToCodes(chunk: ChunkSnapshot, { codeOf }: SealedDictionary): ChunkSnapshot {
    const view = chunkView(chunk, undefined, this.#arenas);
    const codes = new Uint32Array(chunk.rowCount);
    for (let row = 0; row < codes.length; row++) {
      const atom = view.atomAt(row);
      codes[row] = atom === null ? 0 : (codeOf.get(atom as number) as number);
    }
    return encodeCodes(codes, codes.length, this.#arenas);
  }
}

function numericColumn({ path, chunks: parts }: ColumnParts): ColumnSnapshot {
  const chunks = parts.map(({ chunk }) => chunk);
  const hasValues = chunks.some(({ kind }) => kind !== 'constant');
  const type = !hasValues
    ? 'null'
    : parts.every(({ isIntegral }) => isIntegral)
      ? 'integer'
      : 'number';
  return { path, type, chunks, nullCount: countNulls(chunks) };
}

function countNulls(chunks: readonly ChunkSnapshot[]): number {
  return chunks.reduce((sum, chunk) => sum + chunkNullCount(chunk), 0);
}

interface SealedDictionary {
  readonly dictionary: DictionarySnapshot;
  readonly type: ColumnSnapshot['type'];
  /** for each thread the final code of each of its codes */
  readonly maps: ReadonlyMap<string, Uint32Array>;
  /** codes of the numbers in chunks of numbers */
  readonly codeOf: ReadonlyMap<number, number>;
}

/** Unites the dictionaries that threads have made of one column. */
class DictionaryMerge {
  readonly #scratch: Scratch;
  readonly #arenas: ArenaAllocator;
  readonly #dictionary: ScratchDictionary;
  /** for each thread, the codes here of its codes from 1 on */
  readonly #codes = new Map<string, Uint32Array[]>();

  constructor(scratch: Scratch, arenas: ArenaAllocator) {
    this.#scratch = scratch;
    this.#arenas = arenas;
    this.#dictionary = new ScratchDictionary(scratch);
  }

  release(): void {
    this.#dictionary.release();
  }

  /** Deltas of a thread must come in the order in which it made them. */
  add(thread: string, { count, bytes, offsets }: DictionaryDelta): void {
    const { arena, kernels } = this.#scratch;
    const sizes = { bytes: bytes.sizeBytes, offsets: offsets.sizeBytes, cells: count * 8 + 16 };
    const heap = this.#scratch.allocate(sizes.bytes);
    const offsetsAddress = this.#scratch.allocate(sizes.offsets);
    const cells = this.#scratch.allocate(sizes.cells);
    const out = this.#scratch.allocate(count * 4);
    arena.u8.set(bytesOf(this.#arenas, bytes), heap);
    arena.u8.set(bytesOf(this.#arenas, offsets), offsetsAddress);
    kernels.csvCells(heap, offsetsAddress, count, cells + 16);
    for (let done = 0; done < count; ) {
      const cell = cells + 16 + done * 8;
      done += kernels.csvCodes(cell, 8, count - done, out + done * 4, this.#dictionary.address);
      if (done < count) {
        const next = (cells + 16 + done * 8) >> 2;
        this.#dictionary.grow((arena.u32[next] as number) - (arena.u32[next - 1] as number));
      }
    }
    const known = this.#codes.get(thread);
    const codes = arena.u32.slice(out >> 2, (out >> 2) + count);
    if (known === undefined) this.#codes.set(thread, [codes]);
    else known.push(codes);
    this.#scratch.free(heap, sizes.bytes);
    this.#scratch.free(offsetsAddress, sizes.offsets);
    this.#scratch.free(cells, sizes.cells);
    this.#scratch.free(out, count * 4);
  }

  seal(chunks: readonly ColumnChunk[]): SealedDictionary {
    const isMixed =
      chunks.some(({ chunk }) => chunk.kind === 'int32' || chunk.kind === 'float64') ||
      this.#hasNumbers();
    const final = isMixed ? this.#sealMixed(chunks) : this.#sealTexts();
    const maps = new Map<string, Uint32Array>();
    for (const [thread, parts] of this.#codes) {
      const count = parts.reduce((sum, part) => sum + part.length, 0);
      const map = new Uint32Array(new SharedArrayBuffer((count + 1) * 4));
      let code = 1;
      for (const part of parts) {
        for (let i = 0; i < part.length; i++)
          map[code++] = final.order[part[i] as number] as number;
      }
      maps.set(thread, map);
    }
    return { dictionary: final.dictionary, type: final.type, maps, codeOf: final.codeOf };
  }

  #hasNumbers(): boolean {
    const { kernels } = this.#scratch;
    const { count, heapAddress } = this.#dictionary;
    const offsets = this.#dictionary.offsets();
    const result = this.#scratch.allocate(8);
    let found = false;
    for (let code = 1; code <= count && !found; code++) {
      const start = heapAddress + (offsets[code] as number);
      const end = heapAddress + (offsets[code + 1] as number);
      found = kernels.csvNumber(start, end, result) !== CSV_NUMBER.text;
    }
    this.#scratch.free(result, 8);
    return found;
  }

  #sealTexts(): FinalDictionary {
    const { count } = this.#dictionary;
    const source = this.#dictionary.bytes();
    const sourceOffsets = this.#dictionary.offsets();
    const byRank = Uint32Array.from({ length: count }, (_, index) => index + 1);
    const isSorted = count <= SORTED_COUNT_MAX;
    if (isSorted) {
      const texts = Array.from({ length: count + 1 }, (_, code) =>
        Buffer.from(source.slice(sourceOffsets[code], sourceOffsets[code + 1])),
      );
      byRank.sort((a, b) => Buffer.compare(texts[a] as Buffer, texts[b] as Buffer));
    }
    const bytes = this.#arenas.allocate(source.length);
    let offsets: Span;
    try {
      offsets = this.#arenas.allocate((count + 2) * 4);
    } catch (error) {
      this.#arenas.free(bytes);
      throw error;
    }
    const target = bytesOf(this.#arenas, bytes);
    const targetOffsets = new Uint32Array(count + 2);
    const order = new Uint32Array(count + 1);
    let size = 0;
    if (!isSorted) target.set(source);
    byRank.forEach((code, index) => {
      const start = sourceOffsets[code] as number;
      const end = sourceOffsets[code + 1] as number;
      if (isSorted) target.set(source.subarray(start, end), size);
      size += end - start;
      order[code] = index + 1;
      targetOffsets[index + 2] = size;
    });
    bytesOf(this.#arenas, offsets).set(new Uint8Array(targetOffsets.buffer));
    const id = this.#arenas.nextId();
    const dictionary = { kind: 'text', id, count, bytes, offsets, sorted: isSorted } as const;
    return { dictionary, type: 'string', order, codeOf: new Map() };
  }

  /** Texts that read as numbers become those numbers; several texts may be one number. */
  #sealMixed(chunks: readonly ColumnChunk[]): FinalDictionary {
    const builder = new DictionaryBuilder(this.#arenas);
    try {
      builder.promote();
      const order = new Uint32Array(this.#dictionary.count + 1);
      for (let code = 1; code < order.length; code++) {
        order[code] = builder.add(inferAtom(this.#dictionary.text(code)));
      }
      const codeOf = new Map<number, number>();
      for (const { chunk } of chunks) {
        if (chunk.kind !== 'int32' && chunk.kind !== 'float64') continue;
        const view = chunkView(chunk, undefined, this.#arenas);
        for (let row = 0; row < chunk.rowCount; row++) {
          const atom = view.atomAt(row) as number | null;
          if (atom !== null && !codeOf.has(atom)) codeOf.set(atom, builder.add(atom));
        }
      }
      const dictionary = builder.seal();
      return { dictionary, type: typeOfEntries(dictionary, this.#arenas), order, codeOf };
    } catch (error) {
      builder.release();
      throw error;
    }
  }
}

interface FinalDictionary extends Omit<SealedDictionary, 'maps'> {
  /** final code of each code of the merged dictionary */
  readonly order: Uint32Array;
}

function typeOfEntries(
  dictionary: DictionarySnapshot,
  arenas: ArenaAllocator,
): ColumnSnapshot['type'] {
  const view = new DictionaryView(dictionary, arenas);
  const kinds = new Set<ColumnSnapshot['type']>();
  for (let code = 1; code <= view.count && kinds.size < 3; code++)
    kinds.add(typeOf(view.atom(code)));
  if (kinds.has('string')) return kinds.size === 1 ? 'string' : 'mixed';
  return kinds.has('number') ? 'number' : 'integer';
}

function typeOf(atom: Atom): ColumnSnapshot['type'] {
  return typeof atom === 'string' ? 'string' : isInteger(atom) ? 'integer' : 'number';
}
