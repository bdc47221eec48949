// Numbers and times as text. Doubles get the fewest digits that read back equal, and of those the
// nearest to the double: Giulietti, "The Schubfach way to render doubles", 2020.

import { multiplyHigh, POWER_MIN, powerOfTen } from './decimal';
import { POWERS_OF_FIVE } from './powers-of-five';

const MINUS: u8 = 0x2d;
const PLUS: u8 = 0x2b;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const COLON: u8 = 0x3a;
const LETTER_E: u8 = 0x65;
const LETTER_T: u8 = 0x54;
const LETTER_Z: u8 = 0x5a;

/** Decimals of at most 15 digits are all different doubles. */
const FEW_DIGITS_MAX: f64 = 1e15;
/** Integers up to here are exact. */
const SAFE_MAX: f64 = 9007199254740991;

/** Where numbers stand in texts: as JavaScript has them, or as the dialect of SQL prints them. */
export const enum NumberLayout {
  script,
  dialect,
}

@inline
function countDigits(value: u64): i32 {
  // log10(2) = 1233 / 4096
  const guess = ((64 - <i32>clz(value | 1)) * 1233) >> 12;
  return guess + <i32>((value | 1) >= integerPower(guess));
}

@lazy
const INTEGER_POWERS: StaticArray<u64> = [
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
  100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
  10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000,
];

@inline
function integerPower(exponent: i32): u64 {
  return unchecked(INTEGER_POWERS[exponent]);
}

/** Writes exactly `count` digits, zeros before the first. */
function writeDigits(at: usize, value: u64, count: i32): usize {
  const end = at + count;
  let p = end;
  // Divisions by constants of 32 bits are cheaper.
  while (value > 0xffffffff) {
    store<u8>(--p, ZERO + <u8>(value % 10));
    value /= 10;
  }
  let small = <u32>value;
  while (p > at) {
    const rest = small / 10;
    store<u8>(--p, ZERO + <u8>(small - rest * 10));
    small = rest;
  }
  return end;
}

/** @returns the address behind the text, of at most 20 bytes */
export function writeInteger(at: usize, value: i64): usize {
  if (value < 0) {
    store<u8>(at++, MINUS);
    value = -value;
  }
  return writeDigits(at, <u64>value, countDigits(<u64>value));
}

/** Digits that `shortestDigits` found; kernels of one instance run on one thread. */
let shortestExponent: i32 = 0;

/** value x 2^-128 of the power's fraction, made odd when anything is cut off. */
@inline
function roundToOdd(high: u64, low: u64, value: u64): u64 {
  const lowHigh = multiplyHigh(low, value);
  const y0 = high * value + lowHigh;
  const y1 = multiplyHigh(high, value) + <u64>(y0 < lowHigh);
  return y1 | <u64>(y0 > 1);
}

/** The digits of a finite double above 0, without zeros at the end; `shortestExponent` says where they end. */
function shortestDigits(value: f64): u64 {
  const bits = reinterpret<u64>(value);
  const fraction = bits & 0xfffffffffffff;
  const biased = <i32>(bits >> 52) & 0x7ff;
  const c = biased == 0 ? fraction : fraction | (<u64>1 << 52);
  const q = biased == 0 ? -1074 : biased - 1075;
  const isOdd = c & 1;
  const isPower = fraction == 0 && biased > 1;
  const left = 4 * c - 2 + <u64>isPower;
  const middle = 4 * c;
  const right = 4 * c + 2;
  // floor(log10(2^q)), and of 3/4 2^q
  const k = isPower ? (q * 1262611 - 524031) >> 22 : (q * 1262611) >> 22;
  const shift = q + ((-k * 1741647) >> 19) + 1;
  const entry = (-k - POWER_MIN) << 1;
  let high = unchecked(POWERS_OF_FIVE[entry]);
  let low = unchecked(POWERS_OF_FIVE[entry + 1]);
  // Fractions that are cut off in the table are rounded up here.
  if (-k < -27 || -k > 55) {
    low++;
    if (low == 0) high++;
  }
  const vl = roundToOdd(high, low, left << shift);
  const v = roundToOdd(high, low, middle << shift);
  const vr = roundToOdd(high, low, right << shift);
  const lower = vl + isOdd;
  const upper = vr - isOdd;
  const s = v >> 2;
  shortestExponent = k;
  if (s >= 10) {
    const tens = s / 10;
    const isLowInside = lower <= 40 * tens;
    const isHighInside = 40 * tens + 40 <= upper;
    if (isLowInside != isHighInside) {
      shortestExponent = k + 1;
      return withoutZeros(tens + <u64>isHighInside);
    }
  }
  const isLowInside = lower <= 4 * s;
  const isHighInside = 4 * s + 4 <= upper;
  if (isLowInside != isHighInside) return withoutZeros(s + <u64>isHighInside);
  const half = 4 * s + 2;
  return withoutZeros(s + <u64>(v > half || (v == half && (s & 1) != 0)));
}

function withoutZeros(digits: u64): u64 {
  while (digits >= 10) {
    const rest = digits / 10;
    if (rest * 10 != digits) break;
    digits = rest;
    shortestExponent++;
  }
  return digits;
}

/**
 * @param value finite
 * @returns the address behind the text, of at most 32 bytes
 */
