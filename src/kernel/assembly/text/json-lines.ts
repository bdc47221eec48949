// Lines of JSON that have the form of a line before: the same names in the same order, with the same
// space between them. Only values are read; they go to their columns, one row a line.

import { NUMBER_HARD, NUMBER_NONE, readJsonNumber } from './json-decimal';

/** What a row has in a column. */
@shared
enum JsonCell {
  absent,
  /** a double; true and false are 1 and 0 */
  number,
  /** two u32: where its bytes begin and end */
  text,
  /** the same, of a text with escapes */
  escaped,
  /** the same, of an integer that may be no double */
  integer,
  nothing,
}

/**
 * Bytes that lines have, then a value. Pieces make a tree: what follows in some lines is `next`, what
 * stands in its place in others is `other`. A line ends behind a piece without a value.
 */
@unmanaged
@shared
class JsonPiece {
  literal: usize;
  literalSize: u32;
  /** 8 bytes a row; 0: no value follows */
  values: usize;
  /** a JsonCell a row */
  cells: usize;
  /** 0: none is known */
  next: usize;
  other: usize;
}

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const SPACE: u8 = 0x20;
const LF: u8 = 0x0a;
/** Digits of an integer that fits 64 bits. */
const INTEGER_SIZE_MAX: usize = 18;
const TRUE: u32 = 0x65757274;
const FALS: u32 = 0x736c6166;
const NULL: u32 = 0x6c6c756e;

/**
 * Reads lines while they have a form that is known and there is room for rows.
 * @param start of a line; behind `end` are a byte 0 and 63 of any kind
 * @param pieces the first, 0 when none is known
 * @param row where the first line goes; cells of this and later rows are absent
 * @param lineSizeMax longer lines are not read
 * @param report receives a u32: where reading stopped, at the start of a line or at `end`
 * @returns the number of the row behind the last, of which some cells may be set
 */
export function jsonLines(
  start: usize,
  end: usize,
  pieces: usize,
  row: i32,
  rowMax: i32,
  lineSizeMax: u32,
  report: usize,
): i32 {
  let position = start;
  while (row < rowMax && position < end) {
    const after = readLine(position, end, pieces, <usize>row);
    if (after == 0 || after - position > <usize>lineSizeMax) break;
    row++;
    position = after < end ? after + 1 : end;
  }
  store<u32>(report, <u32>position);
  return row;
}

/** @returns the end of the line, 0 when it has another form */
function readLine(start: usize, end: usize, pieces: usize, row: usize): usize {
  let position = start;
  let at = pieces;
  while (at != 0) {
    const piece = changetype<JsonPiece>(at);
    const size = <usize>piece.literalSize;
    if (isSame(position, piece.literal, size)) {
      const values = piece.values;
      if (values == 0) {
        const after = lineEnd(position + size, end);
        if (after != 0) return after;
      } else {
        const after = readValue(position + size, values + (row << 3), piece.cells + row);
        if (after != 0) {
          position = after;
          at = piece.next;
          continue;
        }
      }
    }
    at = piece.other;
  }
  return 0;
}

@inline
function lineEnd(position: usize, end: usize): usize {
  let byte = load<u8>(position);
  while (byte == SPACE || byte == 9 || byte == 13) byte = load<u8>(++position);
  return position >= end ? end : byte == LF ? position : 0;
}

/** @returns the address behind a value, 0 when it is none that is read here */
@inline
function readValue(start: usize, target: usize, cells: usize): usize {
  const byte = load<u8>(start);
  if (byte == QUOTE) {
    const first = start + 1;
    let last = plainEnd(first);
    let stop = load<u8>(last);
    let cell = JsonCell.text;
    while (stop == BACKSLASH) {
      cell = JsonCell.escaped;
      last = behindEscape(last);
      if (last == 0) return 0;
      last = plainEnd(last);
      stop = load<u8>(last);
    }
    if (stop != QUOTE) return 0;
    store<u32>(target, <u32>first);
    store<u32>(target, <u32>last, 4);
    store<u8>(cells, <u8>cell);
    return last + 1;
  }
  if (byte <= 0x39) {
    const after = readJsonNumber(start, target);
    if (after > NUMBER_HARD) {
      store<u8>(cells, JsonCell.number);
      return after;
    }
    const last = after == NUMBER_HARD ? integerEnd(start) : 0;
    if (last == 0) return 0;
    store<u32>(target, <u32>start);
    store<u32>(target, <u32>last, 4);
    store<u8>(cells, JsonCell.integer);
    return last;
  }
  const word = load<u32>(start);
  if (word == NULL) {
    store<u8>(cells, JsonCell.nothing);
    return start + 4;
  }
  const isTrue = word == TRUE;
  if (!isTrue && (word != FALS || load<u8>(start, 4) != 0x65)) return 0;
  store<f64>(target, isTrue ? 1 : 0);
  store<u8>(cells, JsonCell.number);
  return start + (isTrue ? 4 : 5);
}

