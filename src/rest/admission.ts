// How many heavy requests work at the same time; the rest wait in line, and those beyond are refused.
import { RowanError } from '../util/error.ts';

export interface AdmissionLimits {
  readonly heavyCountMax: number;
  readonly heavyQueueLengthMax: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #waiting = new Set<() => void>();
  #activeCount = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place, at once or when one is free. Each call that succeeds is followed by `leave`.
   * @returns undefined when the place was free
   * @throws OVERLOADED when the line is full; the signal's reason when it gives up waiting
   */
  enter(request: { readonly signal: AbortSignal }): Promise<void> | undefined {
    if (this.#activeCount < this.#limits.heavyCountMax) {
      this.#activeCount++;
      return undefined;
    }
    if (this.#waiting.size >= this.#limits.heavyQueueLengthMax) throw overloaded();
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.add(admit);
    });
  }

  /** Gives the place to the request that has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#activeCount--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

function overloaded(): RowanError {
  return new RowanError('OVERLOADED', 503, 'too many requests are waiting; try again later');
}
