// The arenas and kernels of this thread. Jobs that arrive from other threads find them here.
import { instantiateKernels, type Kernels } from '../kernel/kernels.ts';
import { assert } from '../util/assert.ts';
import type { ArenaSet } from '../value/column/arena-set.ts';

let current: ArenaSet | undefined;
const kernels = new WeakMap<object, Kernels>();

/** Called once by each thread that executes queries, before its first task. */
export function useArenas(arenas: ArenaSet): void {
  current = arenas;
}

export function threadArenas(): ArenaSet {
  assert(current !== undefined, 'no arenas in this thread');
  return current;
}

/** The kernels over one arena; a thread has one instance for each. */
export function threadKernels(arenaId: number): Kernels {
  const { memory } = threadArenas().get(arenaId);
  let instance = kernels.get(memory);
  if (instance === undefined) {
    instance = instantiateKernels(memory);
    kernels.set(memory, instance);
  }
  return instance;
}
