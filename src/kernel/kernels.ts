// Loads the kernel module and binds it to a shared memory.

import { readFileSync } from 'node:fs';
import { packageFile } from '../util/package-file.ts';
import type { Kernels } from './generated.ts';

export type { Kernels };

let compiled: WebAssembly.Module | undefined;

/** The compiled module, read and compiled once a thread. It can be posted to other threads. */
export function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readFileSync(packageFile('build/kernel/kernel.wasm')));
  return compiled;
}

/**
 * Binds the kernels to an arena. Instances hold no state, so a thread needs one for each memory.
 * @param memory shared, with at most 65,536 pages; its first page is reserved for the kernels
 */
export function instantiateKernels(memory: WebAssembly.Memory): Kernels {
  const instance = new WebAssembly.Instance(kernelModule(), { env: { memory } });
  return instance.exports as unknown as Kernels;
}
