// Predicates over chunks. A truth value is a byte: 0 false, 1 null, 2 true, so that AND is the
// minimum, OR the maximum and NOT 2 - x. Outputs may be written up to 16 bytes past the last row.

import { Compare } from './operator';

/** Four masks of four 32-bit lanes become sixteen truth values. */
@inline
function storeTruth32(out: usize, a: v128, b: v128, c: v128, d: v128): void {
  const low = i16x8.narrow_i32x4_s(a, b);
  const high = i16x8.narrow_i32x4_s(c, d);
  v128.store(out, v128.and(i8x16.narrow_i16x8_s(low, high), i8x16.splat(2)));
}

@inline
function compareLanesI32(x: v128, y: v128, operator: i32): v128 {
  if (operator == Compare.equal) return i32x4.eq(x, y);
  if (operator == Compare.notEqual) return i32x4.ne(x, y);
  if (operator == Compare.less) return i32x4.lt_s(x, y);
  if (operator == Compare.lessOrEqual) return i32x4.le_s(x, y);
  if (operator == Compare.greater) return i32x4.gt_s(x, y);
  return i32x4.ge_s(x, y);
}

@inline
function loopI32(values: usize, count: i32, limit: i32, out: usize, operator: i32): void {
  const y = i32x4.splat(limit);
  for (let i: i32 = 0; i < count; i += 16) {
    const p = values + ((<usize>i) << 2);
    storeTruth32(
      out + <usize>i,
      compareLanesI32(v128.load(p), y, operator),
      compareLanesI32(v128.load(p, 16), y, operator),
      compareLanesI32(v128.load(p, 32), y, operator),
      compareLanesI32(v128.load(p, 48), y, operator),
    );
  }
}

/** int32 values against a constant. */
export function compareI32(
  values: usize,
  count: i32,
  operator: i32,
  limit: i32,
  out: usize,
): void {
  if (operator == Compare.equal) loopI32(values, count, limit, out, Compare.equal);
  else if (operator == Compare.notEqual) loopI32(values, count, limit, out, Compare.notEqual);
  else if (operator == Compare.less) loopI32(values, count, limit, out, Compare.less);
  else if (operator == Compare.lessOrEqual) loopI32(values, count, limit, out, Compare.lessOrEqual);
  else if (operator == Compare.greater) loopI32(values, count, limit, out, Compare.greater);
  else loopI32(values, count, limit, out, 5);
}

/** The total order of doubles: NaN equals itself and is below every other number. */
@inline
function compareLanesF64(x: v128, y: v128, operator: i32): v128 {
  const xNan = f64x2.ne(x, x);
  const yNan = f64x2.ne(y, y);
  if (operator == Compare.equal) return v128.or(f64x2.eq(x, y), v128.and(xNan, yNan));
  if (operator == Compare.notEqual) return v128.not(v128.or(f64x2.eq(x, y), v128.and(xNan, yNan)));
  if (operator == Compare.less) return v128.or(f64x2.lt(x, y), v128.andnot(xNan, yNan));
  if (operator == Compare.lessOrEqual) return v128.not(v128.or(f64x2.gt(x, y), v128.andnot(yNan, xNan)));
  if (operator == Compare.greater) return v128.or(f64x2.gt(x, y), v128.andnot(yNan, xNan));
  return v128.not(v128.or(f64x2.lt(x, y), v128.andnot(xNan, yNan)));
}

/** Two masks of two 64-bit lanes become one of four 32-bit lanes. */
@inline
function pairF64(a: usize, b: usize, step: usize, operator: i32): v128 {
  const low = compareLanesF64(v128.load(a), v128.load(b), operator);
  const high = compareLanesF64(v128.load(a, 16), v128.load(b + step), operator);
  return v128.shuffle<i32>(low, high, 0, 2, 4, 6);
}

@inline
function loopF64(a: usize, b: usize, step: usize, count: i32, out: usize, operator: i32): void {
  // `step` is 16 for a vector and 0 for a constant that lies twice at `b`.
  for (let i: i32 = 0; i < count; i += 16) {
    const p = a + ((<usize>i) << 3);
    const q = b + (<usize>i >> 1) * step;
    storeTruth32(
      out + <usize>i,
      pairF64(p, q, step, operator),
      pairF64(p + 32, q + 2 * step, step, operator),
      pairF64(p + 64, q + 4 * step, step, operator),
      pairF64(p + 96, q + 6 * step, step, operator),
    );
  }
}

/** doubles against doubles (`step` 16) or against one constant stored twice (`step` 0). */
export function compareF64(
  a: usize,
  b: usize,
  step: usize,
  count: i32,
  operator: i32,
  out: usize,
): void {
  if (operator == Compare.equal) loopF64(a, b, step, count, out, Compare.equal);
  else if (operator == Compare.notEqual) loopF64(a, b, step, count, out, Compare.notEqual);
  else if (operator == Compare.less) loopF64(a, b, step, count, out, Compare.less);
  else if (operator == Compare.lessOrEqual) loopF64(a, b, step, count, out, Compare.lessOrEqual);
  else if (operator == Compare.greater) loopF64(a, b, step, count, out, Compare.greater);
  else loopF64(a, b, step, count, out, 5);
}

/** out = a AND b, bytes of truth. */
export function andTruth(a: usize, b: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i += 16) {
    v128.store(out + i, i8x16.min_u(v128.load(a + i), v128.load(b + i)));
  }
}

/** out = a OR b, bytes of truth. */
export function orTruth(a: usize, b: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i += 16) {
    v128.store(out + i, i8x16.max_u(v128.load(a + i), v128.load(b + i)));
  }
}

