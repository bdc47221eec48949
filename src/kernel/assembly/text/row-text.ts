// Rows of columns as lines of delimited text and of JSON.

import { NumberLayout, writeDouble, writeInteger, writeTimestamp } from './number-text';

const TAB: u8 = 0x09;
const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
const SPACE: u8 = 0x20;
const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const ZERO: u8 = 0x30;
const OPEN_ARRAY: u8 = 0x5b;
const BACKSLASH: u8 = 0x5c;
const CLOSE_ARRAY: u8 = 0x5d;
const OPEN_OBJECT: u8 = 0x7b;
const CLOSE_OBJECT: u8 = 0x7d;

@shared
enum TextColumnKind {
  /** no row has a value */
  nulls = 0,
  int32 = 1,
  float64 = 2,
  /** float64: seconds since the epoch */
  timestamp = 3,
  /** codes of texts; entry k lies in bytes + offsets[k] up to bytes + offsets[k + 1], 0 is null */
  codes = 4,
  /** as codes, of 4 bytes: the entries stand in the line as they are */
  ready = 5,
  /** the text of row i is entry i, and has a value */
  texts = 6,
  /** row i is the integer `first` + i */
  sequence = 7,
}

/** One column of a line. */
@unmanaged
@shared
class TextColumn {
  kind: i32;
  /** bytes of a code */
  width: i32;
  data: usize;
  /** a bitmap, bit i set when row i has a value; 0: all have one */
  valid: usize;
  bytes: usize;
  /** u32 */
  offsets: usize;
  first: f64;
}

@shared
enum JsonNodeKind {
  value = 0,
  object = 1,
  /** an array where the members of a row are its first elements, else an object */
  array = 2,
}

/** A value, or what values lie in; nodes stand in the order of their text. */
@unmanaged
@shared
class JsonNode {
  kind: i32;
  /** of a value */
  column: i32;
  /** `"name":` */
  name: usize;
  nameLength: i32;
  /** the number behind its last node */
  end: i32;
  /** which element of an array it is; -1: none */
  element: i32;
}

/** What csvRows and jsonRows report besides their result. */
@unmanaged
@shared
class RowTextReport {
  /** behind the last whole line */
  next: usize;
  /** the column whose value cannot be written here, -1: there was no more room, or all is written */
  hardColumn: i32;
}

/** In place of an address: no room. */
const FULL: usize = 0;
/** In place of an address: a value that cannot be written here. */
const HARD: usize = 1;

/** What one value that is no text may take, and what copies may write behind the end. */
const ROOM: usize = 96;

const COLUMN_SIZE: usize = offsetof<TextColumn>();
const NODE_SIZE: usize = offsetof<JsonNode>();

@inline
function copyText(at: usize, source: usize, length: usize): usize {
  if (length <= 64) {
    // Sources and targets have room behind them.
    v128.store(at, v128.load(source));
    for (let i: usize = 16; i < length; i += 16) v128.store(at + i, v128.load(source + i));
  } else {
    memory.copy(at, source, length);
  }
  return at + length;
}

@inline
function hasValue(valid: usize, row: usize): bool {
  return valid == 0 || (load<u8>(valid + (row >> 3)) & (1 << (<u8>row & 7))) != 0;
}

@inline
function codeAt(column: TextColumn, row: usize): usize {
  switch (column.width) {
    case 1:
      return load<u8>(column.data + row);
    case 2:
      return load<u16>(column.data + (row << 1));
    default:
      return load<u32>(column.data + (row << 2));
  }
}

/** A field in quotes, those in it doubled, where it holds what would end it. */
function csvText(at: usize, source: usize, length: usize, delimiter: u8, quote: u8): usize {
  if (!needsQuotes(source, length, delimiter, quote)) return copyText(at, source, length);
  store<u8>(at++, quote);
  for (let i: usize = 0; i < length; i++) {
    const byte = load<u8>(source + i);
    store<u8>(at++, byte);
    if (byte == quote) store<u8>(at++, quote);
  }
  store<u8>(at++, quote);
  return at;
}

