// Aggregation. Groups are Int32 cell numbers, one a row; `valid` is 0 or the address of a byte a
// row (1: has a value). Rows that a filter drops point at a cell that nobody reads.

/** Rows that are not true get the cell `trash`. */
export function dropGroups(groups: usize, truth: usize, count: i32, trash: i32): void {
  for (let i: i32 = 0; i < count; i++) {
    const p = groups + ((<usize>i) << 2);
    store<i32>(p, select<i32>(load<i32>(p), trash, load<u8>(truth + <usize>i) == 2));
  }
}

/** groups = groups * factor + next */
export function combineGroups(groups: usize, next: usize, count: i32, factor: i32): void {
  const f = i32x4.splat(factor);
  for (let i: usize = 0; i < <usize>count; i += 4) {
    const p = groups + (i << 2);
    v128.store(p, i32x4.add(i32x4.mul(v128.load(p), f), v128.load(next + (i << 2))));
  }
}

/** Codes of an integer column of small range: value - least + 1, and 0 for NULL. */
export function rangeCodes(values: usize, valid: usize, count: i32, least: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<i32>(out + (i << 2), load<i32>(values + (i << 2)) - least + 1);
  }
  if (valid) {
    for (let i: usize = 0; i < <usize>count; i++) {
      if (!load<u8>(valid + i)) store<i32>(out + (i << 2), 0);
    }
  }
}

/** counts: Float64 a cell */
export function groupCount(groups: usize, valid: usize, count: i32, counts: usize): void {
  if (valid) {
    for (let i: usize = 0; i < <usize>count; i++) {
      const p = counts + (<usize>load<i32>(groups + (i << 2)) << 3);
      store<i64>(p, load<i64>(p) + <i64>load<u8>(valid + i));
    }
    return;
  }
  for (let i: usize = 0; i < <usize>count; i++) {
    const p = counts + (<usize>load<i32>(groups + (i << 2)) << 3);
    store<i64>(p, load<i64>(p) + 1);
  }
}

/** cells: { count: i64, sum: i64 }, exact */
export function groupSumI32(
  groups: usize,
  values: usize,
  valid: usize,
  count: i32,
  cells: usize,
): void {
  if (valid) {
    for (let i: usize = 0; i < <usize>count; i++) {
      const p = cells + (<usize>load<i32>(groups + (i << 2)) << 4);
      const has = <i64>load<u8>(valid + i);
      store<i64>(p, load<i64>(p) + has);
      store<i64>(p, load<i64>(p, 8) + (<i64>load<i32>(values + (i << 2)) & -has), 8);
    }
    return;
  }
  for (let i: usize = 0; i < <usize>count; i++) {
    const p = cells + (<usize>load<i32>(groups + (i << 2)) << 4);
    store<i64>(p, load<i64>(p) + 1);
    store<i64>(p, load<i64>(p, 8) + <i64>load<i32>(values + (i << 2)), 8);
  }
}

/** cells: { count: i64, sum: f64 } */
export function groupSumF64(
  groups: usize,
  values: usize,
  valid: usize,
  count: i32,
  cells: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (valid && !load<u8>(valid + i)) continue;
    const p = cells + (<usize>load<i32>(groups + (i << 2)) << 4);
    store<i64>(p, load<i64>(p) + 1);
    store<f64>(p, load<f64>(p, 8) + load<f64>(values + (i << 3)), 8);
  }
}

/** cells: { count: i64, least: f64 }; NaN is below every other number */
export function groupMinF64(
  groups: usize,
  values: usize,
  valid: usize,
  count: i32,
  cells: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (valid && !load<u8>(valid + i)) continue;
    const p = cells + (<usize>load<i32>(groups + (i << 2)) << 4);
    const v = load<f64>(values + (i << 3));
    const seen = load<i64>(p);
    if (seen == 0 || v < load<f64>(p, 8) || v != v) store<f64>(p, v, 8);
    store<i64>(p, seen + 1);
  }
}

/** cells: { count: i64, greatest: f64 } */
export function groupMaxF64(
  groups: usize,
  values: usize,
  valid: usize,
  count: i32,
  cells: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (valid && !load<u8>(valid + i)) continue;
    const p = cells + (<usize>load<i32>(groups + (i << 2)) << 4);
    const v = load<f64>(values + (i << 3));
    const seen = load<i64>(p);
    const best = load<f64>(p, 8);
    if (seen == 0 || v > best || best != best) store<f64>(p, v, 8);
    store<i64>(p, seen + 1);
  }
}

/**
 * cells: { count: f64, mean: f64, squares: f64, unused } by Welford's update.
 * See Welford, "Note on a method for calculating corrected sums of squares", Technometrics 1962.
 */
export function groupMoments(
  groups: usize,
  values: usize,
  valid: usize,
  count: i32,
  cells: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (valid && !load<u8>(valid + i)) continue;
    const p = cells + (<usize>load<i32>(groups + (i << 2)) << 5);
    const v = load<f64>(values + (i << 3));
    const n = load<f64>(p) + 1;
    const mean = load<f64>(p, 8);
    const delta = v - mean;
    const next = mean + delta / n;
    store<f64>(p, n);
    store<f64>(p, next, 8);
    store<f64>(p, load<f64>(p, 16) + delta * (v - next), 16);
  }
}

/** present[group * width + code] = 1 for codes other than NULL */
export function groupPresence(
  groups: usize,
  codes: usize,
  count: i32,
  width: i32,
  present: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const at = load<i32>(groups + (i << 2)) * width + load<i32>(codes + (i << 2));
    store<u8>(present + <usize>at, 1);
  }
}

