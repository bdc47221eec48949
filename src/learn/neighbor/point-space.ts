// Points in memory and the distances between them: 32-bit coordinates, row-major.
import { CODED_BLOCK, CODED_WIDTH_MAX, PointCodes } from './point-codes.ts';

export type Metric = 'euclidean' | 'cosine';

export interface Neighbor {
  /** number of the point */
  readonly point: number;
  readonly distance: number;
}

export class PointSpace {
  readonly metric: Metric;
  readonly count: number;
  readonly width: number;
  /** count × width */
  readonly coordinates: Float32Array;
  /** lengths of the points, where the metric needs them */
  readonly #lengths: Float64Array;

  constructor(metric: Metric, width: number, coordinates: Float32Array) {
    this.metric = metric;
    this.width = width;
    this.coordinates = coordinates;
    this.count = width === 0 ? 0 : coordinates.length / width;
    this.#lengths = new Float64Array(metric === 'cosine' ? this.count : 0);
    for (let i = 0; i < this.#lengths.length; i++) this.#lengths[i] = this.#lengthOf(i);
  }

  #lengthOf(point: number): number {
    const { coordinates, width } = this;
    let sum = 0;
    for (let i = point * width; i < (point + 1) * width; i++) {
      const value = coordinates[i] as number;
      sum += value * value;
    }
    return Math.sqrt(sum);
  }

  /** The distances that a query has to points; `bound` ends a sum that is known to be larger. */
  distancesTo(query: Float32Array): (point: number, bound: number) => number {
    return this.metric === 'cosine' ? this.#cosineTo(query) : this.#euclideanTo(query);
  }

  #euclideanTo(query: Float32Array): (point: number, bound: number) => number {
    const { coordinates, width } = this;
    const whole = width - (width % 16);
    return (point, bound) => {
      const limit = bound * bound;
      let offset = point * width;
      let i = 0;
      let sum = 0;
      while (i < whole) {
        let a = 0;
        let b = 0;
        for (let end = i + 16; i < end; i += 2, offset += 2) {
          const d = (coordinates[offset] as number) - (query[i] as number);
          const e = (coordinates[offset + 1] as number) - (query[i + 1] as number);
          a += d * d;
          b += e * e;
        }
        sum += a + b;
        if (sum > limit) return Number.POSITIVE_INFINITY;
      }
      for (; i < width; i++, offset++) {
        const d = (coordinates[offset] as number) - (query[i] as number);
        sum += d * d;
      }
      return Math.sqrt(sum);
    };
  }

  #cosineTo(query: Float32Array): (point: number) => number {
    const { coordinates, width } = this;
    const lengths = this.#lengths;
    let queryLength = 0;
    for (const value of query) queryLength += value * value;
    queryLength = Math.sqrt(queryLength);
    return (point) => {
      const length = lengths[point] as number;
      // Points without a direction are near each other and far from all others.
      if (length === 0 || queryLength === 0) return length === queryLength ? 0 : 1;
      let product = 0;
      let offset = point * width;
      for (let i = 0; i < width; i++, offset++) {
        product += (coordinates[offset] as number) * (query[i] as number);
      }
      return Math.max(0, 1 - product / (length * queryLength));
    };
  }
}

/** The nearest points found so far, nearest first; of equally near ones the earlier first. */
export class NearestPoints {
  readonly #countMax: number;
  readonly #points: number[] = [];
  readonly #distances: number[] = [];
  /** points farther than this are not wanted */
  bound: number;

  constructor(countMax: number, distanceMax: number) {
    this.#countMax = countMax;
    this.bound = distanceMax;
  }

  add(point: number, distance: number): void {
    if (!(distance <= this.bound)) return;
    const distances = this.#distances;
    const points = this.#points;
    let low = 0;
    let high = distances.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = distances[middle] as number;
      if (other < distance || (other === distance && (points[middle] as number) < point)) {
        low = middle + 1;
      } else high = middle;
    }
    if (low >= this.#countMax) return;
    distances.splice(low, 0, distance);
    points.splice(low, 0, point);
    if (distances.length > this.#countMax) {
      distances.pop();
      points.pop();
    }
    if (distances.length === this.#countMax) {
      this.bound = distances[distances.length - 1] as number;
    }
  }

