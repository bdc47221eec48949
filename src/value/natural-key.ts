// Natural order at the speed of bytes: keys whose byte order is the natural order of paths.
import { Path } from './path.ts';
import { compareEntries, utf8SizeMax, writeUtf8 } from './utf8.ts';

/** Keys made between two looks at whether they are still wanted. */
const KEYS_PER_CHECK = 8192;

const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Distinct keys in one heap; key k lies in [offsets[k], offsets[k + 1]). */
export interface NaturalKeys {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

/**
 * @param textAt the printed path of each index below `count`
 * @param check called now and then
 */
export function naturalKeys(
  count: number,
  textAt: (index: number) => string,
  check: () => void = () => {},
): NaturalKeys {
  let bytes = new Uint8Array(1024);
  const offsets = new Uint32Array(count + 1);
  let scratch = new Uint8Array(256);
  let size = 0;
  for (let index = 0; index < count; index++) {
    if (index % KEYS_PER_CHECK === 0) check();
    for (const element of Path.parse(textAt(index)).elements) {
      if (scratch.length < utf8SizeMax(element)) scratch = new Uint8Array(utf8SizeMax(element) * 2);
      const elementSize = writeUtf8(scratch, 0, element);
      // A run of one digit takes four bytes, every run of n takes at most 3 + n + n / 128.
      const needed = size + elementSize * 4 + 8;
      if (needed > bytes.length) {
        const grown = new Uint8Array(needed * 2);
        grown.set(bytes);
        bytes = grown;
      }
      size = writeElementKey(bytes, size, scratch, elementSize);
    }
    offsets[index + 1] = size;
  }
  return { bytes, offsets };
}

/**
 * A digit run becomes one digit, which keeps its place among other characters, then the count of
 * its significant digits, these digits, and last the leading zeros, where more come first. The end
 * of an element is smaller than anything in it.
 */
function writeElementKey(
  target: Uint8Array,
  position: number,
  element: Uint8Array,
  size: number,
): number {
  for (let i = 0; i < size; ) {
    const byte = element[i] as number;
    if (byte < DIGIT_0 || byte > DIGIT_9) {
      target[position++] = byte;
      i++;
      continue;
    }
    let end = i;
    while (end < size && isDigit(element[end] as number)) end++;
    let first = i;
    while (first < end - 1 && element[first] === DIGIT_0) first++;
    target[position++] = DIGIT_0;
    let length = end - first;
    for (; length >= 255; length -= 255) target[position++] = 255;
    target[position++] = length;
    for (let d = first; d < end; d++) target[position++] = element[d] as number;
    let zeroCount = first - i;
    for (; zeroCount >= 255; zeroCount -= 255) target[position++] = 0;
    target[position++] = 255 - zeroCount;
    i = end;
  }
  target[position++] = 0;
  return position;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

/** Below this many keys comparing is faster than distributing. */
const SMALL_COUNT = 24;
/** Three bytes of a key and an index below 2^29 fit the 53 bits of a double. */
const DIGEST_SIZE = 3;
const INDEX_LIMIT = 2 ** 29;

/**
 * Indexes of the keys in ascending order. Sorts by three bytes at a time, most significant first.
 * @param check called now and then
 */
export function sortKeys(
  { bytes, offsets }: NaturalKeys,
  check: () => void = () => {},
): Uint32Array {
  let sortedCount = 0;
  const order = Uint32Array.from({ length: offsets.length - 1 }, (_, index) => index);
  const digests = new Float64Array(order.length);
  sortRange(0, order.length, 0);
  return order;

  function sortRange(from: number, to: number, depth: number): void {
    sortedCount += to - from;
    if (sortedCount >= KEYS_PER_CHECK) {
      sortedCount = 0;
      check();
    }
    if (to - from <= SMALL_COUNT) {
      order.subarray(from, to).sort(compare);
      return;
    }
    let allEnded = true;
    for (let i = from; i < to; i++) {
      const key = order[i] as number;
      const start = (offsets[key] as number) + depth;
      const end = offsets[key + 1] as number;
      const a = start < end ? (bytes[start] as number) : 0;
      const b = start + 1 < end ? (bytes[start + 1] as number) : 0;
      const c = start + 2 < end ? (bytes[start + 2] as number) : 0;
      if (start + DIGEST_SIZE < end) allEnded = false;
      digests[i] = ((a << 16) | (b << 8) | c) * INDEX_LIMIT + key;
    }
    if (allEnded) {
      order.subarray(from, to).sort(compare);
      return;
    }
    if (to - from >= KEYS_PER_CHECK) check();
    digests.subarray(from, to).sort();
    if (to - from >= KEYS_PER_CHECK) check();
    for (let i = from; i < to; i++) order[i] = (digests[i] as number) % INDEX_LIMIT;
    // The digests of this range are overwritten deeper down, so the groups are found first.
    const ends: number[] = [];
    for (let i = from + 1; i <= to; i++) {
      if (i === to || digestAt(i) !== digestAt(i - 1)) ends.push(i);
    }
    let start = from;
    for (const end of ends) {
      if (end - start > 1) sortRange(start, end, depth + DIGEST_SIZE);
      start = end;
    }
  }

  function digestAt(position: number): number {
    return Math.floor((digests[position] as number) / INDEX_LIMIT);
  }

  function compare(a: number, b: number): number {
    return compareEntries(bytes, offsets, a, b);
  }
}
