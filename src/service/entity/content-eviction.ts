// Content of datasets that gives way when memory runs short: what is kept is read again at its next
// use, so a service holds more datasets than its memory does.
import type { DatasetUses } from '../engine/dataset-uses.ts';
import type { DatasetEntity } from './dataset-entity.ts';

export interface EvictionOptions {
  readonly uses: DatasetUses;
  /** all datasets that work */
  datasets(): Iterable<DatasetEntity>;
  /** Told of each dataset whose content was given up, and how many bytes it took. */
  onEvicted(dataset: DatasetEntity, sizeBytes: number): void;
}

/** Gives up content, the one that lay idle for longest first. */
export class ContentEviction {
  readonly #options: EvictionOptions;

  constructor(options: EvictionOptions) {
    this.#options = options;
  }

  /**
   * @param sizeBytes how much to give up; less when there is no more
   * @param before content that was used at this reading of the clock or later stays
   * @returns the bytes that were given up; they are free once the tasks that run now have ended
   */
  evict(sizeBytes: number, before: bigint): number {
    const { uses, onEvicted } = this.#options;
    const idle = [...this.#options.datasets()]
      .map((dataset) => ({ dataset, lastUse: uses.lastUse(dataset.storeId) }))
      .filter(({ lastUse }) => lastUse < before)
      .sort((a, b) => Number(a.lastUse - b.lastUse));
    let evicted = 0;
    for (const { dataset } of idle) {
      if (evicted >= sizeBytes) break;
      const size = dataset.evict();
      evicted += size;
      if (size > 0) onEvicted(dataset, size);
    }
    return evicted;
  }
}
