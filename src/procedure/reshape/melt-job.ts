// The parallel part of melting columns: a unit makes the output of the rows of one chunk, in blocks
// that are chunks of the output.

import {
  codesChunk,
  freeChunks,
  type NumberForm,
  numbersChunk,
} from '../../exec/operator/materialize-job.ts';
import { type ParallelJob, registerParallelJob } from '../../exec/parallel.ts';
import { threadArenas } from '../../exec/thread-memory.ts';
import { ChunkVectors } from '../../exec/vector/chunk.ts';
import { Scratch } from '../../exec/vector/scratch.ts';
import { nullChunk } from '../../value/column/chunk-encoder.ts';
import type { ChunkSnapshot, ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import { CHUNK_ROW_COUNT_MAX } from '../../value/column/snapshot.ts';
import { freeChunk, retainChunk } from '../../value/column/snapshot-memory.ts';

/** How the values of a column are read. */
export type MeltSource =
  | { readonly kind: 'numbers'; readonly form: NumberForm }
  /** codes of its dictionary; `remap`, Uint32 a code, gives those of another one */
  | { readonly kind: 'codes'; readonly remap?: Span }
  /** Uint32 codes of all rows of the table */
  | { readonly kind: 'coded'; readonly codes: Span }
  | { readonly kind: 'nulls' };

export interface FixedColumn {
  readonly column: ColumnSnapshot;
  readonly source: MeltSource;
}

export interface MeltedColumn extends FixedColumn {
  /** true: rows without a value make no row */
  readonly skipsNulls: boolean;
}

/** Addresses are those of `arena`. */
export interface MeltArgs {
  readonly arena: number;
  readonly chunkRowCounts: readonly number[];
  readonly fixed: readonly FixedColumn[];
  readonly melted: readonly MeltedColumn[];
  /** what the values become together */
  readonly valueForm: NumberForm | 'codes';
  /** numbers of the rows that are melted, Uint32; those of chunk i start at starts[i] */
  readonly selection?: { readonly rows: number; readonly starts: readonly number[] };
  readonly names: MeltNames;
  /** where the rows of each unit go; absent: they are counted only */
  readonly places?: readonly MeltPlace[];
}

/** See the kernel `joinedNames`. */
export interface MeltNames {
  readonly first: number;
  readonly numbers: number;
  readonly bytes: number;
  readonly offsets: number;
  readonly suffixes: number;
  readonly suffixOffsets: number;
  /** of all names that are made */
  readonly out: number;
  readonly outOffsets: number;
}

export interface MeltPlace {
  readonly firstRow: number;
  readonly nameStart: number;
}

/** The output of a unit; without places only the counts. */
export interface MeltedUnit {
  readonly rowCount: number;
  readonly nameSize: number;
  readonly blocks: readonly MeltedBlock[];
}

export interface MeltedBlock {
  readonly rowCount: number;
  readonly fixed: readonly ChunkSnapshot[];
  readonly key: ChunkSnapshot;
  readonly value: ChunkSnapshot;
}

export const meltJob: ParallelJob<MeltArgs, MeltedUnit> = registerParallelJob({
  name: 'melt/chunk',
  discard: ({ blocks }) => freeBlocks(blocks),
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    const blocks: MeltedBlock[] = [];
    try {
      const chunk = new MeltedChunk(args, unit, scratch);
      const place = args.places?.[unit];
      let rowCount = 0;
      let nameSize = 0;
      chunk.forEachBlock((block) => {
        scope.checkCancelled();
        if (place === undefined) nameSize += chunk.nameSize(block);
        else {
          blocks.push(chunk.write(block, blocks));
          const at = { row: place.firstRow + rowCount, start: place.nameStart + nameSize };
          nameSize = chunk.writeNames(block, at) - place.nameStart;
        }
        rowCount += block.cellCount;
      });
      return { rowCount, nameSize, blocks };
    } catch (thrown) {
      freeBlocks(blocks);
      throw thrown;
    } finally {
      scratch.release();
    }
  },
});

