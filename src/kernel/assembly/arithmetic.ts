// Element-wise arithmetic on doubles. `step` is 16 for a vector operand and 0 for a constant that
// is stored twice; outputs may be written up to 16 bytes past the last row.

import { Arithmetic } from './operator';

@inline
function lanes(x: v128, y: v128, operator: i32): v128 {
  if (operator == Arithmetic.add) return f64x2.add(x, y);
  if (operator == Arithmetic.subtract) return f64x2.sub(x, y);
  // There is no -0: adding 0 makes it 0 and changes nothing else.
  const zero = f64x2.splat(0);
  if (operator == Arithmetic.multiply) return f64x2.add(f64x2.mul(x, y), zero);
  return f64x2.add(f64x2.div(x, y), zero);
}

@inline
function loop(a: usize, aStep: usize, b: usize, bStep: usize, count: i32, out: usize, op: i32): void {
  let p = a;
  let q = b;
  for (let i: usize = 0; i < <usize>count; i += 2) {
    v128.store(out + (i << 3), lanes(v128.load(p), v128.load(q), op));
    p += aStep;
    q += bStep;
  }
}

/** out = a operator b; `operator`: a code of Arithmetic */
export function arithmeticF64(
  a: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  count: i32,
  operator: i32,
  out: usize,
): void {
  if (operator == Arithmetic.add) loop(a, aStep, b, bStep, count, out, Arithmetic.add);
  else if (operator == Arithmetic.subtract) loop(a, aStep, b, bStep, count, out, Arithmetic.subtract);
  else if (operator == Arithmetic.multiply) loop(a, aStep, b, bStep, count, out, Arithmetic.multiply);
  else loop(a, aStep, b, bStep, count, out, Arithmetic.divide);
}

/** out[i] = values[i], Float64 of Int32. */
export function convertI32ToF64(values: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i += 4) {
    const v = v128.load(values + (i << 2));
    v128.store(out + (i << 3), f64x2.convert_low_i32x4_s(v));
    v128.store(out + (i << 3), f64x2.convert_low_i32x4_s(v128.shuffle<i32>(v, v, 2, 3, 2, 3)), 16);
  }
}

/** Rows with a value in both operands: bytes of 0 and 1. */
export function andBytes(a: usize, b: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i += 16) {
    v128.store(out + i, v128.and(v128.load(a + i), v128.load(b + i)));
  }
}

/** out = a where truth is true, else b. Steps: 16, or 0 for a constant that is stored twice. */
export function chooseF64(
  truth: usize,
  a: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  count: i32,
  out: usize,
): void {
  const two = i64x2.splat(2);
  let p = a;
  let q = b;
  for (let i: usize = 0; i < <usize>count; i += 2) {
    const bytes = v128.load16_lane(truth + i, i64x2.splat(0), 0);
    const wide = i64x2.extend_low_i32x4_u(
      i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes)),
    );
    const isTrue = i64x2.eq(wide, two);
    v128.store(out + (i << 3), v128.bitselect(v128.load(p), v128.load(q), isTrue));
    p += aStep;
    q += bStep;
  }
}

/** out = a where truth is true, else b: bytes of 0 and 1; address 0 stands for all 1. */
export function chooseBytes(truth: usize, a: usize, b: usize, count: i32, out: usize): void {
  const two = i8x16.splat(2);
  const one = i8x16.splat(1);
  for (let i: usize = 0; i < <usize>count; i += 16) {
    const isTrue = i8x16.eq(v128.load(truth + i), two);
    const x = a ? v128.load(a + i) : one;
    const y = b ? v128.load(b + i) : one;
    v128.store(out + i, v128.bitselect(x, y, isTrue));
  }
}
