// The parallel part of parting rows that memory has no room for: each unit writes the rows of a range
// of chunks to a scratch file, those of a part in one block.
import { type ScratchPlace, ScratchWriter } from '../../../store/scratch-file.ts';
import type { RowNames } from '../../../value/column/snapshot.ts';
import { type JobContext, registerParallelJob } from '../../parallel.ts';
import { type ChunkRange, firstRowOf } from '../../vector/chunk-range.ts';
import { type GroupSource, openBatches } from '../../vector/group/group-job.ts';
import { type OrderWord, wordVector } from '../../vector/order/order-key.ts';
import { rowHasher } from '../../vector/row-hash.ts';
import { Scratch } from '../../vector/scratch.ts';
import type { Vectors } from '../../vector/vectors.ts';
import { numberOfRows, type WrittenColumn } from '../materialize-job.ts';

/** A Uint64 a row by which rows are parted. */
export type PartWord =
  | { readonly kind: 'order'; readonly word: OrderWord }
  /** hashes of the names of the rows of a dataset */
  | { readonly kind: 'name'; readonly rowNames: RowNames; readonly rowCount: number };

export interface PartJobArgs {
  readonly arena: number;
  readonly source: GroupSource;
  readonly chunkRowCounts: readonly number[];
  readonly ranges: readonly ChunkRange[];
  readonly words: readonly PartWord[];
}

/** One row in so many is drawn. */
export const DRAWN_STEP = 64;

/** The rows of a batch with the addresses of their words. */
interface WordBatch {
  readonly vectors: Vectors;
  /** the number of the first row of its chunk */
  readonly first: number;
  readonly words: readonly number[];
}

function forEachBatch(
  args: PartJobArgs,
  unit: number,
  scratch: Scratch,
  scope: JobContext,
  visit: (batch: WordBatch) => void,
): void {
  const { vectors, forEachBatch: each } = openBatches(args.source, scratch, scope);
  const range = args.ranges[unit] as ChunkRange;
  const writers = args.words.map((word) => wordWriter(word, scratch));
  let first = firstRowOf(args.chunkRowCounts, range);
  for (let index = range.from; index < range.to; index++) {
    const rowCount = args.chunkRowCounts[index] as number;
    each(index, rowCount, () => {
      scope.checkCancelled();
      if (vectors.rowCount === 0) return;
      visit({ vectors, first, words: writers.map((write) => write(vectors, first)) });
    });
    first += rowCount;
  }
}

function wordWriter(word: PartWord, scratch: Scratch): (vectors: Vectors, first: number) => number {
  if (word.kind === 'order') return (vectors) => wordVector(word.word, vectors, scratch);
  const hash = rowHasher(word.rowNames, word.rowCount, scratch);
  return (vectors, first) => {
    const rows = scratch.take(vectors.rowCount * 4 + 16);
    const numbers = numberOfRows(vectors, undefined, first, scratch);
    scratch.arena.u8.copyWithin(rows, numbers, numbers + vectors.rowCount * 4);
    return hash(0, rows, vectors.rowCount);
  };
}

/** @returns the words of some rows, as halves: low, then high */
export const drawJob = registerParallelJob<PartJobArgs, Uint32Array>({
  name: 'operator.draw-words',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const drawn: number[] = [];
      const { u32 } = scratch.arena;
      forEachBatch(args, unit, scratch, scope, ({ vectors, words }) => {
        for (let row = 0; row < vectors.rowCount; row += DRAWN_STEP) {
          for (const word of words) {
            drawn.push(u32[word / 4 + 2 * row] as number, u32[word / 4 + 2 * row + 1] as number);
          }
        }
      });
      return Uint32Array.from(drawn);
    } finally {
      scratch.release();
    }
  },
});

export interface PartitionJobArgs extends PartJobArgs {
  readonly columns: readonly WrittenColumn[];
  /** words at which parts but the first begin, as halves: low, then high */
  readonly bounds: Uint32Array;
  /** words go to the file as well */
  readonly keepsWords: boolean;
  readonly place: ScratchPlace;
}

/** Numbers that tell of a block: its part, where it begins in the file, and its rows. */
export const BLOCK_FIELDS = 3;

/** @returns `BLOCK_FIELDS` numbers for each block */
export const partitionJob = registerParallelJob<PartitionJobArgs, Float64Array>({
  name: 'operator.partition',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    const writer = new BlockWriter(args, scratch);
    try {
      forEachBatch(args, unit, scratch, scope, (batch) => writer.write(batch));
      return Float64Array.from(writer.blocks);
    } finally {
      writer.close();
      scratch.release();
    }
  },
});

/** Where the values of a column are, rows of a part behind each other. */
interface PartedColumn {
  readonly data: number;
  readonly width: number;
  /** a byte a row; 0: all have a value */
  readonly valid: number;
}

class BlockWriter {
  readonly blocks: number[] = [];
  readonly #args: PartitionJobArgs;
  readonly #scratch: Scratch;
  readonly #file: ScratchWriter;
  #staging = new Uint8Array(0);

