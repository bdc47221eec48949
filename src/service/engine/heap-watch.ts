// Refuses work whose rows outgrow what memory is left, before the machine has none.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { failure } from '../../util/error.ts';

/** What every thread may hold, whatever else is in use: code, and rows of small queries. */
const HEAP_SIZE_MIN = 64 * 2 ** 20;
/** Looks are many, and asking V8 takes a few microseconds. */
const LOOK_INTERVAL_MS = 20;

/** What is in use elsewhere, and how much may be in all. */
export interface MemoryBudget {
  readonly usedBytes: number;
  readonly budgetBytes: number;
}

/** Watches the heap of this thread: rows that sorts, joins and aggregates hold as objects. */
export class HeapWatch {
  readonly #budget: MemoryBudget;
  #lookedAt = 0;
  #collect: (() => void) | undefined;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** @throws OUT_OF_MEMORY when what is held, without garbage, is more than the budget has left */
  look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_INTERVAL_MS) return;
    this.#lookedAt = now;
    if (heldBytes() <= this.#limit()) return;
    this.#collect ??= garbageCollector();
    this.#collect();
    const held = heldBytes();
    this.#lookedAt = performance.now();
    if (held <= this.#limit()) return;
    const { usedBytes, budgetBytes } = this.#budget;
    throw failure(
      'OUT_OF_MEMORY',
      `Out of memory. The rows that the query holds take ${megabytes(held)}, datasets ${megabytes(usedBytes)}, of a budget of ${megabytes(budgetBytes)} (--memory); fewer rows or columns, a LIMIT or a larger budget help`,
      { heldBytes: held, usedBytes, budgetBytes },
    );
  }

  #limit(): number {
    return Math.max(HEAP_SIZE_MIN, this.#budget.budgetBytes - this.#budget.usedBytes);
  }
}

function heldBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** Only a collection tells what is garbage, and nothing but this flag lets a program ask for one. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function megabytes(sizeBytes: number): string {
  return `${Math.ceil(sizeBytes / 2 ** 20)} MB`;
}
