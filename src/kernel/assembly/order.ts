// Sort keys and top-k. A sort key is a Uint64 whose unsigned order is the wanted order of rows:
// NULL below NaN below every other number; a descending key is the complement of an ascending one.

@inline
function orderedBits(value: f64): u64 {
  if (value != value) return 1;
  // -0 and 0 are one number.
  const bits = reinterpret<u64>(value + 0.0);
  const flip = <u64>(<i64>bits >> 63) | 0x8000000000000000;
  return bits ^ flip;
}

/** `valid` is 0 or a byte a row. */
export function orderKeysF64(
  values: usize,
  valid: usize,
  count: i32,
  descending: i32,
  out: usize,
): void {
  const flip: u64 = descending ? 0xffffffffffffffff : 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const has = !valid || load<u8>(valid + i);
    const key = has ? orderedBits(load<f64>(values + (i << 3))) : 0;
    store<u64>(out + (i << 3), key ^ flip);
  }
}

/** Positions of rows with a key of at most `limit` that are true (`truth` 0: all); how many. */
export function selectAtMost(
  keys: usize,
  truth: usize,
  count: i32,
  limit: u64,
  out: usize,
): i32 {
  let selected: usize = 0;
  for (let i: i32 = 0; i < count; i++) {
    store<i32>(out + (selected << 2), i);
    let hit = <usize>(load<u64>(keys + ((<usize>i) << 3)) <= limit);
    if (truth) hit &= <usize>(load<u8>(truth + <usize>i) >> 1);
    selected += hit;
  }
  return <i32>selected;
}

@inline
function withinI32(values: usize, limit: v128, descending: i32): v128 {
  const v = v128.load(values);
  return descending ? i32x4.ge_s(v, limit) : i32x4.le_s(v, limit);
}

/**
 * Positions from `from` on of values that are at most, or with `descending` at least, `limit`, and
 * whose row is true (`truth` 0: all); how many, or -1 when they are more than `most`.
 * out: room for `most` + 16 positions.
 */
export function selectWithinI32(
  values: usize,
  truth: usize,
  from: i32,
  count: i32,
  limit: i32,
  descending: i32,
  most: i32,
  out: usize,
): i32 {
  const limits = i32x4.splat(limit);
  let selected: i32 = 0;
  let i = from;
  for (; i + 16 <= count; i += 16) {
    const p = values + ((<usize>i) << 2);
    const a = withinI32(p, limits, descending);
    const b = withinI32(p + 16, limits, descending);
    const c = withinI32(p + 32, limits, descending);
    const d = withinI32(p + 48, limits, descending);
    const low = i16x8.narrow_i32x4_s(a, b);
    const high = i16x8.narrow_i32x4_s(c, d);
    let bits = i8x16.bitmask(i8x16.narrow_i16x8_s(low, high));
    for (; bits != 0; bits &= bits - 1) {
      const position = i + ctz(bits);
      if (truth && load<u8>(truth + <usize>position) != 2) continue;
      store<i32>(out + ((<usize>selected) << 2), position);
      selected++;
    }
    if (selected > most) return -1;
  }
  for (; i < count; i++) {
    const value = load<i32>(values + ((<usize>i) << 2));
    if (descending ? value < limit : value > limit) continue;
    if (truth && load<u8>(truth + <usize>i) != 2) continue;
    store<i32>(out + ((<usize>selected) << 2), i);
    selected++;
  }
  return selected > most ? -1 : selected;
}

/**
 * Splits positions by their keys, of which none is above `limit`: those below it stay in front,
 * and those at it go to `ties`. Returns how many are below.
 */
export function splitTies(
  keys: usize,
  positions: usize,
  count: i32,
  limit: u64,
  ties: usize,
): i32 {
  let below: usize = 0;
  let same: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const position = load<u32>(positions + (i << 2));
    const isBelow = <usize>(load<u64>(keys + ((<usize>position) << 3)) < limit);
    store<u32>(positions + (below << 2), position);
    store<u32>(ties + (same << 2), position);
    below += isBelow;
    same += 1 - isBelow;
  }
  return <i32>below;
}

/**
 * One pass of a stable radix sort of { key: u64, row: u64 } pairs by eight bits from `shift`.
 * counts: 256 Int32.
 */
