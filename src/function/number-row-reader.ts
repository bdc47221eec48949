// Reads JSON arrays of numbers from bytes, digit by digit, without making any array.

/** Numbers of arrays one after the other; array `i` ends before `ends[i]`. */
export interface NumberRows {
  readonly numbers: Float64Array;
  readonly ends: Int32Array;
  /** arrays that were read */
  rowCount: number;
  /** the first byte that was not read */
  position: number;
}

const NUMBER_COUNT_MAX = 1 << 16;
const ROW_COUNT_MAX = 1 << 13;

export function makeNumberRows(): NumberRows {
  return {
    numbers: new Float64Array(NUMBER_COUNT_MAX),
    ends: new Int32Array(ROW_COUNT_MAX),
    rowCount: 0,
    position: 0,
  };
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const SMALL_E = 0x65;
const LARGE_E = 0x45;

/** Integers of more digits may not fit a double, and are read elsewhere. */
const EXACT_DIGIT_COUNT_MAX = 15;
/** Longer ones are as good as never written. */
const LONG_NUMBER_SIZE_MAX = 64;
/** These are exact, so that one division of an exact number rounds correctly. */
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Where the functions below are: a variable, as they would have to return two numbers each. */
let cursor = 0;

/**
 * Reads arrays as long as there is room, separated by commas or, when `isLines`, by line feeds.
 * Stops before whatever is not certainly an array of finite numbers, and at the end.
 * @param rowCountMax at most the room that there is
 */
export function readNumberRows(
  bytes: Uint8Array,
  start: number,
  isLines: boolean,
  into: NumberRows,
  rowCountMax = ROW_COUNT_MAX,
): void {
  const { ends } = into;
  const separator = isLines ? LF : COMMA;
  // Not a space where it ends a line.
  const space = isLines ? SPACE : LF;
  into.rowCount = 0;
  into.position = start;
  let count = 0;
  cursor = start;
  while (into.rowCount < rowCountMax) {
    skipSpace(bytes, space);
    count = readRow(bytes, space, into.numbers, count);
    if (count === -1) return;
    skipSpace(bytes, space);
    const isLast = bytes[cursor] !== separator;
    if (isLast && cursor < bytes.length && (isLines || bytes[cursor] !== CLOSE)) return;
    ends[into.rowCount++] = count;
    if (!isLast) cursor++;
    into.position = cursor;
    if (isLast) return;
  }
}

/** @returns the count with the numbers of one array, or -1 when it is none or there is no room */
function readRow(
  bytes: Uint8Array,
  space: number,
  numbers: Float64Array,
  countBefore: number,
): number {
  if (bytes[cursor] !== OPEN) return -1;
  cursor++;
  skipSpace(bytes, space);
  if (bytes[cursor] === CLOSE) {
    cursor++;
    return countBefore;
  }
  for (let count = countBefore; count < NUMBER_COUNT_MAX; ) {
    const value = readNumber(bytes);
    if (!Number.isFinite(value)) return -1;
    // The negative zero is no atom.
    numbers[count++] = value + 0;
    skipSpace(bytes, space);
    const byte = bytes[cursor++];
    if (byte === CLOSE) return count;
    if (byte !== COMMA) return -1;
    skipSpace(bytes, space);
  }
  return -1;
}

/**
 * NaN for what is no number, or may be one that a double cannot hold.
 * @see W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990
 */
function readNumber(bytes: Uint8Array): number {
  const start = cursor;
  let position = start;
  let byte = bytes[position] as number;
  const isNegative = byte === MINUS;
  if (isNegative) byte = bytes[++position] as number;
  const digitsStart = position;
  let mantissa = 0;
  while (byte >= ZERO && byte <= NINE) {
    mantissa = mantissa * 10 + (byte - ZERO);
    byte = bytes[++position] as number;
  }
  let digitCount = position - digitsStart;
  if (digitCount === 0 || (digitCount > 1 && bytes[digitsStart] === ZERO)) return Number.NaN;
  let fractionCount = 0;
  if (byte === POINT) {
    const fractionStart = position + 1;
    byte = bytes[++position] as number;
    while (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      byte = bytes[++position] as number;
    }
    fractionCount = position - fractionStart;
    if (fractionCount === 0) return Number.NaN;
    digitCount += fractionCount;
  }
  const hasExponent = byte === SMALL_E || byte === LARGE_E;
  cursor = position;
  if (hasExponent || digitCount > EXACT_DIGIT_COUNT_MAX) {
    if (hasExponent && !skipExponent(bytes)) return Number.NaN;
    if (!hasExponent && fractionCount === 0) return Number.NaN;
    if (cursor - start > LONG_NUMBER_SIZE_MAX) return Number.NaN;
    return Number(String.fromCharCode(...bytes.subarray(start, cursor)));
  }
  const value =
    fractionCount === 0 ? mantissa : mantissa / (POWERS_OF_TEN[fractionCount] as number);
  return isNegative ? -value : value;
}

function skipExponent(bytes: Uint8Array): boolean {
  let position = cursor + 1;
  if (bytes[position] === PLUS || bytes[position] === MINUS) position++;
  const digitsStart = position;
  while ((bytes[position] as number) >= ZERO && (bytes[position] as number) <= NINE) position++;
  cursor = position;
  return position > digitsStart;
}

/** @param also one more byte that is space */
function skipSpace(bytes: Uint8Array, also: number): void {
  for (;;) {
    const byte = bytes[cursor];
    if (byte !== SPACE && byte !== also && byte !== TAB && byte !== CR) return;
    cursor++;
  }
}
