// The rows that can be among the first ones of their partitions, found in one pass: what is behind
// them need not be sorted.
import type { WindowCall } from '../../../plan/plan.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { registerParallelJob } from '../../parallel.ts';
import { ChunkVectors } from '../../vector/chunk.ts';
import { type ChunkRange, cutChunks } from '../../vector/chunk-range.ts';
import { lowerOrder, type OrderWord, wordVector } from '../../vector/order/order-key.ts';
import type { CodeProgram } from '../../vector/program/program.ts';
import { Scratch } from '../../vector/scratch.ts';
import { arenaOf, onesOf } from '../build.ts';
import { lowerOwnKeys } from '../join/join-keys.ts';
import type { OperatorContext } from '../materialize.ts';
import { suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { pickRows } from '../slice.ts';

/** Each unit has a limit of its own for each partition, so there are few of them. */
const UNIT_COUNT_MAX = 4;
/** Keys that a unit holds. */
const KEY_COUNT_MAX = 1 << 21;

/**
 * A table with the first rows of each partition and some behind them, in the order in which they
 * lie; the table itself where that would not be quicker to sort.
 * @param table rows as they lie, of which none is filtered
 * @param calls all of the same partitions and order
 */
export function topOfPartitions(
  table: Pipeline,
  calls: readonly WindowCall[],
  keep: number,
  context: OperatorContext,
): Pipeline {
  const { rowCount, chunkRowCounts } = table.base;
  const [call] = calls;
  if (call === undefined || keep === 0) return table;
  const { engine, tables } = context;
  const [word] = suited(lowerOrder(call.orderBy, table.lowering, tables));
  const { partitionBy } = call;
  const key = partitionBy.length === 0 ? undefined : lowerOwnKeys(partitionBy, table, context);
  const groupCount = (key?.cardinality ?? 1) + 1;
  if (word === undefined || groupCount * keep > KEY_COUNT_MAX) return table;
  const firstRows: number[] = [];
  let first = 0;
  for (const count of chunkRowCounts) {
    firstRows.push(first);
    first += count;
  }
  const ranges = cutChunks(chunkRowCounts.length, UNIT_COUNT_MAX);
  const { columns } = table.scope;
  const args = { arena: arenaOf(table), columns, chunkRowCounts, firstRows, ranges, key, word };
  const parts = engine.parallel.run(leastJob, { ...args, groupCount, keep }, ranges.length);
  const count = parts.reduce((sum, part) => sum + part.length, 0);
  if (count * 2 > rowCount) return table;
  const rows = new Uint32Array(count);
  let at = 0;
  for (const part of parts) {
    rows.set(part, at);
    at += part.length;
  }
  return pickRows(table, rows, context);
}

interface LeastArgs {
  readonly arena: number;
  readonly columns: readonly ColumnSnapshot[];
  readonly chunkRowCounts: readonly number[];
  readonly firstRows: readonly number[];
  readonly ranges: readonly ChunkRange[];
  /** of partitions; undefined: there is one */
  readonly key: CodeProgram | undefined;
  readonly groupCount: number;
  readonly word: OrderWord;
  readonly keep: number;
}

/** Row numbers in ascending order. */
const leastJob = registerParallelJob<LeastArgs, Uint32Array>({
  name: 'operator.least-of-partitions',
  execute(args, unit, scope) {
    const { chunkRowCounts, groupCount, keep, key, word } = args;
    const scratch = new Scratch(args.arena);
    try {
      const { kernels, arena } = scratch;
      const chunk = new ChunkVectors(scratch, args.columns);
      const heaps = scratch.keep(groupCount * keep * 8);
      const counts = scratch.keep(groupCount * 4);
      const found: Uint8Array[] = [];
      const { from, to } = args.ranges[unit] as ChunkRange;
      for (let index = from; index < to; index++) {
        scope.checkCancelled();
        const count = chunkRowCounts[index] as number;
        chunk.moveTo(index, count);
        const keys = wordVector(word, chunk, scratch);
        const groups = key === undefined ? onesOf(count, scratch) : chunk.codes(key);
        const first = args.firstRows[index] as number;
        const out = scratch.take(count * CANDIDATE_SIZE);
        const size = kernels.leastOfGroups(
          ...([groups, keys, count, first, keep, heaps, counts, out] as const),
        );
        found.push(arena.u8.slice(out, out + size * CANDIDATE_SIZE));
      }
      scratch.reset();
      const sizeBytes = found.reduce((sum, { length }) => sum + length, 0);
      const all = scratch.take(sizeBytes);
      let at = all;
      for (const part of found) {
        arena.u8.set(part, at);
        at += part.length;
      }
      const rows = scratch.take(sizeBytes / 4);
      const size = sizeBytes / CANDIDATE_SIZE;
      const kept = kernels.stillLeast(all, size, keep, heaps, counts, rows);
      return arena.u32.slice(rows / 4, rows / 4 + kept);
    } finally {
      scratch.release();
    }
  },
});

/** Bytes of a row that may be wanted. */
const CANDIDATE_SIZE = 16;