export function radixPass(
  source: usize,
  target: usize,
  count: i32,
  shift: i32,
  counts: usize,
): void {
  memory.fill(counts, 0, 1024);
  const end = source + ((<usize>count) << 4);
  for (let p = source; p < end; p += 16) {
    const digit = <usize>((load<u64>(p) >> <u64>shift) & 255) << 2;
    store<i32>(counts + digit, load<i32>(counts + digit) + 1);
  }
  let start: i32 = 0;
  for (let digit: usize = 0; digit < 1024; digit += 4) {
    const size = load<i32>(counts + digit);
    store<i32>(counts + digit, start);
    start += size;
  }
  for (let p = source; p < end; p += 16) {
    const digit = <usize>((load<u64>(p) >> <u64>shift) & 255) << 2;
    const at = load<i32>(counts + digit);
    store<i32>(counts + digit, at + 1);
    v128.store(target + ((<usize>at) << 4), v128.load(p));
  }
}

/** The bits in which keys of the pairs differ: radix passes over other bits change nothing. */
export function varyingBits(pairs: usize, count: i32): u64 {
  if (count == 0) return 0;
  const first = load<u64>(pairs);
  let varying: u64 = 0;
  for (let i: usize = 0; i < <usize>count; i++) varying |= load<u64>(pairs + (i << 4)) ^ first;
  return varying;
}

/**
 * Adds a field to packed sort keys: out = out << bits | field, where the field of a value is
 * value - least + 1, of NULL 0, and for descending keys `top` - that (`top` < 0: ascending).
 */
export function packKeyI32(
  values: usize,
  valid: usize,
  count: i32,
  least: i32,
  top: i32,
  bits: i32,
  out: usize,
): void {
  const base = least - 1;
  for (let i: usize = 0; i < <usize>count; i++) {
    let field = load<i32>(values + (i << 2)) - base;
    if (valid && !load<u8>(valid + i)) field = 0;
    if (top >= 0) field = top - field;
    const p = out + (i << 3);
    store<u64>(p, (load<u64>(p) << <u64>bits) | <u64>(<u32>field));
  }
}

/**
 * Puts the upper bits of other words behind those of packed keys, which have `bits` (1 to 63):
 * words[i] = words[i] << (64 - bits) | (tails[i] << align) >> bits
 */
export function appendTails(words: usize, tails: usize, count: i32, bits: i32, align: i32): void {
  const up = <u64>(64 - bits);
  for (let i: usize = 0; i < (<usize>count) << 3; i += 8) {
    const tail = (load<u64>(tails + i) << <u64>align) >> <u64>bits;
    store<u64>(words + i, (load<u64>(words + i) << up) | tail);
  }
}

@inline
function siftDown(heap: usize, size: i32, value: u64): void {
  let at: i32 = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    let larger = load<u64>(heap + ((<usize>child) << 3));
    if (child + 1 < size) {
      const right = load<u64>(heap + ((<usize>child + 1) << 3));
      if (right > larger) {
        larger = right;
        child++;
      }
    }
    if (larger <= value) break;
    store<u64>(heap + ((<usize>at) << 3), larger);
    at = child;
  }
  store<u64>(heap + ((<usize>at) << 3), value);
}

function siftUp(heap: usize, size: i32, value: u64): void {
  let at = size;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = load<u64>(heap + ((<usize>parent) << 3));
    if (above >= value) break;
    store<u64>(heap + ((<usize>at) << 3), above);
    at = parent;
  }
  store<u64>(heap + ((<usize>at) << 3), value);
}

/**
 * Keeps the least `keep` (at least 1) of the keys of rows that are true, in a heap whose greatest
 * key lies first. Returns the keys that the heap has then.
 */
export function keepLeast(
  keys: usize,
  truth: usize,
  count: i32,
  heap: usize,
  size: i32,
  keep: i32,
): i32 {
  let have = size;
  for (let i: usize = 0; i < <usize>count; i++) {
    const key = load<u64>(keys + (i << 3));
    if (have == keep && key >= load<u64>(heap)) continue;
    if (truth && load<u8>(truth + i) != 2) continue;
    if (have < keep) {
      siftUp(heap, have, key);
      have++;
    } else siftDown(heap, have, key);
  }
  return have;
}

/** pairs = { key, first + i } of the rows that are true (`truth` 0: all); how many. */
export function pairTrueKeys(
  keys: usize,
  truth: usize,
  count: i32,
  first: u32,
  out: usize,
): i32 {
  let p = out;
  for (let i: usize = 0; i < <usize>count; i++) {
    if (truth && load<u8>(truth + i) != 2) continue;
    store<u64>(p, load<u64>(keys + (i << 3)));
    store<u64>(p, <u64>first + <u64>i, 8);
    p += 16;
  }
  return <i32>((p - out) >> 4);
}

