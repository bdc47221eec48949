// ORDER BY over a pipeline: rows are put into a table, whose keys become words that are sorted by
// radix; only rows that tie are asked for their names.
import type { SortKey } from '../../plan/expression.ts';
import type { SortNode } from '../../plan/plan.ts';
import { every } from '../../util/every.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { comparePaths, type Path } from '../../value/path.ts';
import { hashPath } from '../../value/path-hash.ts';
import { ArenaSpans } from '../vector/arena-spans.ts';
import { ChunkVectors } from '../vector/chunk.ts';
import { lowerOrder, type OrderWord, wordVector } from '../vector/order/order-key.ts';
import { sortWords } from '../vector/order/sort-job.ts';
import { Scratch } from '../vector/scratch.ts';
import { arenaOf } from './build.ts';
import { withOutputNames } from './join.ts';
import { materialize, type OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import type { Pipeline } from './pipeline.ts';
import { pickRows } from './slice.ts';

const NAMES_PER_CHECK = 256;

/** @throws NotSuited */
export function sortPipeline(
  { keys, ties, keep, late }: SortNode,
  pipeline: Pipeline,
  context: OperatorContext,
): Pipeline {
  if (late) throw new NotSuited();
  const list = suited(pipeline.outputs.list());
  const keyOutputs = keys.map(({ expression }, index) => ({
    path: [keyName(index)],
    expression: suited(pipeline.resolve(expression)),
  }));
  const byName = ties === 'row-hash';
  const table = materialize(pipeline, [...list, ...keyOutputs], context, { named: true });
  const sortKeys = keys.map(({ descending }, index): SortKey => {
    const expression = table.outputs.column([keyName(index)]);
    if (typeof expression !== 'object') throw new NotSuited();
    return { expression, descending };
  });
  const words = suited(lowerOrder(sortKeys, table.lowering, context.tables));
  const nameOf = byName ? (row: number) => table.namer(() => row) : undefined;
  const order = orderRows(table, words, nameOf, keep, context);
  return withOutputNames(pipeline, pickRows(table, order, context));
}

/** No column of a query is called so. */
function keyName(index: number): string {
  return `\u0000sort ${index}`;
}

function orderRows(
  table: Pipeline,
  words: readonly OrderWord[],
  nameOf: ((row: number) => Path) | undefined,
  keep: number | undefined,
  { engine, compiler }: OperatorContext,
): Uint32Array {
  const spans = new ArenaSpans(engine, arenaOf(table));
  try {
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
    } finally {
      scratch.release();
    }
    const order = sortWords(vectors, rowCount, engine, spans);
    if (nameOf !== undefined) {
      const { u32 } = engine.arenas.get(spans.arena);
      const starts = vectors.map(({ offset }) => offset / 4);
      const same = (a: number, b: number) =>
        starts.every(
          (at) =>
            u32[at + 2 * a] === u32[at + 2 * b] && u32[at + 2 * a + 1] === u32[at + 2 * b + 1],
        );
      const { scope } = compiler.runtime;
      const look = every(NAMES_PER_CHECK, () => scope.checkCancelled());
      breakTies(order, keep ?? rowCount, { same, nameOf, look });
    }
    return keep === undefined ? order : order.slice(0, keep);
  } finally {
    spans.release();
  }
}

interface Ties {
  same(a: number, b: number): boolean;
  nameOf(row: number): Path;
  look(): void;
}

/** Puts rows with equal words in the order of the hashes of their names, then of the names. */
function breakTies(order: Uint32Array, keep: number, { same, nameOf, look }: Ties): void {
  for (let from = 0; from < Math.min(keep, order.length); ) {
    let to = from + 1;
    while (to < order.length && same(order[from] as number, order[to] as number)) to++;
    if (to - from > 1) {
      const rows = Array.from(order.subarray(from, to), (row) => {
        look();
        const name = nameOf(row);
        return { row, name, hash: hashPath(name) };
      });
      rows.sort((a, b) => {
        if (a.hash !== b.hash) return a.hash < b.hash ? -1 : 1;
        return comparePaths(a.name, b.name) || a.row - b.row;
      });
      order.set(
        rows.map(({ row }) => row),
        from,
      );
    }
    from = to;
  }
}
