// Sorting of pairs { key: u64, row: u64 } beyond radix passes: short runs, and ties that go by the
// hash of the row's name.
import { radixPass, varyingBits } from './order';
import { decimalNameHash } from './hash/row-name';

/** Stable insertion sort, for few pairs. */
function sortFewPairs(pairs: usize, count: i32): void {
  const end = pairs + ((<usize>count) << 4);
  for (let p = pairs + 16; p < end; p += 16) {
    const pair = v128.load(p);
    const key = load<u64>(p);
    let q = p;
    while (q > pairs && load<u64>(q - 16) > key) {
      v128.store(q, v128.load(q - 16));
      q -= 16;
    }
    v128.store(q, pair);
  }
}

/** Runs of at most so many pairs are sorted by insertion. */
const FEW = 24;

/**
 * Stable sort of pairs by their keys: radix passes from the highest byte in which they differ, each
 * followed by those of its parts, until these have few pairs. spare: as many pairs; counts: 9 KiB.
 */
export function sortPairs(pairs: usize, spare: usize, count: i32, counts: usize): void {
  sortPart(pairs, spare, count, counts, false);
}

/** The result lies where the pairs were or, with `toTarget`, in the other place. */
function sortPart(
  source: usize,
  target: usize,
  count: i32,
  counts: usize,
  toTarget: bool,
): void {
  let varying: u64 = 0;
  if (count > FEW) varying = varyingBits(source, count);
  else sortFewPairs(source, count);
  if (varying == 0) {
    if (toTarget) memory.copy(target, source, (<usize>count) << 4);
    return;
  }
  const high = 64 - <i32>clz(varying);
  radixPass(source, target, count, high > 8 ? high - 8 : 0, counts);
  // After the pass each count is the end of its part.
  let from: i32 = 0;
  for (let digit: usize = 0; digit < 256; digit++) {
    const to = load<i32>(counts + (digit << 2));
    if (to == from) continue;
    const offset = (<usize>from) << 4;
    sortPart(target + offset, source + offset, to - from, counts + 1024, !toTarget);
    from = to;
  }
}

/** keys[i] becomes the key of pair i */
export function setPairKeys(pairs: usize, count: i32, keys: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u64>(pairs + (i << 4), load<u64>(keys + (i << 3)));
  }
}

/** The first pair behind `from` whose key differs from that of `from`, or `count`. */
export function endOfTie(pairs: usize, from: i32, count: i32): i32 {
  const key = load<u64>(pairs + ((<usize>from) << 4));
  let i = from + 1;
  while (i < count && load<u64>(pairs + ((<usize>i) << 4)) == key) i++;
  return i;
}

/**
 * Orders runs of at most `most` equal keys by the hashes of the names first + row, from pair `from`
 * on. Returns where the first longer run begins, or `count`. spare: 16 bytes.
 */
export function sortTies(
  pairs: usize,
  from: i32,
  count: i32,
  most: i32,
  first: f64,
  spare: usize,
): i32 {
  let i = from;
  while (i + 1 < count) {
    const run = pairs + ((<usize>i) << 4);
    const end = endOfTie(pairs, i, count);
    const size = end - i;
    if (size > most) return i;
    if (size > 1) {
      for (let p = run; p < run + ((<usize>size) << 4); p += 16) {
        const name = <u32>(<u64>first + load<u64>(p, 8));
        store<u64>(p, decimalNameHash(name, spare));
      }
      sortFewPairs(run, size);
    }
    i = end;
  }
  return count;
}

/**
 * The least row of each group: cells { word: u64, row + 1: u32, unused }. Equal words go by the
 * hashes of the names first + row. `words` 0: all are equal. spare: 32 bytes.
 */
export function groupLeast(
  groups: usize,
  words: usize,
  count: i32,
  start: u32,
  cells: usize,
  first: f64,
  spare: usize,
): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const p = cells + (<usize>load<i32>(groups + (i << 2)) << 4);
    const word = words ? load<u64>(words + (i << 3)) : 0;
    offerLeast(p, word, start + <u32>i, first, spare);
  }
}

/** cells of groupLeast put together */
export function mergeLeast(
  target: usize,
  source: usize,
  cellCount: i32,
  first: f64,
  spare: usize,
): void {
  for (let i: usize = 0; i < (<usize>cellCount) << 4; i += 16) {
    const row = load<u32>(source + i, 8);
    if (row != 0) offerLeast(target + i, load<u64>(source + i), row - 1, first, spare);
  }
}

@inline
function offerLeast(cell: usize, word: u64, row: u32, first: f64, spare: usize): void {
  const best = load<u32>(cell, 8);
  if (best != 0) {
    const least = load<u64>(cell);
    if (word > least) return;
    if (word == least) {
      const base = <u64>first;
      const ours = decimalNameHash(<u32>(base + <u64>row), spare);
      const theirs = decimalNameHash(<u32>(base + <u64>best - 1), spare + 16);
      if (ours > theirs || (ours == theirs && row >= best - 1)) return;
    }
  }
  store<u64>(cell, word);
  store<u32>(cell, row + 1, 8);
}
