// The arenas and kernels of this thread. Jobs that arrive from other threads find them here.
import { instantiateKernels, type Kernels } from '../kernel/kernels.ts';
import type { Workspace } from '../learn/workspace.ts';
import { assert } from '../util/assert.ts';
import type { ArenaAllocator, ArenaSet } from '../value/column/arena-set.ts';

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

/** The kernels over one arena of this thread. */
export function threadKernels(arenaId: number): Kernels {
  return kernelsOver(threadArenas(), arenaId);
}

/**
 * What learners and their models run in. Arenas of several services meet in the main thread, so the
 * kernels are those of these arenas.
 */
export function workspaceOf(memory: ArenaAllocator): Workspace {
  return { memory, kernels: (arenaId) => kernelsOver(memory, arenaId) };
}

/** A thread has one instance for each arena. */
function kernelsOver(arenas: ArenaAllocator, arenaId: number): Kernels {
  const { memory } = arenas.get(arenaId);
  let instance = kernels.get(memory);
  if (instance === undefined) {
    instance = instantiateKernels(memory);
    kernels.set(memory, instance);
  }
  return instance;
}
