// Least squares over many columns, whose products would not fit as a matrix.
import type { Design } from '../design/design.ts';
import type { JobContext, Workspace } from '../workspace.ts';

/** What is taken off a column, and what it is then divided by. */
export interface Scaling {
  readonly means: Float64Array;
  readonly deviations: Float64Array;
}

export interface LeastSquares {
  readonly workspace: Workspace;
  readonly design: Design;
  readonly scaling: Scaling;
  readonly w: Float64Array;
  readonly z: Float64Array;
  readonly lambda: number;
  readonly addBias: boolean;
  /** room for two vectors of coefficients */
  readonly vectors: number;
  /** room for a number a row */
  readonly residual: number;
}

const STEP_COUNT_MAX = 1000;
const TOLERANCE = 1e-11;

/**
 * Minimises sum w (z - X b)^2 + lambda |b|^2 over scaled columns by conjugate gradients, with the
 * diagonal as preconditioner.
 * @see Hestenes & Stiefel, "Methods of conjugate gradients for solving linear systems", 1952
 */
export function conjugateGradient(
  scope: JobContext,
  problem: LeastSquares,
  start: Float64Array | undefined,
): Float64Array {
  const size = problem.design.columnCount + 1;
  const product = new NormalProduct(problem);
  const b = product.right();
  const diagonal = product.diagonal();
  const x = start?.slice() ?? new Float64Array(size);
  const r = b.slice();
  if (start !== undefined) {
    const first = product.apply(x);
    for (let i = 0; i < size; i++) r[i] = (b[i] as number) - (first[i] as number);
  }
  const divide = (v: Float64Array) =>
    v.map((value, i) => ((diagonal[i] as number) > 0 ? value / (diagonal[i] as number) : 0));
  let s = divide(r);
  const p = s.slice();
  let rs = dot(r, s);
  const enough = TOLERANCE ** 2 * Math.max(dot(b, divide(b)), Number.MIN_VALUE);
  for (let step = 0; step < STEP_COUNT_MAX && rs > enough; step++) {
    scope.checkCancelled();
    const ap = product.apply(p);
    const curvature = dot(p, ap);
    if (!(curvature > 0)) break;
    const alpha = rs / curvature;
    for (let i = 0; i < size; i++) {
      x[i] = (x[i] as number) + alpha * (p[i] as number);
      r[i] = (r[i] as number) - alpha * (ap[i] as number);
    }
    s = divide(r);
    const next = dot(r, s);
    const beta = next / rs;
    rs = next;
    for (let i = 0; i < size; i++) p[i] = (s[i] as number) + beta * (p[i] as number);
  }
  return x;
}

/** v -> (X' W X + lambda) v over scaled columns, without making the matrix. */
class NormalProduct {
  readonly #problem: LeastSquares;
  readonly #rows: Float64Array;
  readonly #size: number;

  constructor(problem: LeastSquares) {
    this.#problem = problem;
    this.#rows = new Float64Array(problem.design.rowCount);
    this.#size = problem.design.columnCount + 1;
  }

  apply(v: Float64Array): Float64Array {
    const { w, lambda } = this.#problem;
    this.#predict(v);
    for (let row = 0; row < w.length; row++) {
      this.#rows[row] = (this.#rows[row] as number) * (w[row] as number);
    }
    const out = this.#transposed(this.#rows);
    for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) + lambda * (v[i] as number);
    if (!this.#problem.addBias) out[this.#size - 1] = 0;
    return out;
  }

  right(): Float64Array {
    const { w, z } = this.#problem;
    return this.#transposed(w.map((weight, row) => weight * (z[row] as number)));
  }

  diagonal(): Float64Array {
    const { design, scaling, w, lambda, addBias, workspace } = this.#problem;
    const { f64, u32 } = workspace.memory.get(design.span.arena);
    const sums = new Float64Array(this.#size);
    const squares = new Float64Array(this.#size);
    let total = 0;
    const starts = design.starts >>> 2;
    const addTo = (c: number, weight: number, x: number) => {
      sums[c] = (sums[c] as number) + weight * x;
      squares[c] = (squares[c] as number) + weight * x * x;
    };
    for (let row = 0; row < design.rowCount; row++) {
      const weight = w[row] as number;
      total += weight;
      for (let c = 0; c < design.denseCount; c++) {
        addTo(c, weight, f64[(design.dense >>> 3) + c * design.rowCount + row] as number);
      }
      for (let i = u32[starts + row] as number; i < (u32[starts + row + 1] as number); i++) {
        const value = design.values === 0 ? 1 : (f64[(design.values >>> 3) + i] as number);
        addTo(u32[(design.columns >>> 2) + i] as number, weight, value);
      }
    }
    const diagonal = squares.map((square, c) => {
      if (c === this.#size - 1) return addBias ? total + lambda : 0;
      const mean = scaling.means[c] as number;
      const centred = square - 2 * mean * (sums[c] as number) + total * mean * mean;
      return centred / (scaling.deviations[c] as number) ** 2 + lambda;
    });
    return diagonal;
  }

  #predict(v: Float64Array): void {
    const { design, scaling, workspace, vectors, residual } = this.#problem;
    const { f64 } = workspace.memory.get(design.span.arena);
    const at = vectors >>> 3;
    let constant = this.#problem.addBias ? (v[this.#size - 1] as number) : 0;
    for (let c = 0; c < this.#size - 1; c++) {
      const factor = (v[c] as number) / (scaling.deviations[c] as number);
      f64[at + c] = factor;
      constant -= factor * (scaling.means[c] as number);
    }
    f64[at + this.#size - 1] = constant;
    const kernels = workspace.kernels(design.span.arena);
    kernels.linearPredict(design.header, 0, design.rowCount, vectors, residual);
    this.#rows.set(f64.subarray(residual >>> 3, (residual >>> 3) + design.rowCount));
  }

  #transposed(rows: Float64Array): Float64Array {
    const { design, scaling, workspace, vectors, residual } = this.#problem;
    const { f64 } = workspace.memory.get(design.span.arena);
    const at = vectors >>> 3;
    f64.set(rows, residual >>> 3);
    f64.fill(0, at, at + this.#size);
    const kernels = workspace.kernels(design.span.arena);
    kernels.linearTransposed(design.header, 0, design.rowCount, residual, vectors);
    const out = f64.slice(at, at + this.#size);
    const total = out[this.#size - 1] as number;
    for (let c = 0; c < this.#size - 1; c++) {
      const mean = scaling.means[c] as number;
      out[c] = ((out[c] as number) - mean * total) / (scaling.deviations[c] as number);
    }
    if (!this.#problem.addBias) out[this.#size - 1] = 0;
    return out;
  }
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
