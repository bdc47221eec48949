// Least squares over many columns, whose products would not fit as a matrix.
import type { Problem } from './problem.ts';

const STEP_COUNT_MAX = 1000;

/**
 * Solves (X' W X + lambda) x = right over scaled columns by conjugate gradients, with the diagonal as
 * preconditioner. Uses the rows of predictions.
 * @param tolerance share of the right side, in the norm of the preconditioner, that may be left
 * @see Hestenes & Stiefel, "Methods of conjugate gradients for solving linear systems", 1952
 */
export function conjugateGradient(
  problem: Problem,
  right: Float64Array,
  lambda: number,
  tolerance: number,
): Float64Array {
  const { size } = problem;
  const diagonal = diagonalOf(problem, lambda);
  const x = new Float64Array(size);
  const r = right.slice();
  const divide = (v: Float64Array) =>
    v.map((value, i) => ((diagonal[i] as number) > 0 ? value / (diagonal[i] as number) : 0));
  let s = divide(r);
  const p = s.slice();
  let rs = dot(r, s);
  const enough = tolerance ** 2 * Math.max(rs, Number.MIN_VALUE);
  for (let step = 0; step < STEP_COUNT_MAX && rs > enough; step++) {
    problem.context.checkCancelled();
    const ap = applyNormal(problem, p, lambda);
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

/** (X' W X + lambda) v without making the matrix. */
function applyNormal(problem: Problem, v: Float64Array, lambda: number): Float64Array {
  const { eta, options, size, w } = problem;
  problem.predict(v);
  for (let row = 0; row < w.length; row++) eta[row] = (eta[row] as number) * (w[row] as number);
  const out = problem.transposed(eta);
  for (let i = 0; i < size; i++) out[i] = (out[i] as number) + lambda * (v[i] as number);
  if (!options.addBias) out[size - 1] = 0;
  return out;
}

function diagonalOf({ context, design, options, scaling, size, w }: Problem, lambda: number) {
  const { f64, u32 } = context.workspace.memory.get(design.span.arena);
  const sums = new Float64Array(size);
  const squares = new Float64Array(size);
  let total = 0;
  for (let row = 0; row < design.rowCount; row++) total += w[row] as number;
  for (let c = 0; c < design.denseCount; c++) {
    const from = (design.dense >>> 3) + c * design.rowCount;
    let sum = 0;
    let square = 0;
    for (let row = 0; row < design.rowCount; row++) {
      const wx = (w[row] as number) * (f64[from + row] as number);
      sum += wx;
      square += wx * (f64[from + row] as number);
    }
    sums[c] = sum;
    squares[c] = square;
  }
  const starts = design.starts >>> 2;
  for (let row = 0; row < design.rowCount; row++) {
    const weight = w[row] as number;
    const end = u32[starts + row + 1] as number;
    for (let i = u32[starts + row] as number; i < end; i++) {
      const c = u32[(design.columns >>> 2) + i] as number;
      const value = design.values === 0 ? 1 : (f64[(design.values >>> 3) + i] as number);
      sums[c] = (sums[c] as number) + weight * value;
      squares[c] = (squares[c] as number) + weight * value * value;
    }
  }
  return squares.map((square, c) => {
    if (c === size - 1) return options.addBias ? total + lambda : 0;
    const mean = scaling.means[c] as number;
    const centred = square - 2 * mean * (sums[c] as number) + total * mean * mean;
    return centred / (scaling.deviations[c] as number) ** 2 + lambda;
  });
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
