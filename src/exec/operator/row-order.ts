// The order of the rows of a table by keys, as row numbers, and where equal rows begin.
import type { SortKey } from '../../plan/expression.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { ArenaSpans } from '../vector/arena-spans.ts';
import { ChunkVectors } from '../vector/chunk.ts';
import { lowerOrder, type OrderWord, wordVector } from '../vector/order/order-key.ts';
import { sortWords } from '../vector/order/sort-job.ts';
import { Scratch } from '../vector/scratch.ts';
import { arenaOf } from './build.ts';
import type { OperatorContext } from './materialize.ts';
import { suited } from './not-suited.ts';
import type { Pipeline } from './pipeline.ts';

/** Whether the rows at two numbers have equal keys. */
export type SameRows = (a: number, b: number) => boolean;

/**
 * Sorts the rows of a table; those with equal keys stay in order. `use` is called while the keys can
 * be compared: `sameBy(count)` compares the first `count` keys only.
 */
export function withRowOrder<Result>(
  table: Pipeline,
  keys: readonly SortKey[],
  context: OperatorContext,
  use: (order: Uint32Array, sameBy: (keyCount: number) => SameRows) => Result,
): Result {
  const { engine, tables } = context;
  const lower = (count: number) => suited(lowerOrder(keys.slice(0, count), table.lowering, tables));
  const words = lower(keys.length);
  // Expressions ask for their columns first.
  const spans = new ArenaSpans(engine, arenaOf(table));
  try {
    const vectors = writeWords(table, words, spans, context);
    const order = sortWords(vectors, table.base.rowCount, engine, spans);
    return use(order, (count) => {
      if (count === keys.length) return comparing(vectors, context, spans.arena);
      if (count === 0) return () => true;
      return comparing(writeWords(table, lower(count), spans, context), context, spans.arena);
    });
  } finally {
    spans.release();
  }
}

function comparing(vectors: readonly Span[], { engine }: OperatorContext, arena: number): SameRows {
  const { u32 } = engine.arenas.get(arena);
  const starts = vectors.map(({ offset }) => offset / 4);
  const [first = 0] = starts;
  if (starts.length === 1) {
    return (a, b) =>
      u32[first + 2 * a] === u32[first + 2 * b] &&
      u32[first + 2 * a + 1] === u32[first + 2 * b + 1];
  }
  return (a, b) =>
    starts.every(
      (at) => u32[at + 2 * a] === u32[at + 2 * b] && u32[at + 2 * a + 1] === u32[at + 2 * b + 1],
    );
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
