// k-means of points that are known by their sums: assignment and sums in one pass an iteration.
import { type Aggregate, type Sums, SumsRefused, sumAt } from '../sums/sums.ts';
import {
  call,
  choose,
  columnOf,
  compare,
  constant,
  over,
  plus,
  shared,
  type Term,
  times,
  weightedSum,
} from '../sums/term.ts';
import type { FitContext } from '../workspace.ts';
import type { KmeansFit, KmeansOptions } from './kmeans.ts';

/** Tests of one pass; a server writes each of them out over all coordinates. */
const TEST_COUNT_MAX = 40_000;

/** Sums of two passes over the same points differ by no more than this share. */
const SAME_SHARE = 1e-12;

/**
 * Lloyd's iterations. For cosine no point may be without direction.
 * @param first initial centroids; for cosine unit vectors
 * @throws SumsRefused when there are too many centroids
 */
export function fitKmeansBySums(
  context: FitContext,
  sums: Sums,
  dimension: number,
  first: readonly Float64Array[],
  { maxIterations, metric }: Pick<KmeansOptions, 'maxIterations' | 'metric'>,
): Omit<KmeansFit, 'labels'> {
  if (first.length ** 2 * dimension > TEST_COUNT_MAX) {
    throw new SumsRefused(`${first.length} clusters of ${dimension} dimensions need rows`);
  }
  const raw = Array.from({ length: dimension }, (_, j) => columnOf(j));
  const squares = raw.map((x) => times(x, x)).reduce(plus, constant(0));
  const isCosine = metric === 'cosine';
  const norm = call('sqrt', squares);
  // For cosine points are their unit vectors, which come first among what is shared.
  const points: Term[] = isCosine ? [norm, ...raw.map((value) => over(value, shared(0)))] : [];
  const x = isCosine ? raw.map((_, j) => shared(j + 1)) : raw;
  const centroids = first.map((centroid) => centroid.slice());
  const losses: number[] = [];
  let before: readonly Float64Array[] | undefined;
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    context.checkCancelled();
    context.progress?.(iteration, maxIterations);
    const at = centroids.map((centroid) => placed(centroid, isCosine));
    const totals = pass(sums, points, x, at);
    const isSame = before?.every((total, index) => isClose(total, totals[index] as Float64Array));
    if (isSame === true) break;
    losses.push(lossOf(totals, at, dimension));
    before = totals;
    for (const [index, centroid] of centroids.entries()) {
      const total = totals[index] as Float64Array;
      const count = total[0] as number;
      if (count === 0) continue;
      for (let j = 0; j < dimension; j++) centroid[j] = (total[j + 2] as number) / count;
    }
  }
  return { centroids, losses };
}

/** For cosine a centroid is what it points to. */
function placed(centroid: Float64Array, isCosine: boolean): Float64Array {
  const norm = Math.hypot(...centroid);
  if (!isCosine) return centroid.slice();
  if (norm === 0) throw new SumsRefused('a centroid without direction needs rows');
  return centroid.map((value) => value / norm);
}

/** Of each centroid: points, their squared lengths, and their coordinates, added up. */
function pass(
  sums: Sums,
  points: readonly Term[],
  x: readonly Term[],
  centroids: readonly Float64Array[],
): Float64Array[] {
  // Half the squared distance, but for the point's own share in it.
  const distances = centroids.map((centroid) =>
    weightedSum(
      x,
      centroid.map((value) => -value),
      centroid.reduce((sum, value) => sum + value * value, 0) / 2,
    ),
  );
  const first = points.length;
  const distance = (index: number) => shared(first + index);
  const last = centroids.length - 1;
  const nearest = choose(
    centroids.slice(0, last).map((_, index) => ({
      test: {
        kind: 'all',
        tests: centroids.flatMap((_centroid, other) =>
          other > index ? [compare('<=', distance(index), distance(other))] : [],
        ),
      },
      value: constant(index),
    })),
    constant(last),
  );
  const values: Aggregate[] = [
    { kind: 'rows' },
    { kind: 'sum', of: x.map((each) => times(each, each)).reduce(plus) },
    ...x.map((of): Aggregate => ({ kind: 'sum', of })),
  ];
  const groups = sums.groups({ shared: [...points, ...distances], keys: [nearest], values });
  const totals = centroids.map(() => new Float64Array(values.length));
  for (const group of groups) {
    const total = totals[Number(group.keys[0])] as Float64Array;
    for (const index of values.keys()) total[index] = sumAt(group, index);
  }
  return totals;
}

/** The sum of squared distances from points to their centroids. */
function lossOf(
  totals: readonly Float64Array[],
  centroids: readonly Float64Array[],
  dimension: number,
): number {
  let loss = 0;
  for (const [index, total] of totals.entries()) {
    loss += total[1] as number;
    for (let j = 0; j < dimension; j++) {
      const center = (centroids[index] as Float64Array)[j] as number;
      loss += center * ((total[0] as number) * center - 2 * (total[j + 2] as number));
    }
  }
  return loss;
}

function isClose(a: Float64Array, b: Float64Array): boolean {
  if (a[0] !== b[0]) return false;
  const scale = Math.sqrt((a[0] as number) * (a[1] as number));
  return a.every(
    (value, i) =>
      Math.abs(value - (b[i] as number)) <= SAME_SHARE * (i === 1 ? (a[1] as number) : scale),
  );
}
