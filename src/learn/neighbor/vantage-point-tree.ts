// Exact neighbors by a tree of vantage points: Yianilos, "Data structures and algorithms for nearest
// neighbor search in general metric spaces", SODA 1993.
import { flatIndex, NearestPoints, type NeighborIndex, type PointSpace } from './point-space.ts';

/** In more dimensions distances are too alike for the tree to leave anything out. */
const WIDTH_MAX = 24;
/** Subtrees of so few points are looked at one by one. */
const LEAF_SIZE = 16;

/** @param check called now and then while the tree is built */
export function vantagePointTree(space: PointSpace, check: () => void): NeighborIndex {
  const flat = flatIndex(space);
  // The triangle inequality is what the tree relies on; cosine distances do not keep it.
  const isWorthIt = space.metric === 'euclidean' && space.width <= WIDTH_MAX;
  return isWorthIt && space.count > LEAF_SIZE * 4 ? new Tree(space, flat, check) : flat;
}

class Tree implements NeighborIndex {
  readonly #space: PointSpace;
  readonly #flat: NeighborIndex;
  /** points; a subtree is a range of which the first is the vantage point */
  readonly #points: Int32Array;
  /** by position of the vantage point: the distance that parts its inner from its outer half */
  readonly #radii: Float64Array;

  constructor(space: PointSpace, flat: NeighborIndex, check: () => void) {
    this.#space = space;
    this.#flat = flat;
    this.#points = Int32Array.from({ length: space.count }, (_, index) => index);
    this.#radii = new Float64Array(space.count);
    const distances = new Float64Array(space.count);
    const waiting = [[0, space.count]];
    for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
      const [from = 0, to = 0] = range;
      if (to - from <= LEAF_SIZE) continue;
      check();
      waiting.push(...this.#part(from, to, distances));
    }
  }

  /** Orders a range by distance to its vantage point. @returns its halves */
  #part(from: number, to: number, distances: Float64Array): [number, number][] {
    const points = this.#points;
    const { coordinates, width } = this.#space;
    // Any point will do; the middle one spares data that came in order the worst of trees.
    const chosen = (from + to) >> 1;
    const vantage = points[chosen] as number;
    points[chosen] = points[from] as number;
    points[from] = vantage;
    const query = coordinates.subarray(vantage * width, (vantage + 1) * width);
    const distanceTo = this.#space.distancesTo(query);
    for (let i = from + 1; i < to; i++) {
      distances[i] = distanceTo(points[i] as number, Number.POSITIVE_INFINITY);
    }
    const middle = (from + 1 + to) >> 1;
    select(points, distances, from + 1, to - 1, middle);
    this.#radii[from] = distances[middle] as number;
    return [
      [from + 1, middle],
      [middle, to],
    ];
  }

  search(query: Float32Array, countMax: number, distanceMax: number) {
    if (countMax * 4 > this.#space.count || countMax === 0) {
      return this.#flat.search(query, countMax, distanceMax);
    }
    const nearest = new NearestPoints(countMax, distanceMax);
    this.#visit(0, this.#space.count, this.#space.distancesTo(query), nearest);
    return nearest.neighbors();
  }

  #visit(
    from: number,
    to: number,
    distanceTo: (point: number, bound: number) => number,
    nearest: NearestPoints,
  ): void {
    const points = this.#points;
    if (to - from <= LEAF_SIZE) {
      for (let i = from; i < to; i++) {
        const point = points[i] as number;
        nearest.add(point, distanceTo(point, nearest.bound));
      }
      return;
    }
    const vantage = points[from] as number;
    const distance = distanceTo(vantage, Number.POSITIVE_INFINITY);
    nearest.add(vantage, distance);
    const middle = (from + 1 + to) >> 1;
    const radius = this.#radii[from] as number;
    // Rounding must not leave out a point that is as near as the last one.
    const slack = (distance + radius) * 1e-12;
    const isInside = distance < radius;
    for (const inner of [isInside, !isInside]) {
      const gap = inner ? distance - radius : radius - distance;
      if (gap - slack > nearest.bound) continue;
      if (inner) this.#visit(from + 1, middle, distanceTo, nearest);
      else this.#visit(middle, to, distanceTo, nearest);
    }
  }
}

/** Quickselect (Hoare): afterwards no key before `middle` is larger than its, none behind smaller. */
function select(
  points: Int32Array,
  keys: Float64Array,
  first: number,
  last: number,
  middle: number,
): void {
  let low = first;
  let high = last;
  while (low < high) {
    const pivot = keys[(low + high) >> 1] as number;
    let i = low;
    let j = high;
    while (i <= j) {
      while ((keys[i] as number) < pivot) i++;
      while ((keys[j] as number) > pivot) j--;
      if (i > j) break;
      const key = keys[i] as number;
      keys[i] = keys[j] as number;
      keys[j] = key;
      const point = points[i] as number;
      points[i] = points[j] as number;
      points[j] = point;
      i++;
      j--;
    }
    if (middle <= j) high = j;
    else if (middle >= i) low = i;
    else return;
  }
}
