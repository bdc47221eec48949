// DISTINCT ON over ORDER BY by the same keys: the least row of each group, found in one pass
// without sorting.
import type { SortKey } from '../../../plan/expression.ts';
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import { registerParallelJob } from '../../parallel.ts';
import { threadKernels } from '../../thread-memory.ts';
import { ChunkVectors } from '../chunk.ts';
import { type ChunkRange, cutChunks, firstRowOf } from '../chunk-range.ts';
import type { DictionaryTables } from '../dictionary-table.ts';
import type { VectorEngine } from '../engine.ts';
import { cellsInOrder } from '../order/cell-order.ts';
import { lowerOrder, wordVector } from '../order/order-key.ts';
import type { OrderJobArgs } from '../order/top-job.ts';
import type { LoweredCodes, Lowering } from '../program/lower.ts';
import type { CodeProgram, TruthProgram } from '../program/program.ts';
import { firstDecimalName } from '../row-hash.ts';
import { Scratch } from '../scratch.ts';
import type { VectorTable } from '../table.ts';
import { unitCountFor } from './aggregate.ts';
import { cellsOfRows } from './group-job.ts';

/** Bytes of a group: a word, and a row number plus 1. */
const CELL_SIZE = 16;
const CELL_COUNT_MAX = 1 << 20;

/** Rows of a dataset, and what they are grouped and ordered by. */
export interface FirstOfGroups {
  readonly table: VectorTable;
  readonly lowering: Lowering;
  readonly filter: TruthProgram | undefined;
  /** sort keys that are the groups' */
  readonly keys: readonly SortKey[];
  /** sort keys inside of a group */
  readonly rest: readonly SortKey[];
}

/** The numbers of the least rows, in the order of the groups; undefined when kernels do not find them. */
export function firstOfGroups(
  { table, lowering, filter, keys: groupKeys, rest }: FirstOfGroups,
  source: { readonly columns: readonly ColumnSnapshot[]; arena(): number },
  dictionaries: DictionaryTables,
  engine: VectorEngine,
): Uint32Array | undefined {
  const { chunkRowCounts, rowCount, rowNames } = table.snapshot;
  const firstName = firstDecimalName(rowNames, rowCount);
  if (firstName === undefined) return undefined;
  const words = lowerOrder(rest, lowering, dictionaries);
  if (words === undefined || words.length > 1) return undefined;
  const keys: LoweredCodes[] = [];
  for (const { expression } of groupKeys) {
    const codes = lowering.codes(expression);
    if (codes === undefined) return undefined;
    keys.push(codes);
  }
  const cellCount = keys.reduce((product, key) => product * key.program.cardinality, 1);
  if (cellCount > CELL_COUNT_MAX) return undefined;
  // Lowering has asked for the columns by now, which tell in which arena they are.
  const arena = source.arena();
  const { columns } = source;
  const args = {
    ...{ arena, columns, chunkRowCounts, rowCount, rowNames, filter, words, cellCount, firstName },
    ranges: cutChunks(chunkRowCounts.length, unitCountFor(cellCount)),
    keys: keys.map((key) => key.program),
  };
  const orders = keys.map((key, i) => {
    const codes = key.order();
    const isDescending = groupKeys[i]?.descending === true;
    const { cardinality } = key.program;
    return { cardinality, codes: isDescending ? codes.toReversed() : codes };
  });
  return leastRows(args, engine, (isMet) => cellsInOrder(orders, isMet));
}

interface LeastJobArgs extends OrderJobArgs {
  readonly keys: readonly CodeProgram[];
  readonly cellCount: number;
  /** the name of row 0; the others follow */
  readonly firstName: number;
  /** of each unit, zeroed */
  readonly cells: readonly Span[];
}

const leastJob = registerParallelJob<LeastJobArgs, void>({
  name: 'vector.group-least',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const chunk = new ChunkVectors(scratch, args.columns);
      const spare = scratch.keep(32);
      const range = args.ranges[unit] as ChunkRange;
      const { offset } = args.cells[unit] as Span;
      const [word] = args.words;
      let start = firstRowOf(args.chunkRowCounts, range);
      for (let index = range.from; index < range.to; index++) {
        scope.checkCancelled();
        const count = args.chunkRowCounts[index] as number;
        chunk.moveTo(index, count);
        const groups = cellsOfRows(args, chunk, scratch);
        const words = word === undefined ? 0 : wordVector(word, chunk, scratch);
        scratch.kernels.groupLeast(groups, words, count, start, offset, args.firstName, spare);
        start += count;
      }
    } finally {
      scratch.release();
    }
  },
});

/** Numbers of the least rows of all groups, in the order that `order` gives to their cells. */
function leastRows(
  args: Omit<LeastJobArgs, 'cells'>,
  engine: VectorEngine,
  order: (isMet: (cell: number) => boolean) => Int32Array,
): Uint32Array {
  const { u8, u32 } = engine.arenas.get(args.arena);
  // One cell more is for rows that the filter drops, and 32 bytes are for names.
  const sizeBytes = (args.cellCount + 1) * CELL_SIZE + 32;
  const cells: Span[] = [];
  try {
    for (const _ of args.ranges) {
      const span = engine.arenas.allocateIn(args.arena, sizeBytes);
      cells.push(span);
      u8.fill(0, span.offset, span.offset + sizeBytes);
    }
    engine.parallel.run(leastJob, { ...args, cells }, args.ranges.length);
    const [merged, ...others] = cells as [Span, ...Span[]];
    const spare = merged.offset + sizeBytes - 32;
    const kernels = threadKernels(args.arena);
    for (const { offset } of others) {
      kernels.mergeLeast(merged.offset, offset, args.cellCount, args.firstName, spare);
    }
    const rowOf = (cell: number) => u32[(merged.offset + cell * CELL_SIZE) / 4 + 2] as number;
    return Uint32Array.from(
      order((cell) => rowOf(cell) !== 0),
      (cell) => rowOf(cell) - 1,
    );
  } finally {
    for (const span of cells) engine.arenas.free(span);
  }
}
