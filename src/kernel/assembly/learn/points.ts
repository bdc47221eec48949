// Points of a space, column by column: coordinate j of row i is the f64 at `points + j * stride +
// i * 8`. Rows are taken four at a time, so columns have room for a multiple of four rows.

/** Points that are taken together: columns have room for a multiple of it. */
@shared
const POINT_GROUP: i32 = 4;

/**
 * The nearest of some centroids for each of `count` points: the lowest number among equals.
 * `centroids` holds `centroidCount` rows of `dimension` f64, `halfNorms` half the squared length
 * of each; both are padded to a multiple of four centroids, the padding's half norms infinite.
 * Comparing |c|^2 / 2 - x.c ranks as the distance does and takes half of its operations.
 */
export function nearestCentroid(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  centroids: usize,
  halfNorms: usize,
  centroidCount: i32,
  labels: usize,
): void {
  const rowSize = <usize>dimension << 3;
  for (let row: i32 = 0; row < count; row += 4) {
    const x = points + (<usize>row << 3);
    let best0 = f64x2.splat(Infinity);
    let best1 = best0;
    let number0 = f64x2.splat(0);
    let number1 = number0;
    for (let c: i32 = 0; c < centroidCount; c += 4) {
      const norms = halfNorms + (<usize>c << 3);
      let a0 = v128.load64_splat(norms);
      let a1 = a0;
      let b0 = v128.load64_splat(norms, 8);
      let b1 = b0;
      let c0 = v128.load64_splat(norms, 16);
      let c1 = c0;
      let d0 = v128.load64_splat(norms, 24);
      let d1 = d0;
      let from = centroids + <usize>c * rowSize;
      let at = x;
      const end = from + rowSize;
      for (; from < end; from += 8, at += stride) {
        const x0 = v128.load(at);
        const x1 = v128.load(at, 16);
        const ca = v128.load64_splat(from);
        a0 = f64x2.sub(a0, f64x2.mul(x0, ca));
        a1 = f64x2.sub(a1, f64x2.mul(x1, ca));
        const cb = v128.load64_splat(from + rowSize);
        b0 = f64x2.sub(b0, f64x2.mul(x0, cb));
        b1 = f64x2.sub(b1, f64x2.mul(x1, cb));
        const cc = v128.load64_splat(from + 2 * rowSize);
        c0 = f64x2.sub(c0, f64x2.mul(x0, cc));
        c1 = f64x2.sub(c1, f64x2.mul(x1, cc));
        const cd = v128.load64_splat(from + 3 * rowSize);
        d0 = f64x2.sub(d0, f64x2.mul(x0, cd));
        d1 = f64x2.sub(d1, f64x2.mul(x1, cd));
      }
      let less = f64x2.lt(a0, best0);
      best0 = v128.bitselect(a0, best0, less);
      number0 = v128.bitselect(f64x2.splat(<f64>c), number0, less);
      less = f64x2.lt(a1, best1);
      best1 = v128.bitselect(a1, best1, less);
      number1 = v128.bitselect(f64x2.splat(<f64>c), number1, less);
      less = f64x2.lt(b0, best0);
      best0 = v128.bitselect(b0, best0, less);
      number0 = v128.bitselect(f64x2.splat(<f64>(c + 1)), number0, less);
      less = f64x2.lt(b1, best1);
      best1 = v128.bitselect(b1, best1, less);
      number1 = v128.bitselect(f64x2.splat(<f64>(c + 1)), number1, less);
      less = f64x2.lt(c0, best0);
      best0 = v128.bitselect(c0, best0, less);
      number0 = v128.bitselect(f64x2.splat(<f64>(c + 2)), number0, less);
      less = f64x2.lt(c1, best1);
      best1 = v128.bitselect(c1, best1, less);
      number1 = v128.bitselect(f64x2.splat(<f64>(c + 2)), number1, less);
      less = f64x2.lt(d0, best0);
      best0 = v128.bitselect(d0, best0, less);
      number0 = v128.bitselect(f64x2.splat(<f64>(c + 3)), number0, less);
      less = f64x2.lt(d1, best1);
      best1 = v128.bitselect(d1, best1, less);
      number1 = v128.bitselect(f64x2.splat(<f64>(c + 3)), number1, less);
    }
    const out = labels + (<usize>row << 2);
    store<i32>(out, <i32>f64x2.extract_lane(number0, 0));
    if (row + 1 < count) store<i32>(out, <i32>f64x2.extract_lane(number0, 1), 4);
    if (row + 2 < count) store<i32>(out, <i32>f64x2.extract_lane(number1, 0), 8);
    if (row + 3 < count) store<i32>(out, <i32>f64x2.extract_lane(number1, 1), 12);
  }
}

/**
 * Adds each of `count` points to the sums of its label: `dimension` f64 a label at `sums`, and an
 * f64 a label at `counts`. Answers the sum of the squared distances to `centroids`.
 */
