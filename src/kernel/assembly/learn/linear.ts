// Linear models. A design matrix has dense columns first, each rowCount f64 one after another, then
// sparse ones, row by row: the entries of row r are starts[r] up to starts[r + 1] (u32), a column
// number each (u32, ascending in a row) and a value (f64; `values` 0: all are 1). The last
// coefficient is the constant's.

/** A design matrix. */
@unmanaged
@shared
class Design {
  rowCount: u32;
  denseCount: u32;
  columnCount: u32;
  dense: usize;
  starts: usize;
  columns: usize;
  values: usize;
}

/** out[row] = constant + row . coefficients, for rows [from, to). */
export function linearPredict(at: usize, from: u32, to: u32, beta: usize, out: usize): void {
  const d = changetype<Design>(at);
  const constant = load<f64>(beta + (<usize>d.columnCount << 3));
  for (let row = from; row < to; row++) store<f64>(out + (<usize>row << 3), constant);
  for (let c: u32 = 0; c < d.denseCount; c++) {
    const factor = load<f64>(beta + (<usize>c << 3));
    const column = d.dense + ((<usize>c * <usize>d.rowCount) << 3);
    for (let row = from; row < to; row++) {
      const k = out + (<usize>row << 3);
      store<f64>(k, load<f64>(k) + factor * load<f64>(column + (<usize>row << 3)));
    }
  }
  for (let row = from; row < to; row++) {
    const end = load<u32>(d.starts + (<usize>row << 2), 4);
    let sum: f64 = 0;
    for (let i = load<u32>(d.starts + (<usize>row << 2)); i < end; i++) {
      const coefficient = load<f64>(beta + (<usize>load<u32>(d.columns + (<usize>i << 2)) << 3));
      sum += d.values == 0 ? coefficient : coefficient * load<f64>(d.values + (<usize>i << 3));
    }
    const k = out + (<usize>row << 3);
    store<f64>(k, load<f64>(k) + sum);
  }
}

@inline
function add(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}

/** out (columnCount + 1 f64) += X' r over rows [from, to). */
export function linearTransposed(at: usize, from: u32, to: u32, r: usize, out: usize): void {
  const d = changetype<Design>(at);
  let total: f64 = 0;
  for (let row = from; row < to; row++) total += load<f64>(r + (<usize>row << 3));
  add(out + (<usize>d.columnCount << 3), total);
  for (let c: u32 = 0; c < d.denseCount; c++) {
    const column = d.dense + ((<usize>c * <usize>d.rowCount) << 3);
    let sum: f64 = 0;
    for (let row = from; row < to; row++) {
      sum += load<f64>(column + (<usize>row << 3)) * load<f64>(r + (<usize>row << 3));
    }
    add(out + (<usize>c << 3), sum);
  }
  for (let row = from; row < to; row++) {
    const end = load<u32>(d.starts + (<usize>row << 2), 4);
    const value = load<f64>(r + (<usize>row << 3));
    for (let i = load<u32>(d.starts + (<usize>row << 2)); i < end; i++) {
      const k = out + (<usize>load<u32>(d.columns + (<usize>i << 2)) << 3);
      add(k, d.values == 0 ? value : value * load<f64>(d.values + (<usize>i << 3)));
    }
  }
}

/** Rows of which the columns' values stay in the cache while all pairs of columns are multiplied. */
const GRAM_BLOCK_ROW_COUNT: u32 = 512;

