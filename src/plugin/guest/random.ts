// Random numbers for scripts.
import { Random } from '../../learn/random.ts';

export class RandomNumberGenerator {
  #random: Random;

  constructor(seed = 0) {
    this.#random = streamOf(seed);
  }

  /** @param seed 0: from entropy */
  seed(seed = 0): this {
    this.#random = streamOf(seed);
    return this;
  }

  uniform(min = 0, max = 1): number {
    return min + (max - min) * this.#random.uniform();
  }

  /** @see Box & Muller, "A note on the generation of random normal deviates", 1958 */
  normal(mean = 0, std = 1): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.#random.uniform()));
    return mean + std * radius * Math.cos(2 * Math.PI * this.#random.uniform());
  }
}

function streamOf(seed: number): Random {
  return Random.of(seed === 0 ? Math.floor(Math.random() * 2 ** 53) : seed);
}
