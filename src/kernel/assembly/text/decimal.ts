// Decimal numbers as the doubles nearest to them.

import { POWERS_OF_FIVE } from './powers-of-five';

/** Integers up to here, and quotients by powers of ten up to 10^22 of them, are exact doubles. */
const EXACT_MAX: u64 = 9007199254740992;

@lazy
const POWERS_OF_TEN: StaticArray<f64> = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
];

/** @param exponent 0 to 22, where powers are exact */
export function powerOfTen(exponent: i32): f64 {
  return unchecked(POWERS_OF_TEN[exponent]);
}

export const POWER_MIN: i32 = -292;
const POWER_MAX: i32 = 308;

/** The double nearest to mantissa x 10^exponent, or -1 when that is not certain or too small. */
export function decimalToDouble(mantissa: u64, exponent: i32): f64 {
  if (mantissa <= EXACT_MAX) {
    // Both operands are exact, so the one rounding is the right one (Clinger, "How to read floating
    // point numbers accurately", 1990).
    if (mantissa == 0 || exponent == 0) return <f64>mantissa;
    if (exponent >= -22 && exponent < 0) return <f64>mantissa / powerOfTen(-exponent);
    if (exponent > 0 && exponent <= 22) return <f64>mantissa * powerOfTen(exponent);
  }
  return roundedProduct(mantissa, exponent);
}

/**
 * Mantissa x 10^exponent to the nearest double, or -1 when it is out of the table's reach, or
 * subnormal, or so near the middle of two doubles that 128 bits do not decide.
 * See Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience, 2021.
 */
function roundedProduct(mantissa: u64, exponent: i32): f64 {
  if (exponent < POWER_MIN || exponent > POWER_MAX) return -1;
  const shift = clz(mantissa);
  mantissa <<= shift;
  const entry = (exponent - POWER_MIN) << 1;
  let high = multiplyHigh(mantissa, unchecked(POWERS_OF_FIVE[entry]));
  let low = mantissa * unchecked(POWERS_OF_FIVE[entry]);
  if ((high & 0x1ff) == 0x1ff) {
    const more = multiplyHigh(mantissa, unchecked(POWERS_OF_FIVE[entry + 1]));
    low += more;
    if (more > low) high++;
  }
  if (low == u64.MAX_VALUE && (exponent < -27 || exponent > 55)) return -1;
  const upper = high >> 63;
  let bits = high >> (upper + 9);
  let power = ((217706 * exponent) >> 16) + 63 + <i32>upper - <i32>shift + 1023;
  if (power <= 0) return -1;
  // Exactly between two doubles: the even one, not the upper one.
  if (low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1) {
    if (bits << (upper + 9) == high) bits &= ~(<u64>1);
  }
  bits += bits & 1;
  bits >>= 1;
  if (bits >= (<u64>1 << 53)) {
    bits = <u64>1 << 52;
    power++;
  }
  bits &= ~(<u64>1 << 52);
  if (power >= 0x7ff) return -1;
  return reinterpret<f64>(bits | (<u64>power << 52));
}

/** The upper 64 bits of a product. */
export function multiplyHigh(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const middle = aHigh * bLow + ((aLow * bLow) >> 32);
  const other = aLow * bHigh + (middle & 0xffffffff);
  return aHigh * bHigh + (middle >> 32) + (other >> 32);
}
