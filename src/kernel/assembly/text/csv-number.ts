// Typed columns of delimited text: integers and doubles, parsed field by field from the addresses
// that csvIndex or csvFields left (see there).

import { decimalToDouble } from './decimal';

/** What csvNumber says that a field is. */
@shared
enum CsvNumber {
  text = 0,
  integer = 1,
  double = 2,
  /** a number whose value only the caller can work out exactly */
  hard = 3,
}

/** Integers up to here are exact doubles. */
const EXACT_MAX: u64 = 9007199254740992;

/** The state of a column of a chunk, kept by the caller between calls. */
@unmanaged
@shared
class CsvColumn {
  /** the smallest and largest value; infinite the other way round before there is one */
  min: f64;
  max: f64;
  nulls: i32;
  /** 1 when some value is not integral */
  fractions: i32;
  /** receives the value of a single field */
  value: f64;
}

/**
 * Parses a column of int32 values.
 * @param cell cells + 8 * column
 * @param stride 8 * columns
 * @param row first row of the chunk to write; validity bits are cleared for nulls, never set
 * @param state see above; values and nulls are added to it
 * @returns rows parsed; less than `count` when the next field is no int32
 */
export function csvIntegers(
  cell: usize,
  stride: usize,
  count: i32,
  out: usize,
  validity: usize,
  row: i32,
  state: usize,
): i32 {
  const column = changetype<CsvColumn>(state);
  let min = i32.MAX_VALUE;
  let max = i32.MIN_VALUE;
  if (column.min <= column.max) {
    min = <i32>column.min;
    max = <i32>column.max;
  }
  let nulls: i32 = 0;
  let done: i32 = 0;
  let target = out + (<usize>row << 2);
  for (; done < count; done++, cell += stride, target += 4) {
    const pair = load<u64>(cell - 4);
    let start = <usize>(pair & 0xffffffff);
    const end = <usize>(pair >> 32);
    if (start == end) {
      clearBit(validity, row + done);
      store<i32>(target, 0);
      nulls++;
      continue;
    }
    const negative = load<u8>(start) == 45;
    start += <usize>negative;
    const size = <u32>(end - start);
    let value: i32;
    let bad: u64 = 1;
    let digits: u64 = 0;
    if (size - 1 < 8) {
      // Eight digits at once: pairs, then fours, then all (Lemire, "Quickly parsing eight digits").
      digits = (load<u64>(start) ^ 0x3030303030303030) << (64 - (<u64>size << 3));
      bad = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
    }
    if (bad == 0) {
      digits = digits * 10 + (digits >> 8);
      digits =
        ((digits & 0x000000ff000000ff) * 0x000f424000000064 +
          ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
        32;
      value = negative ? -(<i32>digits) : <i32>digits;
    } else {
      if (csvNumber(start - <usize>negative, end, state + offsetof<CsvColumn>('value')) != CsvNumber.integer) break;
      const wide = column.value;
      if (wide < -2147483648 || wide > 2147483647) break;
      value = <i32>wide;
    }
    store<i32>(target, value);
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min <= max) {
    column.min = <f64>min;
    column.max = <f64>max;
  }
  column.nulls += nulls;
  return done;
}

/**
 * Parses a column of doubles, integers included; parameters as for csvIntegers.
 * @returns rows parsed; less than `count` when the next field is a text or a CsvNumber.hard number
 */
export function csvDoubles(
  cell: usize,
  stride: usize,
  count: i32,
  out: usize,
  validity: usize,
  row: i32,
  state: usize,
): i32 {
  const column = changetype<CsvColumn>(state);
  let nulls: i32 = 0;
  let done: i32 = 0;
  let target = out + (<usize>row << 3);
  for (; done < count; done++, cell += stride, target += 8) {
    const pair = load<u64>(cell - 4);
    const start = <usize>(pair & 0xffffffff);
    const end = <usize>(pair >> 32);
    if (start == end) {
      clearBit(validity, row + done);
      store<f64>(target, 0);
      nulls++;
      continue;
    }
    const kind = csvNumber(start, end, target);
    if (kind == CsvNumber.text || kind == CsvNumber.hard) break;
    csvNote(state, load<f64>(target));
  }
  column.nulls += nulls;
  return done;
}

/** Adds a value to the state of a column of doubles. */
export function csvNote(state: usize, value: f64): void {
  const column = changetype<CsvColumn>(state);
  if (value < column.min) column.min = value;
  if (value > column.max) column.max = value;
  if (nearest(value) != value || !(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
    column.fractions = 1;
  }
}

/** Turns the int32 values of a chunk into doubles in place, last row first. */
export function csvWiden(address: usize, count: i32): void {
  for (let i = count - 1; i >= 0; i--) {
    store<f64>(address + (<usize>i << 3), <f64>load<i32>(address + (<usize>i << 2)));
  }
}

@inline
function clearBit(bitmap: usize, index: i32): void {
  const address = bitmap + <usize>(index >> 3);
  store<u8>(address, load<u8>(address) & ~(<u8>1 << <u8>(index & 7)));
}

/**
 * Reads a field as a number: leading white space, sign, decimal digits with fraction and exponent,
 * or inf, infinity, nan in any case.
 * @param result receives a double when the answer is CsvNumber.integer or CsvNumber.double
 * @returns CsvNumber.text, CsvNumber.integer (up to 2^53), CsvNumber.double or CsvNumber.hard
 */
export function csvNumber(start: usize, end: usize, result: usize): i32 {
  let position = start;
  while (position < end && isBlank(load<u8>(position))) position++;
  if (position == end) return CsvNumber.text;
  let negative = false;
  const sign = load<u8>(position);
  if (sign == 45 || sign == 43) {
    negative = sign == 45;
    position++;
    if (position == end) return CsvNumber.text;
  }
  const lead = load<u8>(position);
  if (lead - 48 > 9 && lead != 46) return isWord(position, end) ? CsvNumber.hard : CsvNumber.text;
  let mantissa: u64 = 0;
  let digits: i32 = 0;
  let exponent: i32 = 0;
  let anyDigit = false;
  let isPlain = true;
  while (position < end) {
    const digit = load<u8>(position) - 48;
    if (digit > 9) break;
    anyDigit = true;
    if (mantissa != 0 || digit != 0) digits++;
    mantissa = mantissa * 10 + <u64>digit;
    position++;
  }
  if (position < end && load<u8>(position) == 46) {
    isPlain = false;
    position++;
    while (position < end) {
      const digit = load<u8>(position) - 48;
      if (digit > 9) break;
      anyDigit = true;
      if (mantissa != 0 || digit != 0) digits++;
      mantissa = mantissa * 10 + <u64>digit;
      exponent--;
      position++;
    }
  }
  if (!anyDigit) return CsvNumber.text;
  if (position < end && (load<u8>(position) | 32) == 101) {
    isPlain = false;
    position++;
    let negativeExponent = false;
    if (position < end && (load<u8>(position) == 45 || load<u8>(position) == 43)) {
      negativeExponent = load<u8>(position) == 45;
      position++;
    }
    if (position == end) return CsvNumber.text;
    let written: i32 = 0;
    while (position < end) {
      const digit = load<u8>(position) - 48;
      if (digit > 9) return CsvNumber.text;
      if (written < 100000) written = written * 10 + <i32>digit;
      position++;
    }
    exponent += negativeExponent ? -written : written;
  }
  if (position < end) return CsvNumber.text;
  // Nineteen digits fit a u64.
  if (digits > 19) return CsvNumber.hard;
  // An integer from 2^53 on keeps all its digits.
  if (isPlain && mantissa >= EXACT_MAX) return CsvNumber.hard;
  const value = decimalToDouble(mantissa, exponent);
  if (value < 0) return CsvNumber.hard;
  store<f64>(result, negative && value != 0 ? -value : value);
  return isPlain ? CsvNumber.integer : CsvNumber.double;
}

@inline
function isBlank(byte: u8): bool {
  return byte == 32 || (byte >= 9 && byte <= 13);
}

/** inf, nan, infinity. */
function isWord(start: usize, end: usize): bool {
  const size = end - start;
  if (size == 3) {
    const word = (load<u16>(start) | (<u32>load<u8>(start + 2) << 16)) | 0x202020;
    return word == 0x666e69 || word == 0x6e616e;
  }
  return size == 8 && (load<u64>(start) | 0x2020202020202020) == 0x7974696e69666e69;
}
