// Approximate neighbors by a hierarchy of graphs: Malkov and Yashunin, "Efficient and robust
// approximate nearest neighbor search using hierarchical navigable small world graphs", 2016.
// Distances in here are squared; what leads to cosine distances is given at unit length.

export interface GraphOptions {
  /** neighbors a point on each level, twice as many on the lowest */
  readonly m: number;
  /** how many points a search keeps in sight while the graph is built */
  readonly efConstruction: number;
  readonly seed: number;
}

export interface GraphShape extends GraphOptions {
  readonly count: number;
  /** coordinates a point, padded to a multiple of four */
  readonly stride: number;
}

/** What a graph consists of. Each list of links begins with their number. */
export interface GraphArrays {
  /** count x stride */
  readonly points: Float32Array;
  /** on the lowest level: 1 + 2m a point */
  readonly links: Int32Array;
  /** by point: where its lists of the levels above begin, in lists; -1: it is on none */
  readonly upperStarts: Int32Array;
  /** 1 + m a list */
  readonly upper: Int32Array;
}

const LEVEL_MAX = 16;

/** How many points a row of links has room for, and their number. */
const lowestSize = (m: number) => 2 * m + 1;
const upperSize = (m: number) => m + 1;

export function strideOf(width: number): number {
  return (width + 3) & ~3;
}

/** The level of a point, from 0: one in `m` is on the next. */
export function levelOf(point: number, { m, seed }: Pick<GraphOptions, 'm' | 'seed'>): number {
  // Mixes the number as MurmurHash3 ends.
  let hash = Math.imul(point + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  const share = (((hash ^ (hash >>> 16)) >>> 0) + 1) / 2 ** 32;
  return Math.min(LEVEL_MAX, Math.floor(-Math.log(share) / Math.log(m)));
}

/** Elements of the arrays of a graph. */
export function graphSizes({ count, stride, ...options }: GraphShape) {
  let lists = 0;
  for (let point = 0; point < count; point++) lists += levelOf(point, options);
  return {
    points: count * stride,
    links: count * lowestSize(options.m),
    upperStarts: count,
    upper: lists * upperSize(options.m),
  };
}

/** Points in sight, nearest first. */
class Beam {
  distances = new Float64Array(64);
  points = new Int32Array(64);
  isExpanded = new Uint8Array(64);
  count = 0;
  #sizeMax = 0;
  /** all before are expanded */
  next = 0;

  clear(sizeMax: number): void {
    this.count = 0;
    this.next = 0;
    this.#sizeMax = sizeMax;
    if (this.points.length > sizeMax) return;
    this.distances = new Float64Array(sizeMax + 1);
    this.points = new Int32Array(sizeMax + 1);
    this.isExpanded = new Uint8Array(sizeMax + 1);
  }

  /** Points that are not nearer are not wanted. */
  get bound(): number {
    return this.count < this.#sizeMax
      ? Number.POSITIVE_INFINITY
      : (this.distances[this.count - 1] as number);
  }

  add(point: number, distance: number): void {
    const { distances, points, isExpanded } = this;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((distances[middle] as number) <= distance) low = middle + 1;
      else high = middle;
    }
    if (this.count === this.#sizeMax) {
      if (low === this.count) return;
      this.count--;
    }
    for (let i = this.count; i > low; i--) {
      distances[i] = distances[i - 1] as number;
      points[i] = points[i - 1] as number;
      isExpanded[i] = isExpanded[i - 1] as number;
    }
    distances[low] = distance;
    points[low] = point;
    isExpanded[low] = 0;
    this.count++;
    if (low < this.next) this.next = low;
  }

  /** The nearest point that was not given yet; -1: none. */
  take(): number {
    while (this.next < this.count && this.isExpanded[this.next] === 1) this.next++;
    if (this.next === this.count) return -1;
    this.isExpanded[this.next] = 1;
    return this.points[this.next] as number;
  }
}

export class NeighborGraph {
  readonly shape: GraphShape;
  readonly arrays: GraphArrays;
  /** where searches begin; -1: the graph is empty */
  entry = -1;
  topLevel = -1;
  readonly #beam = new Beam();
  readonly #visited: Uint32Array;
  #stamp = 0;

  constructor(shape: GraphShape, arrays: GraphArrays, entry = -1, topLevel = -1) {
    this.shape = shape;
    this.arrays = arrays;
    this.entry = entry;
    this.topLevel = topLevel;
    this.#visited = new Uint32Array(shape.count);
  }

  /** Adds a point whose coordinates are there. Points are added in the order of their numbers. */
  insert(point: number): void {
    const { m, efConstruction, stride } = this.shape;
    const { points } = this.arrays;
    const level = levelOf(point, this.shape);
    const query = points.subarray(point * stride, (point + 1) * stride);
    if (this.entry === -1) {
      this.entry = point;
      this.topLevel = level;
      return;
    }
    let nearest = this.entry;
    for (let at = this.topLevel; at > level; at--) nearest = this.#descend(query, nearest, at);
    for (let at = Math.min(level, this.topLevel); at >= 0; at--) {
      this.#spread(query, nearest, efConstruction, at);
      const beam = this.#beam;
      const chosen = this.#diverse(beam.points, beam.distances, beam.count, m);
      nearest = beam.points[0] as number;
      this.#setLinks(point, at, chosen);
      for (const other of chosen) this.#connect(other, point, at);
    }
    if (level <= this.topLevel) return;
    this.topLevel = level;
    this.entry = point;
  }

