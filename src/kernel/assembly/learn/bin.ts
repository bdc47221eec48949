// Turning values into bucket codes: 0 = missing, then 1 + the number of boundaries at or below it.

/** Boundaries that binF64 reads; unused ones NaN. */
@shared
const BOUNDARY_SLOTS: i32 = 256;

/**
 * Codes of f64 values. `boundaries`: 256 ascending f64, unused ones NaN at the end, so that a fixed
 * number of steps finds the place. NaN is missing. The code of row i goes to target + i * stride.
 */
export function binF64(
  source: usize,
  count: i32,
  boundaries: usize,
  target: usize,
  stride: i32,
): void {
  for (let i: i32 = 0; i < count; i++) {
    const value = load<f64>(source + (<usize>i << 3));
    store<u8>(target, <u8>codeOf(value, boundaries));
    target += <usize>stride;
  }
}

@inline
function codeOf(value: f64, boundaries: usize): u32 {
  let at = boundaries;
  at += <usize>(value >= load<f64>(at + 127 * 8)) << 10;
  at += <usize>(value >= load<f64>(at + 63 * 8)) << 9;
  at += <usize>(value >= load<f64>(at + 31 * 8)) << 8;
  at += <usize>(value >= load<f64>(at + 15 * 8)) << 7;
  at += <usize>(value >= load<f64>(at + 7 * 8)) << 6;
  at += <usize>(value >= load<f64>(at + 3 * 8)) << 5;
  at += <usize>(value >= load<f64>(at + 8)) << 4;
  at += <usize>(value >= load<f64>(at)) << 3;
  return select<u32>(<u32>((at - boundaries) >> 3) + 1, 0, value == value);
}

/** Maps dictionary codes of 1, 2 or 4 bytes through a table of bytes. */
export function binCodes(
  source: usize,
  width: i32,
  count: i32,
  table: usize,
  target: usize,
  stride: i32,
): void {
  const step = <usize>stride;
  if (width == 1) {
    for (let i: i32 = 0; i < count; i++, target += step) {
      store<u8>(target, load<u8>(table + <usize>load<u8>(source + <usize>i)));
    }
  } else if (width == 2) {
    for (let i: i32 = 0; i < count; i++, target += step) {
      store<u8>(target, load<u8>(table + <usize>load<u16>(source + (<usize>i << 1))));
    }
  } else {
    for (let i: i32 = 0; i < count; i++, target += step) {
      store<u8>(target, load<u8>(table + <usize>load<u32>(source + (<usize>i << 2))));
    }
  }
}

/** A dictionary code as a row number. */
@inline
function codeAt(source: usize, width: i32, i: i32): usize {
  if (width == 1) return <usize>load<u8>(source + <usize>i);
  if (width == 2) return <usize>load<u16>(source + (<usize>i << 1));
  return <usize>load<u32>(source + (<usize>i << 2));
}

/**
 * Adds {weight, weight x target} of each row to the pair of f64 of its code. `targets`: f64 a row,
 * or 0 for none; `weights`: f64 a row, or 0 when all weigh 1.
 */
export function binTotals(
  source: usize,
  width: i32,
  count: i32,
  targets: usize,
  weights: usize,
  pairs: usize,
): void {
  for (let i: i32 = 0; i < count; i++) {
    const cell = pairs + (codeAt(source, width, i) << 4);
    const weight: f64 = weights == 0 ? 1 : load<f64>(weights + (<usize>i << 3));
    const target: f64 = targets == 0 ? 0 : load<f64>(targets + (<usize>i << 3));
    v128.store(cell, f64x2.add(v128.load(cell), f64x2(weight, weight * target)));
  }
}

/** Slots of the table of binDistinct, two f64 each. */
@shared
const DISTINCT_SLOTS: u32 = 1024;

/**
 * Collects up to `limit` (at most 512) distinct numbers with their weights: pairs of f64 at `table`
 * (1024 slots, prepared by the first call with `found` 0). NaN is left out, -0 counts as 0.
 * Answers how many there are, or limit + 1 as soon as there are more. `slots`: u16 a found value.
 */
export function binDistinct(
  source: usize,
  count: i32,
  weights: usize,
  limit: i32,
  table: usize,
  slots: usize,
  found: i32,
): i32 {
  if (found == 0) {
    for (let slot: u32 = 0; slot < DISTINCT_SLOTS; slot++) {
      store<f64>(table + (<usize>slot << 4), NaN);
      store<f64>(table + (<usize>slot << 4), 0, 8);
    }
  }
  for (let i: i32 = 0; i < count; i++) {
    const value = load<f64>(source + (<usize>i << 3)) + 0.0;
    if (value != value) continue;
    const bits = reinterpret<u64>(value) * 0x9e3779b97f4a7c15;
    let slot = <u32>(bits >> 54);
    let at: usize;
    for (;;) {
      at = table + (<usize>slot << 4);
      const other = load<f64>(at);
      if (other == value) break;
      if (other != other) {
        if (found == limit) return limit + 1;
        store<f64>(at, value);
        store<u16>(slots + (<usize>found << 1), <u16>slot);
        found++;
        break;
      }
      slot = (slot + 1) & (DISTINCT_SLOTS - 1);
    }
    const weight: f64 = weights == 0 ? 1 : load<f64>(weights + (<usize>i << 3));
    store<f64>(at, load<f64>(at, 8) + weight, 8);
  }
  return found;
}
