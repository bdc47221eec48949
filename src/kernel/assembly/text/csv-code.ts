// Text columns of delimited text: each distinct text gets a code, in the order of first appearance.
//
// Slots are 16 bytes: u64 key, u32 size in bytes, u32 code (0: empty slot). The key is the text itself
// up to 8 bytes, else a hash. Entry k (1-based) is the heap's bytes [offsets[k], offsets[k + 1]).

/** Distinct texts and their codes. */
@unmanaged
@shared
class CsvDictionary {
  table: usize;
  /** slots of the table - 1; slots are a power of two */
  mask: u32;
  count: u32;
  heap: usize;
  /** bytes of the heap that are used, and that it has room for */
  heapSize: u32;
  heapCapacity: u32;
  offsets: usize;
  /** entries that the offsets have room for */
  offsetsCapacity: u32;
}

/** Bytes of a slot. */
@shared
const CSV_SLOT_SIZE: i32 = 16;

const MULTIPLIER: u64 = 0x9e3779b97f4a7c15;

/**
 * Replaces a column of fields by their codes; an empty field is NULL, code 0.
 * @param cell cells + 8 * column
 * @param stride 8 * columns
 * @param out Uint32 codes of the rows
 * @returns rows done; less than `count` when the dictionary must grow first
 */
export function csvCodes(
  cell: usize,
  stride: usize,
  count: i32,
  out: usize,
  dictionary: usize,
): i32 {
  const texts = changetype<CsvDictionary>(dictionary);
  const table = texts.table;
  const mask = <u64>texts.mask;
  const shift = <u64>clz(mask);
  for (let row = 0; row < count; row++, cell += stride, out += 4) {
    const pair = load<u64>(cell - 4);
    const start = <usize>(pair & 0xffffffff);
    const size = <u32>(pair >> 32) - <u32>start;
    if (size == 0) {
      store<u32>(out, 0);
      continue;
    }
    const key = size <= 8 ? load<u64>(start) << (64 - (<u64>size << 3)) : hashOf(start, size);
    let slot = firstSlot(key, size, shift);
    for (;;) {
      slot &= mask;
      const entry = table + (<usize>slot << 4);
      const code = load<u32>(entry, 12);
      if (code == 0) {
        const added = addEntry(dictionary, entry, key, start, size);
        if (added == 0) return row;
        store<u32>(out, added);
        break;
      }
      if (
        load<u64>(entry) == key &&
        load<u32>(entry, 8) == size &&
        (size <= 8 || isEntry(dictionary, code, start, size))
      ) {
        store<u32>(out, code);
        break;
      }
      slot++;
    }
  }
  return count;
}

// Short keys have their bits at the top, and a product carries upwards, so the upper bits are taken.
@inline
function firstSlot(key: u64, size: u32, shift: u64): u64 {
  return ((key ^ <u64>size) * MULTIPLIER) >> shift;
}

/** Enters a text into an empty slot. @returns its code, 0 when there is no room */
function addEntry(dictionary: usize, entry: usize, key: u64, start: usize, size: u32): u32 {
  const texts = changetype<CsvDictionary>(dictionary);
  const count = texts.count;
  const used = texts.heapSize;
  if (count >= texts.mask >> 1) return 0;
  if (count + 1 >= texts.offsetsCapacity) return 0;
  if (used + size > texts.heapCapacity) return 0;
  const code = count + 1;
  memory.copy(texts.heap + <usize>used, start, <usize>size);
  store<u32>(texts.offsets + (<usize>(code + 1) << 2), used + size);
  texts.count = code;
  texts.heapSize = used + size;
  store<u64>(entry, key);
  store<u32>(entry, size, 8);
  store<u32>(entry, code, 12);
  return code;
}

function hashOf(start: usize, size: u32): u64 {
  let hash = <u64>size * MULTIPLIER;
  const lastWord = start + <usize>size - 8;
  for (let position = start; position < lastWord; position += 8) {
    hash = rotl((hash ^ load<u64>(position)) * MULTIPLIER, 29);
  }
  hash = (hash ^ load<u64>(lastWord)) * MULTIPLIER;
  return hash ^ (hash >> 32);
}

