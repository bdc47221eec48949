// A hash table of distinct byte strings that live in one heap; it holds their numbers only.
import { hashBytes } from '../utf8.ts';

// Words of a slot. Where the entry's bytes lie is repeated here, which spares a look into the offsets.
const SLOT_WORDS = 4;
const ENTRY = 0;
const HASH = 1;
const START = 2;
const END = 3;

/** The heap is passed to each call because it moves while it grows. */
export class ByteTable {
  /** open addressing, at most half full; an entry is never 0 */
  #slots: Uint32Array;
  #mask: number;
  #count = 0;

  constructor(expectedCount = 16) {
    const size = 2 ** Math.max(5, Math.ceil(Math.log2(expectedCount * 2)));
    this.#slots = new Uint32Array(size * SLOT_WORDS);
    this.#mask = size - 1;
  }

  /** @returns the entry equal to [start, end) of `bytes`, or 0 */
  find(heap: Uint8Array, bytes: Uint8Array, start: number, end: number): number {
    const slot = this.#slotOf(heap, bytes, start, end, hashBytes(bytes, start, end));
    return this.#slots[slot + ENTRY] as number;
  }

  /**
   * Finds the bytes [start, end) of the heap itself, or enters them as entry `next`.
   * @returns the entry that has these bytes
   */
  findOrAdd(heap: Uint8Array, start: number, end: number, next: number): number {
    return this.findOrAddCopy(heap, heap, start, end, next, start);
  }

  /**
   * Finds bytes of any array, or enters them as entry `next`; then the caller copies them to `place`
   * of the heap.
   * @returns the entry that has these bytes
   */
  findOrAddCopy(
    heap: Uint8Array,
    bytes: Uint8Array,
    start: number,
    end: number,
    next: number,
    place: number,
  ): number {
    const hash = hashBytes(bytes, start, end);
    const slot = this.#slotOf(heap, bytes, start, end, hash);
    const entry = this.#slots[slot + ENTRY] as number;
    if (entry !== 0) return entry;
    this.#slots[slot + ENTRY] = next;
    this.#slots[slot + HASH] = hash;
    this.#slots[slot + START] = place;
    this.#slots[slot + END] = place + end - start;
    this.#count++;
    if (this.#count * 2 > this.#mask) this.#grow();
    return next;
  }

  #slotOf(heap: Uint8Array, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    for (let i = hash & mask; ; i = (i + 1) & mask) {
      const slot = i * SLOT_WORDS;
      if (slots[slot + ENTRY] === 0) return slot;
      if (slots[slot + HASH] !== hash) continue;
      const from = slots[slot + START] as number;
      if ((slots[slot + END] as number) - from !== end - start) continue;
      let j = 0;
      while (start + j < end && heap[from + j] === bytes[start + j]) j++;
      if (start + j === end) return slot;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const mask = this.#mask * 2 + 1;
    const slots = new Uint32Array((mask + 1) * SLOT_WORDS);
    for (let from = 0; from < old.length; from += SLOT_WORDS) {
      if (old[from + ENTRY] === 0) continue;
      let i = (old[from + HASH] as number) & mask;
      while (slots[i * SLOT_WORDS] !== 0) i = (i + 1) & mask;
      for (let word = 0; word < SLOT_WORDS; word++) {
        slots[i * SLOT_WORDS + word] = old[from + word] as number;
      }
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}
