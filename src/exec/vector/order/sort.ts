// The numbers of the rows of a dataset in the order of keys: kernels keep the first rows or sort all.
import { isShortage } from '../../../util/error.ts';
import type { VectorEngine } from '../engine.ts';
import { sortTogether } from './sort-job.ts';
import { sortInParts } from './sort-parts.ts';
import {
  candidateSize,
  candidatesWithin,
  firstCandidates,
  type OrderJobArgs,
  type TopJobArgs,
  topJob,
} from './top-job.ts';

/** For more rows than this all are sorted. */
export const KEEP_MAX = 4096;

/** The numbers of the first `keep` rows of a dataset. */
export function orderStored(
  args: Omit<TopJobArgs, 'limit' | 'keep'>,
  keep: number,
  engine: VectorEngine,
): Uint32Array {
  const order = keep > KEEP_MAX ? sortRows(args, engine) : topRows({ ...args, keep }, engine);
  return keep < order.length ? order.subarray(0, keep) : order;
}

/** Where memory has no room for the words of all rows, a part of them is sorted after the other. */
function sortRows(args: OrderJobArgs, engine: VectorEngine): Uint32Array {
  try {
    return sortTogether(args, engine);
  } catch (thrown) {
    // A task that may begin anew sorts in a scratch file then.
    const mayRepeat = engine.scratch !== undefined && engine.isFrugal === false;
    if (!isShortage(thrown) || mayRepeat) throw thrown;
    return sortInParts(args, engine);
  }
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