function needsQuotes(source: usize, length: usize, delimiter: u8, quote: u8): bool {
  const delimiters = i8x16.splat(delimiter);
  const quotes = i8x16.splat(quote);
  const newlines = i8x16.splat(LF);
  const returns = i8x16.splat(CR);
  for (let i: usize = 0; i < length; i += 16) {
    const bytes = v128.load(source + i);
    const found = v128.or(
      v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, quotes)),
      v128.or(i8x16.eq(bytes, newlines), i8x16.eq(bytes, returns)),
    );
    let mask = <u32>i8x16.bitmask(found);
    if (length - i < 16) mask &= (<u32>1 << <u32>(length - i)) - 1;
    if (mask != 0) return true;
  }
  return false;
}

/**
 * Writes rows as delimited text.
 * @param columns TextColumn records
 * @param out room up to outEnd
 * @param report RowTextReport
 * @returns rows written
 */
export function csvRows(
  columns: usize,
  columnCount: i32,
  from: i32,
  to: i32,
  out: usize,
  outEnd: usize,
  delimiter: i32,
  quote: i32,
  report: usize,
): i32 {
  const end = columns + <usize>columnCount * COLUMN_SIZE;
  const separator = <u8>delimiter;
  const limit = outEnd - ROOM;
  const told = changetype<RowTextReport>(report);
  told.hardColumn = -1;
  told.next = out;
  let line = out;
  for (let row = from; row < to; row++) {
    let at = line;
    for (let c = columns; c < end; c += COLUMN_SIZE) {
      if (at > limit) return row - from;
      if (c != columns) store<u8>(at++, separator);
      at = csvField(at, limit, changetype<TextColumn>(c), <usize>row, separator, <u8>quote);
      if (at <= HARD) {
        if (at == HARD) told.hardColumn = <i32>((c - columns) / COLUMN_SIZE);
        return row - from;
      }
    }
    store<u8>(at++, LF);
    line = at;
    told.next = at;
  }
  return to - from;
}

@inline
function csvField(
  at: usize,
  limit: usize,
  column: TextColumn,
  row: usize,
  delimiter: u8,
  quote: u8,
): usize {
  switch (column.kind) {
    case TextColumnKind.int32:
      if (!hasValue(column.valid, row)) return at;
      return writeInteger(at, load<i32>(column.data + (row << 2)));
    case TextColumnKind.float64: {
      if (!hasValue(column.valid, row)) return at;
      const value = load<f64>(column.data + (row << 3));
      if (isFinite(value)) return writeDouble(at, value, NumberLayout.dialect);
      return writeSpecial(at, value);
    }
    case TextColumnKind.timestamp: {
      if (!hasValue(column.valid, row)) return at;
      const behind = writeTimestamp(at, load<f64>(column.data + (row << 3)));
      return behind == 0 ? HARD : behind;
    }
    case TextColumnKind.codes:
    case TextColumnKind.ready: {
      const code = codeAt(column, row);
      if (code == 0) return at;
      const entry = column.offsets + (code << 2);
      const start = load<u32>(entry);
      const length = <usize>(load<u32>(entry, 4) - start);
      const source = column.bytes + start;
      const isReady = column.kind == TextColumnKind.ready;
      if (at + (isReady ? length : 2 * length) > limit) return FULL;
      return isReady
        ? copyText(at, source, length)
        : csvText(at, source, length, delimiter, quote);
    }
    case TextColumnKind.texts: {
      const entry = column.offsets + (row << 2);
      const start = load<u32>(entry);
      const length = <usize>(load<u32>(entry, 4) - start);
      if (at + 2 * length > limit) return FULL;
      return csvText(at, column.bytes + start, length, delimiter, quote);
    }
    case TextColumnKind.sequence:
      return writeInteger(at, <i64>column.first + <i64>row);
    default:
      return at;
  }
}

/** nan, inf or -inf */
function writeSpecial(at: usize, value: f64): usize {
  if (isNaN(value)) {
    store<u32>(at, 0x6e616e);
    return at + 3;
  }
  if (value < 0) store<u8>(at++, 0x2d);
  store<u32>(at, 0x666e69);
  return at + 3;
}