/** present[code] = 1 for the rows that are true (`truth` 0: all rows) */
export function presence(codes: usize, width: i32, truth: usize, count: i32, present: usize): void {
  if (truth) {
    for (let i: usize = 0; i < <usize>count; i++) {
      if (load<u8>(truth + i) != 2) continue;
      let code: usize;
      if (width == 1) code = <usize>load<u8>(codes + i);
      else if (width == 2) code = <usize>load<u16>(codes + (i << 1));
      else code = <usize>load<u32>(codes + (i << 2));
      store<u8>(present + code, 1);
    }
    return;
  }
  if (width == 1) for (let i: usize = 0; i < <usize>count; i++) store<u8>(present + <usize>load<u8>(codes + i), 1);
  else if (width == 2) for (let i: usize = 0; i < <usize>count; i++) store<u8>(present + <usize>load<u16>(codes + (i << 1)), 1);
  else for (let i: usize = 0; i < <usize>count; i++) store<u8>(present + <usize>load<u32>(codes + (i << 2)), 1);
}

/** Exact sum of int32 values over the rows that are true (`truth` 0: all rows). */
export function sumI32(values: usize, truth: usize, count: i32): i64 {
  let sum = i64x2.splat(0);
  let i: usize = 0;
  const whole = <usize>(count & ~3);
  const two = i32x4.splat(2);
  for (; i < whole; i += 4) {
    let v = v128.load(values + (i << 2));
    if (truth) {
      const bytes = v128.load32_zero(truth + i);
      const lanes = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes));
      v = v128.and(v, i32x4.eq(lanes, two));
    }
    sum = i64x2.add(sum, i64x2.add(i64x2.extend_low_i32x4_s(v), i64x2.extend_high_i32x4_s(v)));
  }
  let total = i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1);
  for (; i < <usize>count; i++) {
    if (!truth || load<u8>(truth + i) == 2) total += <i64>load<i32>(values + (i << 2));
  }
  return total;
}

/** Sum of doubles over the rows that are true, in four interleaved partial sums. */
export function sumF64Where(values: usize, truth: usize, count: i32): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let i: usize = 0;
  const whole = <usize>(count & ~3);
  const two = i64x2.splat(2);
  for (; i < whole; i += 4) {
    let x = v128.load(values + (i << 3));
    let y = v128.load(values + (i << 3), 16);
    if (truth) {
      const wide = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(truth + i)));
      x = v128.and(x, i64x2.eq(i64x2.extend_low_i32x4_u(wide), two));
      y = v128.and(y, i64x2.eq(i64x2.extend_high_i32x4_u(wide), two));
    }
    a = f64x2.add(a, x);
    b = f64x2.add(b, y);
  }
  const s = f64x2.add(a, b);
  let total = f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1);
  for (; i < <usize>count; i++) {
    if (!truth || load<u8>(truth + i) == 2) total += load<f64>(values + (i << 3));
  }
  return total;
}

/** a cell of 16 bytes { i64, i64 } added to another, cell by cell */
export function addCellsI64(target: usize, source: usize, cellCount: i32): void {
  for (let i: usize = 0; i < (<usize>cellCount) << 4; i += 16) {
    v128.store(target + i, i64x2.add(v128.load(target + i), v128.load(source + i)));
  }
}

/** cells { count: i64, sum: f64 } added to others */
export function addCellsF64(target: usize, source: usize, cellCount: i32): void {
  for (let i: usize = 0; i < (<usize>cellCount) << 4; i += 16) {
    store<i64>(target + i, load<i64>(target + i) + load<i64>(source + i));
    store<f64>(target + i, load<f64>(target + i, 8) + load<f64>(source + i, 8), 8);
  }
}

/** cells { count: i64, extreme: f64 } merged; `sign` 1: least, -1: greatest */
export function mergeExtremes(target: usize, source: usize, cellCount: i32, sign: f64): void {
  for (let i: usize = 0; i < (<usize>cellCount) << 4; i += 16) {
    const more = load<i64>(source + i);
    if (more == 0) continue;
    const have = load<i64>(target + i);
    const v = load<f64>(source + i, 8);
    const best = load<f64>(target + i, 8);
    let better: bool;
    if (sign > 0) better = v < best || v != v;
    else better = v > best || best != best;
    if (have == 0 || better) store<f64>(target + i, v, 8);
    store<i64>(target + i, have + more);
  }
}

/** counts of 8 bytes added to others */
export function addCounts(target: usize, source: usize, count: i32): void {
  for (let i: usize = 0; i < (<usize>count) << 3; i += 16) {
    v128.store(target + i, i64x2.add(v128.load(target + i), v128.load(source + i)));
  }
}

/** bytes of 0 and 1 united */
export function orBytes(target: usize, source: usize, count: i32): void {
  for (let i: usize = 0; i < <usize>count; i += 16) {
    v128.store(target + i, v128.or(v128.load(target + i), v128.load(source + i)));
  }
}

/** how many of the bytes are not 0 */
export function countBytes(bytes: usize, count: i32): i32 {
  let total: i32 = 0;
  let i: usize = 0;
  for (; i + 16 <= <usize>count; i += 16) {
    total += popcnt(i8x16.bitmask(i8x16.ne(v128.load(bytes + i), i8x16.splat(0))));
  }
  for (; i < <usize>count; i++) total += <i32>(load<u8>(bytes + i) != 0);
  return total;
}
