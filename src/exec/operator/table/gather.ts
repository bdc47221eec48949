// Rows of a table by their numbers: each column is laid out in one piece, from which kernels gather.
import { ColumnView } from '../../../value/column/column-view.ts';
import type { ChunkSnapshot, ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import { registerParallelJob } from '../../parallel.ts';
import { ArenaSpans } from '../../vector/arena-spans.ts';
import type { FlatColumn } from '../../vector/built-column.ts';
import { ChunkVectors } from '../../vector/chunk.ts';
import { type ChunkRange, cutChunks, firstRowOf, homeArena } from '../../vector/chunk-range.ts';
import { isPaged, PickedBlocks, PickedColumn } from '../../vector/picked-column.ts';
import { Scratch } from '../../vector/scratch.ts';
import type { OperatorContext } from '../materialize.ts';
import { codesChunk, freeChunks, type NumberForm, numbersChunk } from '../materialize-job.ts';
import { columnOf, encodeAtoms } from './encode-column.ts';
import { fillFlat, flatColumn } from './flat-column.ts';

const UNIT_COUNT_MAX = 16;
/** Of fewer rows than one in so many each value is read by itself. */
const FEW_ROWS = 16;

interface GatherArgs {
  readonly arena: number;
  readonly flat: FlatColumn;
  /** Int32 row numbers */
  readonly rows: Span;
  readonly form: NumberForm;
  readonly chunkRowCounts: readonly number[];
  readonly ranges: readonly ChunkRange[];
}

const gatherJob = registerParallelJob<GatherArgs, ChunkSnapshot[]>({
  name: 'operator.gather',
  discard: freeChunks,
  execute({ arena, flat, rows, form, chunkRowCounts, ranges }, unit, scope) {
    const scratch = new Scratch(arena);
    const range = ranges[unit] as ChunkRange;
    const chunks: ChunkSnapshot[] = [];
    try {
      const { kernels } = scratch;
      let first = firstRowOf(chunkRowCounts, range);
      for (const count of chunkRowCounts.slice(range.from, range.to)) {
        scope.checkCancelled();
        scratch.reset();
        const numbers = rows.offset + first * 4;
        first += count;
        const data = scratch.take(count * 8);
        const gather = flat.kind === 'float64' ? kernels.gatherF64 : kernels.gatherI32;
        gather(flat.data.offset, numbers, count, data);
        if (flat.kind === 'codes') {
          chunks.push(codesChunk(scratch, data, count));
          continue;
        }
        let valid = 0;
        if (flat.valid !== undefined) {
          valid = scratch.take(count);
          kernels.gatherBytes(flat.valid.offset, numbers, count, valid);
        }
        chunks.push(numbersChunk(form, { data, valid }, count, scratch));
      }
      return chunks;
    } catch (thrown) {
      freeChunks(chunks);
      throw thrown;
    } finally {
      scratch.release();
    }
  },
});

/** The rows of some numbers of a table; a number behind its last row gives a row of nulls. */
export class RowGatherer {
  readonly #rows: Uint32Array;
  readonly #source: { readonly rowCount: number; readonly chunkRowCounts: readonly number[] };
  readonly #chunkRowCounts: readonly number[];
  readonly #context: OperatorContext;

  constructor(
    source: { readonly rowCount: number; readonly chunkRowCounts: readonly number[] },
    rows: Uint32Array,
    chunkRowCounts: readonly number[],
    context: OperatorContext,
  ) {
    this.#source = source;
    this.#rows = rows;
    this.#chunkRowCounts = chunkRowCounts;
    this.#context = context;
  }

  column(column: ColumnSnapshot): ColumnSnapshot {
    const { rowCount } = this.#source;
    const isSmall = this.#rows.length * FEW_ROWS < rowCount || this.#rows.length === 0;
    return isSmall ? this.#byAtoms(column) : this.#byKernels(column);
  }

  #byAtoms(column: ColumnSnapshot): ColumnSnapshot {
    const { memory } = this.#context;
    const { rowCount } = this.#source;
    const view = new ColumnView(column, memory.arenas);
    const { scope } = this.#context.compiler.runtime;
    const blocks = new PickedBlocks(this.#rows, this.#source.chunkRowCounts, 1);
    const picked = isPaged(view)
      ? new PickedColumn(view, blocks, () => scope.checkCancelled())
      : undefined;
    const atoms = Array.from(this.#rows, (row, index) => {
      if (picked !== undefined) return picked.atomAt(index);
      return row < rowCount ? view.atomAt(row) : null;
    });
    return encodeAtoms(column.path, atoms, this.#chunkRowCounts, memory);
  }

  #byKernels(column: ColumnSnapshot): ColumnSnapshot {
    const { engine, memory } = this.#context;
    const spans = new ArenaSpans(engine, homeArena([column]));
    try {
      const { arena } = spans;
      const rows = spans.allocate(this.#rows.length * 4);
      engine.arenas.get(arena).u32.set(this.#rows, rows.offset / 4);
      const flat = flatten(column, this.#source, spans);
      const chunkRowCounts = this.#chunkRowCounts;
      const ranges = cutChunks(chunkRowCounts.length, UNIT_COUNT_MAX);
      const isTimestamp = column.type === 'timestamp';
      const form = isTimestamp ? 'timestamp' : flat.kind === 'int32' ? 'int32' : 'float64';
      const args = { arena, flat, rows, form, chunkRowCounts, ranges } as const;
      const chunks = engine.parallel.run(gatherJob, args, ranges.length).flat();
      for (const chunk of chunks) memory.holdChunk(chunk);
      const type = column.type === 'null' ? 'number' : column.type;
      return columnOf(column.path, type, chunks, column.dictionary);
    } finally {
      spans.release();
    }
  }
}

/** A column in one piece. */
export function flatten(
  column: ColumnSnapshot,
  {
    rowCount,
    chunkRowCounts,
  }: { readonly rowCount: number; readonly chunkRowCounts: readonly number[] },
  spans: ArenaSpans,
): FlatColumn {
  const flat = flatColumn(column, rowCount, (sizeBytes) => spans.allocateZeroed(sizeBytes));
  const scratch = new Scratch(spans.arena);
  try {
    const chunk = new ChunkVectors(scratch, [column]);
    let start = 0;
    chunkRowCounts.forEach((count, index) => {
      chunk.moveTo(index, count);
      fillFlat(flat, 0, chunk, scratch, start);
      start += count;
    });
    return flat;
  } finally {
    scratch.release();
  }
}
