// What learners need from their surroundings: shared memory, kernels, threads, cancellation.
import type { Kernels } from '../kernel/kernels.ts';
import { instantiateKernels } from '../kernel/kernels.ts';
import { every } from '../util/every.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';

/** The arenas as one thread sees them, with that thread's kernels for each. */
export interface Workspace {
  readonly memory: ArenaAllocator;
  kernels(arenaId: number): Kernels;
}

/** A workspace that makes one kernel instance for each arena it meets. */
export function makeWorkspace(memory: ArenaAllocator): Workspace {
  const instances: Kernels[] = [];
  return {
    memory,
    kernels(arenaId) {
      instances[arenaId] ??= instantiateKernels(memory.get(arenaId).memory);
      return instances[arenaId];
    },
  };
}

export interface JobContext {
  /** Throws when the work was cancelled. */
  checkCancelled(): void;
}

/** Of work that nobody can stop. */
export const NEVER_CANCELLED: JobContext = { checkCancelled() {} };

/** Categories or values, or comparisons of two, between two looks at the cancel flag. */
const STEPS_PER_CHECK = 16_384;

/** To be called for each step of a long loop. */
export function lookEvery(scope: JobContext): () => void {
  return every(STEPS_PER_CHECK, () => scope.checkCancelled());
}

export interface LearnJob<Args, Result> {
  readonly name: string;
  execute(args: Args, unitIndex: number, scope: JobContext): Result;
}

/** Work split over threads; results come back in the order of the units. */
export interface ParallelFor {
  readonly threadCount: number;
  run<Args, Result>(job: LearnJob<Args, Result>, args: Args, unitCount: number): Result[];
}

/** What a fit runs in. */
export interface FitContext extends JobContext {
  readonly workspace: Workspace;
  readonly parallel: ParallelFor;
  /** How many of the steps are done; may be called from this thread only, not for every step. */
  progress?(doneCount: number, totalCount: number): void;
}

/** Runs every unit in the calling thread. */
export function serialContext(workspace: Workspace): FitContext {
  const context: FitContext = {
    workspace,
    checkCancelled() {},
    parallel: {
      threadCount: 1,
      run: (job, args, unitCount) =>
        Array.from({ length: unitCount }, (_, unit) => job.execute(args, unit, context)),
    },
  };
  return context;
}

/** Lends `sizeBytes` of an arena to `use`. */
export function withScratch<Result>(
  workspace: Workspace,
  arenaId: number,
  sizeBytes: number,
  use: (offset: number) => Result,
): Result {
  const span = workspace.memory.allocateIn(arenaId, sizeBytes);
  try {
    return use(span.offset);
  } finally {
    workspace.memory.free(span);
  }
}

/** Hands out 16-byte aligned pieces of one stretch of memory, or only adds up their sizes. */
export class Layout {
  readonly #base: number;
  #size = 0;

  constructor(base = 0) {
    this.#base = base;
  }

  take(sizeBytes: number): number {
    const offset = this.#base + this.#size;
    this.#size += Math.ceil(sizeBytes / 16) * 16;
    return offset;
  }

  get sizeBytes(): number {
    return this.#size;
  }
}
