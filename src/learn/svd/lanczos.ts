// The largest eigenvalues of a symmetric operator that is only known by its products.
import { ROW_GROUP } from '../../kernel/generated.ts';
import { dot, type Eigen, tridiagonalEigen } from '../linear-algebra.ts';
import { Random } from '../random.ts';
import { type JobContext, Layout, type Workspace, withScratch } from '../workspace.ts';

export interface LanczosOptions {
  /** rows of the operator */
  readonly size: number;
  /** eigenpairs that are wanted at most */
  readonly count: number;
  readonly seed: number;
  readonly arena: number;
  readonly scope: JobContext;
  /** residual of an eigenvalue, as a share of the largest one; default 1e-11 */
  readonly tolerance?: number;
  /** how many steps of how many at most are done */
  progress?(done: number, most: number): void;
}

/** Steps between two looks at how far the eigenvalues have come. */
const STEPS_PER_TEST = 10;
const TOLERANCE = 1e-11;

/**
 * Lanczos steps with full reorthogonalisation; when the space that a start spans is used up,
 * another start continues beside it. Vectors of equal eigenvalues beyond the first are found only
 * that way.
 * @param multiply writes the operator times the vector at byte offset `x` to the one at `y`
 * @see Golub & Van Loan, "Matrix Computations", chapter 10
 */
export function largestEigenpairs(
  workspace: Workspace,
  multiply: (x: number, y: number) => void,
  options: LanczosOptions,
): Eigen {
  const { size, count, arena } = options;
  const length = Math.ceil(size / ROW_GROUP) * ROW_GROUP;
  const stepMax = Math.min(size, Math.max(3 * count + 40, 100));
  const place = (base: number) => {
    const layout = new Layout(base);
    return {
      basis: layout.take((stepMax + 1) * length * 8),
      weights: layout.take(stepMax * 8),
      layout,
    };
  };
  return withScratch(workspace, arena, place(0).layout.sizeBytes, (base) => {
    const { basis, weights } = place(base);
    return new Lanczos(workspace, multiply, { ...options, length, stepMax, basis, weights }).run();
  });
}

interface PlacedOptions extends LanczosOptions {
  /** size, rounded up for the kernels */
  readonly length: number;
  readonly stepMax: number;
  /** orthonormal vectors of `length` f64 */
  readonly basis: number;
  readonly weights: number;
}

class Lanczos {
  readonly #workspace: Workspace;
  readonly #multiply: (x: number, y: number) => void;
  readonly #options: PlacedOptions;
  readonly #random: Random;
  readonly #diagonal: number[] = [];
  readonly #side: number[] = [];

  constructor(
    workspace: Workspace,
    multiply: (x: number, y: number) => void,
    options: PlacedOptions,
  ) {
    this.#workspace = workspace;
    this.#multiply = multiply;
    this.#options = options;
    this.#random = Random.of(options.seed);
  }

  run(): Eigen {
    const { scope, stepMax, progress } = this.#options;
    this.#start(0);
    let scale = 0;
    for (let step = 0; step < stepMax; step++) {
      scope.checkCancelled();
      progress?.(step, stepMax);
      const x = this.#at(step);
      const next = this.#at(step + 1);
      this.#multiply(x, next);
      this.#diagonal.push(dot(this.#vector(step), this.#vector(step + 1)));
      const norm = this.#orthogonalise(step + 1);
      scale = Math.max(scale, Math.abs(this.#diagonal[step] as number) + norm);
      if (step + 1 === stepMax) break;
      if (norm <= scale * Number.EPSILON * 16) {
        this.#side.push(0);
        this.#start(step + 1);
      } else {
        this.#side.push(norm);
        const vector = this.#vector(step + 1);
        for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) / norm;
        if ((step + 1) % STEPS_PER_TEST === 0 && this.#hasConverged(norm)) break;
      }
    }
    return this.#ritzPairs();
  }

  #at(index: number): number {
    return this.#options.basis + index * this.#options.length * 8;
  }

  #vector(index: number): Float64Array {
    const { arena, length } = this.#options;
    const start = this.#at(index) >>> 3;
    return this.#workspace.memory.get(arena).f64.subarray(start, start + length);
  }

  /** A random unit vector that is orthogonal to those before it. */
  #start(index: number): void {
    const vector = this.#vector(index);
    vector.fill(0);
    for (let i = 0; i < this.#options.size; i++) vector[i] = this.#random.uniform() - 0.5;
    const norm = this.#orthogonalise(index);
    for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) / norm;
  }

  /** Takes the parts along earlier vectors from a vector. @returns the length that is left */
  #orthogonalise(index: number): number {
    const { arena, length, basis, weights } = this.#options;
    const kernels = this.#workspace.kernels(arena);
    const { f64 } = this.#workspace.memory.get(arena);
    const vector = this.#vector(index);
    let before = Math.sqrt(dot(vector, vector));
    // Where much was taken away, rounding leaves parts behind: then once more, which is enough.
    for (let pass = 0; pass < 3; pass++) {
      kernels.rowDots(basis, index, length, this.#at(index), weights);
      const start = weights >>> 3;
      for (let i = 0; i < index; i++) f64[start + i] = -(f64[start + i] as number);
      kernels.addRows(basis, index, length, weights, this.#at(index));
      const after = Math.sqrt(dot(vector, vector));
      if (after > before * Math.SQRT1_2) return after;
      before = after;
    }
    return before;
  }

  #tridiagonal(): Eigen {
    return tridiagonalEigen(Float64Array.from(this.#diagonal), Float64Array.from(this.#side));
  }

  /** Whether the wanted pairs no longer change. @param coupling to the next vector */
  #hasConverged(coupling: number): boolean {
    const { count, tolerance = TOLERANCE } = this.#options;
    const steps = this.#diagonal.length;
    if (steps < 2 * count) return false;
    const { values, vectors } = this.#tridiagonal();
    const largest = Math.abs(values[0] as number);
    for (let i = 0; i < count; i++) {
      const residual = coupling * Math.abs((vectors[i] as Float64Array)[steps - 1] as number);
      if (residual > tolerance * largest) return false;
    }
    return true;
  }

  #ritzPairs(): Eigen {
    const { size, count } = this.#options;
    const { values, vectors } = this.#tridiagonal();
    const kept = Math.min(count, values.length);
    return {
      values: values.slice(0, kept),
      vectors: vectors.slice(0, kept).map((weights) => {
        this.#options.scope.checkCancelled();
        const sum = new Float64Array(size);
        for (const [index, weight] of weights.entries()) {
          const vector = this.#vector(index);
          for (let i = 0; i < size; i++)
            sum[i] = (sum[i] as number) + weight * (vector[i] as number);
        }
        return sum;
      }),
    };
  }
}
