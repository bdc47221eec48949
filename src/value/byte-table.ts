// A hash table of distinct byte strings that live in one heap; it holds their numbers only.
import { hashBytes } from './utf8.ts';

const EMPTY = 0;

/**
 * Entry k (1-based) is the heap's bytes [offsets[k], offsets[k + 1]). Heap and offsets are passed to
 * each call because they move while they grow.
 */
export class ByteTable {
  /** pairs of an entry number and its hash; open addressing, at most half full */
  #slots: Int32Array;
  #mask: number;
  #count = 0;

  constructor(expectedCount = 16) {
    const size = 2 ** Math.max(5, Math.ceil(Math.log2(expectedCount * 2)));
    this.#slots = new Int32Array(size * 2);
    this.#mask = size - 1;
  }

  /** @returns the entry equal to [start, end) of `bytes`, or 0 */
  find(
    heap: Uint8Array,
    offsets: Uint32Array,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    const slot = this.#slotOf(heap, offsets, bytes, start, end, hashBytes(bytes, start, end));
    return this.#slots[slot] as number;
  }

  /**
   * Finds the bytes [start, end) of the heap itself, or enters them as entry `next`.
   * @returns the entry that has these bytes
   */
  findOrAdd(
    heap: Uint8Array,
    offsets: Uint32Array,
    start: number,
    end: number,
    next: number,
  ): number {
    const hash = hashBytes(heap, start, end);
    const slot = this.#slotOf(heap, offsets, heap, start, end, hash);
    const entry = this.#slots[slot] as number;
    if (entry !== EMPTY) return entry;
    this.#slots[slot] = next;
    this.#slots[slot + 1] = hash;
    this.#count++;
    if (this.#count * 2 > this.#mask) this.#grow();
    return next;
  }

  #slotOf(
    heap: Uint8Array,
    offsets: Uint32Array,
    bytes: Uint8Array,
    start: number,
    end: number,
    hash: number,
  ): number {
    const slots = this.#slots;
    const tag = hash | 0;
    for (let i = hash & this.#mask; ; i = (i + 1) & this.#mask) {
      const entry = slots[i * 2] as number;
      if (entry === EMPTY) return i * 2;
      if (slots[i * 2 + 1] !== tag) continue;
      const from = offsets[entry] as number;
      if ((offsets[entry + 1] as number) - from !== end - start) continue;
      let j = 0;
      while (start + j < end && heap[from + j] === bytes[start + j]) j++;
      if (start + j === end) return i * 2;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#mask = this.#mask * 2 + 1;
    this.#slots = new Int32Array((this.#mask + 1) * 2);
    for (let from = 0; from < old.length; from += 2) {
      const entry = old[from] as number;
      if (entry === EMPTY) continue;
      const hash = old[from + 1] as number;
      let i = hash & this.#mask;
      while (this.#slots[i * 2] !== EMPTY) i = (i + 1) & this.#mask;
      this.#slots[i * 2] = entry;
      this.#slots[i * 2 + 1] = hash;
    }
  }
}
