// Loads the kernel module and binds it to a shared memory.

import { readFileSync } from 'node:fs';
import { packageFile } from '../util/package-file.ts';
import type { BinKernels } from './bin.ts';
import type { BlockKernels } from './block-program.ts';
import type { BoostKernels } from './boost.ts';
import type { CsvKernels } from './csv.ts';
import type { FillKernels } from './fill.ts';
import type { JsonKernels } from './json.ts';
import type { LayoutKernels } from './layout.ts';
import type { LinearKernels } from './linear.ts';
import type { PointKernels } from './points.ts';
import type { SparseMatrixKernels } from './sparse-matrix.ts';
import type { TextKernels } from './text.ts';
import type { TreeKernels } from './tree.ts';
import type { UmapKernels } from './umap.ts';
import type { VectorKernels } from './vector.ts';

/** Every kernel of src/kernel/assembly; each family declares its part in a file of its name. */
export interface Kernels
  extends BinKernels,
    BlockKernels,
    BoostKernels,
    CsvKernels,
    FillKernels,
    JsonKernels,
    LayoutKernels,
    PointKernels,
    SparseMatrixKernels,
    LinearKernels,
    TextKernels,
    TreeKernels,
    UmapKernels,
    VectorKernels {}

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