/** out = NOT a, bytes of truth. */
export function notTruth(a: usize, count: i32, out: usize): void {
  const two = i8x16.splat(2);
  for (let i: usize = 0; i < <usize>count; i += 16) {
    v128.store(out + i, i8x16.sub(two, v128.load(a + i)));
  }
}

/** Truth values of rows without a value become null. `valid`: a byte a row, 1 or 0. */
export function nullTruth(truth: usize, valid: usize, count: i32): void {
  const one = i8x16.splat(1);
  for (let i: usize = 0; i < <usize>count; i += 16) {
    const missing = i8x16.eq(v128.load(valid + i), i8x16.splat(0));
    v128.store(truth + i, v128.bitselect(one, v128.load(truth + i), missing));
  }
}

/** Validity bits (least significant first) become bytes of 0 and 1. */
export function expandBits(bits: usize, count: i32, out: usize): void {
  const bit = i64x2.splat(0x8040201008040201);
  const one = i8x16.splat(1);
  for (let i: usize = 0; i < <usize>count; i += 16) {
    const two = i16x8.splat(load<i16>(bits + (i >> 3)));
    const spread = v128.shuffle<i8>(two, two, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    v128.store(out + i, i8x16.min_u(v128.and(spread, bit), one));
  }
}

/** valid = 1 where code is not NULL (code 0). */
export function validCodes(codes: usize, width: i32, count: i32, out: usize): void {
  if (width == 1) for (let i: usize = 0; i < <usize>count; i++) store<u8>(out + i, u8(load<u8>(codes + i) != 0));
  else if (width == 2) for (let i: usize = 0; i < <usize>count; i++) store<u8>(out + i, u8(load<u16>(codes + (i << 1)) != 0));
  else for (let i: usize = 0; i < <usize>count; i++) store<u8>(out + i, u8(load<u32>(codes + (i << 2)) != 0));
}

/** out[i] = table[code[i]], bytes: truth values or validity of an expression over a dictionary. */
export function mapCodesU8(codes: usize, width: i32, count: i32, table: usize, out: usize): void {
  if (width == 1) for (let i: usize = 0; i < <usize>count; i++) store<u8>(out + i, load<u8>(table + <usize>load<u8>(codes + i)));
  else if (width == 2) for (let i: usize = 0; i < <usize>count; i++) store<u8>(out + i, load<u8>(table + <usize>load<u16>(codes + (i << 1))));
  else for (let i: usize = 0; i < <usize>count; i++) store<u8>(out + i, load<u8>(table + <usize>load<u32>(codes + (i << 2))));
}

/** out[i] = table[code[i]], Int32: ranks, or codes of another dictionary. */
export function mapCodesI32(codes: usize, width: i32, count: i32, table: usize, out: usize): void {
  if (width == 1) for (let i: usize = 0; i < <usize>count; i++) store<i32>(out + (i << 2), load<i32>(table + (<usize>load<u8>(codes + i) << 2)));
  else if (width == 2) for (let i: usize = 0; i < <usize>count; i++) store<i32>(out + (i << 2), load<i32>(table + (<usize>load<u16>(codes + (i << 1)) << 2)));
  else for (let i: usize = 0; i < <usize>count; i++) store<i32>(out + (i << 2), load<i32>(table + (<usize>load<u32>(codes + (i << 2)) << 2)));
}

/** out[i] = table[code[i]], Float64: numbers of an expression over a dictionary. */
export function mapCodesF64(codes: usize, width: i32, count: i32, table: usize, out: usize): void {
  if (width == 1) for (let i: usize = 0; i < <usize>count; i++) store<f64>(out + (i << 3), load<f64>(table + (<usize>load<u8>(codes + i) << 3)));
  else if (width == 2) for (let i: usize = 0; i < <usize>count; i++) store<f64>(out + (i << 3), load<f64>(table + (<usize>load<u16>(codes + (i << 1)) << 3)));
  else for (let i: usize = 0; i < <usize>count; i++) store<f64>(out + (i << 3), load<f64>(table + (<usize>load<u32>(codes + (i << 2)) << 3)));
}

/** Codes of any width as Int32. */
export function widenCodes(codes: usize, width: i32, count: i32, out: usize): void {
  if (width == 1) for (let i: usize = 0; i < <usize>count; i++) store<i32>(out + (i << 2), <i32>load<u8>(codes + i));
  else if (width == 2) for (let i: usize = 0; i < <usize>count; i++) store<i32>(out + (i << 2), <i32>load<u16>(codes + (i << 1)));
  else memory.copy(out, codes, (<usize>count) << 2);
}

/** Positions of the rows that are true; returns how many. */
export function selectTrue(truth: usize, count: i32, out: usize): i32 {
  let selected: usize = 0;
  let i: i32 = 0;
  for (; i + 16 <= count; i += 16) {
    let bits = i8x16.bitmask(i8x16.eq(v128.load(truth + <usize>i), i8x16.splat(2)));
    for (; bits != 0; bits &= bits - 1) {
      store<i32>(out + (selected << 2), i + ctz(bits));
      selected++;
    }
  }
  for (; i < count; i++) {
    if (load<u8>(truth + <usize>i) != 2) continue;
    store<i32>(out + (selected << 2), i);
    selected++;
  }
  return <i32>selected;
}

/** How many rows are true. */
export function countTrue(truth: usize, count: i32): i32 {
  let total: i32 = 0;
  let i: usize = 0;
  for (; i + 16 <= <usize>count; i += 16) {
    total += popcnt(i8x16.bitmask(i8x16.eq(v128.load(truth + i), i8x16.splat(2))));
  }
  for (; i < <usize>count; i++) total += <i32>(load<u8>(truth + i) >> 1);
  return total;
}
