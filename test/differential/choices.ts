// The choices that a random query is made of, as numbers: a failing query is made smaller by making
// its numbers fewer and smaller, so every generator puts its plainest form first.

/** Gives out choices: from a seed, or from a list, with zeros behind its end. */
export class Choices {
  readonly made: number[] = [];
  readonly #replayed: readonly number[] | undefined;
  #state: number;

  private constructor(seed: number, replayed?: readonly number[]) {
    this.#state = seed >>> 0;
    this.#replayed = replayed;
  }

  static ofSeed(seed: number): Choices {
    return new Choices(Math.imul(seed + 1, 0x9e3779b1));
  }

  static replaying(made: readonly number[]): Choices {
    return new Choices(0, made);
  }

  /** An integer of [0, count). */
  below(count: number): number {
    const replayed = this.#replayed;
    const choice =
      replayed === undefined
        ? Math.floor(this.#next() * count)
        : Math.min(replayed[this.made.length] ?? 0, count - 1);
    this.made.push(choice);
    return choice;
  }

  /** True once in so many; false is the plain form. */
  once(inSoMany: number): boolean {
    return this.below(inSoMany) === inSoMany - 1;
  }

  pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  /** mulberry32 */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

/**
 * Fewer and smaller choices that still fail.
 * @param fails whether the query of these choices still shows a difference
 */
export async function shrink(
  made: readonly number[],
  fails: (choices: readonly number[]) => Promise<boolean>,
): Promise<readonly number[]> {
  let best = made;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (let size = Math.max(1, best.length >> 1); size >= 1; size >>= 1) {
      for (let start = 0; start < best.length; ) {
        const without = [...best.slice(0, start), ...best.slice(start + size)];
        const zeroed = best.map((choice, at) => (at >= start && at < start + size ? 0 : choice));
        if (await fails(without)) best = without;
        else if (zeroed.some((choice, at) => choice !== best[at]) && (await fails(zeroed)))
          best = zeroed;
        else {
          start += size;
          continue;
        }
        isSmaller = true;
      }
    }
  }
  return best;
}
