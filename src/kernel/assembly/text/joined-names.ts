// Names of rows that were made of a row and a column.

import { writeInteger } from './number-text';

@inline
function copyName(at: usize, source: usize, length: usize): usize {
  // Sources and targets have room behind them.
  for (let i: usize = 0; i < length; i += 16) v128.store(at + i, v128.load(source + i));
  return at + length;
}

/**
 * Writes the name of each row with the text of its column behind it.
 * @param rows u32 row numbers
 * @param columns u16 column numbers
 * @param first the name of row i is the integer first + i, where there are neither numbers nor bytes
 * @param numbers f64 a row: its name is this integer; 0: none
 * @param bytes the name of row i is entry i of these; 0: none
 * @param offsets u32, where the entries of `bytes` begin
 * @param suffixes texts of columns
 * @param suffixOffsets u32
 * @param out room for all names and 16 bytes more
 * @param start bytes that were written there before
 * @param outOffsets u32, count + 1
 * @returns bytes written, those before included
 */
export function joinedNames(
  rows: usize,
  columns: usize,
  count: i32,
  first: f64,
  numbers: usize,
  bytes: usize,
  offsets: usize,
  suffixes: usize,
  suffixOffsets: usize,
  out: usize,
  start: u32,
  outOffsets: usize,
): i32 {
  let at = out + start;
  store<u32>(outOffsets, start);
  let nameAt = out;
  let nameLength: usize = 0;
  let last: u32 = 0xffffffff;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    if (row == last) {
      // Columns of one row follow each other, and so do their names.
      at = copyName(at, nameAt, nameLength);
    } else if (bytes != 0) {
      const entry = offsets + (<usize>row << 2);
      const from = load<u32>(entry);
      nameAt = bytes + from;
      nameLength = load<u32>(entry, 4) - from;
      at = copyName(at, nameAt, nameLength);
    } else {
      const name = numbers == 0 ? first + <f64>row : load<f64>(numbers + (<usize>row << 3));
      nameAt = at;
      at = writeInteger(at, <i64>name);
      nameLength = at - nameAt;
    }
    last = row;
    const entry = suffixOffsets + (<usize>load<u16>(columns + (i << 1)) << 2);
    const from = load<u32>(entry);
    at = copyName(at, suffixes + from, load<u32>(entry, 4) - from);
    store<u32>(outOffsets + (i << 2), <u32>(at - out), 4);
  }
  return <i32>(at - out);
}

@inline
function digitCount(value: i64): usize {
  let size: usize = value < 0 ? 2 : 1;
  for (let rest: u64 = value < 0 ? <u64>-value : <u64>value; rest >= 10; rest /= 10) size++;
  return size;
}

/** The bytes of the names that `joinedNames` writes of the same arguments. */
export function joinedNamesSize(
  rows: usize,
  columns: usize,
  count: i32,
  first: f64,
  numbers: usize,
  offsets: usize,
  suffixOffsets: usize,
): f64 {
  let size: u64 = 0;
  let nameSize: usize = 0;
  let last: u32 = 0xffffffff;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    if (row != last) {
      if (offsets != 0) {
        const entry = offsets + (<usize>row << 2);
        nameSize = load<u32>(entry, 4) - load<u32>(entry);
      } else {
        const name = numbers == 0 ? first + <f64>row : load<f64>(numbers + (<usize>row << 3));
        nameSize = digitCount(<i64>name);
      }
      last = row;
    }
    const entry = suffixOffsets + (<usize>load<u16>(columns + (i << 1)) << 2);
    size += <u64>nameSize + <u64>(load<u32>(entry, 4) - load<u32>(entry));
  }
  return <f64>size;
}
