// Work that must happen one after the other, in the order in which it was asked for.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #waitingCount = 0;

  /** true: nothing runs and nothing waits */
  get isIdle(): boolean {
    return this.#waitingCount === 0;
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#waitingCount++;
    const result = this.#last.then(work).finally(() => this.#waitingCount--);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
