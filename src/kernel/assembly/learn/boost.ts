// Gradient boosting. A node's rows are a stretch of two lists in the same order: row numbers (u32)
// and pairs of gradient and hessian (f32 each). Cells of a histogram are {gradient, hessian} f64 by
// code, counts u32 apart. A row whose hessian is 0 is carried along and not counted.

/** Of the log loss: score f64, label u8, weight f32 a row; out: pairs f32. */
export function boostLogistic(
  scores: usize,
  labels: usize,
  weights: usize,
  out: usize,
  from: u32,
  to: u32,
): void {
  for (let row = from; row < to; row++) {
    const score = <f32>load<f64>(scores + (<usize>row << 3));
    const p: f32 = 1 / (1 + NativeMathf.exp(-score));
    const weight = load<f32>(weights + (<usize>row << 2));
    const at = out + (<usize>row << 3);
    store<f32>(at, weight * (p - <f32>load<u8>(labels + <usize>row)));
    store<f32>(at, weight * max<f32>(p * (1 - p), 1e-16), 4);
  }
}

/** Of half the squared error; targets f64 a row. */
export function boostSquared(
  scores: usize,
  targets: usize,
  weights: usize,
  out: usize,
  from: u32,
  to: u32,
): void {
  for (let row = from; row < to; row++) {
    const error = load<f64>(scores + (<usize>row << 3)) - load<f64>(targets + (<usize>row << 3));
    const weight = load<f32>(weights + (<usize>row << 2));
    const at = out + (<usize>row << 3);
    store<f32>(at, <f32>(<f64>weight * error));
    store<f32>(at, weight, 4);
  }
}

/**
 * Of the log loss of a softmax: scores labelCount f64 a row, label u16 a row; out: pairs for all
 * rows of the first label, then of the next.
 */
export function boostSoftmax(
  scores: usize,
  labels: usize,
  weights: usize,
  out: usize,
  labelCount: i32,
  rowCount: u32,
  from: u32,
  to: u32,
): void {
  for (let row = from; row < to; row++) {
    const at = scores + ((<usize>row * <usize>labelCount) << 3);
    let highest: f64 = -Infinity;
    for (let l: i32 = 0; l < labelCount; l++) highest = max(highest, load<f64>(at + (<usize>l << 3)));
    let total: f64 = 0;
    for (let l: i32 = 0; l < labelCount; l++) {
      total += <f64>NativeMathf.exp(<f32>(load<f64>(at + (<usize>l << 3)) - highest));
    }
    const own = <i32>load<u16>(labels + (<usize>row << 1));
    const weight = load<f32>(weights + (<usize>row << 2));
    for (let l: i32 = 0; l < labelCount; l++) {
      const e = <f64>NativeMathf.exp(<f32>(load<f64>(at + (<usize>l << 3)) - highest));
      const p = <f32>(e / total);
      const target = out + ((<usize>l * <usize>rowCount + <usize>row) << 3);
      store<f32>(target, weight * (p - <f32>(l == own)));
      // Twice, because labels share one sum: Friedman, "Greedy function approximation", 2001.
      store<f32>(target, weight * max<f32>(2 * p * (1 - p), 1e-16), 4);
    }
  }
}

@inline
function addCell(cells: usize, counts: usize, code: usize, pair: v128, one: u32): void {
  const cell = cells + (code << 4);
  v128.store(cell, f64x2.add(v128.load(cell), pair));
  const count = counts + (code << 2);
  store<u32>(count, load<u32>(count) + one);
}

/**
 * Adds the rows of a node to the histograms of up to four columns. `columns`, `cells`, `counts`: an
 * address (u32) for each.
 */
