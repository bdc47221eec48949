// Kernels of support vector machines, over points in shared memory.
import { type Points, pointAt, pointColumns } from '../points.ts';
import type { Workspace } from '../workspace.ts';

export const SVM_KERNELS = ['linear', 'poly', 'rbf', 'sigmoid'] as const;

export interface SvmKernel {
  readonly kernel: (typeof SVM_KERNELS)[number];
  readonly degree: number;
  readonly gamma: number;
  readonly coef0: number;
}

/** The value of a kernel from the dot product of two points, or for rbf their squared distance. */
export function kernelFunction({
  kernel,
  degree,
  gamma,
  coef0,
}: SvmKernel): (product: number) => number {
  switch (kernel) {
    case 'linear':
      return (dot) => dot;
    case 'poly':
      return (dot) => (gamma * dot + coef0) ** degree;
    case 'rbf':
      return (distance) => Math.exp(-gamma * distance);
    case 'sigmoid':
      return (dot) => Math.tanh(gamma * dot + coef0);
  }
}

/** The value of a kernel for two single points. */
export function kernelValue(kernel: SvmKernel, a: Float64Array, b: Float64Array): number {
  let product = 0;
  for (let j = 0; j < a.length; j++) {
    const x = a[j] as number;
    const y = b[j] as number;
    product += kernel.kernel === 'rbf' ? (x - y) * (x - y) : x * y;
  }
  return kernelFunction(kernel)(product);
}

/** Bytes of rows that are kept. */
const CACHE_SIZE = 256 * 2 ** 20;

/** Rows of the kernel matrix of some points, the latest ones kept. */
export class KernelRows {
  readonly #workspace: Workspace;
  readonly #points: Points;
  readonly #columns: readonly Float64Array[];
  readonly #isDistance: boolean;
  readonly #apply: (product: number) => number;
  /** addresses in the arena of the points: one point, and a row of products */
  readonly #center: number;
  readonly #products: number;
  readonly #kept = new Map<number, Float32Array>();
  readonly #keptMax: number;

  constructor(
    workspace: Workspace,
    points: Points,
    kernel: SvmKernel,
    room: { readonly center: number; readonly products: number },
  ) {
    this.#workspace = workspace;
    this.#points = points;
    this.#columns = pointColumns(workspace, points);
    this.#isDistance = kernel.kernel === 'rbf';
    this.#apply = kernelFunction(kernel);
    this.#center = room.center;
    this.#products = room.products;
    this.#keptMax = Math.max(2, Math.floor(CACHE_SIZE / (points.rowCount * 4)));
  }

  /** The kernel of a point with all points. */
  row(index: number): Float32Array {
    const known = this.#kept.get(index);
    if (known !== undefined) {
      this.#kept.delete(index);
      this.#kept.set(index, known);
      return known;
    }
    const { span, stride, rowCount, dimension } = this.#points;
    const { f64 } = this.#workspace.memory.get(span.arena);
    f64.set(pointAt(this.#columns, index), this.#center >>> 3);
    const kernels = this.#workspace.kernels(span.arena);
    const args = [span.offset, stride, rowCount, dimension, this.#center, this.#products] as const;
    if (this.#isDistance) kernels.squaredDistances(...args);
    else kernels.pointDots(...args);
    const start = this.#products >>> 3;
    const row = this.#recycled(rowCount);
    for (let i = 0; i < rowCount; i++) row[i] = this.#apply(f64[start + i] as number);
    this.#kept.set(index, row);
    return row;
  }

  /** The kernel of each point with itself. */
  diagonal(): Float64Array {
    const { rowCount } = this.#points;
    if (this.#isDistance) return new Float64Array(rowCount).fill(this.#apply(0));
    const squares = new Float64Array(rowCount);
    for (const column of this.#columns) {
      for (let i = 0; i < rowCount; i++) {
        squares[i] = (squares[i] as number) + (column[i] as number) ** 2;
      }
    }
    return squares.map(this.#apply);
  }

  /** The memory of the row that was not used for longest, once there are enough. */
  #recycled(rowCount: number): Float32Array {
    if (this.#kept.size < this.#keptMax) return new Float32Array(rowCount);
    const [oldest] = this.#kept.keys() as MapIterator<number>;
    const row = this.#kept.get(oldest as number) as Float32Array;
    this.#kept.delete(oldest as number);
    return row;
  }
}