export function writeDouble(at: usize, value: f64, layout: NumberLayout): usize {
  const magnitude = abs(value);
  if (magnitude <= SAFE_MAX && floor(magnitude) == magnitude) return writeInteger(at, <i64>value);
  if (value < 0) store<u8>(at++, MINUS);
  if (layout == NumberLayout.dialect && magnitude < 9223372036854775808.0) {
    if (floor(magnitude) == magnitude) return writeInteger(at, <i64>magnitude);
  }
  let digits: u64;
  // Most fractions have few digits: those that read back equal are the shortest.
  const scaled = nearest(magnitude * 1e4);
  if (magnitude >= 1e-3 && scaled < FEW_DIGITS_MAX && scaled / 1e4 == magnitude) {
    shortestExponent = -4;
    digits = withoutZeros(<u64>scaled);
  } else {
    digits = shortestDigits(magnitude);
  }
  return layDigits(at, digits, shortestExponent, layout);
}

function layDigits(at: usize, digits: u64, exponent: i32, layout: NumberLayout): usize {
  const count = countDigits(digits);
  const point = count + exponent;
  const isScript = layout == NumberLayout.script;
  if (point > 0 && point < count) {
    const power = integerPower(count - point);
    const whole = digits / power;
    at = writeDigits(at, whole, point);
    store<u8>(at++, POINT);
    return writeDigits(at, digits - whole * power, count - point);
  }
  if (point <= 0 && point > (isScript ? -6 : -7)) {
    store<u16>(at, 0x2e30);
    at += 2;
    return writeDigits(at, digits, count - point);
  }
  const power = point - 1;
  const mantissaLength = count == 1 ? 1 : count + 1;
  // The dialect writes no plus, and counts the scientific form.
  const scientificLength = mantissaLength + 1 + <i32>(power < 0) + countDigits(abs(power));
  if (point >= count && point <= (isScript ? 21 : scientificLength + 5)) {
    at = writeDigits(at, digits, count);
    memory.fill(at, ZERO, exponent);
    return at + exponent;
  }
  const scale = integerPower(count - 1);
  const first = digits / scale;
  store<u8>(at++, ZERO + <u8>first);
  if (count > 1) {
    store<u8>(at++, POINT);
    at = writeDigits(at, digits - first * scale, count - 1);
  }
  store<u8>(at++, LETTER_E);
  if (isScript && power > 0) store<u8>(at++, PLUS);
  return writeInteger(at, power);
}

const DAY_SECONDS: i64 = 86400;
const YEAR_1_SECONDS: f64 = -62135596800;
const YEAR_10000_SECONDS: f64 = 253402300800;
/** Behind here the fraction of a second has at most 30 binary digits. */
const FINE_SECONDS_MIN: f64 = 4194304;
const FRACTION_DIGITS_MAX: i32 = 9;

/**
 * An instant in ISO 8601, UTC.
 * @param seconds since the epoch
 * @returns the address behind the text, of at most 30 bytes; 0 when its digits are not known here
 */
export function writeTimestamp(at: usize, seconds: f64): usize {
  if (isNaN(seconds)) {
    store<u32>(at, 0x44614e);
    return at + 3;
  }
  if (seconds >= YEAR_10000_SECONDS) {
    store<u32>(at, 0x666e49);
    return at + 3;
  }
  if (seconds < YEAR_1_SECONDS) {
    store<u32>(at, 0x666e492d);
    return at + 4;
  }
  const whole = floor(seconds);
  let day = <i64>whole / DAY_SECONDS;
  let second = <i32>(<i64>whole - day * DAY_SECONDS);
  if (second < 0) {
    second += <i32>DAY_SECONDS;
    day--;
  }
  // Days to civil dates, by eras of 400 years that begin in March (Hinnant, "chrono-compatible
  // low-level date algorithms", 2013); all years here are above 0.
  const shifted = <u32>(day + 719468);
  const era = shifted / 146097;
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const monthFromMarch = (5 * dayOfYear + 2) / 153;
  const dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + <u32>(month <= 2);
  at = writeDigits(at, year, 4);
  store<u8>(at++, MINUS);
  at = writeDigits(at, month, 2);
  store<u8>(at++, MINUS);
  at = writeDigits(at, dayOfMonth, 2);
  store<u8>(at++, LETTER_T);
  at = writeDigits(at, second / 3600, 2);
  store<u8>(at++, COLON);
  at = writeDigits(at, (second / 60) % 60, 2);
  store<u8>(at++, COLON);
  at = writeDigits(at, second % 60, 2);
  if (whole != seconds) {
    if (abs(seconds) < FINE_SECONDS_MIN) return 0;
    const fraction = <u64>((seconds - whole) * 1073741824);
    let digits = 1;
    for (; digits <= FRACTION_DIGITS_MAX; digits++) {
      const power = integerPower(digits);
      const rounded = (fraction * power + 536870912) >> 30;
      if (rounded == power) continue;
      if (whole + <f64>rounded / powerOfTen(digits) != seconds) continue;
      store<u8>(at++, POINT);
      at = writeDigits(at, rounded, digits);
      break;
    }
    if (digits > FRACTION_DIGITS_MAX) return 0;
  }
  store<u8>(at++, LETTER_Z);
  return at;
}
