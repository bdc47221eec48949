// A graph as an index of neighbors: what it finds is measured and ordered exactly.
import type { NeighborGraph } from './neighbor-graph.ts';
import {
  flatIndex,
  NearestPoints,
  type NeighborIndex,
  type PointSpace,
  toUnitLength,
} from './point-space.ts';

/** Distances of 32 bits order all but a few points as exact ones do. */
const FARTHER_COUNT_MAX = 16;

/** @param efSearch how many points a search keeps in sight where it does not say */
export function graphIndex(
  space: PointSpace,
  graph: NeighborGraph,
  efSearch: number,
): NeighborIndex {
  const flat = flatIndex(space);
  const query = new Float32Array(space.width);
  return {
    search(given, countMax, distanceMax, { exact = false, ef = efSearch, own } = {}) {
      // As many as that are found sooner by looking at all.
      if (exact || countMax * 4 > space.count) return flat.search(given, countMax, distanceMax);
      if (countMax === 0) return [];
      query.set(given);
      if (space.metric === 'cosine') toUnitLength(query);
      const found = graph.search(query, Math.max(ef, countMax));
      const distanceTo = space.distancesTo(given);
      const nearest = new NearestPoints(countMax, distanceMax);
      let hasOwn = own === undefined;
      let farther = 0;
      for (const point of found) {
        if (point === own) hasOwn = true;
        const distance = distanceTo(point, nearest.bound);
        if (distance > nearest.bound && ++farther > FARTHER_COUNT_MAX) break;
        nearest.add(point, distance);
      }
      if (!hasOwn && own !== undefined) nearest.add(own, distanceTo(own, nearest.bound));
      return nearest.neighbors();
    },
  };
}

const RECALL_COUNT = 10;
const SAMPLE_MAX = 1000;

/** What is known of a sample of the points: whose true neighbors are found. */
export class RecallSample {
  readonly #space: PointSpace;
  readonly #truth: { readonly point: number; readonly neighbors: ReadonlySet<number> }[] = [];

  /** Cost: as many exact searches as there are points in the sample. */
  constructor(space: PointSpace, check: () => void) {
    this.#space = space;
    const flat = flatIndex(space);
    const step = Math.max(1, space.count / SAMPLE_MAX);
    for (let i = 0; i < Math.min(SAMPLE_MAX, space.count); i++) {
      check();
      const point = Math.floor(i * step);
      const found = flat.search(this.#pointAt(point), RECALL_COUNT, Number.POSITIVE_INFINITY);
      this.#truth.push({ point, neighbors: new Set(found.map((each) => each.point)) });
    }
  }

  get size(): number {
    return this.#truth.length;
  }

  /** The share of the ten nearest points that the index finds. */
  recallOf(index: NeighborIndex, ef: number, check: () => void): number {
    let wanted = 0;
    let found = 0;
    for (const { point, neighbors } of this.#truth) {
      check();
      const query = this.#pointAt(point);
      wanted += neighbors.size;
      for (const each of index.search(query, neighbors.size, Number.POSITIVE_INFINITY, { ef })) {
        if (neighbors.has(each.point)) found++;
      }
    }
    return wanted === 0 ? 1 : found / wanted;
  }

  #pointAt(point: number): Float32Array {
    const { width, coordinates } = this.#space;
    return coordinates.subarray(point * width, (point + 1) * width);
  }
}
