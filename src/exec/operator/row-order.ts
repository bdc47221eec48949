// The order of the rows of a table by keys, as row numbers, and where rows with other keys begin.
import type { SortKey } from '../../plan/expression.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { threadKernels } from '../thread-memory.ts';
import { ArenaSpans } from '../vector/arena-spans.ts';
import { ChunkVectors } from '../vector/chunk.ts';
import { lowerOrder, type OrderWord, wordVector } from '../vector/order/order-key.ts';
import { sortWords } from '../vector/order/sort-job.ts';
import { Scratch } from '../vector/scratch.ts';
import { arenaOf } from './build.ts';
import type { OperatorContext } from './materialize.ts';
import { suited } from './not-suited.ts';
import type { Pipeline } from './pipeline.ts';

/**
 * 1 at each position whose row differs from the one before it in the first `keyCount` keys, and at
 * the first.
 */
export type ChangesBy = (keyCount: number) => Uint8Array;

/**
 * Sorts the rows of a table; those with equal keys stay in order. `use` is called while the keys can
 * still be compared.
 */
export function withRowOrder<Result>(
  table: Pipeline,
  keys: readonly SortKey[],
  context: OperatorContext,
  use: (order: Uint32Array, changesBy: ChangesBy) => Result,
): Result {
  const { engine, tables } = context;
  const lower = (count: number) => suited(lowerOrder(keys.slice(0, count), table.lowering, tables));
  // Expressions ask for their columns, which tell in which arena these are.
  const words = lower(keys.length);
  const spans = new ArenaSpans(engine, arenaOf(table));
  try {
    const { rowCount } = table.base;
    const vectors = writeWords(table, words, spans, context);
    const order = sortWords(vectors, rowCount, engine, spans);
    return use(order, (count) => {
      const { u8, u32 } = engine.arenas.get(spans.arena);
      const rows = spans.allocate(rowCount * 4).offset;
      u32.set(order, rows / 4);
      const out = spans.allocateZeroed(rowCount).offset;
      if (rowCount > 0) u8[out] = 1;
      const compared =
        count === keys.length ? vectors : writeWords(table, lower(count), spans, context);
      for (const { offset } of compared) {
        threadKernels(spans.arena).markChanges(offset, rows, rowCount, out);
      }
      return u8.slice(out, out + rowCount);
    });
  } finally {
    spans.release();
  }
}

/** A Uint64 a row for each word. */
function writeWords(
  table: Pipeline,
  words: readonly OrderWord[],
  spans: ArenaSpans,
  { compiler }: OperatorContext,
): Span[] {
  const { rowCount, chunkRowCounts } = table.base;
  const vectors = words.map(() => spans.allocate(rowCount * 8));
  const scratch = new Scratch(spans.arena);
  try {
    const chunk = new ChunkVectors(scratch, table.scope.columns);
    let start = 0;
    chunkRowCounts.forEach((count, index) => {
      compiler.runtime.scope.checkCancelled();
      chunk.moveTo(index, count);
      words.forEach((word, i) => {
        const from = wordVector(word, chunk, scratch);
        const to = (vectors[i] as Span).offset + start * 8;
        scratch.arena.u8.copyWithin(to, from, from + count * 8);
      });
      start += count;
    });
    return vectors;
  } finally {
    scratch.release();
  }
}
