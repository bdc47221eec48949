// The content of datasets as it was last read, for those who follow a store: what was committed
// since is put on top of it.
import type { DatasetContent } from '../../dataset/dataset-type.ts';
import type { SnapshotRegistry } from '../engine/snapshot-registry.ts';

export interface ReadContent {
  readonly content: DatasetContent;
  /** the last entry of the log that is part of it */
  readonly committed: number;
}

export class LastContents {
  readonly #snapshots: SnapshotRegistry;
  /** by the number of the dataset in the store */
  readonly #contents = new Map<number, ReadContent>();

  constructor(snapshots: SnapshotRegistry) {
    this.#snapshots = snapshots;
  }

  get(storeId: number): ReadContent | undefined {
    return this.#contents.get(storeId);
  }

  keep(storeId: number, read: ReadContent): void {
    this.#snapshots.hold(read.content.snapshot);
    this.drop(storeId);
    this.#contents.set(storeId, read);
  }

  drop(storeId: number): void {
    const known = this.#contents.get(storeId);
    if (known === undefined) return;
    this.#contents.delete(storeId);
    this.#snapshots.release(known.content.snapshot);
  }
}
