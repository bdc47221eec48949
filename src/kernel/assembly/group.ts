// Groups: numbers for keys that are too many to count by, which cells were met, and what they hold.
// A pair is { key: u64, position: u32, number: u32 }.

@inline
function scramble(key: u64): u64 {
  let h = key * 0x9e3779b97f4a7c15;
  h ^= h >> 32;
  return h * 0xd6e8feb86659fd93;
}

/**
 * Pairs of the rows that are true (`truth` 0: all), by the upper `bits` (at least 1) of the hashes
 * of their keys, in row order for each. starts: Uint32, 2 ** bits + 1 of them.
 */
export function partitionKeys(
  keys: usize,
  truth: usize,
  count: i32,
  bits: i32,
  pairs: usize,
  starts: usize,
): void {
  const shift = <u64>(64 - bits);
  const size = (<usize>1) << <usize>bits;
  memory.fill(starts, 0, (size + 1) << 2);
  for (let i: usize = 0; i < <usize>count; i++) {
    if (truth && load<u8>(truth + i) != 2) continue;
    const p = starts + (<usize>(scramble(load<u64>(keys + (i << 3))) >> shift) << 2);
    store<u32>(p, load<u32>(p, 4) + 1, 4);
  }
  for (let p = starts; p < starts + (size << 2); p += 4) {
    store<u32>(p, load<u32>(p, 4) + load<u32>(p), 4);
  }
  // Each start moves on to the end of its part, which is the start of the next.
  for (let i: usize = 0; i < <usize>count; i++) {
    if (truth && load<u8>(truth + i) != 2) continue;
    const key = load<u64>(keys + (i << 3));
    const p = starts + (<usize>(scramble(key) >> shift) << 2);
    const at = load<u32>(p);
    store<u32>(p, at + 1);
    const pair = pairs + ((<usize>at) << 4);
    store<u64>(pair, key);
    store<u64>(pair, <u64>i, 8);
  }
  for (let i = size; i > 0; i--) store<u32>(starts + (i << 2), load<u32>(starts + ((i - 1) << 2)));
  store<u32>(starts, 0);
}

/**
 * Numbers the pairs by their distinct keys, from used + 1 on, and appends new keys to `keys`.
 * table: mask + 1 entries { key: u64, number: u32, unused }, zeroed. The new `used` is stored as
 * Int32 at `state`. Returns how many pairs were done: fewer than `count` when the table is half full.
 */
export function numberPairs(
  pairs: usize,
  count: i32,
  table: usize,
  mask: u32,
  keys: usize,
  state: usize,
): i32 {
  let used = load<i32>(state);
  const limit = <i32>(mask >> 1);
  let i: i32 = 0;
  for (; i < count; i++) {
    const pair = pairs + ((<usize>i) << 4);
    const key = load<u64>(pair);
    let slot = <u32>(scramble(key) >> 24) & mask;
    let number: u32;
    for (;;) {
      const p = table + ((<usize>slot) << 4);
      number = load<u32>(p, 8);
      if (number == 0) break;
      if (load<u64>(p) == key) break;
      slot = (slot + 1) & mask;
    }
    if (number == 0) {
      if (used >= limit) break;
      store<u64>(keys + ((<usize>used) << 3), key);
      number = <u32>++used;
      const p = table + ((<usize>slot) << 4);
      store<u64>(p, key);
      store<u32>(p, number, 8);
    }
    store<u32>(pair, number, 12);
  }
  store<i32>(state, used);
  return i;
}

/** Enters distinct keys with the numbers 1, 2, … into an empty table. */
export function enterKeys(keys: usize, count: i32, table: usize, mask: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const key = load<u64>(keys + (i << 3));
    let slot = <u32>(scramble(key) >> 24) & mask;
    while (load<u32>(table + ((<usize>slot) << 4), 8) != 0) slot = (slot + 1) & mask;
    const p = table + ((<usize>slot) << 4);
    store<u64>(p, key);
    store<u32>(p, <u32>i + 1, 8);
  }
}

/** out[position] = number + the base of its part */
export function scatterNumbers(
  pairs: usize,
  starts: usize,
  bases: usize,
  partCount: i32,
  out: usize,
): void {
  for (let part: usize = 0; part < <usize>partCount; part++) {
    const base = load<u32>(bases + (part << 2));
    const end = pairs + ((<usize>load<u32>(starts + (part << 2), 4)) << 4);
    for (let p = pairs + ((<usize>load<u32>(starts + (part << 2))) << 4); p < end; p += 16) {
      store<u32>(out + ((<usize>load<u32>(p, 8)) << 2), load<u32>(p, 12) + base);
    }
  }
}

/** out = upper << 32 | lower */
export function pairCodes(upper: usize, lower: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u32>(out + (i << 3), load<u32>(lower + (i << 2)));
    store<u32>(out + (i << 3), load<u32>(upper + (i << 2)), 4);
  }
}

