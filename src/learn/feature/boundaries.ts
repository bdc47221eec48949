// Where the buckets of a numeric feature begin.
import { type JobContext, NEVER_CANCELLED } from '../workspace.ts';
import { BUCKET_COUNT_MAX } from './feature.ts';

/** Distinct values in ascending order, and the weight of the rows that have each. */
export interface WeightedValues {
  readonly values: Float64Array;
  readonly weights: Float64Array;
}

/**
 * Boundaries between neighbouring values when there are at most as many (255), otherwise between that
 * many buckets of about the same weight; always halfway between two values.
 */
export function bucketBoundaries(
  { values, weights }: WeightedValues,
  bucketCountMax = BUCKET_COUNT_MAX,
): Float64Array {
  const boundaries: number[] = [];
  if (values.length <= bucketCountMax) {
    for (let i = 1; i < values.length; i++) boundaries.push(boundaryBefore(values, i));
    return Float64Array.from(boundaries);
  }
  let weightLeft = 0;
  for (const weight of weights) weightLeft += weight;
  let bucketsLeft = bucketCountMax;
  let filled = 0;
  for (let i = 0; i < values.length - 1 && bucketsLeft > 1; i++) {
    filled += weights[i] as number;
    // Closing as soon as the next value would overshoot by more than is short now.
    if (filled + (weights[i + 1] as number) / 2 < weightLeft / bucketsLeft) continue;
    boundaries.push(boundaryBefore(values, i + 1));
    weightLeft -= filled;
    filled = 0;
    bucketsLeft--;
  }
  return Float64Array.from(boundaries);
}

/** Greater than the value before, at most the value at `index`; their midpoint where it exists. */
function boundaryBefore(values: Float64Array, index: number): number {
  const low = values[index - 1] as number;
  const high = values[index] as number;
  const sum = low + high;
  const middle = Number.isFinite(sum) ? sum / 2 : low / 2 + high / 2;
  return middle > low && middle < high ? middle : high;
}

/** Values looked up between two looks at the cancel flag. */
const VALUES_PER_CHECK = 65_536;

/** Sorts, unites equal values and drops those without weight; `weights` absent: all weigh 1. */
export function weightedValues(
  values: Float64Array,
  weights?: Float64Array,
  scope: JobContext = NEVER_CANCELLED,
): WeightedValues {
  const sorted = values.slice().sort();
  const distinct = new Float64Array(sorted.length);
  let count = 0;
  for (const value of sorted) {
    if (count === 0 || value !== distinct[count - 1]) distinct[count++] = value;
  }
  const sums = new Float64Array(count);
  if (weights === undefined) {
    addCounts(sums, distinct, sorted, 1);
    return { values: distinct.subarray(0, count), weights: sums };
  }
  scope.checkCancelled();
  const kinds = weightKinds(weights);
  if (kinds !== undefined) {
    for (const kind of kinds) {
      scope.checkCancelled();
      const own =
        kinds.length === 1 ? sorted : values.filter((_, row) => weights[row] === kind).sort();
      addCounts(sums, distinct, own, kind);
    }
    return withoutWeightless(distinct.subarray(0, count), sums);
  }
  for (let i = 0; i < values.length; i++) {
    if (i % VALUES_PER_CHECK === 0) scope.checkCancelled();
    const at = positionOf(distinct, count, values[i] as number);
    sums[at] = (sums[at] as number) + (weights[i] as number);
  }
  return withoutWeightless(distinct.subarray(0, count), sums);
}

/** Equalised labels make a few different weights; each costs a sort, which is less than look-ups. */
const WEIGHT_KIND_COUNT_MAX = 4;

/** The different weights, or undefined when there are many. */
function weightKinds(weights: Float64Array): number[] | undefined {
  const kinds: number[] = [];
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as number;
    if (kinds.includes(weight)) continue;
    if (kinds.length === WEIGHT_KIND_COUNT_MAX) return undefined;
    kinds.push(weight);
  }
  return kinds;
}

/** Adds `weight` to the sum of the value, for each of the sorted values, all of which are listed. */
function addCounts(
  sums: Float64Array,
  distinct: Float64Array,
  sorted: Float64Array,
  weight: number,
): void {
  let at = 0;
  for (let from = 0; from < sorted.length; ) {
    const value = sorted[from] as number;
    let to = from + 1;
    while (to < sorted.length && sorted[to] === value) to++;
    while ((distinct[at] as number) < value) at++;
    sums[at] = (sums[at] as number) + (to - from) * weight;
    from = to;
  }
}

function withoutWeightless(values: Float64Array, weights: Float64Array): WeightedValues {
  const keep = (_: number, index: number) => (weights[index] as number) > 0;
  if (weights.every((weight) => weight > 0)) return { values, weights };
  return { values: values.filter(keep), weights: weights.filter((weight) => weight > 0) };
}

function positionOf(sorted: Float64Array, count: number, value: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