export function addToCentroids(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  labels: usize,
  centroids: usize,
  sums: usize,
  counts: usize,
): f64 {
  for (let row: i32 = 0; row < count; row++) {
    const at = counts + (<usize>load<i32>(labels + (<usize>row << 2)) << 3);
    store<f64>(at, load<f64>(at) + 1);
  }
  let total: f64 = 0;
  for (let j: i32 = 0; j < dimension; j++) {
    const column = points + <usize>j * stride;
    for (let row: i32 = 0; row < count; row++) {
      const label = load<i32>(labels + (<usize>row << 2));
      const offset = <usize>(label * dimension + j) << 3;
      const value = load<f64>(column + (<usize>row << 3));
      store<f64>(sums + offset, load<f64>(sums + offset) + value);
      const difference = value - load<f64>(centroids + offset);
      total += difference * difference;
    }
  }
  return total;
}

/**
 * Squared distances of `count` points to the one at `center` (`dimension` f64), to the f64 at `out`,
 * which has room for a multiple of four.
 */
export function squaredDistances(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  center: usize,
  out: usize,
): void {
  for (let row: i32 = 0; row < count; row += 4) {
    let at = points + (<usize>row << 3);
    let sum0 = f64x2.splat(0);
    let sum1 = sum0;
    for (let j: i32 = 0; j < dimension; j++, at += stride) {
      const c = v128.load64_splat(center + (<usize>j << 3));
      const d0 = f64x2.sub(v128.load(at), c);
      const d1 = f64x2.sub(v128.load(at, 16), c);
      sum0 = f64x2.add(sum0, f64x2.mul(d0, d0));
      sum1 = f64x2.add(sum1, f64x2.mul(d1, d1));
    }
    const target = out + (<usize>row << 3);
    v128.store(target, sum0);
    v128.store(target, sum1, 16);
  }
}

/** Dot products of `count` points with the one at `center`; the rest as in squaredDistances. */
export function pointDots(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  center: usize,
  out: usize,
): void {
  for (let row: i32 = 0; row < count; row += 4) {
    let at = points + (<usize>row << 3);
    let sum0 = f64x2.splat(0);
    let sum1 = sum0;
    for (let j: i32 = 0; j < dimension; j++, at += stride) {
      const c = v128.load64_splat(center + (<usize>j << 3));
      sum0 = f64x2.add(sum0, f64x2.mul(v128.load(at), c));
      sum1 = f64x2.add(sum1, f64x2.mul(v128.load(at, 16), c));
    }
    const target = out + (<usize>row << 3);
    v128.store(target, sum0);
    v128.store(target, sum1, 16);
  }
}

/**
 * Squared lengths of `factor * (x - mean)` for `count` points, to the f64 at `out`, which has room
 * for a multiple of four. `factor` holds `factorRows` rows of `dimension` f64; `scratch` holds four
 * f64 a dimension.
 */
export function factoredDistances(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  mean: usize,
  factor: usize,
  factorRows: i32,
  scratch: usize,
  out: usize,
): void {
  const size = <usize>dimension << 3;
  for (let row: i32 = 0; row < count; row += 4) {
    let at = points + (<usize>row << 3);
    for (let j: usize = 0; j < size; j += 8, at += stride) {
      const m = v128.load64_splat(mean + j);
      const to = scratch + (j << 2);
      v128.store(to, f64x2.sub(v128.load(at), m));
      v128.store(to, f64x2.sub(v128.load(at, 16), m), 16);
    }
    let sum0 = f64x2.splat(0);
    let sum1 = sum0;
    let from = factor;
    for (let i: i32 = 0; i < factorRows; i++) {
      let a0 = f64x2.splat(0);
      let a1 = a0;
      for (let j: usize = 0; j < size; j += 8, from += 8) {
        const f = v128.load64_splat(from);
        const x = scratch + (j << 2);
        a0 = f64x2.add(a0, f64x2.mul(f, v128.load(x)));
        a1 = f64x2.add(a1, f64x2.mul(f, v128.load(x, 16)));
      }
      sum0 = f64x2.add(sum0, f64x2.mul(a0, a0));
      sum1 = f64x2.add(sum1, f64x2.mul(a1, a1));
    }
    const target = out + (<usize>row << 3);
    v128.store(target, sum0);
    v128.store(target, sum1, 16);
  }
}

/**
 * Adds the weighted moments of `count` points about `center` to `moments`: the sum of the weights,
 * then `dimension` first moments, then the lower triangle of the second ones, row by row. Each is
 * a pair of f64 whose sum counts. Weights behind the last point are read, up to a multiple of two,
 * and must be 0. `scratch` holds two f64 a dimension.
 */
export function addMoments(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  weights: usize,
  center: usize,
  scratch: usize,
  moments: usize,
): void {
  const size = <usize>dimension << 3;
  for (let row: i32 = 0; row < count; row += 2) {
    const w = v128.load(weights + (<usize>row << 3));
    if (!v128.any_true(w)) continue;
    v128.store(moments, f64x2.add(v128.load(moments), w));
    let at = points + (<usize>row << 3);
    let first = moments + 16;
    let second = first + (size << 1);
    for (let i: usize = 0; i < size; i += 8, at += stride, first += 16) {
      const x = f64x2.sub(v128.load(at), v128.load64_splat(center + i));
      const to = scratch + (i << 1);
      v128.store(to, x);
      const wx = f64x2.mul(w, x);
      v128.store(first, f64x2.add(v128.load(first), wx));
      for (let from = scratch; from <= to; from += 16, second += 16) {
        v128.store(second, f64x2.add(v128.load(second), f64x2.mul(wx, v128.load(from))));
      }
    }
  }
}

