// Arrays of numbers in JSON text, without making any value but the numbers (RFC 8259).

import { decimalToDouble, powerOfTen } from './decimal';

const TAB: u8 = 0x09;
const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
const SPACE: u8 = 0x20;
const PLUS: u8 = 0x2b;
const COMMA: u8 = 0x2c;
const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const OPEN: u8 = 0x5b;
const CLOSE: u8 = 0x5d;

/** Integers beyond here are no doubles. */
const SAFE_MAX: u64 = 9007199254740991;
/** So many digits fit a u64. */
const DIGIT_COUNT_MAX: i32 = 19;
/** Exponents beyond here are all the same, and more digits of them are not added up. */
const EXPONENT_MAX: i32 = 100_000;

/** In place of an address: no number of JSON, or not whole. */
const NONE: usize = 0;
/** In place of an address: a number whose nearest double is not known here. */
const HARD: usize = 1;

/**
 * Reads arrays with commas between them, or one a line. Stops before what is no array of finite
 * numbers, and where there is no room.
 * @param start the text, behind whose `end` are a byte 0 and seven of any kind
 * @param isLines arrays are lines
 * @param isFinal nothing follows the text: its last array needs nothing behind it
 * @param numbers room for `numberMax` doubles, the numbers of all arrays one after the other
 * @param ends room for `rowMax` int32: array i ends before number `ends[i]`
 * @param report receives two u32: where reading is to go on, and 1 when a number there is not read
 * for its size or its digits only
 * @returns arrays read
 */
export function jsonNumberRows(
  start: usize,
  end: usize,
  isLines: bool,
  isFinal: bool,
  numbers: usize,
  numberMax: i32,
  ends: usize,
  rowMax: i32,
  report: usize,
): i32 {
  const separator = isLines ? LF : COMMA;
  // Not a space where it ends a line.
  const alsoSpace = isLines ? SPACE : LF;
  const numbersEnd = numbers + (<usize>numberMax << 3);
  let target = numbers;
  let rows: i32 = 0;
  let next = start;
  let isHard = false;
  while (rows < rowMax) {
    let position = skipSpace(next, alsoSpace);
    if (load<u8>(position) != OPEN) break;
    position = skipSpace(position + 1, alsoSpace);
    if (load<u8>(position) == CLOSE) position++;
    else {
      let byte: u8 = COMMA;
      while (byte == COMMA) {
        const after = target < numbersEnd ? readNumber(position, target) : NONE;
        if (after <= HARD) {
          isHard = after == HARD;
          break;
        }
        target += 8;
        position = skipSpace(after, alsoSpace);
        byte = load<u8>(position++);
        if (byte == COMMA) position = skipSpace(position, alsoSpace);
      }
      if (byte != CLOSE) break;
    }
    position = skipSpace(position, alsoSpace);
    const isSeparated = load<u8>(position) == separator;
    if (!isSeparated) {
      if (position == end ? !isFinal : isLines || load<u8>(position) != CLOSE) break;
    }
    store<i32>(ends + (<usize>rows << 2), <i32>((target - numbers) >> 3));
    rows++;
    next = position + <usize>isSeparated;
    if (!isSeparated) break;
  }
  store<u32>(report, <u32>next);
  store<u32>(report, <u32>isHard, 4);
  return rows;
}

/** @returns the address behind the number, whose double is stored at `target`; NONE or HARD */
@inline
function readNumber(start: usize, target: usize): usize {
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
  if (digitCount == 0 || (digitCount > 1 && load<u8>(first) == ZERO)) return NONE;
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
    if (count == 0) return NONE;
    digitCount += count;
    exponent = -count;
  }
  if ((load<u8>(position) | 0x20) == 0x65) {
    isInteger = false;
    position++;
    const sign = load<u8>(position);
    if (sign == PLUS || sign == MINUS) position++;
    digit = load<u8>(position) - ZERO;
    if (digit > 9) return NONE;
    let written: i32 = 0;
    while (digit <= 9) {
      if (written < EXPONENT_MAX) written = written * 10 + <i32>digit;
      digit = load<u8>(++position) - ZERO;
    }
    exponent += sign == MINUS ? -written : written;
  }
  if (digitCount > DIGIT_COUNT_MAX && digitCount - leadingZeroCount(first) > DIGIT_COUNT_MAX) {
    return HARD;
  }
  if (isInteger && mantissa > SAFE_MAX) return HARD;
  const value = decimalToDouble(mantissa, exponent);
  if (value < 0) return HARD;
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

/** @param also one more byte that is space */
@inline
function skipSpace(position: usize, also: u8): usize {
  let byte = load<u8>(position);
  while (byte == SPACE || byte == also || byte == TAB || byte == CR) byte = load<u8>(++position);
  return position;
}
