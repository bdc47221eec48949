// Sparse symmetric weights between points.
import type { Neighbors } from '../neighbor/exact.ts';

/** Edges of point i: `starts[i]` to `starts[i + 1]` of `ends` and `weights`, by ascending end. */
export interface Edges {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly weights: Float64Array;
}

/**
 * Makes the weights of each point's neighbours symmetric.
 * @param weights one for each neighbour of each point
 * @param combine the weight of an edge from those of its two directions, 0 where there is none
 */
export function symmetricEdges(
  { count, indices }: Neighbors,
  weights: Float64Array,
  combine: (a: number, b: number) => number,
  look: () => void,
): Edges {
  const rowCount = indices.length / count;
  const incoming = transposed(indices, weights, count, rowCount, look);
  const ends: number[] = [];
  const combined: number[] = [];
  const starts = new Int32Array(rowCount + 1);
  const own = new Float64Array(rowCount);
  const other = new Float64Array(rowCount);
  const touched: number[] = [];
  const seen = new Uint8Array(rowCount);
  const touch = (end: number): void => {
    if (seen[end] === 1) return;
    seen[end] = 1;
    touched.push(end);
  };
  for (let row = 0; row < rowCount; row++) {
    look();
    for (let i = row * count; i < (row + 1) * count; i++) {
      const end = indices[i] as number;
      own[end] = weights[i] as number;
      touch(end);
    }
    for (let i = incoming.starts[row] as number; i < (incoming.starts[row + 1] as number); i++) {
      const end = incoming.ends[i] as number;
      other[end] = incoming.weights[i] as number;
      touch(end);
    }
    touched.sort((a, b) => a - b);
    for (const end of touched) {
      const weight = combine(own[end] as number, other[end] as number);
      if (weight > 0) {
        ends.push(end);
        combined.push(weight);
      }
      own[end] = 0;
      other[end] = 0;
      seen[end] = 0;
    }
    touched.length = 0;
    starts[row + 1] = ends.length;
  }
  return { starts, ends: Int32Array.from(ends), weights: Float64Array.from(combined) };
}

/** Which points have each point among their neighbours. */
function transposed(
  indices: Int32Array,
  weights: Float64Array,
  count: number,
  rowCount: number,
  look: () => void,
): Edges {
  const starts = new Int32Array(rowCount + 1);
  for (const end of indices) starts[end + 1] = (starts[end + 1] as number) + 1;
  for (let row = 0; row < rowCount; row++) {
    starts[row + 1] = (starts[row + 1] as number) + (starts[row] as number);
  }
  const next = starts.slice(0, rowCount);
  const ends = new Int32Array(indices.length);
  const turned = new Float64Array(indices.length);
  for (let i = 0; i < indices.length; i++) {
    look();
    const end = indices[i] as number;
    const at = next[end] as number;
    next[end] = at + 1;
    ends[at] = Math.floor(i / count);
    turned[at] = weights[i] as number;
  }
  return { starts, ends, weights: turned };
}