@inline
function isSame(a: usize, b: usize, size: usize): bool {
  if (size <= 8) return size == 0 || (load<u64>(a) ^ load<u64>(b)) << (64 - ((<u64>size) << 3)) == 0;
  const lastWord = size - 8;
  for (let i: usize = 0; i < lastWord; i += 8) {
    if (load<u64>(a + i) != load<u64>(b + i)) return false;
  }
  return load<u64>(a + lastWord) == load<u64>(b + lastWord);
}

/** The first quote, backslash or control character. */
@inline
function plainEnd(position: usize): usize {
  let bits = endBits(position);
  while (bits == 0) {
    position += 16;
    bits = endBits(position);
  }
  return position + <usize>ctz(bits);
}

@inline
function endBits(position: usize): i32 {
  const bytes = v128.load(position);
  const isEnd = v128.or(
    i8x16.eq(bytes, i8x16.splat(QUOTE)),
    v128.or(i8x16.eq(bytes, i8x16.splat(BACKSLASH)), i8x16.lt_u(bytes, i8x16.splat(SPACE))),
  );
  return i8x16.bitmask(isEnd);
}

/** @returns the address behind an escape, 0 when there is no such escape */
function behindEscape(position: usize): usize {
  switch (load<u8>(position, 1)) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return position + 2;
    case 0x75:
      for (let i: usize = 2; i < 6; i++) {
        const byte = load<u8>(position + i);
        const letter = (byte | 0x20) - 0x61;
        if (byte - 0x30 > 9 && letter > 5) return 0;
      }
      return position + 6;
    default:
      return 0;
  }
}

/** @returns the end of an integer of few enough digits, 0 for any other number */
function integerEnd(start: usize): usize {
  const first = start + <usize>(load<u8>(start) == 0x2d);
  let position = first;
  while (load<u8>(position) - 0x30 <= 9) position++;
  const byte = load<u8>(position);
  if (position - first > INTEGER_SIZE_MAX || byte == 0x2e || (byte | 0x20) == 0x65) return 0;
  return position;
}

/** The cells of rows as bits: bit k is set when some row has a JsonCell k. */
export function jsonCells(cells: usize, count: i32): i32 {
  let seen: i32 = 0;
  for (let i: usize = 0; i < <usize>count; i++) seen |= 1 << <i32>load<u8>(cells + i);
  return seen;
}

/** Makes texts with escapes plain ones: what they mean is written where they lie. */
export function jsonUnescape(values: usize, cells: usize, count: i32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (load<u8>(cells + i) != JsonCell.escaped) continue;
    const pair = values + (i << 3);
    const start = <usize>load<u32>(pair);
    store<u32>(pair, <u32>unescaped(start, <usize>load<u32>(pair, 4)), 4);
    store<u8>(cells + i, JsonCell.text);
  }
}

/** @returns the new end */
function unescaped(start: usize, end: usize): usize {
  let out = start;
  let position = start;
  while (position < end) {
    const byte = load<u8>(position);
    if (byte != BACKSLASH) {
      store<u8>(out++, byte);
      position++;
      continue;
    }
    const kind = load<u8>(position, 1);
    position += 2;
    if (kind != 0x75) {
      store<u8>(out++, escapedByte(kind));
      continue;
    }
    let code = hexOf(position);
    position += 4;
    if (code >= 0xd800 && code < 0xe000) {
      // Two halves make a character; a lone one makes none.
      let low: u32 = 0;
      if (code < 0xdc00 && position + 6 <= end && load<u16>(position) == 0x755c) low = hexOf(position + 2);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        position += 6;
      } else code = 0xfffd;
    }
    out = writeUtf8(out, code);
  }
  return out;
}

function escapedByte(kind: u8): u8 {
  switch (kind) {
    case 0x62:
      return 8;
    case 0x66:
      return 12;
    case 0x6e:
      return 10;
    case 0x72:
      return 13;
    case 0x74:
      return 9;
    default:
      return kind;
  }
}

/** Four hexadecimal digits. */
function hexOf(position: usize): u32 {
  let value: u32 = 0;
  for (let i: usize = 0; i < 4; i++) {
    const byte = <u32>load<u8>(position + i);
    value = (value << 4) | (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return value;
}

function writeUtf8(at: usize, code: u32): usize {
  if (code < 0x80) {
    store<u8>(at, <u8>code);
    return at + 1;
  }
  if (code < 0x800) {
    store<u8>(at, <u8>(0xc0 | (code >> 6)));
    store<u8>(at + 1, <u8>(0x80 | (code & 0x3f)));
    return at + 2;
  }
  if (code < 0x10000) {
    store<u8>(at, <u8>(0xe0 | (code >> 12)));
    store<u8>(at + 1, <u8>(0x80 | ((code >> 6) & 0x3f)));
    store<u8>(at + 2, <u8>(0x80 | (code & 0x3f)));
    return at + 3;
  }
  store<u8>(at, <u8>(0xf0 | (code >> 18)));
  store<u8>(at + 1, <u8>(0x80 | ((code >> 12) & 0x3f)));
  store<u8>(at + 2, <u8>(0x80 | ((code >> 6) & 0x3f)));
  store<u8>(at + 3, <u8>(0x80 | (code & 0x3f)));
  return at + 4;
}
