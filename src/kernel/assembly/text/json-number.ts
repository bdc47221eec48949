// Arrays of numbers in JSON text, without making any value but the numbers (RFC 8259).

import { NUMBER_HARD, NUMBER_NONE, readJsonNumber } from './json-decimal';

const TAB: u8 = 0x09;
const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
const SPACE: u8 = 0x20;
const COMMA: u8 = 0x2c;
const OPEN: u8 = 0x5b;
const CLOSE: u8 = 0x5d;

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
        const after = target < numbersEnd ? readJsonNumber(position, target) : NUMBER_NONE;
        if (after <= NUMBER_HARD) {
          isHard = after == NUMBER_HARD;
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

/** @param also one more byte that is space */
@inline
function skipSpace(position: usize, also: u8): usize {
  let byte = load<u8>(position);
  while (byte == SPACE || byte == also || byte == TAB || byte == CR) byte = load<u8>(++position);
  return position;
}