  constructor(args: PartitionJobArgs, scratch: Scratch) {
    this.#args = args;
    this.#scratch = scratch;
    this.#file = new ScratchWriter(args.place);
  }

  close(): void {
    this.#file.close();
  }

  write(batch: WordBatch): void {
    const { rowCount } = batch.vectors;
    const { starts, positions } = this.#arrange(batch);
    const columns = [
      ...(this.#args.keepsWords ? batch.words : []).map((word) =>
        this.#gather(word, 8, positions, rowCount),
      ),
      ...this.#args.columns.map((column) => this.#column(column, batch, positions)),
    ];
    for (let part = 0; part + 1 < starts.length; part++) {
      const [from, to] = [starts[part] as number, starts[part + 1] as number];
      if (from < to) this.blocks.push(part, this.#block(columns, from, to), to - from);
    }
  }

  /** Positions of the rows, those of a part behind each other in their order. */
  #arrange({ vectors, words }: WordBatch): { starts: Uint32Array; positions: number } {
    const { rowCount } = vectors;
    const { bounds } = this.#args;
    const { u32, i32 } = this.#scratch.arena;
    const partCount = words.length === 0 ? 1 : bounds.length / (2 * words.length) + 1;
    const addresses = words.map((word) => word / 4);
    const parts = new Uint16Array(rowCount);
    const starts = new Uint32Array(partCount + 1);
    for (let row = 0; row < rowCount; row++) {
      const part = partCount === 1 ? 0 : partOf(u32, addresses, row, bounds);
      parts[row] = part;
      starts[part + 1] = (starts[part + 1] as number) + 1;
    }
    for (let i = 1; i < starts.length; i++) {
      starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    }
    const ends = starts.slice();
    const positions = this.#scratch.take(rowCount * 4);
    for (let row = 0; row < rowCount; row++) {
      const part = parts[row] as number;
      const at = ends[part] as number;
      i32[positions / 4 + at] = row;
      ends[part] = at + 1;
    }
    return { starts, positions };
  }

  #column(column: WrittenColumn, { vectors, first }: WordBatch, positions: number): PartedColumn {
    const { rowCount } = vectors;
    switch (column.kind) {
      case 'codes':
        return this.#gather(vectors.codes(column.codes), 4, positions, rowCount);
      case 'rows': {
        const numbers = numberOfRows(vectors, column.step, first, this.#scratch);
        return this.#gather(numbers, 4, positions, rowCount);
      }
      case 'numbers': {
        const isInteger = column.form === 'int32';
        const { data, valid } = isInteger
          ? vectors.integers(column.numbers)
          : vectors.doubles(column.numbers);
        const values = this.#gather(data, isInteger ? 4 : 8, positions, rowCount);
        if (valid === 0) return values;
        const out = this.#scratch.take(rowCount);
        this.#scratch.kernels.gatherBytes(valid, positions, rowCount, out);
        return { ...values, valid: out };
      }
    }
  }

  #gather(values: number, width: 4 | 8, positions: number, rowCount: number): PartedColumn {
    const { kernels } = this.#scratch;
    const data = this.#scratch.take(rowCount * width);
    if (width === 4) kernels.gatherI32(values, positions, rowCount, data);
    else kernels.gatherU64(values, positions, rowCount, data);
    return { data, width, valid: 0 };
  }

  /** A byte a column that says whether it has nulls, then the values of each, then its bytes. */
  #block(columns: readonly PartedColumn[], from: number, to: number): number {
    const { u8 } = this.#scratch.arena;
    const rowCount = to - from;
    const sizeBytes = columns.reduce(
      (sum, { width, valid }) => sum + rowCount * (valid === 0 ? width : width + 1),
      columns.length,
    );
    if (this.#staging.length < sizeBytes) this.#staging = new Uint8Array(sizeBytes);
    let at = columns.length;
    columns.forEach(({ data, width, valid }, column) => {
      this.#staging[column] = valid === 0 ? 0 : 1;
      this.#staging.set(u8.subarray(data + from * width, data + to * width), at);
      at += rowCount * width;
      if (valid === 0) return;
      this.#staging.set(u8.subarray(valid + from, valid + to), at);
      at += rowCount;
    });
    return this.#file.write(this.#staging.subarray(0, sizeBytes));
  }
}

/** The number of bounds that are not beyond the words of a row. */
function partOf(
  u32: Uint32Array,
  words: readonly number[],
  row: number,
  bounds: Uint32Array,
): number {
  const size = 2 * words.length;
  let low = 0;
  let high = bounds.length / size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(u32, words, row, bounds, middle * size)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isBefore(
  u32: Uint32Array,
  words: readonly number[],
  row: number,
  bounds: Uint32Array,
  bound: number,
): boolean {
  for (let i = 0; i < words.length; i++) {
    const at = (words[i] as number) + 2 * row;
    const order =
      (u32[at + 1] as number) - (bounds[bound + 2 * i + 1] as number) ||
      (u32[at] as number) - (bounds[bound + 2 * i] as number);
    if (order !== 0) return order < 0;
  }
  return false;
}
