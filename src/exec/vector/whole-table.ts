// Aggregates over all rows of a table or a join as one group: a program of one kernel, which a few
// numbers describe to the threads that run it.
import {
  BLOCK_CHUNK,
  BLOCK_CHUNK_KIND,
  BLOCK_CHUNK_SIZE,
  BLOCK_INSTRUCTION,
  BLOCK_INSTRUCTION_SIZE,
  BLOCK_OP,
  BLOCK_REGISTER_SIZE,
  BLOCK_SLOT_SIZE,
} from '../../kernel/generated.ts';
import type { Arena } from '../../value/column/arena.ts';
import type { ChunkSnapshot, ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import { registerParallelJob } from '../parallel.ts';
import { threadArenas, threadKernels } from '../thread-memory.ts';
import { rangeOfUnit } from './chunk-range.ts';
import type { VectorEngine } from './engine.ts';
import { BlockCompiler, type BlockSource, type Instruction } from './program/block-compiler.ts';
import { mayPass } from './program/chunk-statistics.ts';
import { cellSize, type Measure } from './program/measure.ts';
import type { TruthProgram } from './program/program.ts';

/** Units of a few chunks each, so that threads end at about the same time. */
const UNIT_COUNT_MAX = 32;

/** Fewer operations on rows are done before another thread has woken up. */
const SHARED_OPERATION_COUNT_MIN = 2_500_000;

/** These look at no row, or only say where its value lies. */
const FREE_OPERATIONS: ReadonlySet<number> = new Set([
  BLOCK_OP.constant,
  BLOCK_OP.counted,
  BLOCK_OP.loadIntegers,
  BLOCK_OP.loadCodes,
]);

/** Addresses are in `arena`. */
interface BlockJobArgs {
  readonly arena: number;
  readonly program: number;
  readonly programEnd: number;
  readonly registerCount: number;
  readonly chunks: number;
  readonly chunkCount: number;
  readonly rowCounts: number;
  readonly unitCount: number;
  readonly cells: number;
  /** bytes of the cells of a unit */
  readonly cellsSize: number;
}

const blockJob = registerParallelJob<BlockJobArgs, void>({
  name: 'vector.blocks',
  execute: runUnit,
});

function runUnit(args: BlockJobArgs, unit: number): void {
  const arenas = threadArenas();
  const { registerCount, chunkCount } = args;
  const { from, to } = rangeOfUnit(chunkCount, args.unitCount, unit);
  const scratch = arenas.allocateIn(
    args.arena,
    registerCount * (BLOCK_REGISTER_SIZE + BLOCK_SLOT_SIZE),
  );
  try {
    threadKernels(args.arena).runBlocks(
      ...([args.program, args.programEnd, scratch.offset] as const),
      ...([scratch.offset + registerCount * BLOCK_REGISTER_SIZE, args.chunks] as const),
      ...([chunkCount, args.rowCounts, from, to] as const),
      args.cells + unit * args.cellsSize,
    );
  } finally {
    arenas.free(scratch);
  }
}

export interface WholeTableQuery {
  readonly source: BlockSource;
  readonly chunkRowCounts: readonly number[];
  readonly arena: number;
  readonly filter: TruthProgram | undefined;
  readonly measures: readonly Measure[];
}

/** Cells of each unit and measure, and what to free when they are read. */
export interface WholeTableCells {
  readonly cells: readonly (readonly Span[])[];
  readonly span: Span;
}

/** Undefined when the columns or an expression are not for block programs. */
export function runWholeTable(
  query: WholeTableQuery,
  engine: VectorEngine,
): WholeTableCells | undefined {
  const { source, arena, measures } = query;
  const { chunkColumns } = source;
  const chunkRowCounts = rowCountsThatMayPass(query);
  if (!chunkColumns.every((column) => suitsBlocks(column, arena))) return undefined;
  const tables = new TablesAt(engine, arena);
  try {
    const compiler = new BlockCompiler(source, (span) => tables.addressOf(span));
    const layout = layCells(measures);
    if (!compiler.compile(query.filter, measures, layout.offsets)) return undefined;
    const { instructions, registerCount } = compiler;
    const chunkCount = chunkRowCounts.length;
    const programSize = instructions.length * BLOCK_INSTRUCTION_SIZE;
    const chunksSize = chunkColumns.length * chunkCount * BLOCK_CHUNK_SIZE;
    const rowCountsSize = (chunkCount * 4 + 15) & ~15;
    const task = tables.allocate(programSize + chunksSize + rowCountsSize);
    const memory = engine.arenas.get(arena);
    const chunks = task.offset + programSize;
    const rowCounts = chunks + chunksSize;
    instructions.forEach((instruction, index) => {
      writeInstruction(memory, task.offset + index * BLOCK_INSTRUCTION_SIZE, instruction);
    });
    writeChunks(memory, chunks, chunkColumns);
    memory.i32.set(chunkRowCounts, rowCounts / 4);
    const unitCount = Math.min(chunkCount, UNIT_COUNT_MAX);
    const span = engine.arenas.allocateIn(arena, unitCount * layout.size);
    memory.u8.fill(0, span.offset, span.offset + span.sizeBytes);
    try {
      const args: BlockJobArgs = {
        ...{ arena, program: task.offset, programEnd: chunks, registerCount },
        ...{ chunks, chunkCount, rowCounts, unitCount },
        ...{ cells: span.offset, cellsSize: layout.size },
      };
      const rowCount = chunkRowCounts.reduce((sum, count) => sum + count, 0);
      const costly = instructions.filter(({ op }) => !FREE_OPERATIONS.has(op));
      if (rowCount * costly.length < SHARED_OPERATION_COUNT_MIN) {
        for (let unit = 0; unit < unitCount; unit++) runUnit(args, unit);
      } else engine.parallel.run(blockJob, args, unitCount);
    } catch (thrown) {
      engine.arenas.free(span);
      throw thrown;
    }
    const cells = Array.from({ length: unitCount }, (_, unit) =>
      layout.offsets.map((offset) => {
        return { arena, offset: span.offset + unit * layout.size + offset, sizeBytes: 16 };
      }),
    );
    return { cells, span };
  } finally {
    tables.release();
  }
}

/** Rows of each chunk; 0 where its statistics tell that none of them passes. */
function rowCountsThatMayPass({ source, filter, chunkRowCounts }: WholeTableQuery): number[] {
  const { key, chunkColumns, filter: own } = source;
  // With a key the columns of the filter are those of two tables.
  const conditions = [own, key === undefined ? filter : undefined].filter((each) => each);
  return chunkRowCounts.map((rowCount, index) =>
    conditions.every((each) => each === undefined || mayPass(each, chunkColumns, index))
      ? rowCount
      : 0,
  );
}

/** Tables of expressions where the kernel reaches them. */
class TablesAt {
  readonly #engine: VectorEngine;
  readonly #arena: number;
  readonly #spans: Span[] = [];

  constructor(engine: VectorEngine, arena: number) {
    this.#engine = engine;
    this.#arena = arena;
  }

  addressOf(span: Span): number {
    if (span.arena === this.#arena) return span.offset;
    const { arenas } = this.#engine;
    const copy = this.allocate(span.sizeBytes);
    const source = arenas.get(span.arena).u8;
    arenas
      .get(this.#arena)
      .u8.set(source.subarray(span.offset, span.offset + span.sizeBytes), copy.offset);
    return copy.offset;
  }

  allocate(sizeBytes: number): Span {
    const span = this.#engine.arenas.allocateIn(this.#arena, sizeBytes);
    this.#spans.push(span);
    return span;
  }

  release(): void {
    for (const span of this.#spans.splice(0)) this.#engine.arenas.free(span);
  }
}

/** Cells are merged by kernels that read 16 bytes at a time. */
function layCells(measures: readonly Measure[]): { offsets: number[]; size: number } {
  const offsets: number[] = [];
  let size = 0;
  for (const measure of measures) {
    offsets.push(size);
    size += (cellSize(measure) + 15) & ~15;
  }
  return { offsets, size };
}

function suitsBlocks({ chunks }: ColumnSnapshot, arena: number): boolean {
  return chunks.every((chunk) => {
    if (chunk.kind === 'constant') return chunk.atom === null || typeof chunk.atom === 'number';
    if (chunk.kind === 'sparse' || chunk.data.arena !== arena) return false;
    return chunk.kind === 'codes' || chunk.validity === undefined || chunk.validity.arena === arena;
  });
}

function writeInstruction(memory: Arena, address: number, instruction: Instruction): void {
  const { op, target, a, b, c, d, constant } = instruction;
  for (const [field, value] of Object.entries({ op, target, a, b, c, d })) {
    memory.i32[(address + BLOCK_INSTRUCTION[field as keyof typeof BLOCK_INSTRUCTION]) / 4] = value;
  }
  const at = address + BLOCK_INSTRUCTION.low;
  const value = constant?.value ?? 0;
  if (constant?.kind === 'integer') memory.i32.fill(value, at / 4, at / 4 + 4);
  else memory.f64.fill(value, at / 8, at / 8 + 2);
}

function writeChunks(memory: Arena, start: number, columns: readonly ColumnSnapshot[]): void {
  let at = start;
  for (const { chunks } of columns) {
    for (const chunk of chunks) {
      const { kind, width, data, valid, constant } = describeChunk(chunk);
      memory.i32[(at + BLOCK_CHUNK.kind) / 4] = kind;
      memory.i32[(at + BLOCK_CHUNK.width) / 4] = width;
      memory.u32[(at + BLOCK_CHUNK.data) / 4] = data;
      memory.u32[(at + BLOCK_CHUNK.valid) / 4] = valid;
      memory.f64[(at + BLOCK_CHUNK.constant) / 8] = constant;
      at += BLOCK_CHUNK_SIZE;
    }
  }
}

function describeChunk(chunk: ChunkSnapshot) {
  const nothing = {
    kind: BLOCK_CHUNK_KIND.nulls as number,
    width: 0,
    data: 0,
    valid: 0,
    constant: 0,
  };
  switch (chunk.kind) {
    case 'constant':
      if (typeof chunk.atom !== 'number') return nothing;
      return { ...nothing, kind: BLOCK_CHUNK_KIND.constant, constant: chunk.atom };
    case 'codes':
      return {
        ...nothing,
        kind: BLOCK_CHUNK_KIND.codes,
        width: chunk.width,
        data: chunk.data.offset,
      };
    case 'sparse':
      return nothing;
    default: {
      const kind = chunk.kind === 'int32' ? BLOCK_CHUNK_KIND.int32 : BLOCK_CHUNK_KIND.float64;
      const hasNulls = chunk.validity !== undefined && chunk.nullCount > 0;
      const valid = hasNulls ? (chunk.validity as Span).offset : 0;
      return { ...nothing, kind, data: chunk.data.offset, valid };
    }
  }
}