/** A text in quotes, with the escapes of JSON. */
function jsonText(at: usize, source: usize, length: usize): usize {
  store<u8>(at++, QUOTE);
  const quotes = i8x16.splat(QUOTE);
  const backslashes = i8x16.splat(BACKSLASH);
  const spaces = i8x16.splat(SPACE);
  for (let i: usize = 0; i < length; ) {
    const bytes = v128.load(source + i);
    const found = v128.or(
      v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)),
      i8x16.lt_u(bytes, spaces),
    );
    v128.store(at, bytes);
    const left = length - i;
    const plain = min<usize>(min<usize>(left, 16), ctz(<u32>i8x16.bitmask(found) | 0x10000));
    at += plain;
    i += plain;
    if (plain < 16 && i < length) at = escape(at, load<u8>(source + i++));
  }
  store<u8>(at++, QUOTE);
  return at;
}

function escape(at: usize, byte: u8): usize {
  store<u8>(at, BACKSLASH);
  let letter: u8;
  switch (byte) {
    case QUOTE:
    case BACKSLASH:
      letter = byte;
      break;
    case 0x08:
      letter = 0x62;
      break;
    case TAB:
      letter = 0x74;
      break;
    case LF:
      letter = 0x6e;
      break;
    case 0x0c:
      letter = 0x66;
      break;
    case CR:
      letter = 0x72;
      break;
    default: {
      store<u32>(at + 1, 0x30303075);
      const digit = byte & 15;
      store<u8>(at + 4, ZERO + (byte >> 4));
      store<u8>(at + 5, digit < 10 ? ZERO + digit : 0x57 + digit);
      return at + 6;
    }
  }
  store<u8>(at + 1, letter);
  return at + 2;
}

/** What all nodes of a line have in common. */
@unmanaged
class JsonLine {
  columns: usize;
  nodes: usize;
  row: usize;
  limit: usize;
  includesNulls: bool;
  hardColumn: i32;
}

/**
 * Writes rows as JSON objects, one a line.
 * @param columns TextColumn records
 * @param nodes JsonNode records; the first is the object of the line
 * @param includesNulls members without a value are null instead of absent
 * @param scratch 64 bytes
 * @returns rows written
 */
export function jsonRows(
  columns: usize,
  nodes: usize,
  from: i32,
  to: i32,
  out: usize,
  outEnd: usize,
  includesNulls: bool,
  scratch: usize,
  report: usize,
): i32 {
  const line = changetype<JsonLine>(scratch);
  line.columns = columns;
  line.nodes = nodes;
  line.limit = outEnd - ROOM;
  line.includesNulls = includesNulls;
  line.hardColumn = -1;
  const told = changetype<RowTextReport>(report);
  told.hardColumn = -1;
  told.next = out;
  for (let row = from; row < to; row++) {
    line.row = <usize>row;
    const start = told.next;
    if (start > line.limit) return row - from;
    let at = jsonMembers(start, line, 0);
    if (at <= HARD) {
      if (at == HARD) told.hardColumn = line.hardColumn;
      return row - from;
    }
    if (at == start) {
      store<u8>(at++, OPEN_OBJECT);
      store<u8>(at++, CLOSE_OBJECT);
    }
    store<u8>(at++, LF);
    told.next = at;
  }
  return to - from;
}

/** The object or array of a node; where no member has a value, nothing. */
function jsonMembers(start: usize, line: JsonLine, number: i32): usize {
  const node = changetype<JsonNode>(line.nodes + <usize>number * NODE_SIZE);
  if (node.kind == JsonNodeKind.array) {
    const at = jsonElements(start, line, number, node.end);
    if (at != 2) return at;
  }
  let at = start;
  store<u8>(at++, OPEN_OBJECT);
  const first = at;
  for (let i = number + 1; i < node.end; ) {
    if (at > line.limit) return FULL;
    const child = changetype<JsonNode>(line.nodes + <usize>i * NODE_SIZE);
    i = child.end;
    let inner = at;
    if (at != first) store<u8>(inner++, COMMA);
    if (inner + child.nameLength > line.limit) return FULL;
    inner = copyText(inner, child.name, child.nameLength);
    const behind = jsonNode(inner, line, child, i);
    if (behind <= HARD) return behind;
    if (behind != inner) at = behind;
  }
  if (at == first) return start;
  store<u8>(at++, CLOSE_OBJECT);
  return at;
}