  /** About the nearest points, nearest first; good until the next call. */
  search(query: Float32Array, ef: number): Int32Array {
    if (this.entry === -1) return new Int32Array(0);
    let nearest = this.entry;
    for (let at = this.topLevel; at > 0; at--) nearest = this.#descend(query, nearest, at);
    this.#spread(query, nearest, ef, 0);
    return this.#beam.points.subarray(0, this.#beam.count);
  }

  /** The start of the links of a point in the array of its level. */
  #linksAt(point: number, level: number): number {
    const { m } = this.shape;
    if (level === 0) return point * lowestSize(m);
    return ((this.arrays.upperStarts[point] as number) + level - 1) * upperSize(m);
  }

  #linksOf(level: number): Int32Array {
    return level === 0 ? this.arrays.links : this.arrays.upper;
  }

  /** Goes on to nearer points while there are any. */
  #descend(query: Float32Array, from: number, level: number): number {
    const links = this.#linksOf(level);
    let nearest = from;
    let distance = this.#distance(query, nearest);
    for (let isNearer = true; isNearer; ) {
      isNearer = false;
      const at = this.#linksAt(nearest, level);
      const end = at + (links[at] as number);
      for (let i = at + 1; i <= end; i++) {
        const other = links[i] as number;
        const otherDistance = this.#distance(query, other);
        if (otherDistance >= distance) continue;
        nearest = other;
        distance = otherDistance;
        isNearer = true;
      }
    }
    return nearest;
  }

  /** Fills the beam with the points nearest to the query that links lead to. */
  #spread(query: Float32Array, from: number, ef: number, level: number): void {
    const beam = this.#beam;
    const visited = this.#visited;
    const stamp = this.#nextStamp();
    const links = this.#linksOf(level);
    beam.clear(ef);
    beam.add(from, this.#distance(query, from));
    visited[from] = stamp;
    for (let point = beam.take(); point !== -1; point = beam.take()) {
      const at = this.#linksAt(point, level);
      const end = at + (links[at] as number);
      for (let i = at + 1; i <= end; i++) {
        const other = links[i] as number;
        if (visited[other] === stamp) continue;
        visited[other] = stamp;
        const distance = this.#distance(query, other);
        if (distance < beam.bound) beam.add(other, distance);
      }
    }
  }

  #nextStamp(): number {
    this.#stamp++;
    if (this.#stamp < 2 ** 32) return this.#stamp;
    this.#visited.fill(0);
    this.#stamp = 1;
    return 1;
  }

  /** Points none of which is nearer to another of them than to the query, nearest first. */
  #diverse(points: Int32Array, distances: Float64Array, count: number, countMax: number): number[] {
    const { stride } = this.shape;
    const chosen: number[] = [];
    for (let i = 0; i < count && chosen.length < countMax; i++) {
      const point = points[i] as number;
      const own = distances[i] as number;
      const at = point * stride;
      const coordinates = this.arrays.points.subarray(at, at + stride);
      let isWanted = true;
      for (const other of chosen) {
        if (this.#distance(coordinates, other) >= own) continue;
        isWanted = false;
        break;
      }
      if (isWanted) chosen.push(point);
    }
    return chosen;
  }

  #setLinks(point: number, level: number, chosen: readonly number[]): void {
    const links = this.#linksOf(level);
    const at = this.#linksAt(point, level);
    links[at] = chosen.length;
    for (let i = 0; i < chosen.length; i++) links[at + 1 + i] = chosen[i] as number;
  }

  /** Links a point to a new one; where there is no room the links are chosen anew. */
  #connect(point: number, added: number, level: number): void {
    const { m, stride } = this.shape;
    const links = this.#linksOf(level);
    const at = this.#linksAt(point, level);
    const count = links[at] as number;
    const countMax = level === 0 ? 2 * m : m;
    if (count < countMax) {
      links[at + 1 + count] = added;
      links[at] = count + 1;
      return;
    }
    const coordinates = this.arrays.points.subarray(point * stride, (point + 1) * stride);
    const others = Array.from({ length: count + 1 }, (_, i) => {
      const other = i === count ? added : (links[at + 1 + i] as number);
      return { other, distance: this.#distance(coordinates, other) };
    }).sort((a, b) => a.distance - b.distance || a.other - b.other);
    const points = Int32Array.from(others, ({ other }) => other);
    const distances = Float64Array.from(others, ({ distance }) => distance);
    this.#setLinks(point, level, this.#diverse(points, distances, points.length, countMax));
  }

  #distance(query: Float32Array, point: number): number {
    const { points } = this.arrays;
    const { stride } = this.shape;
    let at = point * stride;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < stride; i += 4, at += 4) {
      const p = (points[at] as number) - (query[i] as number);
      const q = (points[at + 1] as number) - (query[i + 1] as number);
      const r = (points[at + 2] as number) - (query[i + 2] as number);
      const s = (points[at + 3] as number) - (query[i + 3] as number);
      a += p * p;
      b += q * q;
      c += r * r;
      d += s * s;
    }
    return a + b + (c + d);
  }
}
