// ORDER BY over a pipeline: rows are put into a table, whose keys become words that are sorted by
// radix; only rows that tie are asked for their names.
import type { SortKey } from '../../plan/expression.ts';
import type { SortNode } from '../../plan/plan.ts';
import { every } from '../../util/every.ts';
import { comparePaths, type Path } from '../../value/path.ts';
import { hashPath } from '../../value/path-hash.ts';
import { cutChunks } from '../vector/chunk-range.ts';
import { lowerOrder } from '../vector/order/order-key.ts';
import { KEEP_MAX, orderStored } from '../vector/order/sort.ts';
import { VectorTable } from '../vector/table.ts';
import { arenaOf } from './build.ts';
import { withOutputNames } from './join/join.ts';
import { materialize, type OperatorContext, type Top } from './materialize.ts';
import { NotSuited, orUnsuited, suited } from './not-suited.ts';
import type { Pipeline } from './pipeline.ts';
import { withRowOrder } from './row-order.ts';
import { pickRows } from './slice.ts';
import { roomInScratch } from './spill/room.ts';
import { sortedParts } from './spill/sorted-parts.ts';

const NAMES_PER_CHECK = 256;
const UNIT_COUNT_MAX = 16;

/** @throws NotSuited */
export function sortPipeline(
  { keys, ties, keep, late }: Omit<SortNode, 'input'>,
  pipeline: Pipeline,
  context: OperatorContext,
): Pipeline {
  if (late) throw new NotSuited();
  const parted = sortInScratch(keys, ties, keep, pipeline, context);
  if (parted !== undefined) return parted;
  const stored = ties === 'row-hash' ? sortStored(keys, keep, pipeline, context) : undefined;
  if (stored !== undefined) return stored;
  const list = suited(pipeline.outputs.list());
  const keyOutputs = keys.map(({ expression }, index) => ({
    path: [keyName(index)],
    expression: suited(pipeline.resolve(expression)),
  }));
  const byName = ties === 'row-hash';
  const options = { named: true, top: topOf(keys, keep, pipeline, context) };
  const table = materialize(pipeline, [...list, ...keyOutputs], context, options);
  const sortKeys = keys.map((key, index): SortKey => {
    const expression = table.outputs.column([keyName(index)]);
    if (typeof expression !== 'object') throw new NotSuited();
    return { ...key, expression };
  });
  const { scope } = context.compiler.runtime;
  const order = withRowOrder(table, sortKeys, context, (rows, changesBy) => {
    if (byName) {
      const nameOf = (row: number) => table.namer(() => row).name;
      const look = every(NAMES_PER_CHECK, () => scope.checkCancelled());
      breakTies(rows, keep ?? rows.length, { changes: changesBy(keys.length), nameOf, look });
    }
    return keep === undefined ? rows : rows.slice(0, keep);
  });
  return withOutputNames(pipeline, pickRows(table, order, context));
}

/** Bytes of a row that is sorted in memory, about. */
const ROW_SIZE = 40;

/** Undefined when memory has room for all rows, or has to do. */
function sortInScratch(
  keys: readonly SortKey[],
  ties: SortNode['ties'],
  keep: number | undefined,
  pipeline: Pipeline,
  context: OperatorContext,
): Pipeline | undefined {
  const { engine } = context;
  const { rowCount } = pipeline.base;
  const room = roomInScratch(Math.min(rowCount, keep ?? rowCount) * ROW_SIZE, engine);
  if (room === undefined) return undefined;
  return orUnsuited(() => sortedParts(pipeline, keys, ties === 'row-hash', room, context));
}

/** What tells most rows that they are not kept before they are put into the table. */
function topOf(
  keys: readonly SortKey[],
  keep: number | undefined,
  pipeline: Pipeline,
  { tables }: OperatorContext,
): Top | undefined {
  if (keep === undefined || keep === 0 || keep > KEEP_MAX) return undefined;
  const resolved = keys.map((key) => ({
    ...key,
    expression: suited(pipeline.resolve(key.expression)),
  }));
  const word = lowerOrder(resolved, pipeline.lowering, tables)?.[0];
  return word && { word, keep };
}

/** Rows of a dataset as they lie are sorted by number; nothing of them is copied before. */
function sortStored(
  keys: readonly SortKey[],
  keep: number | undefined,
  pipeline: Pipeline,
  context: OperatorContext,
): Pipeline | undefined {
  const { base, scope, filter } = pipeline;
  if (!pipeline.isPlain || !(base instanceof VectorTable) || keys.length === 0) return undefined;
  const resolved = keys.map((key) => ({
    ...key,
    expression: suited(pipeline.resolve(key.expression)),
  }));
  const words = lowerOrder(resolved, pipeline.lowering, context.tables);
  if (words === undefined) return undefined;
  const { chunkRowCounts, rowCount, snapshot } = base;
  const args = {
    arena: arenaOf(pipeline),
    columns: scope.columns,
    ...{ chunkRowCounts, rowCount, filter, words },
    ranges: cutChunks(chunkRowCounts.length, UNIT_COUNT_MAX),
    rowNames: snapshot.rowNames,
  };
  const order = orderStored(args, keep ?? Number.POSITIVE_INFINITY, context.engine);
  return pickRows(pipeline, order, context);
}

/** No column of a query is called so. */
function keyName(index: number): string {
  return `\u0000sort ${index}`;
}

interface Ties {
  /** 1 where the keys are others than before */
  readonly changes: Uint8Array;
  nameOf(row: number): Path;
  look(): void;
}

/** Puts rows with equal words in the order of the hashes of their names, then of the names. */
function breakTies(order: Uint32Array, keep: number, { changes, nameOf, look }: Ties): void {
  for (let from = 0; from < Math.min(keep, order.length); ) {
    let to = from + 1;
    while (to < order.length && changes[to] === 0) to++;
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
