// Finding the fields of delimited text. Fields are kept as pairs of addresses: the end of field i
// at cells + 8 i and the start of the field behind it in the next four bytes, so that one load at
// cells + 8 i - 4 gives start and end of field i. `cells - 4` must be writable.

const NEWLINE: u8 = 10;
const EQUALS: u8 = 61;

/** What csvIndex and csvFields report besides their result. */
@unmanaged
@shared
class CsvReport {
  lines: i32;
  /** csvIndex: 1 when some byte is not ASCII */
  isHigh: i32;
  /** csvFields: lines that are not accepted */
  refused: i32;
  /** csvFields: the address behind the last line that was read */
  next: usize;
}

/**
 * Finds every delimiter and line end of whole lines without quotes.
 * @param start first byte of a line
 * @param end behind the last line end; up to 63 bytes behind it are read
 * @param quote the quote byte, or -1
 * @param report lines found and flags
 * @returns fields found, or -1 when there is a quote
 */
export function csvIndex(
  start: usize,
  end: usize,
  cells: usize,
  delimiter: i32,
  quote: i32,
  report: usize,
): i32 {
  const delimiters = i8x16.splat(<i8>delimiter);
  const newlines = i8x16.splat(NEWLINE);
  // Without a quote character, looking for line ends once more finds nothing new.
  const quotes = i8x16.splat(quote < 0 ? NEWLINE : <i8>quote);
  const hasQuote = quote >= 0;
  let out = cells;
  let lines: i32 = 0;
  let high = i8x16.splat(0);
  store<u32>(cells - 4, <u32>start);
  for (let block = start; block < end; block += 64) {
    const a = v128.load(block);
    const b = v128.load(block, 16);
    const c = v128.load(block, 32);
    const d = v128.load(block, 48);
    let newline: u64 =
      <u64>i8x16.bitmask(i8x16.eq(a, newlines)) |
      (<u64>i8x16.bitmask(i8x16.eq(b, newlines)) << 16) |
      (<u64>i8x16.bitmask(i8x16.eq(c, newlines)) << 32) |
      (<u64>i8x16.bitmask(i8x16.eq(d, newlines)) << 48);
    let separator: u64 =
      newline |
      <u64>i8x16.bitmask(i8x16.eq(a, delimiters)) |
      (<u64>i8x16.bitmask(i8x16.eq(b, delimiters)) << 16) |
      (<u64>i8x16.bitmask(i8x16.eq(c, delimiters)) << 32) |
      (<u64>i8x16.bitmask(i8x16.eq(d, delimiters)) << 48);
    const anyQuote = v128.any_true(
      v128.or(
        v128.or(i8x16.eq(a, quotes), i8x16.eq(b, quotes)),
        v128.or(i8x16.eq(c, quotes), i8x16.eq(d, quotes)),
      ),
    );
    // Bytes behind `end` may be anything; a quote there sends the lines the longer way for nothing.
    if (hasQuote && anyQuote) return -1;
    const left = end - block;
    if (left < 64) {
      const mask = (<u64>1 << <u64>left) - 1;
      newline &= mask;
      separator &= mask;
    }
    high = v128.or(high, v128.or(v128.or(a, b), v128.or(c, d)));
    lines += <i32>popcnt(newline);
    while (separator != 0) {
      const position = block + <usize>ctz(separator);
      store<u64>(out, <u64>position | ((<u64>position + 1) << 32));
      out += 8;
      separator &= separator - 1;
    }
  }
  const told = changetype<CsvReport>(report);
  told.lines = lines;
  told.isHigh = i32(i8x16.bitmask(high) != 0);
  return <i32>((out - cells) >> 3);
}

/**
 * Tells whether every line has exactly `columnCount` fields, and cuts white space off their ends.
 * @param lineCount where lineCount x columnCount fields were found
 * @param delimiter is never cut off
 * @returns 1 when that is so; else the lines need csvFields, and the cells are spoilt
 */
export function csvRegular(
  cells: usize,
  lineCount: i32,
  columnCount: i32,
  delimiter: i32,
): i32 {
  const stride = <usize>columnCount << 3;
  let cell = cells + stride - 8;
  for (let line = 0; line < lineCount; line++) {
    const start = <usize>load<u32>(cell - 4);
    let end = <usize>load<u32>(cell);
    if (load<u8>(end) != NEWLINE) return 0;
    // An empty line is a bad one; with several columns it would not have enough fields either.
    if (columnCount == 1 && isEmptyLine(start, end)) return 0;
    if (end > start && isSpace(load<u8>(end - 1), delimiter)) {
      do end--;
      while (end > start && isSpace(load<u8>(end - 1), delimiter));
      store<u32>(cell, <u32>end);
    }
    cell += stride;
  }
  return 1;
}

/** Switches of csvFields. */
@shared
enum CsvSwitch {
  excelFormulas = 1,
  ignoreExtraColumns = 2,
  stopAtBadLine = 4,
  checkUtf8 = 8,
  checkAscii = 16,
}

/**
 * Splits lines one by one by all the rules, quotes included. Doubled quotes are halved where they
 * stand, so the text of such lines is changed.
 * @param used a byte for each column: 1 when its encoding is to be checked
 * @param refused receives the line number (counted from 0) of each line that is not accepted;
 *   room for as many lines as there are
 * @param report lines read, lines refused, address behind the last line read
 * @returns lines accepted, each with `columnCount` fields
 */