function freeBlocks(blocks: readonly MeltedBlock[]): void {
  for (const { fixed, key, value } of blocks) freeChunks([...fixed, key, value]);
}

/** Values of rows in scratch memory; `valid` is a byte a row, 0 where all have one. */
interface Values {
  readonly data: number;
  readonly valid: number;
  readonly form: NumberForm | 'codes';
}

/** Some rows of a chunk, and which cells of them become rows. */
interface Block {
  /** counted among the rows of the chunk that are melted */
  readonly from: number;
  readonly rowCount: number;
  readonly cellCount: number;
  /** true: all cells are there */
  readonly isWhole: boolean;
  readonly rows: number;
  readonly columns: number;
  readonly cells: number;
}

class MeltedChunk {
  readonly #args: MeltArgs;
  readonly #scratch: Scratch;
  /** rows of the chunk that are melted: numbers within the chunk, 0: all */
  readonly #selected: number;
  readonly #rowCount: number;
  readonly #firstRow: number;
  readonly #vectors: ChunkVectors;
  readonly #fixed: readonly Values[];
  readonly #melted: readonly Values[];
  /** a byte a row for each column that skips rows, 0 for one that does not */
  readonly #present: readonly number[];

  constructor(args: MeltArgs, unit: number, scratch: Scratch) {
    const { fixed, melted, chunkRowCounts, selection, places } = args;
    this.#args = args;
    this.#scratch = scratch;
    this.#firstRow = chunkRowCounts.slice(0, unit).reduce((sum, count) => sum + count, 0);
    const rowCount = chunkRowCounts[unit] as number;
    const columns = [...fixed, ...melted].map(({ column }) => column);
    this.#vectors = new ChunkVectors(scratch, columns);
    this.#vectors.moveTo(unit, rowCount);
    this.#rowCount = rowCount;
    this.#selected = 0;
    if (selection !== undefined) {
      const start = selection.starts[unit] as number;
      this.#rowCount = (selection.starts[unit + 1] as number) - start;
      this.#selected = this.#localRows(selection.rows / 4 + start, this.#rowCount);
    }
    this.#present = melted.map(({ skipsNulls }, index) =>
      skipsNulls ? this.#picked(this.#vectors.validity(fixed.length + index), 'bytes') : 0,
    );
    const isWritten = places !== undefined;
    this.#fixed = isWritten ? fixed.map(({ source }, index) => this.#load(source, index)) : [];
    this.#melted = isWritten
      ? melted.map(({ source }, index) => this.#load(source, fixed.length + index))
      : [];
  }

  /** Visits blocks whose cells fit a chunk. */
  forEachBlock(visit: (block: Block) => void): void {
    const { melted } = this.#args;
    const { kernels } = this.#scratch;
    const rowsPerBlock = Math.max(1, Math.floor(CHUNK_ROW_COUNT_MAX / melted.length));
    const isWhole = this.#present.every((address) => address === 0);
    for (let from = 0; from < this.#rowCount; from += rowsPerBlock) {
      const mark = this.#scratch.mark();
      const rowCount = Math.min(rowsPerBlock, this.#rowCount - from);
      const gridSize = rowCount * melted.length;
      const rows = this.#scratch.take(gridSize * 4);
      const columns = this.#scratch.take(gridSize * 2);
      const cells = this.#scratch.take(gridSize * 4);
      const present = isWhole ? 0 : this.#bytesGrid(this.#present, from, rowCount);
      const cellCount = kernels.presentCells(
        ...([present, rowCount, melted.length, rows, columns, cells] as const),
      );
      if (cellCount > 0) visit({ from, rowCount, cellCount, isWhole, rows, columns, cells });
      this.#scratch.rewind(mark);
    }
  }

  nameSize(block: Block): number {
    const { names } = this.#args;
    const { rows, first, numbers, offsets } = this.#namedRows(block);
    return this.#scratch.kernels.joinedNamesSize(
      ...([rows, block.columns, block.cellCount, first, numbers, offsets] as const),
      names.suffixOffsets,
    );
  }