export function boostHistogram(
  rows: usize,
  pairs: usize,
  count: i32,
  columnCount: i32,
  columns: usize,
  cells: usize,
  counts: usize,
): void {
  const end = rows + (<usize>count << 2);
  let pair = pairs;
  if (columnCount == 4) {
    const a = <usize>load<u32>(columns);
    const b = <usize>load<u32>(columns, 4);
    const c = <usize>load<u32>(columns, 8);
    const d = <usize>load<u32>(columns, 12);
    const ca = <usize>load<u32>(cells);
    const cb = <usize>load<u32>(cells, 4);
    const cc = <usize>load<u32>(cells, 8);
    const cd = <usize>load<u32>(cells, 12);
    const na = <usize>load<u32>(counts);
    const nb = <usize>load<u32>(counts, 4);
    const nc = <usize>load<u32>(counts, 8);
    const nd = <usize>load<u32>(counts, 12);
    for (let at = rows; at < end; at += 4, pair += 8) {
      const row = <usize>load<u32>(at);
      const raw = v128.load64_zero(pair);
      const values = f64x2.promote_low_f32x4(raw);
      const one = u32(f32x4.extract_lane(raw, 1) != 0);
      addCell(ca, na, <usize>load<u8>(a + row), values, one);
      addCell(cb, nb, <usize>load<u8>(b + row), values, one);
      addCell(cc, nc, <usize>load<u8>(c + row), values, one);
      addCell(cd, nd, <usize>load<u8>(d + row), values, one);
    }
    return;
  }
  for (let k: i32 = 0; k < columnCount; k++) {
    const column = <usize>load<u32>(columns + (<usize>k << 2));
    const cell = <usize>load<u32>(cells + (<usize>k << 2));
    const number = <usize>load<u32>(counts + (<usize>k << 2));
    pair = pairs;
    for (let at = rows; at < end; at += 4, pair += 8) {
      const raw = v128.load64_zero(pair);
      const one = u32(f32x4.extract_lane(raw, 1) != 0);
      const code = <usize>load<u8>(column + <usize>load<u32>(at));
      addCell(cell, number, code, f64x2.promote_low_f32x4(raw), one);
    }
  }
}

/** target = parent - child: cells (f64) and counts (u32), each with `count` elements. */
export function boostSubtract(
  target: usize,
  parent: usize,
  child: usize,
  cellCount: i32,
  countsAt: usize,
): void {
  const bytes = <usize>cellCount << 4;
  for (let k: usize = 0; k < bytes; k += 16) {
    v128.store(target + k, f64x2.sub(v128.load(parent + k), v128.load(child + k)));
  }
  const end = countsAt + (<usize>cellCount << 2);
  for (let k = countsAt; k < end; k += 4) {
    store<u32>(target + k, load<u32>(parent + k) - load<u32>(child + k));
  }
}

/**
 * Parts a node's rows and pairs stably and in place: first those whose code goes left. `right`: 256
 * bytes, 1 where a code goes right. `spareRows`, `sparePairs`: as much room again. Answers how many
 * go left.
 */
export function boostPartition(
  rows: usize,
  pairs: usize,
  count: i32,
  column: usize,
  right: usize,
  spareRows: usize,
  sparePairs: usize,
): i32 {
  let left: usize = 0;
  let others: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    const pair = load<u64>(pairs + (i << 3));
    const goesRight = <usize>load<u8>(right + <usize>load<u8>(column + <usize>row));
    // Both are written; the one that does not hold is written over.
    store<u32>(rows + (left << 2), row);
    store<u64>(pairs + (left << 3), pair);
    store<u32>(spareRows + (others << 2), row);
    store<u64>(sparePairs + (others << 3), pair);
    left += 1 - goesRight;
    others += goesRight;
  }
  memory.copy(rows + (left << 2), spareRows, others << 2);
  memory.copy(pairs + (left << 3), sparePairs, others << 3);
  return <i32>left;
}

/** Adds a value to the score of each row; `stride` bytes from row to row. */
export function boostAddScore(
  rows: usize,
  count: i32,
  scores: usize,
  stride: i32,
  value: f64,
): void {
  const end = rows + (<usize>count << 2);
  for (let at = rows; at < end; at += 4) {
    const score = scores + <usize>load<u32>(at) * <usize>stride;
    store<f64>(score, load<f64>(score) + value);
  }
}
