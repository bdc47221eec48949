// The squared error of predictions for rows that are left out of the fit, each by itself.
import { Random } from '../random.ts';
import { indexesOf, partOf } from './lasso.ts';
import { conjugateGradient } from './matrix-free.ts';
import type { Problem } from './problem.ts';

/** A fit of which the error is asked. */
export interface FittedRows {
  /** X' W X at the fit; absent where products are not kept */
  readonly gram: Float64Array | undefined;
  readonly beta: Float64Array;
  /** what squares are penalised with */
  readonly ridge: number;
  /** only coefficients that are not 0 answer to a row that is left out */
  readonly isSparse: boolean;
  /** weighted sum of squared residuals over all rows */
  squaredError(): number;
  /** of a row with this linear predictor: target less prediction, and its weight in X' W X */
  residualOf(row: number, linear: number): { readonly residual: number; readonly w: number };
}

/** Leverages cost the square of the columns each: with more to do, they are those of some rows. */
const LEVERAGE_WORK_MAX = 2e7;
const SAMPLE_ROW_COUNT = 300;

/**
 * sum of weight (residual / (1 - leverage))^2. The squared error is that of all rows; what
 * leverages add to it is, where rows are many, that of some of them, for all.
 * @see Craven & Wahba, "Smoothing noisy data with spline functions", Numer. Math. 31, 1979
 */
export class LeaveOneOut {
  readonly #problem: Problem;
  readonly #weights: Float64Array;
  readonly #isAll: boolean;
  /** rows whose leverages are computed, and their columns; the same for all fits */
  #rows: readonly { readonly row: number; readonly x: Float64Array }[] | undefined;

  constructor(problem: Problem, weights: Float64Array) {
    this.#problem = problem;
    this.#weights = weights;
    this.#isAll = weights.length * problem.size ** 2 <= LEVERAGE_WORK_MAX;
  }

  errorOf(fitted: FittedRows): number {
    const { beta, gram, isSparse, ridge } = fitted;
    const problem = this.#problem;
    const weights = this.#weights;
    if (gram === undefined) return errorByMeanLeverage(problem, weights, fitted);
    const active = indexesOf(isSparse ? beta : new Uint8Array(beta.length).fill(1));
    problem.factorize(partOf(gram, beta.length, active), active.length, ridge);
    this.#rows ??= this.#chosenRows();
    let sum = 0;
    for (const [i, { row, x }] of this.#rows.entries()) {
      if (i % 64 === 0) problem.context.checkCancelled();
      const { residual, w } = fitted.residualOf(row, dot(x, beta));
      const own = active.length === x.length ? x : active.map((column) => x[column] as number);
      const left = Math.max(1 - w * dot(own, problem.solve(own)), 1e-12);
      const added = 1 / (left * left) - (this.#isAll ? 0 : 1);
      sum += (weights[row] as number) * residual * residual * added;
    }
    if (this.#isAll) return sum;
    return fitted.squaredError() + (sum * weights.length) / SAMPLE_ROW_COUNT;
  }

  /** All rows that weigh anything, or a random one out of each of equal stretches. */
  #chosenRows() {
    const weights = this.#weights;
    const random = Random.of(weights.length, 1);
    const count = this.#isAll ? weights.length : SAMPLE_ROW_COUNT;
    const chosen: { row: number; x: Float64Array }[] = [];
    for (let i = 0; i < count; i++) {
      if (i % 64 === 0) this.#problem.context.checkCancelled();
      const within = this.#isAll ? 0 : random.uniform();
      const row = Math.floor(((i + within) * weights.length) / count);
      if (weights[row] !== 0) chosen.push({ row, x: this.#problem.scaledRow(row) });
    }
    return chosen;
  }
}

/** Of many columns, the mean leverage stands for all; it is estimated with random signs. */
function errorByMeanLeverage(
  problem: Problem,
  weights: Float64Array,
  { ridge, squaredError }: FittedRows,
): number {
  const error = squaredError();
  const { eta, w } = problem;
  const random = Random.of(weights.length, w.length);
  let rowCount = 0;
  for (let row = 0; row < w.length; row++) {
    if (weights[row] !== 0) rowCount++;
    eta[row] = Math.sqrt(w[row] as number) * (random.uniform() < 0.5 ? -1 : 1);
  }
  const projected = problem.transposed(eta);
  const solved = conjugateGradient(problem, projected, ridge, 1e-4);
  const left = Math.max(1 - dot(projected, solved) / rowCount, 1e-12);
  return error / (left * left);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