  /** @returns where the next name starts */
  writeNames(block: Block, at: { readonly row: number; readonly start: number }): number {
    const { names } = this.#args;
    const { rows, first, numbers, offsets } = this.#namedRows(block);
    const end = this.#scratch.kernels.joinedNames(
      ...([rows, block.columns, block.cellCount, first, numbers, names.bytes, offsets] as const),
      ...([names.suffixes, names.suffixOffsets, names.out, at.start] as const),
      names.outOffsets + at.row * 4,
    );
    return end >>> 0;
  }

  /** @param before blocks of this chunk: one of as many rows may have the same keys */
  write(block: Block, before: readonly MeltedBlock[]): MeltedBlock {
    const made: ChunkSnapshot[] = [];
    try {
      for (const values of this.#fixed) made.push(this.#fixedChunk(values, block));
      const fixed = [...made];
      const key = this.#keyChunk(block, before.at(-1));
      made.push(key);
      return { rowCount: block.cellCount, fixed, key, value: this.#valueChunk(block) };
    } catch (thrown) {
      freeChunks(made);
      throw thrown;
    }
  }

  #namedRows({ from, rows, cellCount }: Block) {
    const { first, numbers, offsets } = this.#args.names;
    let firstRow = this.#firstRow + from;
    let numbersOfRows = rows;
    if (this.#selected !== 0) {
      firstRow = this.#firstRow;
      numbersOfRows = this.#scratch.take(cellCount * 4);
      this.#scratch.kernels.gatherI32(this.#selected + from * 4, rows, cellCount, numbersOfRows);
    }
    return {
      rows: numbersOfRows,
      first: first + firstRow,
      numbers: numbers === 0 ? 0 : numbers + firstRow * 8,
      offsets: offsets === 0 ? 0 : offsets + firstRow * 4,
    };
  }

  #fixedChunk(values: Values, { from, rows, cellCount }: Block): ChunkSnapshot {
    const { kernels } = this.#scratch;
    const { data, valid, form } = values;
    const size = sizeOf(form);
    const out = this.#scratch.take(cellCount * size);
    const gather = size === 8 ? kernels.gatherF64 : kernels.gatherI32;
    gather(data + from * size, rows, cellCount, out);
    let outValid = 0;
    if (valid !== 0) {
      outValid = this.#scratch.take(cellCount);
      kernels.gatherBytes(valid + from, rows, cellCount, outValid);
    }
    return this.#chunk({ data: out, valid: outValid, form }, cellCount);
  }

  #keyChunk({ isWhole, columns, cellCount }: Block, before: MeltedBlock | undefined) {
    const { arena } = this.#scratch;
    if (isWhole && before?.rowCount === cellCount) {
      retainChunk(before.key, threadArenas());
      return before.key;
    }
    const codes = this.#scratch.take(cellCount * 4);
    const { u16, u32 } = arena;
    for (let i = 0; i < cellCount; i++) {
      u32[codes / 4 + i] = (u16[columns / 2 + i] as number) + 1;
    }
    return codesChunk(this.#scratch, codes, cellCount);
  }

  #valueChunk({ from, rowCount, cellCount, isWhole, cells }: Block): ChunkSnapshot {
    const { kernels } = this.#scratch;
    const { valueForm } = this.#args;
    const stride = this.#melted.length;
    const size = sizeOf(valueForm);
    let data = this.#scratch.take(rowCount * stride * size);
    const interleave = size === 8 ? kernels.interleaveF64 : kernels.interleaveI32;
    this.#melted.forEach((values, column) => {
      interleave(values.data + from * size, rowCount, stride, data + column * size);
    });
    const valids = this.#melted.map(({ valid }) => valid);
    let valid = valids.some((address) => address !== 0)
      ? this.#bytesGrid(valids, from, rowCount)
      : 0;
    if (!isWhole) {
      const gather = size === 8 ? kernels.gatherF64 : kernels.gatherI32;
      const gathered = this.#scratch.take(cellCount * size);
      gather(data, cells, cellCount, gathered);
      data = gathered;
      if (valid !== 0) {
        const gatheredValid = this.#scratch.take(cellCount);
        kernels.gatherBytes(valid, cells, cellCount, gatheredValid);
        valid = gatheredValid;
      }
    }
    return this.#chunk({ data, valid, form: valueForm }, cellCount);
  }

  #chunk({ data, valid, form }: Values, count: number): ChunkSnapshot {
    if (form === 'codes') return codesChunk(this.#scratch, data, count);
    const chunk = numbersChunk(form, { data, valid }, count, this.#scratch);
    if (chunk.kind === 'constant' || chunk.kind !== form || chunk.nullCount < count) return chunk;
    freeChunk(chunk, threadArenas());
    return nullChunk(count);
  }

  /** Bytes of columns, row by row; where a column has none they are 1. */
  #bytesGrid(columns: readonly number[], from: number, rowCount: number): number {
    const { kernels, arena } = this.#scratch;
    const grid = this.#scratch.take(rowCount * columns.length);
    if (columns.includes(0)) arena.u8.fill(1, grid, grid + rowCount * columns.length);
    columns.forEach((address, column) => {
      if (address === 0) return;
      kernels.interleaveBytes(address + from, rowCount, columns.length, grid + column);
    });
    return grid;
  }

  #localRows(start: number, count: number): number {
    const { u32 } = this.#scratch.arena;
    const out = this.#scratch.take(count * 4);
    for (let i = 0; i < count; i++) u32[out / 4 + i] = (u32[start + i] as number) - this.#firstRow;
    return out;
  }

  #load(source: MeltSource, column: number): Values {
    const { kernels, arena } = this.#scratch;
    const count = this.#vectors.rowCount;
    switch (source.kind) {
      case 'numbers': {
        const program = { op: 'column', column } as const;
        const { form } = source;
        const vectors = this.#vectors;
        const vector = form === 'int32' ? vectors.integers(program) : vectors.doubles(program);
        const size = form === 'int32' ? 'words' : 'doubles';
        return {
          data: this.#picked(vector.data, size),
          valid: this.#picked(vector.valid, 'bytes'),
          form,
        };
      }
      case 'codes': {
        const { data, width } = this.#vectors.storedCodes(column);
        const codes = this.#scratch.take(count * 4);
        if (source.remap === undefined) kernels.widenCodes(data, width, count, codes);
        else kernels.mapCodesI32(data, width, count, source.remap.offset, codes);
        return { data: this.#picked(codes, 'words'), valid: 0, form: 'codes' };
      }
      case 'coded': {
        const codes = source.codes.offset + this.#firstRow * 4;
        return { data: this.#picked(codes, 'words'), valid: 0, form: 'codes' };
      }
      case 'nulls': {
        const codes = this.#scratch.take(count * 4);
        arena.u32.fill(0, codes / 4, codes / 4 + count);
        return { data: codes, valid: 0, form: 'codes' };
      }
    }
  }

  /** Values of the rows that are melted. */
  #picked(address: number, kind: 'bytes' | 'words' | 'doubles'): number {
    if (address === 0 || this.#selected === 0) return address;
    const { kernels } = this.#scratch;
    const gather = {
      bytes: kernels.gatherBytes,
      words: kernels.gatherI32,
      doubles: kernels.gatherF64,
    }[kind];
    const out = this.#scratch.take(this.#rowCount * (kind === 'doubles' ? 8 : 4));
    gather(address, this.#selected, this.#rowCount, out);
    return out;
  }
}

function sizeOf(form: NumberForm | 'codes'): 4 | 8 {
  return form === 'int32' || form === 'codes' ? 4 : 8;
}