function isEntry(dictionary: usize, code: u32, start: usize, size: u32): bool {
  const texts = changetype<CsvDictionary>(dictionary);
  const offsets = texts.offsets;
  const text =
    texts.heap + <usize>load<u32>(offsets + (<usize>code << 2));
  const lastWord = <usize>size - 8;
  for (let i: usize = 0; i < lastWord; i += 8) {
    if (load<u64>(start + i) != load<u64>(text + i)) return false;
  }
  return load<u64>(start + lastWord) == load<u64>(text + lastWord);
}

/** Fills a new, empty table with the entries of a dictionary. */
export function csvRehash(dictionary: usize): void {
  const texts = changetype<CsvDictionary>(dictionary);
  const table = texts.table;
  const mask = <u64>texts.mask;
  const shift = <u64>clz(mask);
  const heap = texts.heap;
  const offsets = texts.offsets;
  const count = texts.count;
  for (let code: u32 = 1; code <= count; code++) {
    const offset = load<u32>(offsets + (<usize>code << 2));
    const size = load<u32>(offsets + (<usize>code << 2), 4) - offset;
    const start = heap + <usize>offset;
    const key = size <= 8 ? load<u64>(start) << (64 - (<u64>size << 3)) : hashOf(start, size);
    let slot = firstSlot(key, size, shift);
    for (;;) {
      slot &= mask;
      const entry = table + (<usize>slot << 4);
      if (load<u32>(entry, 12) == 0) {
        store<u64>(entry, key);
        store<u32>(entry, size, 8);
        store<u32>(entry, code, 12);
        break;
      }
      slot++;
    }
  }
}

/**
 * Makes cells of `count` texts that lie behind one another.
 * @param offsets count + 1 Uint32, relative to `heap`
 */
export function csvCells(heap: usize, offsets: usize, count: i32, cells: usize): void {
  let start = heap + <usize>load<u32>(offsets);
  for (let i = 0; i < count; i++) {
    const end = heap + <usize>load<u32>(offsets + (<usize>(i + 1) << 2));
    store<u32>(cells - 4, <u32>start);
    store<u32>(cells, <u32>end);
    start = end;
    cells += 8;
  }
}

/**
 * Writes codes in another width, replacing each by its entry in `map` when there is one.
 * @param sourceWidth, targetWidth bytes a code: 1, 2 or 4
 * @param map Uint32 codes, or 0
 * @param target may be the source when it is not wider
 */
export function csvRecode(
  source: usize,
  sourceWidth: i32,
  count: i32,
  map: usize,
  target: usize,
  targetWidth: i32,
): void {
  if (sourceWidth == 1) recodeFrom<u8>(source, count, map, target, targetWidth);
  else if (sourceWidth == 2) recodeFrom<u16>(source, count, map, target, targetWidth);
  else recodeFrom<u32>(source, count, map, target, targetWidth);
}

function recodeFrom<S>(source: usize, count: i32, map: usize, target: usize, width: i32): void {
  if (width == 1) recode<S, u8>(source, count, map, target);
  else if (width == 2) recode<S, u16>(source, count, map, target);
  else recode<S, u32>(source, count, map, target);
}

@inline
function recode<S, T>(source: usize, count: i32, map: usize, target: usize): void {
  const end = source + <usize>count * sizeof<S>();
  if (map == 0) {
    for (; source < end; source += sizeof<S>(), target += sizeof<T>()) {
      store<T>(target, <T>load<S>(source));
    }
    return;
  }
  for (; source < end; source += sizeof<S>(), target += sizeof<T>()) {
    store<T>(target, <T>load<u32>(map + (<usize>load<S>(source) << 2)));
  }
}

/** How many of `count` Uint32 codes are 0. */
export function csvZeros(codes: usize, count: i32): i32 {
  let zeros: i32 = 0;
  for (let i: usize = 0; i < <usize>count; i++) zeros += <i32>(load<u32>(codes + (i << 2)) == 0);
  return zeros;
}
