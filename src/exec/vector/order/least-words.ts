// The least words of the rows that a unit has seen, and the limit that they set for all units.
import type { Span } from '../../../value/column/snapshot.ts';
import type { Scratch } from '../scratch.ts';

/** The limit before enough rows were seen: the greatest word. */
export const NO_LIMIT = -1n;

export class LeastWords {
  readonly #limit: Span;
  readonly #keep: number;
  readonly #scratch: Scratch;
  readonly #heap: number;
  #size = 0;

  /** @param limit a Uint64 that all units share: no row with a greater word is wanted */
  constructor(limit: Span, keep: number, scratch: Scratch) {
    this.#limit = limit;
    this.#keep = keep;
    this.#scratch = scratch;
    this.#heap = scratch.keep(keep * 8);
  }

  /** @param words, truth addresses of Uint64 and of truth bytes; `truth` 0: all rows count */
  add(words: number, truth: number, rowCount: number): void {
    const { kernels } = this.#scratch;
    const heap = this.#heap;
    this.#size = kernels.keepLeast(words, truth, rowCount, heap, this.#size, this.#keep);
  }

  /** Rows with a greater word are not among the first. */
  lowerLimit(): bigint {
    const { i64 } = this.#scratch.arena;
    const cell = this.#limit.offset / 8;
    let known = Atomics.load(i64, cell);
    if (this.#size < this.#keep) return known;
    const own = i64[this.#heap / 8] as bigint;
    while (BigInt.asUintN(64, own) < BigInt.asUintN(64, known)) {
      const before = Atomics.compareExchange(i64, cell, known, own);
      if (before === known) return own;
      known = before;
    }
    return known;
  }
}
