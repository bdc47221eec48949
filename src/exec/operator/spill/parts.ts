// Rows that memory has no room for, in parts that it has room for: ranges of words that order them.
import { FileSource } from '../../../store/durable-file.ts';
import type { Span } from '../../../value/column/snapshot.ts';
import type { ArenaSpans } from '../../vector/arena-spans.ts';
import { cutChunks } from '../../vector/chunk-range.ts';
import type { ScratchRoom, VectorEngine } from '../../vector/engine.ts';
import type { GroupSource } from '../../vector/group/group-job.ts';
import { Scratch } from '../../vector/scratch.ts';
import { buildSource } from '../build.ts';
import type { MaterializedRows, OperatorContext, TableForm } from '../materialize.ts';
import {
  codesChunk,
  numbersChunk,
  type WrittenBatch,
  type WrittenColumn,
} from '../materialize-job.ts';
import type { Pipeline } from '../pipeline.ts';
import {
  BLOCK_FIELDS,
  DRAWN_STEP,
  drawJob,
  type PartJobArgs,
  type PartWord,
  partitionJob,
} from './partition-job.ts';

const UNIT_COUNT_MAX = 64;
const PART_COUNT_MAX = 1024;
const CHUNK_ROW_COUNT_MAX = 65_536;
/** Bytes of a row beside its columns and words while a part is worked on: pairs, spare pairs, cells. */
const WORK_SIZE = 48;

export interface PartsOptions {
  readonly room: ScratchRoom;
  readonly form: TableForm;
  readonly words: readonly PartWord[];
  /** whether `load` gives the words */
  readonly keepsWords: boolean;
  /** where parts begin, see `drawBounds`; absent: wherever parts are of one size */
  readonly bounds?: Uint32Array;
}

/** Blocks of rows in the file. */
interface Block {
  readonly offset: number;
  readonly rowCount: number;
}

export class Parts {
  /** rows of each part; those of a part come before those of the next one by their words */
  readonly rowCounts: readonly number[];
  readonly arena: number;
  readonly #form: TableForm;
  readonly #wordCount: number;
  readonly #path: string;
  readonly #blocks: readonly (readonly Block[])[];

