// Measures of a binary model at every threshold, from the rows of its test.

export interface Tested {
  readonly scores: Float64Array;
  /** 1: the label is true */
  readonly labels: Uint8Array;
  readonly weights: Float64Array;
}

/** Sums of weights; a row counts as positive when its score is at least the threshold. */
export interface Confusion {
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
  readonly trueNegatives: number;
}

export interface CurvePoint extends Confusion {
  readonly threshold: number;
}

/** One point for each distinct score, from the highest to the lowest, and one above all. */
export function curveOf({ scores, labels, weights }: Tested): CurvePoint[] {
  const order = Array.from(scores, (_, row) => row).sort(
    (a, b) => (scores[b] as number) - (scores[a] as number),
  );
  let positives = 0;
  let negatives = 0;
  for (let row = 0; row < scores.length; row++) {
    if (labels[row] === 1) positives += weights[row] as number;
    else negatives += weights[row] as number;
  }
  const points: CurvePoint[] = [];
  let truePositives = 0;
  let falsePositives = 0;
  const add = (threshold: number) =>
    points.push({
      ...{ threshold, truePositives, falsePositives },
      falseNegatives: positives - truePositives,
      trueNegatives: negatives - falsePositives,
    });
  add(Number.POSITIVE_INFINITY);
  order.forEach((row, index) => {
    if (labels[row] === 1) truePositives += weights[row] as number;
    else falsePositives += weights[row] as number;
    const next = order[index + 1];
    if (next === undefined || scores[next] !== scores[row]) add(scores[row] as number);
  });
  return points;
}

/** The last point whose threshold is at least the given one. */
export function pointAt(points: readonly CurvePoint[], threshold: number): CurvePoint {
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((points[middle] as CurvePoint).threshold >= threshold) low = middle;
    else high = middle - 1;
  }
  return points[low] as CurvePoint;
}

/** By trapezoids, so ties count half. */
export function areaUnder(points: readonly CurvePoint[]): number {
  let area = 0;
  for (let index = 1; index < points.length; index++) {
    const [x0, y0] = rocPoint(points[index - 1] as CurvePoint);
    const [x1, y1] = rocPoint(points[index] as CurvePoint);
    area += ((x1 - x0) * (y0 + y1)) / 2;
  }
  return area;
}

export function rocPoint(point: Confusion): [falsePositiveRate: number, truePositiveRate: number] {
  const { truePositives, falsePositives, falseNegatives, trueNegatives } = point;
  return [
    share(falsePositives, falsePositives + trueNegatives),
    share(truePositives, truePositives + falseNegatives),
  ];
}

/** Without a positive prediction nothing was wrong. */
export function precisionPoint(point: Confusion): [recall: number, precision: number] {
  const { truePositives, falsePositives, falseNegatives } = point;
  const predicted = truePositives + falsePositives;
  return [
    share(truePositives, truePositives + falseNegatives),
    predicted === 0 ? 1 : truePositives / predicted,
  ];
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

const CALIBRATION_BINS = 10;

/** Mean score and share of true labels of rows in bins of equal count. */
export function calibrationOf({
  scores,
  labels,
  weights,
}: Tested): [score: number, share: number][] {
  const order = Array.from(scores, (_, row) => row).sort(
    (a, b) => (scores[a] as number) - (scores[b] as number),
  );
  const found: [number, number][] = [];
  for (let bin = 0; bin < CALIBRATION_BINS; bin++) {
    const from = Math.floor((bin * order.length) / CALIBRATION_BINS);
    const to = Math.floor(((bin + 1) * order.length) / CALIBRATION_BINS);
    let weight = 0;
    let score = 0;
    let positive = 0;
    for (const row of order.slice(from, to)) {
      const own = weights[row] as number;
      weight += own;
      score += own * (scores[row] as number);
      if (labels[row] === 1) positive += own;
    }
    if (weight > 0) found.push([score / weight, positive / weight]);
  }
  return found;
}

export interface Costs {
  readonly falsePositive: number;
  readonly falseNegative: number;
}

export function costAt({ falsePositives, falseNegatives }: Confusion, costs: Costs): number {
  return falsePositives * costs.falsePositive + falseNegatives * costs.falseNegative;
}

/** The point of the least cost; of equals the one with the highest threshold. */
export function cheapest(points: readonly CurvePoint[], costs: Costs): CurvePoint {
  let best = points[0] as CurvePoint;
  for (const point of points) if (costAt(point, costs) < costAt(best, costs)) best = point;
  return best;
}

/** At most so many points, evenly taken, the ends kept: a picture shows no more. */
export function thinned<Point>(points: readonly Point[], count: number): Point[] {
  if (points.length <= count) return [...points];
  const step = (points.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => points[Math.round(index * step)] as Point);
}
