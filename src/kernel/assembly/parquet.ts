// Pages of Parquet files (apache/parquet-format, Encodings.md). Sizes and counts are not trusted.

/** How values without an encoding lie in a page. */
@shared
enum ParquetPlain {
  /** a bit each */
  boolean,
  int32,
  int64,
  float,
  double,
  /** days since the epoch, Int32 */
  days,
}

const SAFE_MAX: i64 = 9007199254740991;
const SECONDS_PER_DAY: f64 = 86400;

/**
 * Reads runs of equal numbers and of packed ones.
 * @param width bits of a number, 0 to 32
 * @param limit numbers are below it
 * @param out Uint32
 * @returns whether there are `count` such numbers
 */
export function parquetRuns(
  source: usize,
  end: usize,
  width: i32,
  count: i32,
  limit: u32,
  out: usize,
): bool {
  const mask = ((<u64>1) << (<u64>width)) - 1;
  const size = <usize>((width + 7) >> 3);
  let at = source;
  let left = <u64>count;
  while (left > 0) {
    let header: u64 = 0;
    for (let shift: u64 = 0; ; shift += 7) {
      if (at >= end || shift > 28) return false;
      const byte = <u64>load<u8>(at++);
      header |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if ((header & 1) == 0) {
      if (at + size > end) return false;
      let value: u32 = 0;
      for (let i: usize = 0; i < size; i++) value |= (<u32>load<u8>(at + i)) << (<u32>i << 3);
      at += size;
      if (value >= limit) return false;
      const run = min<u64>(header >> 1, left);
      for (let i: u64 = 0; i < run; i++, out += 4) store<u32>(out, value);
      left -= run;
      continue;
    }
    const bytes = (header >> 1) * <u64>width;
    const packed = min<u64>((header >> 1) << 3, left);
    if ((packed * <u64>width + 7) >> 3 > <u64>(end - at)) return false;
    let greatest: u32 = 0;
    let bit: u64 = 0;
    for (let i: u64 = 0; i < packed; i++, out += 4, bit += <u64>width) {
      const value = <u32>((load<u64>(at + <usize>(bit >> 3)) >> (bit & 7)) & mask);
      greatest = max<u32>(greatest, value);
      store<u32>(out, value);
    }
    if (packed > 0 && greatest >= limit) return false;
    left -= packed;
    // What is behind the last run may be cut.
    at = bytes < <u64>(end - at) ? at + <usize>bytes : end;
  }
  return true;
}

/** out = 1 where a level is the greatest: there is a value. @returns how many there are */
export function parquetPresent(levels: usize, count: i32, greatest: i32, out: usize): i32 {
  let present: i32 = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const isThere = <i32>(load<i32>(levels + (i << 2)) == greatest);
    store<u8>(out + i, <u8>isThere);
    present += isThere;
  }
  return present;
}

/** Makes doubles of values. @returns false when some are not exact as doubles */
export function parquetDoubles(source: usize, kind: i32, count: i32, out: usize): bool {
  const size = <usize>count;
  switch (kind) {
    case ParquetPlain.boolean:
      for (let i: usize = 0; i < size; i++) {
        store<f64>(out + (i << 3), <f64>((load<u8>(source + (i >> 3)) >> (<u8>i & 7)) & 1));
      }
      return true;
    case ParquetPlain.int32:
      for (let i: usize = 0; i < size; i++) {
        store<f64>(out + (i << 3), <f64>load<i32>(source + (i << 2)));
      }
      return true;
    case ParquetPlain.int64:
      for (let i: usize = 0; i < size; i++) {
        const value = load<i64>(source + (i << 3));
        if (value > SAFE_MAX || value < -SAFE_MAX) return false;
        store<f64>(out + (i << 3), <f64>value);
      }
      return true;
    case ParquetPlain.float:
      // A negative zero and 0 make 0.
      for (let i: usize = 0; i < size; i++) {
        store<f64>(out + (i << 3), <f64>load<f32>(source + (i << 2)) + 0);
      }
      return true;
    case ParquetPlain.double:
      for (let i: usize = 0; i < size; i++) {
        store<f64>(out + (i << 3), load<f64>(source + (i << 3)) + 0);
      }
      return true;
    default:
      for (let i: usize = 0; i < size; i++) {
        store<f64>(out + (i << 3), <f64>load<i32>(source + (i << 2)) * SECONDS_PER_DAY + 0);
      }
      return true;
  }
}

/** Seconds of times that are Int64 counts of a part of a second. */
export function parquetSeconds(source: usize, perSecond: f64, count: i32, out: usize): void {
  const unit = <i64>perSecond;
  for (let i: usize = 0; i < <usize>count; i++) {
    const value = load<i64>(source + (i << 3));
    const whole = value / unit;
    // Whole seconds and their fraction apart, so that neither is rounded more than it must.
    store<f64>(out + (i << 3), <f64>whole + <f64>(value - whole * unit) / perSecond);
  }
}

/**
 * Finds texts that each lie behind their length, a u32.
 * @param pairs two u32 a text: where it begins and ends
 * @returns whether there are so many
 */
export function parquetTexts(source: usize, end: usize, count: i32, pairs: usize): bool {
  let at = source;
  for (let i: usize = 0; i < <usize>count; i++) {
    if (end - at < 4) return false;
    const size = <usize>load<u32>(at);
    at += 4;
    if (size > end - at) return false;
    store<u32>(pairs + (i << 3), <u32>at);
    at += size;
    store<u32>(pairs + (i << 3), <u32>at, 4);
  }
  return true;
}
