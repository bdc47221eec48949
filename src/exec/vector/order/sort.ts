// ORDER BY over columns: kernels keep the first rows or sort all of them by number, and only rows
// that somebody reads are made.
import type { SortNode } from '../../../plan/plan.ts';
import type { Compiler } from '../../general/compiler.ts';
import { cutChunks, homeArena } from '../chunk-range.ts';
import type { VectorEngine } from '../engine.ts';
import { matchFilteredScan } from '../filtered-scan.ts';
import { NumberedRows } from '../numbered-rows.ts';
import { Lowering } from '../program/lower.ts';
import { dictionaryTables } from '../program/row-function.ts';
import { RowReader } from '../row-reader.ts';
import { VectorTable } from '../table.ts';
import { lowerOrder } from './order-key.ts';
import { sortRows } from './sort-job.ts';
import {
  candidateSize,
  candidatesWithin,
  firstCandidates,
  type TopJobArgs,
  topJob,
} from './top-job.ts';

/** For more rows than this all are sorted. */
const KEEP_MAX = 4096;
const UNIT_COUNT_MAX = 16;

/** Undefined when the general operator has to do it. */
export function vectorSort(
  node: SortNode,
  compiler: Compiler,
  engine: VectorEngine,
): NumberedRows | undefined {
  const input = matchFilteredScan(node.input);
  if (input === undefined || node.late) return undefined;
  if (node.ties !== 'row-hash' || node.keys.length === 0) return undefined;
  const table = VectorTable.of(compiler.runtime.namespace.dataset(input.scan.dataset));
  if (table === undefined || table.snapshot.rowCount < engine.rowCountMin) return undefined;
  const tables = dictionaryTables(engine.arenas, compiler);
  try {
    const lowering = new Lowering(table, tables);
    const condition = input.filter?.condition;
    const filter = condition && lowering.truth(condition);
    if (condition !== undefined && filter === undefined) return undefined;
    const words = lowerOrder(node.keys, lowering, tables);
    if (words === undefined) return undefined;
    const { snapshot, columns } = table;
    const chunkCount = snapshot.chunkRowCounts.length;
    const args = {
      arena: homeArena(columns),
      columns,
      chunkRowCounts: snapshot.chunkRowCounts,
      ranges: cutChunks(chunkCount, UNIT_COUNT_MAX),
      rowCount: snapshot.rowCount,
      rowNames: snapshot.rowNames,
      filter,
      words,
    };
    const { keep = Number.POSITIVE_INFINITY } = node;
    const order = orderStored(args, keep, engine);
    const reader = new RowReader(snapshot, input.scan.columns, engine.arenas, table.ts);
    return new NumberedRows(reader, order);
  } finally {
    tables.release();
  }
}

/** The numbers of the first `keep` rows of a dataset. */
export function orderStored(
  args: Omit<TopJobArgs, 'limit' | 'keep'>,
  keep: number,
  engine: VectorEngine,
): Uint32Array {
  const order = keep > KEEP_MAX ? sortRows(args, engine) : topRows({ ...args, keep }, engine);
  return keep < order.length ? order.subarray(0, keep) : order;
}

function topRows(args: Omit<TopJobArgs, 'limit'>, engine: VectorEngine): Uint32Array {
  const limit = engine.arenas.allocateIn(args.arena, 8);
  try {
    const { i64 } = engine.arenas.get(args.arena);
    i64[limit.offset / 8] = -1n;
    const found = engine.parallel.run(topJob, { ...args, limit }, args.ranges.length);
    const size = candidateSize(args.words.length);
    // A unit keeps rows up to its own limit; a later unit may have lowered the common one.
    const candidates = candidatesWithin(concat(found), size, i64[limit.offset / 8] as bigint);
    const first = firstCandidates(candidates, candidates.length / size, size, args.keep);
    return Uint32Array.from({ length: first.length / size }, (_, i) => first[i * size] as number);
  } finally {
    engine.arenas.free(limit);
  }
}

function concat(parts: readonly Uint32Array[]): Uint32Array {
  const out = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}
