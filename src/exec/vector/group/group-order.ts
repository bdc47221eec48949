// The order of groups: their sort keys become words, of which the first few are selected or all are
// sorted.
import type { Arena } from '../../../value/column/arena.ts';
import type { Span } from '../../../value/column/snapshot.ts';
import { threadKernels } from '../../thread-memory.ts';
import type { ArenaSpans } from '../arena-spans.ts';
import type { VectorEngine } from '../engine.ts';
import { sortWords } from '../order/sort-job.ts';
import type { KernelColumn } from './group-column.ts';

/** For more groups than this all are sorted. */
const KEEP_MAX = 4096;

/** A Uint64 for each group, in the order of its values: see order.ts of the kernels. */
export function wordsOfColumn(
  column: KernelColumn,
  descending: boolean,
  memory: Arena,
  spans: ArenaSpans,
): Span {
  const kernels = threadKernels(memory.id);
  if (column.kind === 'codes') {
    const { codes } = column;
    const rankOf = ranksOf(column.order());
    const ranks = spans.allocate(codes.length * 4).offset / 4;
    for (let i = 0; i < codes.length; i++) {
      memory.i32[ranks + i] = rankOf[codes[i] as number] as number;
    }
    const words = spans.allocateZeroed(codes.length * 8);
    const top = descending ? rankOf.length - 1 : -1;
    kernels.packKeyI32(ranks * 4, 0, codes.length, 1, top, 32, words.offset);
    return words;
  }
  const { values, nulls } = column;
  const numbers = spans.allocate(values.length * 8).offset;
  memory.f64.set(values, numbers / 8);
  let valid = 0;
  if (nulls !== undefined) {
    valid = spans.allocate(values.length).offset;
    for (let i = 0; i < nulls.length; i++) memory.u8[valid + i] = nulls[i] === 1 ? 0 : 1;
  }
  const words = spans.allocate(values.length * 8);
  kernels.orderKeysF64(numbers, valid, values.length, descending ? 1 : 0, words.offset);
  return words;
}

function ranksOf(order: Uint32Array): Int32Array {
  const ranks = new Int32Array(order.length);
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank] as number] = rank;
  return ranks;
}

/**
 * Positions of the first `keep` groups (undefined: of all) in the order of their words, from the
 * first word to the last; equal ones stay in order.
 */
export function orderGroups(
  words: readonly Span[],
  count: number,
  keep: number | undefined,
  engine: VectorEngine,
  spans: ArenaSpans,
): Uint32Array {
  if (keep === undefined || keep > KEEP_MAX) {
    return sortWords(words, count, engine, spans).subarray(0, keep);
  }
  return firstGroups(words, count, keep, engine.arenas.get(spans.arena), spans);
}

function firstGroups(
  words: readonly Span[],
  count: number,
  keep: number,
  memory: Arena,
  spans: ArenaSpans,
): Uint32Array {
  const kernels = threadKernels(memory.id);
  const { u32 } = memory;
  if (keep === 0) return new Uint32Array(0);
  const heap = spans.allocate(keep * 8).offset;
  const kept: number[] = [];
  // Positions that the words so far do not tell apart from the last one that is kept.
  let open: { readonly address: number; readonly count: number } | undefined;
  for (const word of words) {
    const size = open?.count ?? count;
    const wanted = keep - kept.length;
    if (size <= wanted) break;
    const keys = open === undefined ? word.offset : spans.allocate(size * 8).offset;
    if (open !== undefined) kernels.gatherU64(word.offset, open.address, size, keys);
    kernels.keepLeast(keys, 0, size, heap, 0, wanted);
    const selected = spans.allocate(size * 4).offset;
    const limit = memory.i64[heap / 8] as bigint;
    const found = kernels.selectAtMost(keys, 0, size, limit, selected);
    const [low, high] = [u32[heap / 4] as number, u32[heap / 4 + 1] as number];
    const start = word.offset / 4;
    if (open !== undefined) kernels.gatherI32(open.address, selected, found, selected);
    let same = 0;
    for (let i = 0; i < found; i++) {
      const position = u32[selected / 4 + i] as number;
      const isSame = u32[start + 2 * position] === low && u32[start + 2 * position + 1] === high;
      if (isSame) u32[selected / 4 + same++] = position;
      else kept.push(position);
    }
    open = { address: selected, count: same };
  }
  const rest = Math.min(open?.count ?? count, keep - kept.length);
  for (let i = 0; i < rest; i++) {
    kept.push(open === undefined ? i : (u32[open.address / 4 + i] as number));
  }
  const starts = words.map(({ offset }) => offset / 4);
  return Uint32Array.from(kept).sort((a, b) => {
    for (const start of starts) {
      const order =
        (u32[start + 2 * a + 1] as number) - (u32[start + 2 * b + 1] as number) ||
        (u32[start + 2 * a] as number) - (u32[start + 2 * b] as number);
      if (order !== 0) return order;
    }
    return a - b;
  });
}
