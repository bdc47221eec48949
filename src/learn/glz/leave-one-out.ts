// The squared error of predictions for rows that are left out of the fit, each by itself.
import { Random } from '../random.ts';
import { indexesOf, partOf } from './lasso.ts';
import { conjugateGradient } from './matrix-free.ts';
import type { Problem } from './problem.ts';

/** A fit of which the error is asked. */
export interface FittedRows {
  readonly problem: Problem;
  readonly weights: Float64Array;
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

/** Leverages cost the square of the columns each: this many multiplications are made for them. */
const LEVERAGE_WORK_MAX = 2e7;
const ROW_COUNT_MIN = 200;

/**
 * sum of weight (residual / (1 - leverage))^2. The squared error is that of all rows; what
 * leverages add to it is, where rows are many, that of some of them, for all.
 * @see Craven & Wahba, "Smoothing noisy data with spline functions", Numer. Math. 31, 1979
 */
export function leaveOneOutError(fitted: FittedRows): number {
  const { problem, gram, isSparse, ridge, weights } = fitted;
  if (gram === undefined) return errorByMeanLeverage(fitted);
  const { beta } = fitted;
  const active = isSparse ? indexesOf(beta) : indexesOf(new Uint8Array(beta.length).fill(1));
  problem.factorize(partOf(gram, beta.length, active), active.length, ridge);
  const affordable = Math.floor(LEVERAGE_WORK_MAX / Math.max(1, active.length ** 2));
  const rowCount = weights.length;
  const count = Math.min(rowCount, Math.max(affordable, ROW_COUNT_MIN));
  const isAll = count === rowCount;
  const random = Random.of(rowCount, active.length);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    if (i % 64 === 0) problem.context.checkCancelled();
    // A random row out of each of equal stretches of rows.
    const row = isAll ? i : Math.floor(((i + random.uniform()) * rowCount) / count);
    const weight = weights[row] as number;
    if (weight === 0) continue;
    const x = problem.scaledRow(row);
    const { residual, w } = fitted.residualOf(row, dot(x, beta));
    const own = active.map((column) => x[column] as number);
    const left = Math.max(1 - w * dot(own, problem.solve(own)), 1e-12);
    sum += weight * residual * residual * (1 / (left * left) - (isAll ? 0 : 1));
  }
  return isAll ? sum : fitted.squaredError() + (sum * rowCount) / count;
}

/** Of many columns, the mean leverage stands for all; it is estimated with random signs. */
function errorByMeanLeverage({ problem, ridge, squaredError, weights }: FittedRows): number {
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