  /** Writes the rows of a pipeline, once it is known where parts begin. @throws DISK_FULL */
  constructor(pipeline: Pipeline, options: PartsOptions, { engine }: OperatorContext) {
    const { room, form, words, keepsWords } = options;
    const { source, arena, spans } = buildSource(pipeline, engine, pipeline.filter);
    const place = room.file();
    this.arena = arena;
    this.#form = form;
    this.#wordCount = keepsWords ? words.length : 0;
    this.#path = place.path;
    try {
      const args = jobArgs(pipeline, source, arena, words);
      const bounds = options.bounds ?? draw(args, options, 0, engine);
      const { path, used } = place;
      const written = engine.parallel.run(
        partitionJob,
        { ...args, columns: form.written, bounds, keepsWords, place: { path, used } },
        args.ranges.length,
      );
      this.#blocks = blocksOf(written, bounds.length / (2 * words.length) + 1);
    } finally {
      for (const span of spans) engine.arenas.free(span);
    }
    this.rowCounts = this.#blocks.map((blocks) =>
      blocks.reduce((sum, { rowCount }) => sum + rowCount, 0),
    );
  }

  get rowCount(): number {
    return this.rowCounts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Reads a part. @param context with memory that holds its rows
   * @param spans where the words go, when they were kept
   */
  load(
    part: number,
    context: OperatorContext,
    spans?: ArenaSpans,
  ): MaterializedRows & { readonly words: readonly Span[] } {
    const { scope } = context.compiler.runtime;
    const scratch = new Scratch(this.arena);
    const file = new FileSource(this.#path);
    try {
      const rowCount = this.rowCounts[part] as number;
      const words = Array.from({ length: this.#wordCount }, () =>
        (spans as ArenaSpans).allocate(rowCount * 8),
      );
      const reader = new BlockReader(file, this.#form.written, words, scratch);
      const written: WrittenBatch[] = [];
      for (const blocks of chunksOfBlocks(this.#blocks[part] as readonly Block[])) {
        scope.checkCancelled();
        const batch = reader.read(blocks);
        for (const chunk of batch.chunks) context.memory.holdChunk(chunk);
        written.push(batch);
      }
      return { ...this.#form.table(written, context), words };
    } finally {
      file.close();
      scratch.release();
    }
  }
}

/**
 * Words that cut the rows of a pipeline into parts which memory has room for.
 * @param besideBytes of other rows that come with all parts together
 */
export function drawBounds(
  pipeline: Pipeline,
  options: Pick<PartsOptions, 'room' | 'form' | 'words'>,
  besideBytes: number,
  { engine }: OperatorContext,
): Uint32Array {
  const { source, arena, spans } = buildSource(pipeline, engine, pipeline.filter);
  try {
    return draw(jobArgs(pipeline, source, arena, options.words), options, besideBytes, engine);
  } finally {
    for (const span of spans) engine.arenas.free(span);
  }
}

function jobArgs(
  { base: { chunkRowCounts } }: Pipeline,
  source: GroupSource,
  arena: number,
  words: readonly PartWord[],
): PartJobArgs {
  const ranges = cutChunks(chunkRowCounts.length, UNIT_COUNT_MAX);
  return { arena, source, chunkRowCounts, ranges, words };
}

function draw(
  args: PartJobArgs,
  { room, form, words }: Pick<PartsOptions, 'room' | 'form' | 'words'>,
  besideBytes: number,
  engine: VectorEngine,
): Uint32Array {
  const drawn = engine.parallel.run(drawJob, args, args.ranges.length);
  const size = 2 * words.length;
  const drawnCount = drawn.reduce((sum, { length }) => sum + length, 0) / size;
  const sizeBytes = drawnCount * DRAWN_STEP * rowSizeOf(form, words.length) + besideBytes;
  const partCount = Math.ceil(sizeBytes / room.shareBytes);
  return boundsOf(drawn, size, Math.min(PART_COUNT_MAX, partCount));
}

/** Bytes of a row while its part is worked on, about. */
export function rowSizeOf({ written }: TableForm, wordCount: number): number {
  return WORK_SIZE + 8 * wordCount + sizeOfRow(written);
}

function widthOf(column: WrittenColumn): 4 | 8 {
  return column.kind === 'numbers' && column.form !== 'int32' ? 8 : 4;
}

function sizeOfRow(columns: readonly WrittenColumn[]): number {
  return columns.reduce((sum, column) => sum + widthOf(column) + 1, 0);
}

/** Words that cut those that were drawn into parts of about one size. */
function boundsOf(drawn: readonly Uint32Array[], size: number, partCount: number): Uint32Array {
  const all = new Uint32Array(drawn.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of drawn) {
    all.set(part, at);
    at += part.length;
  }
  const count = all.length / size;
  const compare = (a: number, b: number): number => {
    for (let i = 0; i < size; i += 2) {
      const order =
        (all[a * size + i + 1] as number) - (all[b * size + i + 1] as number) ||
        (all[a * size + i] as number) - (all[b * size + i] as number);
      if (order !== 0) return order;
    }
    return 0;
  };
  const order = Uint32Array.from({ length: count }, (_, i) => i).sort(compare);
  const chosen: number[] = [];
  for (let part = 1; part < partCount; part++) {
    const next = order[Math.floor((part * count) / partCount)];
    const last = chosen.at(-1) ?? order[0];
    if (next !== undefined && compare(last as number, next) !== 0) chosen.push(next);
  }
  return Uint32Array.from(
    chosen.flatMap((index) => [...all.subarray(index * size, (index + 1) * size)]),
  );
}

function blocksOf(written: readonly Float64Array[], partCount: number): Block[][] {
  const blocks = Array.from({ length: partCount }, (): Block[] => []);
  for (const fields of written) {
    for (let i = 0; i < fields.length; i += BLOCK_FIELDS) {
      const [part = 0, offset = 0, rowCount = 0] = fields.subarray(i, i + BLOCK_FIELDS);
      blocks[part]?.push({ offset, rowCount });
    }
  }
  return blocks;
}

/** Blocks that make a chunk together. */
function chunksOfBlocks(blocks: readonly Block[]): Block[][] {
  const chunks: Block[][] = [];
  let rowCount = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    if (rowCount + block.rowCount > CHUNK_ROW_COUNT_MAX) {
      chunks.push([]);
      rowCount = 0;
    }
    chunks.at(-1)?.push(block);
    rowCount += block.rowCount;
  }
  return chunks;
}

class BlockReader {
  readonly #file: FileSource;
  readonly #columns: readonly WrittenColumn[];
  readonly #words: readonly Span[];
  readonly #scratch: Scratch;
  #staging = new Uint8Array(0);
  /** rows whose words were read */
  #rowCount = 0;

  constructor(
    file: FileSource,
    columns: readonly WrittenColumn[],
    words: readonly Span[],
    scratch: Scratch,
  ) {
    this.#file = file;
    this.#columns = columns;
    this.#words = words;
    this.#scratch = scratch;
  }

  /** The rows of some blocks as chunks. */
  read(blocks: readonly Block[]): WrittenBatch {
    const scratch = this.#scratch;
    scratch.reset();
    const { u8 } = scratch.arena;
    const rowCount = blocks.reduce((sum, block) => sum + block.rowCount, 0);
    const vectors = this.#columns.map((column) => {
      const valid = scratch.take(rowCount);
      u8.fill(1, valid, valid + rowCount);
      return { width: widthOf(column), data: scratch.take(rowCount * widthOf(column)), valid };
    });
    const hasNulls = this.#columns.map(() => false);
    let row = 0;
    for (const block of blocks) {
      const count = block.rowCount;
      const bytes = this.#stage(block);
      const fieldCount = this.#words.length + this.#columns.length;
      let at = fieldCount;
      for (const { offset } of this.#words) {
        u8.set(bytes.subarray(at, at + count * 8), offset + this.#rowCount * 8);
        at += count * 8;
      }
      vectors.forEach(({ data, width, valid }, column) => {
        u8.set(bytes.subarray(at, at + count * width), data + row * width);
        at += count * width;
        if (bytes[this.#words.length + column] === 0) return;
        hasNulls[column] = true;
        u8.set(bytes.subarray(at, at + count), valid + row);
        at += count;
      });
      row += count;
      this.#rowCount += count;
    }
    const chunks = this.#columns.map((column, index) => {
      const { data, valid } = vectors[index] as { readonly data: number; readonly valid: number };
      if (column.kind === 'codes') return codesChunk(scratch, data, rowCount);
      const form = column.kind === 'rows' ? 'int32' : column.form;
      const vector = { data, valid: hasNulls[index] === true ? valid : 0 };
      return numbersChunk(form, vector, rowCount, scratch);
    });
    return { rowCount, chunks };
  }

  #stage({ offset, rowCount }: Block): Uint8Array {
    const fieldCount = this.#words.length + this.#columns.length;
    const sizeMax = fieldCount + rowCount * (8 * this.#words.length + sizeOfRow(this.#columns));
    if (this.#staging.length < sizeMax) this.#staging = new Uint8Array(sizeMax);
    const flags = this.#staging.subarray(0, fieldCount);
    this.#file.read(flags, offset);
    const sizeBytes = this.#columns.reduce(
      (sum, column, index) => {
        const nulls = flags[this.#words.length + index] as number;
        return sum + rowCount * (widthOf(column) + nulls);
      },
      rowCount * 8 * this.#words.length,
    );
    const rest = this.#staging.subarray(fieldCount, fieldCount + sizeBytes);
    this.#file.read(rest, offset + fieldCount);
    return this.#staging;
  }
}