/**
 * The `k` nearest points of each point from `from` to `to`, without itself: i32 numbers at `indices`
 * and ascending squared distances, f64, at `distances`, `k` for each from the first of all points
 * on; of equal distances the lower number. `scratch` holds four f64 a dimension and four rows of
 * `count` f64, rounded up to a multiple of four. Four points are compared with four at a time.
 */
export function nearestPoints(
  points: usize,
  stride: usize,
  count: i32,
  dimension: i32,
  from: i32,
  to: i32,
  k: i32,
  indices: usize,
  distances: usize,
  scratch: usize,
): void {
  const size = <usize>dimension << 3;
  const found = scratch + (size << 2);
  const foundSize = <usize>((count + 3) & ~3) << 3;
  for (let first = from; first < to; first += 4) {
    const queries = min(4, to - first);
    for (let q: i32 = 0; q < 4; q++) {
      const row = first + min(q, queries - 1);
      for (let j: i32 = 0; j < dimension; j++) {
        const value = load<f64>(points + <usize>j * stride + (<usize>row << 3));
        store<f64>(scratch + (<usize>(j * 4 + q) << 3), value);
      }
    }
    for (let row: i32 = 0; row < count; row += 4) {
      let at = points + (<usize>row << 3);
      let a0 = f64x2.splat(0);
      let a1 = a0;
      let b0 = a0;
      let b1 = a0;
      let c0 = a0;
      let c1 = a0;
      let d0 = a0;
      let d1 = a0;
      const end = scratch + (size << 2);
      for (let query = scratch; query < end; query += 32, at += stride) {
        const x0 = v128.load(at);
        const x1 = v128.load(at, 16);
        let value = v128.load64_splat(query);
        let difference = f64x2.sub(x0, value);
        a0 = f64x2.add(a0, f64x2.mul(difference, difference));
        difference = f64x2.sub(x1, value);
        a1 = f64x2.add(a1, f64x2.mul(difference, difference));
        value = v128.load64_splat(query, 8);
        difference = f64x2.sub(x0, value);
        b0 = f64x2.add(b0, f64x2.mul(difference, difference));
        difference = f64x2.sub(x1, value);
        b1 = f64x2.add(b1, f64x2.mul(difference, difference));
        value = v128.load64_splat(query, 16);
        difference = f64x2.sub(x0, value);
        c0 = f64x2.add(c0, f64x2.mul(difference, difference));
        difference = f64x2.sub(x1, value);
        c1 = f64x2.add(c1, f64x2.mul(difference, difference));
        value = v128.load64_splat(query, 24);
        difference = f64x2.sub(x0, value);
        d0 = f64x2.add(d0, f64x2.mul(difference, difference));
        difference = f64x2.sub(x1, value);
        d1 = f64x2.add(d1, f64x2.mul(difference, difference));
      }
      let target = found + (<usize>row << 3);
      v128.store(target, a0);
      v128.store(target, a1, 16);
      target += foundSize;
      v128.store(target, b0);
      v128.store(target, b1, 16);
      target += foundSize;
      v128.store(target, c0);
      v128.store(target, c1, 16);
      target += foundSize;
      v128.store(target, d0);
      v128.store(target, d1, 16);
    }
    for (let q: i32 = 0; q < queries; q++) {
      const row = first + q;
      selectNearest(
        found + <usize>q * foundSize,
        count,
        row,
        k,
        indices + (<usize>(row * k) << 2),
        distances + (<usize>row * <usize>k << 3),
      );
    }
  }
}

/** Keeps the k least of `count` distances but that of `self`, by insertion. */
function selectNearest(
  found: usize,
  count: i32,
  self: i32,
  k: i32,
  indices: usize,
  distances: usize,
): void {
  let kept: i32 = 0;
  let limit: f64 = Infinity;
  for (let row: i32 = 0; row < count; row++) {
    const distance = load<f64>(found + (<usize>row << 3));
    if (distance >= limit || row == self) continue;
    let at = kept < k ? kept : k - 1;
    while (at > 0 && load<f64>(distances + (<usize>(at - 1) << 3)) > distance) {
      const below = <usize>(at - 1);
      store<f64>(distances + (<usize>at << 3), load<f64>(distances + (below << 3)));
      store<i32>(indices + (<usize>at << 2), load<i32>(indices + (below << 2)));
      at--;
    }
    store<f64>(distances + (<usize>at << 3), distance);
    store<i32>(indices + (<usize>at << 2), row);
    if (kept < k) kept++;
    if (kept == k) limit = load<f64>(distances + (<usize>(k - 1) << 3));
  }
}
