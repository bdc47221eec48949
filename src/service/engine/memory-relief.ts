// What becomes of tasks that had too little memory: idle content gives way, and they begin anew.
import { isShortage, type RowanError } from '../../util/error.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { DatasetUses } from './dataset-uses.ts';
import type { SnapshotRegistry } from './snapshot-registry.ts';

/** How often a task begins that has too little memory each time. */
const ATTEMPT_COUNT_MAX = 4;
/** Of the budget, given up at once: each attempt repeats all work. */
const EVICTED_SHARE = 0.25;
/** How long memory is waited for that was given up while tasks could still read it. */
const PATIENCE_MS = 5000;

/**
 * `alone`: tasks that were short of memory are repeated one after the other, so that they do not
 * take it from each other. `together`: at once, for what takes too long for others to wait.
 * `urgent`: at once, and without waiting for tasks that may wait for this one.
 */
export type RepeatMode = 'alone' | 'together' | 'urgent';

export interface MemoryReliefOptions {
  readonly budgetBytes: number;
  readonly uses: DatasetUses;
  readonly snapshots: SnapshotRegistry;
  /**
   * Gives up content that was not used at this reading of the clock or later.
   * @returns the bytes given up, which are free once the tasks that run now have ended
   */
  makeRoom(sizeBytes: number, before: bigint): number;
}

export class MemoryRelief {
  readonly #options: MemoryReliefOptions;
  readonly #alone = new SerialQueue();
  /** how often room was made */
  #count = 0;

  constructor(options: MemoryReliefOptions) {
    this.#options = options;
  }

  /**
   * @param attempt a task that leaves nothing behind when it fails; it is frugal when there will be no
   *   other
   * @param mayRepeat asked after each attempt that failed
   * @throws what the attempt throws; OUT_OF_MEMORY when there is no room to be made
   */
  async run<Result>(
    attempt: (isFrugal: boolean) => Promise<Result>,
    mode: RepeatMode,
    mayRepeat: () => boolean,
  ): Promise<Result> {
    const startedAt = this.#options.uses.tick();
    const count = this.#count;
    try {
      return await attempt(false);
    } catch (thrown) {
      if (!isShortage(thrown) || !mayRepeat()) throw thrown;
      if (mode !== 'alone') {
        return this.#repeat(attempt, mode, mayRepeat, thrown, startedAt, count);
      }
      return this.#alone.run(() =>
        this.#repeat(attempt, mode, mayRepeat, thrown, this.#options.uses.tick(), count),
      );
    }
  }

  async #repeat<Result>(
    attempt: (isFrugal: boolean) => Promise<Result>,
    mode: RepeatMode,
    mayRepeat: () => boolean,
    shortage: RowanError,
    idleBefore: bigint,
    knownCount: number,
  ): Promise<Result> {
    const { uses, snapshots } = this.#options;
    // Idle content is no room for objects; but rows may go to a file instead.
    if (shortage.details !== undefined && 'heldBytes' in shortage.details) return attempt(true);
    let before = idleBefore;
    let count = knownCount;
    for (let attempts = 1; attempts < ATTEMPT_COUNT_MAX - 1; attempts++) {
      this.#evict(before);
      // Others may have made room since the attempt began.
      if (this.#count === count) break;
      if (mode !== 'urgent') await snapshots.drained(PATIENCE_MS);
      before = uses.tick();
      count = this.#count;
      try {
        return await attempt(false);
      } catch (again) {
        if (!isShortage(again) || !mayRepeat()) throw again;
      }
    }
    return attempt(true);
  }

  #evict(before: bigint): void {
    const { budgetBytes, makeRoom } = this.#options;
    if (makeRoom(EVICTED_SHARE * budgetBytes, before) > 0) this.#count++;
  }
}
