// When the memory of a snapshot may be given back: no entity holds it, and every task that was
// running when the last holder let go has ended.
import { assert } from '../../util/assert.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type {
  ColumnarSnapshot,
  ColumnSnapshot,
  Snapshot,
  Span,
} from '../../value/column/snapshot.ts';
import { freeSnapshot } from '../../value/column/snapshot-memory.ts';

interface Retired {
  free(): void;
  /** tasks up to this number may still read it */
  readonly lastTask: number;
}

export class SnapshotRegistry {
  readonly #arenas: ArenaAllocator;
  readonly #holders = new Map<number, { snapshot: Snapshot; count: number }>();
  readonly #running = new Set<number>();
  #retired: Retired[] = [];
  #lastTask = 0;
  #waiting: (() => void)[] = [];

  constructor(arenas: ArenaAllocator) {
    this.#arenas = arenas;
  }

  hold(snapshot: Snapshot): void {
    const known = this.#holders.get(snapshot.id);
    if (known === undefined) this.#holders.set(snapshot.id, { snapshot, count: 1 });
    else known.count++;
  }

  release(snapshot: Snapshot): void {
    const known = this.#holders.get(snapshot.id);
    if (known === undefined) return;
    known.count--;
    if (known.count > 0) return;
    this.#holders.delete(snapshot.id);
    this.#retire(() => freeSnapshot(known.snapshot, this.#arenas));
  }

  /** Takes up a column that was read for a snapshot which somebody holds. */
  addColumn(snapshot: ColumnarSnapshot, number: number, column: ColumnSnapshot): ColumnarSnapshot {
    const columns = snapshot.columns.with(number, column);
    const grown = { ...snapshot, columns };
    const known = this.#holders.get(snapshot.id);
    assert(known !== undefined, 'only what is held grows');
    known.snapshot = grown;
    return grown;
  }

  /** true: tasks run, which may read what was there when they began */
  get hasTasks(): boolean {
    return this.#running.size > 0;
  }

  /** Does something once every task that runs now has ended. */
  afterTasks(work: () => void): void {
    this.#retire(work);
  }

  /** Gives back memory that is no snapshot, once every task that may read it has ended. */
  retireSpans(spans: readonly Span[]): void {
    this.#retire(() => {
      for (const span of spans) this.#arenas.free(span);
    });
  }

  /** Frees a snapshot that nobody ever saw. */
  discard(snapshot: Snapshot): void {
    freeSnapshot(snapshot, this.#arenas);
  }

  /** Everything that is held now stays readable until the returned function is called. */
  beginTask(): () => void {
    const task = ++this.#lastTask;
    this.#running.add(task);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#running.delete(task);
      this.#sweep();
    };
  }

  /** Snapshots that wait for tasks to end. */
  get retiredCount(): number {
    return this.#retired.length;
  }

  /** Resolves when nothing waits for tasks to end any more, or after that many milliseconds. */
  async drained(patienceMs: number): Promise<void> {
    if (this.#retired.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patienceMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #retire(free: () => void): void {
    this.#retired.push({ free, lastTask: this.#lastTask });
    this.#sweep();
  }

  #sweep(): void {
    const oldestRunning = Math.min(...this.#running, Number.POSITIVE_INFINITY);
    const free = this.#retired.filter(({ lastTask }) => lastTask < oldestRunning);
    if (free.length === 0) return;
    this.#retired = this.#retired.filter(({ lastTask }) => lastTask >= oldestRunning);
    for (const each of free) each.free();
    if (this.#retired.length > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