  neighbors(): Neighbor[] {
    return this.#points.map((point, index) => ({
      point,
      distance: Math.fround(this.#distances[index] as number),
    }));
  }
}

export interface SearchOptions {
  /** true: looks at every point */
  readonly exact?: boolean | undefined;
  /** how many points an approximate search keeps in sight */
  readonly ef?: number | undefined;
  /** the point that the query is: it is always found */
  readonly own?: number | undefined;
}

export interface NeighborIndex {
  /** @param countMax neighbors wanted */
  search(
    query: Float32Array,
    countMax: number,
    distanceMax: number,
    options?: SearchOptions,
  ): Neighbor[];
}

/** More neighbors than this are found by sorting all distances. */
const SORTED_COUNT_MIN = 1024;

/** Fewer coordinates are looked at as they are. */
const CODED_SIZE_MIN = 65_536;

/** Looks at every point: first at its codes, where that pays, then at what may be near. */
export function flatIndex(space: PointSpace): NeighborIndex {
  const { coordinates, count, width } = space;
  const isCoded = coordinates.length >= CODED_SIZE_MIN && width <= CODED_WIDTH_MAX;
  let coded: CodedPoints | undefined;
  return {
    search(query, countMax, distanceMax) {
      const distanceTo = space.distancesTo(query);
      if (countMax >= SORTED_COUNT_MIN) {
        const found: { point: number; distance: number }[] = [];
        for (let point = 0; point < count; point++) {
          const distance = distanceTo(point, Number.POSITIVE_INFINITY);
          if (distance <= distanceMax) found.push({ point, distance });
        }
        found.sort((a, b) => a.distance - b.distance || a.point - b.point);
        return found
          .slice(0, countMax)
          .map(({ point, distance }) => ({ point, distance: Math.fround(distance) }));
      }
      if (countMax === 0) return [];
      const nearest = new NearestPoints(countMax, distanceMax);
      if (isCoded) {
        coded ??= new CodedPoints(space);
        coded.search(query, distanceTo, nearest);
      } else {
        for (let point = 0; point < count; point++) {
          nearest.add(point, distanceTo(point, nearest.bound));
        }
      }
      return nearest.neighbors();
    },
  };
}

/** The first block is small: what it finds bounds what is looked at of the others. */
const FIRST_BLOCK = 256;

class CodedPoints {
  readonly #codes: PointCodes;
  readonly #count: number;
  readonly #isCosine: boolean;

  constructor({ metric, coordinates, count, width }: PointSpace) {
    this.#count = count;
    this.#isCosine = metric === 'cosine';
    const points = this.#isCosine ? coordinates.slice() : coordinates;
    if (this.#isCosine) {
      for (let at = 0; at < points.length; at += width)
        toUnitLength(points.subarray(at, at + width));
    }
    this.#codes = new PointCodes(points, width);
  }

  search(
    given: Float32Array,
    distanceTo: (point: number, bound: number) => number,
    nearest: NearestPoints,
  ): void {
    const query = this.#isCosine ? given.slice() : given;
    if (this.#isCosine) toUnitLength(query);
    const coded = this.#codes.query(query);
    let size = FIRST_BLOCK;
    for (let from = 0; from < this.#count; from += size, size = Math.min(size * 2, CODED_BLOCK)) {
      const to = Math.min(this.#count, from + size);
      // Squares of distances at unit length are twice those of cosines, but for rounding.
      const bound = this.#isCosine ? Math.sqrt(2 * nearest.bound + 1e-6) : nearest.bound;
      for (const point of this.#codes.near(from, to, bound, coded)) {
        nearest.add(point, distanceTo(point, nearest.bound));
      }
    }
  }
}

/** A point without a direction stays as it is. */
export function toUnitLength(point: Float32Array): void {
  let sum = 0;
  for (const value of point) sum += value * value;
  if (sum === 0) return;
  const factor = 1 / Math.sqrt(sum);
  for (let i = 0; i < point.length; i++) point[i] = (point[i] as number) * factor;
}
