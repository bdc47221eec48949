// Queries that were prepared before and are asked again: most programs ask few of them very often.

/** Plans hold what their last run found out about members of lists, so there are not many. */
const QUERY_COUNT_MAX = 64;
const TEXT_LENGTH_MAX = 10_000;

/** Prepared queries by their text, for as long as the catalogue stays as it is. */
export class QueryCache<Prepared> {
  readonly #prepared = new Map<string, Prepared>();
  #generation = -1;

  /** Forgets everything that was prepared for another state of the catalogue. */
  keepFor(generation: number): void {
    if (generation !== this.#generation) this.#prepared.clear();
    this.#generation = generation;
  }

  /** A query that is taken out is not there until it is put back, so one that fails is dropped. */
  take(text: string): Prepared | undefined {
    const prepared = this.#prepared.get(text);
    this.#prepared.delete(text);
    return prepared;
  }

  put(text: string, prepared: Prepared): void {
    if (text.length > TEXT_LENGTH_MAX) return;
    if (this.#prepared.size >= QUERY_COUNT_MAX) {
      const [oldest] = this.#prepared.keys();
      this.#prepared.delete(oldest as string);
    }
    this.#prepared.set(text, prepared);
  }
}