/** out[i] = words[i] >> shift, its lower `bits` (at most 32) */
export function fieldsOfWords(words: usize, count: i32, shift: i32, bits: i32, out: usize): void {
  const mask = ((<u64>1) << <u64>bits) - 1;
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u32>(out + (i << 2), <u32>((load<u64>(words + (i << 3)) >> <u64>shift) & mask));
  }
}

/** The doubles of ascending sort keys; NaN also where there is no value. */
export function doublesOfKeys(keys: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const key = load<u64>(keys + (i << 3));
    const flip = <u64>~(<i64>key >> 63) | 0x8000000000000000;
    const value = key <= 1 ? NaN : reinterpret<f64>(key ^ flip);
    store<f64>(out + (i << 3), value);
  }
}

/** out[i] = words[rows[i]] */
export function gatherU64(words: usize, rows: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u64>(out + (i << 3), load<u64>(words + (<usize>load<u32>(rows + (i << 2)) << 3)));
  }
}

/** The cells whose count (Int64) is not 0, ascending; how many. */
export function selectCells(counts: usize, cellCount: i32, out: usize): i32 {
  let found: usize = 0;
  for (let cell: usize = 0; cell < <usize>cellCount; cell++) {
    store<i32>(out + (found << 2), <i32>cell);
    found += <usize>(load<i64>(counts + (cell << 3)) != 0);
  }
  return <i32>found;
}

/**
 * Cells prefix * cardinality + code for all prefixes and codes, in their order; with counts (Int64)
 * only cells whose count is not 0. Returns how many.
 */
export function expandCells(
  prefixes: usize,
  prefixCount: i32,
  codes: usize,
  cardinality: i32,
  counts: usize,
  out: usize,
): i32 {
  let found: usize = 0;
  for (let i: usize = 0; i < <usize>prefixCount; i++) {
    const base = load<i32>(prefixes + (i << 2)) * cardinality;
    for (let k: usize = 0; k < <usize>cardinality; k++) {
      const cell = base + load<i32>(codes + (k << 2));
      store<i32>(out + (found << 2), cell);
      found += counts ? <usize>(load<i64>(counts + ((<usize>cell) << 3)) != 0) : 1;
    }
  }
  return <i32>found;
}

/** out[i] = cells[i] / divisor % cardinality */
export function digitsOfCells(
  cells: usize,
  count: i32,
  divisor: i32,
  cardinality: i32,
  out: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<i32>(out + (i << 2), (load<i32>(cells + (i << 2)) / divisor) % cardinality);
  }
}

/** Doubles of Int64 that lie at the same place of cells of `size` bytes. */
export function gatherCellsI64(base: usize, size: i32, cells: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const p = base + <usize>load<u32>(cells + (i << 2)) * <usize>size;
    store<f64>(out + (i << 3), <f64>load<i64>(p));
  }
}

/** Doubles that lie at the same place of cells of `size` bytes. */
export function gatherCellsF64(base: usize, size: i32, cells: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const p = base + <usize>load<u32>(cells + (i << 2)) * <usize>size;
    store<f64>(out + (i << 3), load<f64>(p));
  }
}

@inline
function isMissing(word: u64, isPair: i32): bool {
  return isPair ? <u32>word == 0 || word >> 32 == 0 : word == 0;
}

/**
 * Numbers words by the order of their first appearance, from `used` + 1 on; `isPair`: a word is two
 * codes, of which neither may be 0, else it is missing when it is 0. table: mask + 1 entries
 * { word: u64, number: u32, unused }, of which most stay free. Returns the new `used`.
 */
export function enterWords(
  words: usize,
  count: i32,
  isPair: i32,
  table: usize,
  mask: u32,
  used: i32,
): i32 {
  for (let i: usize = 0; i < <usize>count; i++) {
    const word = load<u64>(words + (i << 3));
    if (isMissing(word, isPair)) continue;
    let slot = <u32>(scramble(word) >> 24) & mask;
    for (;;) {
      const p = table + ((<usize>slot) << 4);
      if (load<u32>(p, 8) == 0) {
        store<u64>(p, word);
        store<u32>(p, <u32>++used, 8);
        break;
      }
      if (load<u64>(p) == word) break;
      slot = (slot + 1) & mask;
    }
  }
  return used;
}

/** The number of each word; 0 for those that are missing, or not in the table. */
export function findWords(
  words: usize,
  count: i32,
  isPair: i32,
  table: usize,
  mask: u32,
  out: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const word = load<u64>(words + (i << 3));
    let number: u32 = 0;
    if (!isMissing(word, isPair)) {
      let slot = <u32>(scramble(word) >> 24) & mask;
      for (;;) {
        const p = table + ((<usize>slot) << 4);
        number = load<u32>(p, 8);
        if (number == 0 || load<u64>(p) == word) break;
        slot = (slot + 1) & mask;
      }
    }
    store<u32>(out + (i << 2), number);
  }
}
