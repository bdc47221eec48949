// Numbers of JSON text, without making any value but the number (RFC 8259).

import { decimalToDouble, powerOfTen } from './decimal';

const PLUS: u8 = 0x2b;
const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;

/** Integers beyond here are no doubles. */
const SAFE_MAX: u64 = 9007199254740991;
/** So many digits fit a u64. */
const DIGIT_COUNT_MAX: i32 = 19;
/** Exponents beyond here are all the same, and more digits of them are not added up. */
const EXPONENT_MAX: i32 = 100_000;

/** In place of an address: no number of JSON, or not whole. */
export const NUMBER_NONE: usize = 0;
/** In place of an address: a number whose nearest double is not known here. */
export const NUMBER_HARD: usize = 1;

/** @returns the address behind the number, whose double is stored at `target`; NUMBER_NONE, NUMBER_HARD */
@inline
export function readJsonNumber(start: usize, target: usize): usize {
  const isNegative = load<u8>(start) == MINUS;
  const first = start + <usize>isNegative;
  const word = load<u64>(first) ^ ZEROS;
  const count = digitCountOf(word);
  if (count - 1 >= WORD_DIGIT_COUNT_MAX || (count > 1 && (<u8>word) == 0)) {
    return readLongNumber(start, target);
  }
  let value = <f64>valueOf(word, count);
  let position = first + <usize>count;
  if (load<u8>(position) == POINT) {
    const fraction = load<u64>(position + 1) ^ ZEROS;
    const fractionCount = digitCountOf(fraction);
    if (fractionCount - 1 >= WORD_DIGIT_COUNT_MAX) return readLongNumber(start, target);
    // All of this but the division is exact, as there are at most 14 digits.
    const scale = powerOfTen(fractionCount);
    value = (value * scale + <f64>valueOf(fraction, fractionCount)) / scale;
    position += 1 + <usize>fractionCount;
  }
  if ((load<u8>(position) | 0x20) == 0x65) return readLongNumber(start, target);
  // The negative zero is no value.
  store<f64>(target, isNegative && value != 0 ? -value : value);
  return position;
}

/** Characters 0 in all bytes. */
const ZEROS: u64 = 0x3030303030303030;
/** Digits that are read in one step. */
const WORD_DIGIT_COUNT_MAX: u32 = 7;

/** Decimal digits at the start of eight characters, from which `ZEROS` were taken. */
@inline
function digitCountOf(word: u64): u32 {
  return <u32>(ctz(((word + 0x7676767676767676) | word) & 0x8080808080808080) >> 3);
}

/**
 * The number that the first 1 to 8 of eight digits make: pairs, then fours, then all.
 * See Lemire, "Quickly parsing eight digits", 2018.
 */
@inline
function valueOf(word: u64, count: u32): u32 {
  let digits = word << (64 - (<u64>count << 3));
  digits = digits * 10 + (digits >> 8);
  return <u32>(
    (((digits & 0x000000ff000000ff) * 0x000f424000000064 +
      ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
      32)
  );
}

/** The same for any number. */
function readLongNumber(start: usize, target: usize): usize {
  const isNegative = load<u8>(start) == MINUS;
  const first = start + <usize>isNegative;
  let position = first;
  let mantissa: u64 = 0;
  let word = load<u64>(position) ^ ZEROS;
  while (digitCountOf(word) == 8) {
    mantissa = mantissa * 100_000_000 + <u64>valueOf(word, 8);
    position += 8;
    word = load<u64>(position) ^ ZEROS;
  }
  let digit = load<u8>(position) - ZERO;
  while (digit <= 9) {
    mantissa = mantissa * 10 + <u64>digit;
    digit = load<u8>(++position) - ZERO;
  }
  let digitCount = <i32>(position - first);
  if (digitCount == 0 || (digitCount > 1 && load<u8>(first) == ZERO)) return NUMBER_NONE;
  let exponent: i32 = 0;
  let isInteger = true;
  if (load<u8>(position) == POINT) {
    isInteger = false;
    const fraction = ++position;
    word = load<u64>(position) ^ ZEROS;
    while (digitCountOf(word) == 8) {
      mantissa = mantissa * 100_000_000 + <u64>valueOf(word, 8);
      position += 8;
      word = load<u64>(position) ^ ZEROS;
    }
    digit = load<u8>(position) - ZERO;
    while (digit <= 9) {
      mantissa = mantissa * 10 + <u64>digit;
      digit = load<u8>(++position) - ZERO;
    }
    const count = <i32>(position - fraction);
    if (count == 0) return NUMBER_NONE;
    digitCount += count;
    exponent = -count;
  }
  if ((load<u8>(position) | 0x20) == 0x65) {
    isInteger = false;
    position++;
    const sign = load<u8>(position);
    if (sign == PLUS || sign == MINUS) position++;
    digit = load<u8>(position) - ZERO;
    if (digit > 9) return NUMBER_NONE;
    let written: i32 = 0;
    while (digit <= 9) {
      if (written < EXPONENT_MAX) written = written * 10 + <i32>digit;
      digit = load<u8>(++position) - ZERO;
    }
    exponent += sign == MINUS ? -written : written;
  }
  if (digitCount > DIGIT_COUNT_MAX && digitCount - leadingZeroCount(first) > DIGIT_COUNT_MAX) {
    return NUMBER_HARD;
  }
  if (isInteger && mantissa > SAFE_MAX) return NUMBER_HARD;
  const value = decimalToDouble(mantissa, exponent);
  if (value < 0) return NUMBER_HARD;
  // The negative zero is no value.
  store<f64>(target, isNegative && value != 0 ? -value : value);
  return position;
}

/** Zeros before the first digit that counts, whichever side of the point they are on. */
function leadingZeroCount(position: usize): i32 {
  let count: i32 = 0;
  let byte = load<u8>(position);
  while (byte == ZERO || byte == POINT) {
    count += <i32>(byte == ZERO);
    byte = load<u8>(++position);
  }
  return count;
}
