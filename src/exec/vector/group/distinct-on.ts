// DISTINCT ON over ORDER BY by the same keys: the least row of each group, found in one pass
// without sorting.
import type { SortKey } from '../../../plan/expression.ts';
import type { DistinctOnNode, PlanNode } from '../../../plan/plan.ts';
import type { Span } from '../../../value/column/snapshot.ts';
import type { Compiler } from '../../general/compiler.ts';
import { registerParallelJob } from '../../parallel.ts';
import { threadKernels } from '../../thread-memory.ts';
import { ChunkVectors } from '../chunk.ts';
import { type ChunkRange, cutChunks, homeArena } from '../chunk-range.ts';
import type { VectorEngine } from '../engine.ts';
import { type FilteredScan, matchFilteredScan } from '../filtered-scan.ts';
import { NumberedRows } from '../numbered-rows.ts';
import { cellsInOrder } from '../order/cell-order.ts';
import { lowerOrder, wordVector } from '../order/order-key.ts';
import type { OrderJobArgs } from '../order/top-job.ts';
import { type LoweredCodes, Lowering } from '../program/lower.ts';
import type { CodeProgram } from '../program/program.ts';
import { dictionaryTables } from '../program/row-function.ts';
import { firstDecimalName } from '../row-hash.ts';
import { RowReader } from '../row-reader.ts';
import { Scratch } from '../scratch.ts';
import { VectorTable } from '../table.ts';
import { unitCountFor } from './aggregate.ts';
import { cellsOfRows } from './group-job.ts';

/** Bytes of a group: a word, and a row number plus 1. */
const CELL_SIZE = 16;
const CELL_COUNT_MAX = 1 << 20;

interface FirstOfGroups {
  readonly input: FilteredScan;
  /** sort keys that are the groups' */
  readonly keys: readonly SortKey[];
  /** sort keys inside of a group */
  readonly rest: readonly SortKey[];
}

/** The first sort keys are those of DISTINCT ON: a plan has no others. */
export function matchFirstOfGroups(node: PlanNode): FirstOfGroups | undefined {
  if (node.kind !== 'distinct-on' || node.late || node.input.kind !== 'sort') return undefined;
  const sort = node.input;
  const input = matchFilteredScan(sort.input);
  if (input === undefined || sort.late || sort.keep !== undefined) return undefined;
  const keys = sort.keys.slice(0, node.expressions.length);
  if (sort.ties !== 'row-hash' || keys.length < node.expressions.length) return undefined;
  return { input, keys, rest: sort.keys.slice(keys.length) };
}

/** Undefined when the general operator has to do it. */
export function vectorDistinctOn(
  node: DistinctOnNode,
  compiler: Compiler,
  engine: VectorEngine,
): NumberedRows | undefined {
  const match = matchFirstOfGroups(node);
  if (match === undefined) return undefined;
  const { scan, filter } = match.input;
  const table = VectorTable.of(compiler.runtime.namespace.dataset(scan.dataset));
  if (table === undefined || table.snapshot.rowCount < Math.max(1, engine.rowCountMin)) {
    return undefined;
  }
  const { snapshot } = table;
  const firstName = firstDecimalName(snapshot.rowNames, snapshot.rowCount);
  if (firstName === undefined) return undefined;
  const dictionaries = dictionaryTables(engine.arenas, compiler);
  try {
    const lowering = new Lowering(table, dictionaries);
    const program = filter && lowering.truth(filter.condition);
    if (filter !== undefined && program === undefined) return undefined;
    const words = lowerOrder(match.rest, lowering, dictionaries);
    if (words === undefined || words.length > 1) return undefined;
    const keys: LoweredCodes[] = [];
    for (const { expression } of match.keys) {
      const codes = lowering.codes(expression);
      if (codes === undefined) return undefined;
      keys.push(codes);
    }
    const cellCount = keys.reduce((product, key) => product * key.program.cardinality, 1);
    if (cellCount > CELL_COUNT_MAX) return undefined;
    const { chunkRowCounts, rowCount, rowNames } = snapshot;
    const args = {
      arena: homeArena(table.columns),
      columns: table.columns,
      chunkRowCounts,
      ranges: cutChunks(chunkRowCounts.length, unitCountFor(cellCount)),
      rowCount,
      rowNames,
      filter: program,
      words,
      keys: keys.map((key) => key.program),
      cellCount,
      firstName,
    };
    const orders = keys.map((key, i) => {
      const codes = key.order();
      const isDescending = match.keys[i]?.descending === true;
      const { cardinality } = key.program;
      return { cardinality, codes: isDescending ? codes.toReversed() : codes };
    });
    const rows = leastRows(args, engine, (isMet) => cellsInOrder(orders, isMet));
    return new NumberedRows(new RowReader(snapshot, scan.columns, engine.arenas, table.ts), rows);
  } finally {
    dictionaries.release();
  }
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
      let start = args.chunkRowCounts.slice(0, range.from).reduce((sum, count) => sum + count, 0);
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