/** 2 where an element is missing before one that is there. */
function jsonElements(start: usize, line: JsonLine, number: i32, end: i32): usize {
  let at = start;
  store<u8>(at++, OPEN_ARRAY);
  let count: i32 = 0;
  for (let i = number + 1; i < end; ) {
    if (at > line.limit) return FULL;
    const child = changetype<JsonNode>(line.nodes + <usize>i * NODE_SIZE);
    i = child.end;
    let inner = at;
    if (count > 0) store<u8>(inner++, COMMA);
    const behind = jsonNode(inner, line, child, i);
    if (behind <= HARD) return behind;
    if (behind == inner) continue;
    if (child.element != count++) return 2;
    at = behind;
  }
  if (count == 0) return start;
  store<u8>(at++, CLOSE_ARRAY);
  return at;
}

@inline
function jsonNode(at: usize, line: JsonLine, node: JsonNode, end: i32): usize {
  if (at > line.limit) return FULL;
  if (node.kind != JsonNodeKind.value) {
    return jsonMembers(at, line, <i32>((changetype<usize>(node) - line.nodes) / NODE_SIZE));
  }
  const column = changetype<TextColumn>(line.columns + <usize>node.column * COLUMN_SIZE);
  const behind = jsonValue(at, line.limit, column, line.row);
  if (behind == HARD) line.hardColumn = node.column;
  if (behind != at || !line.includesNulls) return behind;
  store<u32>(at, 0x6c6c756e);
  return at + 4;
}

/** Nothing for what is null or has no form in JSON. */
function jsonValue(at: usize, limit: usize, column: TextColumn, row: usize): usize {
  switch (column.kind) {
    case TextColumnKind.int32:
      if (!hasValue(column.valid, row)) return at;
      return writeInteger(at, load<i32>(column.data + (row << 2)));
    case TextColumnKind.float64: {
      if (!hasValue(column.valid, row)) return at;
      const value = load<f64>(column.data + (row << 3));
      return isFinite(value) ? writeDouble(at, value, NumberLayout.script) : at;
    }
    case TextColumnKind.timestamp: {
      if (!hasValue(column.valid, row)) return at;
      const value = load<f64>(column.data + (row << 3));
      if (!isFinite(value)) return at;
      const behind = writeTimestamp(at + 1, value);
      if (behind == 0) return HARD;
      store<u8>(at, QUOTE);
      store<u8>(behind, QUOTE);
      return behind + 1;
    }
    case TextColumnKind.codes:
    case TextColumnKind.ready: {
      const code = codeAt(column, row);
      if (code == 0) return at;
      const entry = column.offsets + (code << 2);
      const start = load<u32>(entry);
      const length = <usize>(load<u32>(entry, 4) - start);
      const source = column.bytes + start;
      const isReady = column.kind == TextColumnKind.ready;
      if (at + (isReady ? length : 6 * length) > limit) return FULL;
      return isReady ? copyText(at, source, length) : jsonText(at, source, length);
    }
    case TextColumnKind.texts: {
      const entry = column.offsets + (row << 2);
      const start = load<u32>(entry);
      const length = <usize>(load<u32>(entry, 4) - start);
      if (at + 6 * length > limit) return FULL;
      return jsonText(at, column.bytes + start, length);
    }
    case TextColumnKind.sequence:
      store<u8>(at++, QUOTE);
      at = writeInteger(at, <i64>column.first + <i64>row);
      store<u8>(at++, QUOTE);
      return at;
    default:
      return at;
  }
}
