// Datasets that show rows without a commit: what was recorded is committed before the next reader.
import type { DatasetEntity } from './dataset-entity.ts';

export class PendingCommits {
  /** datasets with rows that the next reader must see */
  readonly #uncommitted = new Set<DatasetEntity>();
  #settled: Promise<unknown> = Promise.resolve();
  #settlingCount = 0;

  add(dataset: DatasetEntity): void {
    this.#uncommitted.add(dataset);
  }

  /** true: a reader must wait for `settle` */
  get arePending(): boolean {
    return this.#uncommitted.size > 0 || this.#settlingCount > 0;
  }

  /** Resolves when everything that was recorded before is committed. */
  async settle(): Promise<void> {
    const commits = [...this.#uncommitted].map((dataset) => dataset.show());
    this.#uncommitted.clear();
    // A call during a commit waits for that commit too.
    const settled = Promise.all([this.#settled.catch(() => undefined), ...commits]);
    this.#settled = settled;
    this.#settlingCount++;
    try {
      await settled;
    } finally {
      this.#settlingCount--;
    }
  }
}