@inline
function pairSum(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** gram += w a b for a pair of dense columns, of which `a` and `b` point to the first value. */
function addProduct(w: usize, a: usize, b: usize, rowCount: u32, target: usize): void {
  let sums = f64x2.splat(0);
  const pairs = <usize>(rowCount & ~1) << 3;
  for (let k: usize = 0; k < pairs; k += 16) {
    const wa = f64x2.mul(v128.load(w + k), v128.load(a + k));
    sums = f64x2.add(sums, f64x2.mul(wa, v128.load(b + k)));
  }
  let sum = pairSum(sums);
  if ((rowCount & 1) != 0) sum += load<f64>(w + pairs) * load<f64>(a + pairs) * load<f64>(b + pairs);
  add(target, sum);
}

/** The same for columns a, a + 1 with b to b + 3, `step` bytes apart: eight sums at a time. */
function addProducts(
  w: usize,
  a: usize,
  b: usize,
  step: usize,
  rowCount: u32,
  target: usize,
  width: usize,
): void {
  let s00 = f64x2.splat(0);
  let s01 = f64x2.splat(0);
  let s02 = f64x2.splat(0);
  let s03 = f64x2.splat(0);
  let s10 = f64x2.splat(0);
  let s11 = f64x2.splat(0);
  let s12 = f64x2.splat(0);
  let s13 = f64x2.splat(0);
  const b1 = b + step;
  const b2 = b1 + step;
  const b3 = b2 + step;
  const pairs = <usize>(rowCount & ~1) << 3;
  for (let k: usize = 0; k < pairs; k += 16) {
    const weights = v128.load(w + k);
    const x0 = f64x2.mul(weights, v128.load(a + k));
    const x1 = f64x2.mul(weights, v128.load(a + step + k));
    let y = v128.load(b + k);
    s00 = f64x2.add(s00, f64x2.mul(x0, y));
    s10 = f64x2.add(s10, f64x2.mul(x1, y));
    y = v128.load(b1 + k);
    s01 = f64x2.add(s01, f64x2.mul(x0, y));
    s11 = f64x2.add(s11, f64x2.mul(x1, y));
    y = v128.load(b2 + k);
    s02 = f64x2.add(s02, f64x2.mul(x0, y));
    s12 = f64x2.add(s12, f64x2.mul(x1, y));
    y = v128.load(b3 + k);
    s03 = f64x2.add(s03, f64x2.mul(x0, y));
    s13 = f64x2.add(s13, f64x2.mul(x1, y));
  }
  let x0: f64 = 0;
  let x1: f64 = 0;
  if ((rowCount & 1) != 0) {
    x0 = load<f64>(w + pairs) * load<f64>(a + pairs);
    x1 = load<f64>(w + pairs) * load<f64>(a + step + pairs);
  }
  const odd = (rowCount & 1) != 0;
  const y0: f64 = odd ? load<f64>(b + pairs) : 0;
  const y1: f64 = odd ? load<f64>(b1 + pairs) : 0;
  const y2: f64 = odd ? load<f64>(b2 + pairs) : 0;
  const y3: f64 = odd ? load<f64>(b3 + pairs) : 0;
  add(target, pairSum(s00) + x0 * y0);
  add(target + 8, pairSum(s01) + x0 * y1);
  add(target + 16, pairSum(s02) + x0 * y2);
  add(target + 24, pairSum(s03) + x0 * y3);
  const below = target + width;
  add(below, pairSum(s10) + x1 * y0);
  add(below + 8, pairSum(s11) + x1 * y1);
  add(below + 16, pairSum(s12) + x1 * y2);
  add(below + 24, pairSum(s13) + x1 * y3);
}

/** The dense columns' part of linearGram, with the constant's. */
function denseGram(
  d: Design,
  from: u32,
  to: u32,
  w: usize,
  z: usize,
  gram: usize,
  right: usize,
  width: usize,
): void {
  const step = <usize>d.rowCount << 3;
  const count = d.denseCount;
  for (let row = from; row < to; row += GRAM_BLOCK_ROW_COUNT) {
    const rowCount = min(GRAM_BLOCK_ROW_COUNT, to - row);
    const offset = <usize>row << 3;
    const first = d.dense + offset;
    for (let c: u32 = 0; c < count; c++) {
      const a = first + <usize>c * step;
      let sum: f64 = 0;
      let sumZ: f64 = 0;
      for (let k: usize = 0; k < <usize>rowCount << 3; k += 8) {
        const wx = load<f64>(w + offset + k) * load<f64>(a + k);
        sum += wx;
        sumZ += wx * load<f64>(z + offset + k);
      }
      add(gram + <usize>c * width + width - 8, sum);
      add(right + (<usize>c << 3), sumZ);
    }
    for (let c: u32 = 0; c < count; c += 2) {
      const a = first + <usize>c * step;
      const line = gram + <usize>c * width;
      const isPair = c + 1 < count;
      // The corner of two columns, then four columns at a time, then what is left.
      addProduct(w + offset, a, a, rowCount, line + (<usize>c << 3));
      if (isPair) {
        const next = line + (<usize>c << 3) + 8;
        addProduct(w + offset, a, a + step, rowCount, next);
        addProduct(w + offset, a + step, a + step, rowCount, next + width);
      }
      let e = c + 2;
      for (; isPair && e + 3 < count; e += 4) {
        const b = first + <usize>e * step;
        addProducts(w + offset, a, b, step, rowCount, line + (<usize>e << 3), width);
      }
      for (; e < count; e++) {
        const b = first + <usize>e * step;
        addProduct(w + offset, a, b, rowCount, line + (<usize>e << 3));
        addProduct(w + offset, a + step, b, rowCount, line + width + (<usize>e << 3));
      }
    }
  }
}

/**
 * Adds the rows' X' W X to the upper triangle of `gram`, (columnCount + 1) squared f64, and their
 * X' W z to `right`; the last row and column are the constant's. w, z: f64 a row.
 */
export function linearGram(
  at: usize,
  from: u32,
  to: u32,
  w: usize,
  z: usize,
  gram: usize,
  right: usize,
): void {
  const d = changetype<Design>(at);
  const width = (<usize>d.columnCount + 1) << 3;
  const last = width - 8;
  const denseSize = <usize>d.rowCount << 3;
  if (d.denseCount > 0) denseGram(d, from, to, w, z, gram, right, width);
  for (let row = from; row < to; row++) {
    const weight = load<f64>(w + (<usize>row << 3));
    if (weight == 0) continue;
    const wz = weight * load<f64>(z + (<usize>row << 3));
    const first = load<u32>(d.starts + (<usize>row << 2));
    const end = load<u32>(d.starts + (<usize>row << 2), 4);
    let column = d.dense + (<usize>row << 3);
    const mixedCount = first < end ? d.denseCount : 0;
    for (let c: u32 = 0; c < mixedCount; c++, column += denseSize) {
      const x = load<f64>(column);
      if (x == 0) continue;
      const wx = weight * x;
      const line = gram + <usize>c * width;
      for (let i = first; i < end; i++) {
        const k = line + (<usize>load<u32>(d.columns + (<usize>i << 2)) << 3);
        add(k, d.values == 0 ? wx : wx * load<f64>(d.values + (<usize>i << 3)));
      }
    }
    for (let a = first; a < end; a++) {
      const ca = <usize>load<u32>(d.columns + (<usize>a << 2));
      const x = d.values == 0 ? <f64>1 : load<f64>(d.values + (<usize>a << 3));
      const wx = weight * x;
      const line = gram + ca * width;
      for (let b = a; b < end; b++) {
        const k = line + (<usize>load<u32>(d.columns + (<usize>b << 2)) << 3);
        add(k, d.values == 0 ? wx : wx * load<f64>(d.values + (<usize>b << 3)));
      }
      add(line + last, wx);
      add(right + (ca << 3), wz * x);
    }
    add(gram + <usize>d.columnCount * width + last, weight);
    add(right + last, wz);
  }
}

/**
 * Cholesky factor of a symmetric matrix, size x size f64, of which the lower triangle is read and
 * overwritten. A pivot that is not above `tolerance` times what it was makes its column dependent:
 * its pivot and what is below become 0. Answers how many rows are done from `fromRow` on, at most
 * `rowCount` of them, so that a caller can look up in between. `diagonal`: what pivots were.
 */
export function choleskyRows(
  a: usize,
  size: i32,
  fromRow: i32,
  rowCount: i32,
  diagonal: usize,
  tolerance: f64,
): i32 {
  const width = <usize>size << 3;
  const end = min(size, fromRow + rowCount);
  for (let i = fromRow; i < end; i++) {
    const line = a + <usize>i * width;
    for (let j: i32 = 0; j <= i; j++) {
      const other = a + <usize>j * width;
      let sums = f64x2.splat(0);
      let more = f64x2.splat(0);
      let k: usize = 0;
      const stop = <usize>(j & ~3) << 3;
      for (; k < stop; k += 32) {
        sums = f64x2.add(sums, f64x2.mul(v128.load(line + k), v128.load(other + k)));
        more = f64x2.add(more, f64x2.mul(v128.load(line + k, 16), v128.load(other + k, 16)));
      }
      sums = f64x2.add(sums, more);
      let sum = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
      for (; k < <usize>j << 3; k += 8) sum += load<f64>(line + k) * load<f64>(other + k);
      const value = load<f64>(line + (<usize>j << 3)) - sum;
      if (i == j) {
        const least = tolerance * load<f64>(diagonal + (<usize>i << 3));
        store<f64>(line + (<usize>j << 3), value > least && value > 0 ? Math.sqrt(value) : 0);
      } else {
        const pivot = load<f64>(other + (<usize>j << 3));
        store<f64>(line + (<usize>j << 3), pivot == 0 ? 0 : value / pivot);
      }
    }
  }
  return end;
}

/** Solves L L' x = b in place, for a factor of choleskyRows; dependent columns get 0. */
export function choleskySolve(a: usize, size: i32, b: usize): void {
  const width = <usize>size << 3;
  for (let i: i32 = 0; i < size; i++) {
    const line = a + <usize>i * width;
    const pivot = load<f64>(line + (<usize>i << 3));
    let sum: f64 = 0;
    for (let j: usize = 0; j < <usize>i << 3; j += 8) sum += load<f64>(line + j) * load<f64>(b + j);
    const k = b + (<usize>i << 3);
    store<f64>(k, pivot == 0 ? 0 : (load<f64>(k) - sum) / pivot);
  }
  for (let i = size - 1; i >= 0; i--) {
    const line = a + <usize>i * width;
    const pivot = load<f64>(line + (<usize>i << 3));
    const k = b + (<usize>i << 3);
    const x = pivot == 0 ? 0 : load<f64>(k) / pivot;
    store<f64>(k, x);
    if (x == 0) continue;
    for (let j: usize = 0; j < <usize>i << 3; j += 8) {
      store<f64>(b + j, load<f64>(b + j) - load<f64>(line + j) * x);
    }
  }
}

/**
 * Sweeps of coordinate descent for beta' G beta - 2 beta' b + lambda |beta|_1, on residuals
 * b - G beta, which are kept. `gram`: full symmetric, size x size f64. Answers the largest change of
 * the last sweep; stops when that is below `epsilon`.
 */
export function lassoSweeps(
  gram: usize,
  size: i32,
  residual: usize,
  beta: usize,
  lambda: f64,
  epsilon: f64,
  sweepCount: i32,
): f64 {
  const width = <usize>size << 3;
  let largest: f64 = 0;
  for (let sweep: i32 = 0; sweep < sweepCount; sweep++) {
    largest = 0;
    for (let j: i32 = 0; j < size; j++) {
      const line = gram + <usize>j * width;
      const scale = load<f64>(line + (<usize>j << 3));
      if (!(scale > 0)) continue;
      const at = beta + (<usize>j << 3);
      const old = load<f64>(at);
      const rho = load<f64>(residual + (<usize>j << 3)) + scale * old;
      const shrunk = Math.max(0, Math.abs(rho) - lambda / 2);
      const next = (rho < 0 ? -shrunk : shrunk) / scale;
      const change = next - old;
      if (change == 0) continue;
      store<f64>(at, next);
      largest = Math.max(largest, Math.abs(change));
      const by = f64x2.splat(change);
      let k: usize = 0;
      for (; k + 16 <= width; k += 16) {
        const target = residual + k;
        v128.store(target, f64x2.sub(v128.load(target), f64x2.mul(by, v128.load(line + k))));
      }
      for (; k < width; k += 8) {
        store<f64>(residual + k, load<f64>(residual + k) - change * load<f64>(line + k));
      }
    }
    if (largest < epsilon) break;
  }
  return largest;
}