/** New keys for pairs: the words of their rows. */
export function gatherPairKeys(pairs: usize, count: i32, words: usize): void {
  const end = pairs + ((<usize>count) << 4);
  for (let p = pairs; p < end; p += 16) {
    store<u64>(p, load<u64>(words + (<usize>load<u64>(p, 8) << 3)));
  }
}

/** The first pair from `from` on whose key is that of the pair behind it, else `count`. */
export function findTie(pairs: usize, from: i32, count: i32): i32 {
  for (let i = from; i + 1 < count; i++) {
    const p = pairs + ((<usize>i) << 4);
    if (load<u64>(p) == load<u64>(p, 16)) return i;
  }
  return count;
}

/** Sets out[i] to 1 where the words of rows[i] and of the row before it differ. */
export function markChanges(words: usize, rows: usize, count: i32, out: usize): void {
  let before: u64 = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const word = load<u64>(words + (<usize>load<u32>(rows + (i << 2)) << 3));
    if (i == 0 || word != before) store<u8>(out + i, 1);
    before = word;
  }
}

/** Rows of pairs as Uint32. */
export function rowsOfPairs(pairs: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u32>(out + (i << 2), <u32>load<u64>(pairs + (i << 4), 8));
  }
}

/** Puts a key at the root of a heap of `size` keys, of which the greatest is at the root. */
@inline
function sinkGreatest(heap: usize, size: i32, key: u64): void {
  let at: i32 = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    let greatest = load<u64>(heap + ((<usize>child) << 3));
    if (child + 1 < size) {
      const other = load<u64>(heap + ((<usize>(child + 1)) << 3));
      if (other > greatest) {
        child++;
        greatest = other;
      }
    }
    if (greatest <= key) break;
    store<u64>(heap + ((<usize>at) << 3), greatest);
    at = child;
  }
  store<u64>(heap + ((<usize>at) << 3), key);
}

/**
 * The least `keep` keys of each group so far, as heaps with the greatest at the root. Writes
 * { key: u64, row: u32, group: u32 } of rows that may be among them, and of all rows of group 0;
 * returns how many. keep: at least 1. first: the number of the first row. heaps: Uint64, `keep` for
 * each group. counts: Int32 a group, zeroed at first.
 */
export function leastOfGroups(
  groups: usize,
  keys: usize,
  count: i32,
  first: u32,
  keep: i32,
  heaps: usize,
  counts: usize,
  out: usize,
): i32 {
  let written: usize = 0;
  for (let i: i32 = 0; i < count; i++) {
    const group = <usize>load<u32>(groups + ((<usize>i) << 2));
    const key = load<u64>(keys + ((<usize>i) << 3));
    const heap = heaps + ((group * <usize>keep) << 3);
    const held = counts + (group << 2);
    const size = load<i32>(held);
    if (group == 0) {
      // Rows without a group are all wanted.
    } else if (size < keep) {
      store<i32>(held, size + 1);
      let at = size;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = load<u64>(heap + ((<usize>parent) << 3));
        if (above >= key) break;
        store<u64>(heap + ((<usize>at) << 3), above);
        at = parent;
      }
      store<u64>(heap + ((<usize>at) << 3), key);
    } else {
      const greatest = load<u64>(heap);
      if (key > greatest) continue;
      if (key < greatest) sinkGreatest(heap, keep, key);
    }
    const found = out + (written << 4);
    store<u64>(found, key);
    store<u32>(found, first + <u32>i, 8);
    store<u32>(found, <u32>group, 12);
    written++;
  }
  return <i32>written;
}

/**
 * Of what `leastOfGroups` found: the rows that are still among the least keys of their group, or tie
 * with them; returns how many.
 */
export function stillLeast(
  found: usize,
  count: i32,
  keep: i32,
  heaps: usize,
  counts: usize,
  rows: usize,
): i32 {
  let kept: usize = 0;
  const end = found + ((<usize>count) << 4);
  for (let p = found; p < end; p += 16) {
    const group = <usize>load<u32>(p, 12);
    const isFull = load<i32>(counts + (group << 2)) == keep;
    const greatest = load<u64>(heaps + ((group * <usize>keep) << 3));
    if (group != 0 && isFull && load<u64>(p) > greatest) continue;
    store<u32>(rows + (kept << 2), load<u32>(p, 8));
    kept++;
  }
  return <i32>kept;
}
