// Window functions that only ask where a row stands.
import { type Arrangement, forEachPartition, peersOf } from './arrangement.ts';

/** What a row gets by its position, and where its partition begins and ends. */
type Ranking = (arrangement: Arrangement) => (position: number, from: number, to: number) => number;

const rank: Ranking = (arrangement) => {
  const { groupStarts, groupOf } = peersOf(arrangement);
  return (position, from) => 1 + (groupStarts[groupOf[position] as number] as number) - from;
};

const RANKINGS: Readonly<Record<string, Ranking>> = {
  row_number: () => (position, from) => position - from + 1,
  rank,
  dense_rank: (arrangement) => {
    const { groupOf } = peersOf(arrangement);
    return (position, from) => 1 + (groupOf[position] as number) - (groupOf[from] as number);
  },
  percent_rank: (arrangement) => {
    const rankOf = rank(arrangement);
    return (position, from, to) =>
      to - from === 1 ? 0 : (rankOf(position, from, to) - 1) / (to - from - 1);
  },
  cume_dist: (arrangement) => {
    const { groupStarts, groupOf } = peersOf(arrangement);
    return (position, from, to) =>
      ((groupStarts[(groupOf[position] as number) + 1] as number) - from) / (to - from);
  },
};

/** Undefined when the function asks for more. @returns a number for each row */
export function rankRows(name: string, arrangement: Arrangement): Float64Array | undefined {
  const ranking = Object.hasOwn(RANKINGS, name) ? RANKINGS[name] : undefined;
  if (ranking === undefined) return undefined;
  return numberRows(arrangement, ranking(arrangement));
}

/** Buckets of nearly equal size: the first ones have one row more. */
export function bucketRows(bucketCount: number, arrangement: Arrangement): Float64Array {
  return numberRows(arrangement, (position, from, to) => {
    const at = position - from;
    const size = Math.floor((to - from) / bucketCount);
    const larger = (to - from) % bucketCount;
    const edge = larger * (size + 1);
    const bucket =
      at < edge ? Math.floor(at / (size + 1)) : larger + Math.floor((at - edge) / size);
    return bucket + 1;
  });
}

function numberRows(
  arrangement: Arrangement,
  number: (position: number, from: number, to: number) => number,
): Float64Array {
  const { order } = arrangement;
  const values = new Float64Array(order.length);
  forEachPartition(arrangement, (from, to) => {
    for (let position = from; position < to; position++) {
      values[order[position] as number] = number(position, from, to);
    }
  });
  return values;
}
