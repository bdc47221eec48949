// Random numbers that are the same on every platform and in the kernels.

/** Words that a stream starts from; can be handed to a kernel. */
export type RandomState = readonly [number, number, number, number];

/**
 * A stream of random numbers.
 * @see Blackman & Vigna, "Scrambled linear pseudorandom number generators", 2021 (xoshiro128++)
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(state: RandomState) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** The stream of a seed and any numbers that tell it from the seed's other streams. */
  static of(seed: number, ...stream: readonly number[]): Random {
    return new Random(randomState(seed, ...stream));
  }

  /** 32 random bits, as an unsigned number. */
  next(): number {
    const sum = (this.#a + this.#d) | 0;
    const result = (((sum << 7) | (sum >>> 25)) + this.#a) | 0;
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

  /** A whole number in [0, bound), bound at most 2^32. */
  below(bound: number): number {
    return Math.floor((this.next() * bound) / 2 ** 32);
  }

  /** A number in [0, 1) with 53 random bits. */
  uniform(): number {
    return ((this.next() >>> 5) * 2 ** 26 + (this.next() >>> 6)) / 2 ** 53;
  }
}

/** The start of the stream that Random.of gives. */
export function randomState(seed: number, ...stream: readonly number[]): RandomState {
  let hash = 0x6a09_e667;
  for (const part of [seed, ...stream]) {
    hash = mix(hash ^ (part | 0));
    hash = mix(hash ^ Math.floor(part / 2 ** 32));
  }
  const word = (index: number) => mix((hash + Math.imul(index + 1, 0x9e37_79b9)) | 0) >>> 0;
  const state: [number, number, number, number] = [word(0), word(1), word(2), word(3)];
  // All zeros is the one state the generator never leaves.
  if (state.every((value) => value === 0)) state[0] = 1;
  return state;
}

/** A word for each text and seed, as if it were drawn (FNV-1a, then mixed). */
export function textHash(text: string, seed: number): number {
  let hash = mix(seed | 0) ^ 0x811c_9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  return mix(hash) >>> 0;
}

/** A bijection of 32-bit words in which every input bit reaches every output bit (murmur3). */
function mix(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2_ae35);
  return word ^ (word >>> 16);
}