export function csvFields(
  start: usize,
  end: usize,
  cells: usize,
  columnCount: i32,
  delimiter: i32,
  quote: i32,
  switches: i32,
  used: usize,
  refused: usize,
  report: usize,
): i32 {
  let accepted: i32 = 0;
  let lines: i32 = 0;
  let refusedCount: i32 = 0;
  let line = start;
  let out = cells;
  while (line < end) {
    const newline = findByte(line, NEWLINE);
    if (splitLine(line, newline, out, columnCount, delimiter, quote, switches, used)) {
      out += <usize>columnCount << 3;
      accepted++;
    } else {
      store<i32>(refused + (<usize>refusedCount << 2), lines);
      refusedCount++;
    }
    lines++;
    line = newline + 1;
    if (refusedCount > 0 && (switches & CsvSwitch.stopAtBadLine) != 0) break;
  }
  const told = changetype<CsvReport>(report);
  told.lines = lines;
  told.refused = refusedCount;
  told.next = line;
  return accepted;
}

function splitLine(
  start: usize,
  newline: usize,
  cells: usize,
  columnCount: i32,
  delimiter: i32,
  quote: i32,
  switches: i32,
  used: usize,
): bool {
  if (isEmptyLine(start, newline)) return false;
  let end = newline;
  while (end > start && isSpace(load<u8>(end - 1), delimiter)) end--;
  let position = start;
  let count: i32 = 0;
  let cell = cells;
  while (position < end && count < columnCount) {
    let first = position;
    if (
      (switches & CsvSwitch.excelFormulas) != 0 &&
      load<u8>(first) == EQUALS &&
      first + 1 < end &&
      <i32>load<u8>(first + 1) == quote
    ) {
      first++;
    }
    let fieldEnd: usize;
    if (<i32>load<u8>(first) == quote) {
      first++;
      fieldEnd = closeQuoted(first, end, quote);
      if (fieldEnd == 0) return false;
      position = behindQuote;
      if (position < end && <i32>load<u8>(position) != delimiter) return false;
    } else {
      first = position;
      while (position < end && <i32>load<u8>(position) != delimiter) position++;
      fieldEnd = position;
    }
    if (!isAcceptable(first, fieldEnd, switches, used + count)) return false;
    store<u32>(cell - 4, <u32>first);
    store<u32>(cell, <u32>fieldEnd);
    cell += 8;
    count++;
    // A delimiter at the very end of the line begins no field.
    if (position < end) position++;
  }
  if (position < end && (switches & CsvSwitch.ignoreExtraColumns) == 0) return false;
  if (count < columnCount - 1) return false;
  if (count < columnCount) {
    store<u32>(cell - 4, <u32>end);
    store<u32>(cell, <u32>end);
  }
  return true;
}

/** Where the line goes on behind the quoted field that closeQuoted has read. */
let behindQuote: usize = 0;

/**
 * Reads a quoted field, halving doubled quotes in place.
 * @returns the end of its text, 0 when the quote is not closed
 */
function closeQuoted(first: usize, end: usize, quote: i32): usize {
  let target = first;
  for (let position = first; position < end; position++) {
    const byte = load<u8>(position);
    if (<i32>byte == quote) {
      if (position + 1 == end || <i32>load<u8>(position + 1) != quote) {
        behindQuote = position + 1;
        return target;
      }
      position++;
    }
    if (target != position) store<u8>(target, byte);
    target++;
  }
  return 0;
}

function isAcceptable(first: usize, end: usize, switches: i32, used: usize): bool {
  if ((switches & (CsvSwitch.checkUtf8 | CsvSwitch.checkAscii)) == 0 || load<u8>(used) == 0) return true;
  if ((switches & CsvSwitch.checkAscii) != 0) return isAscii(first, end);
  return csvUtf8(first, end) != 0;
}

function isAscii(first: usize, end: usize): bool {
  for (let position = first; position < end; position++) {
    if (load<u8>(position) >= 0x80) return false;
  }
  return true;
}

/** White space that is cut off line ends; the line end itself is not there to be cut. */
@inline
function isSpace(byte: u8, delimiter: i32): bool {
  return (byte == 32 || (byte >= 9 && byte <= 13)) && <i32>byte != delimiter;
}

function isEmptyLine(start: usize, newline: usize): bool {
  return start == newline || (start + 1 == newline && load<u8>(start) == 13);
}

/** The first position of a byte; there must be one. */
function findByte(position: usize, byte: u8): usize {
  const wanted = i8x16.splat(byte);
  let mask = i8x16.bitmask(i8x16.eq(v128.load(position), wanted));
  while (mask == 0) {
    position += 16;
    mask = i8x16.bitmask(i8x16.eq(v128.load(position), wanted));
  }
  return position + <usize>ctz(mask);
}

/** Whether [start, end) is valid UTF-8 (RFC 3629: shortest forms, no surrogates): 1 or 0. */
export function csvUtf8(start: usize, end: usize): i32 {
  let position = start;
  while (position < end) {
    while (position + 16 <= end && i8x16.bitmask(v128.load(position)) == 0) position += 16;
    if (position >= end) return 1;
    const lead = load<u8>(position);
    if (lead < 0x80) {
      position++;
      continue;
    }
    let size: usize;
    let low: u8 = 0x80;
    let high: u8 = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) size = 2;
    else if (lead >= 0xe0 && lead <= 0xef) {
      size = 3;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      size = 4;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else return 0;
    if (position + size > end) return 0;
    const second = load<u8>(position + 1);
    if (second < low || second > high) return 0;
    for (let i: usize = 2; i < size; i++) {
      if ((load<u8>(position + i) & 0xc0) != 0x80) return 0;
    }
    position += size;
  }
  return 1;
}
