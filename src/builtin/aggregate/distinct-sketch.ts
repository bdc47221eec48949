// Numbers of distinct values in 16 KiB.
import type { CanonicalKey } from '../../value/canonical-key.ts';

const INDEX_BITS = 14;
const REGISTER_COUNT = 1 << INDEX_BITS;
/** 50 bits give ranks up to 51, and 0 is an empty register. */
const RANK_COUNT = 52;

const numbers = new Float64Array(1);
const words = new Uint32Array(numbers.buffer);

/**
 * HyperLogLog with linear counting for few values; the standard error is 0.8 %.
 * @see Flajolet et al., "HyperLogLog: the analysis of a near-optimal cardinality estimation
 *   algorithm", 2007
 */
export class DistinctSketch {
  readonly #registers = new Uint8Array(REGISTER_COUNT);

  add(key: CanonicalKey): void {
    if (typeof key === 'number') {
      numbers[0] = key;
      this.#addWords(words[0] as number, words[1] as number);
      return;
    }
    const text = String(key);
    let a = 0x811c9dc5;
    let b = 0x9747b28c;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ (code + i), 0x5bd1e995);
    }
    this.#addWords(a, b ^ text.length);
  }

  /** Two words are mixed by the finishing steps of MurmurHash3, which spread every bit. */
  #addWords(first: number, second: number): void {
    const a = spread(first ^ Math.imul(second, 0x9e3779b1));
    const high = spread(second ^ Math.imul(a, 0x85ebca77)) >>> 0;
    const low = spread(a + high) >>> 0;
    const index = low & (REGISTER_COUNT - 1);
    // 50 bits are left: those of the low word above the index, and the high word.
    const rest = low >>> INDEX_BITS;
    const zeros = rest === 0 ? 32 - INDEX_BITS + Math.clz32(high) : Math.clz32(rest) - INDEX_BITS;
    const rank = zeros + 1;
    if (rank > (this.#registers[index] as number)) this.#registers[index] = rank;
  }

  merge(other: DistinctSketch): void {
    for (let i = 0; i < REGISTER_COUNT; i++) {
      const rank = other.#registers[i] as number;
      if (rank > (this.#registers[i] as number)) this.#registers[i] = rank;
    }
  }

  count(): number {
    const counts = new Uint32Array(RANK_COUNT);
    for (let i = 0; i < REGISTER_COUNT; i++) {
      const rank = this.#registers[i] as number;
      counts[rank] = (counts[rank] as number) + 1;
    }
    const sum = counts.reduce((total, count, rank) => total + count * 2 ** -rank, 0);
    const empty = counts[0] as number;
    const bias = 0.7213 / (1 + 1.079 / REGISTER_COUNT);
    const estimate = (bias * REGISTER_COUNT * REGISTER_COUNT) / sum;
    const few = estimate <= 2.5 * REGISTER_COUNT && empty > 0;
    return Math.round(few ? REGISTER_COUNT * Math.log(REGISTER_COUNT / empty) : estimate);
  }
}

function spread(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
