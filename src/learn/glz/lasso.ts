// Quadratic problems with absolute values as penalty, and the factors of a path of them.
import type { Problem } from './problem.ts';

export interface SweepOptions {
  /** largest change of a coefficient in the last sweep */
  readonly epsilon: number;
  readonly sweepCountMax: number;
}

/** d' G d - 2 d' gradient + lambda |beta + d|_1 */
export interface Quadratic {
  /** G, size x size */
  readonly gram: Float64Array;
  /** at `beta` */
  readonly gradient: Float64Array;
  readonly beta: Float64Array;
  readonly lambda: number;
  /** a factor whose solution `beta` is: columns that stay 0 are then guessed from it */
  readonly lambdaBefore?: number;
}

/** Up to this many columns, all of them are swept. */
const ALL_COLUMN_COUNT_MAX = 32;
/** How far a gradient may be above its bound before its column is swept too. */
const SLACK = 1 + 1e-9;

/**
 * Coordinate descent over the columns that are not 0 or may leave it: by the strong rule at first,
 * then those that break the conditions of the optimum, until there are none.
 * @see Friedman, Hastie & Tibshirani, "Regularization paths for generalized linear models via
 *   coordinate descent", J. Stat. Software 33, 2010; Tibshirani et al., "Strong rules for discarding
 *   predictors in lasso-type problems", J. R. Stat. Soc. B 74, 2012
 * @returns the coefficients
 */
export function solveLasso(
  problem: Problem,
  quadratic: Quadratic,
  options: SweepOptions,
): Float64Array {
  const { gram, lambda, lambdaBefore = lambda } = quadratic;
  const size = quadratic.beta.length;
  const { beta: start, gradient: startGradient } = quadratic;
  if (size <= ALL_COLUMN_COUNT_MAX) {
    return problem.descend(gram, startGradient, start, lambda, options);
  }
  const strong = lambda - lambdaBefore / 2;
  const isSwept = Uint8Array.from(start, (value, i) =>
    Number(value !== 0 || Math.abs(startGradient[i] as number) >= strong),
  );
  let beta = start;
  let gradient = startGradient;
  for (;;) {
    const swept = indexesOf(isSwept);
    const own = problem.descend(
      partOf(gram, size, swept),
      swept.map((i) => gradient[i] as number),
      swept.map((i) => beta[i] as number),
      lambda,
      options,
    );
    const next = beta.slice();
    gradient = gradient.slice();
    for (const [place, i] of swept.entries()) {
      const change = (own[place] as number) - (beta[i] as number);
      next[i] = own[place] as number;
      if (change === 0) continue;
      const line = gram.subarray(i * size, (i + 1) * size);
      for (let j = 0; j < size; j++) {
        gradient[j] = (gradient[j] as number) - change * (line[j] as number);
      }
    }
    beta = next;
    let added = 0;
    for (let i = 0; i < size; i++) {
      if (isSwept[i] === 1 || Math.abs(gradient[i] as number) <= (lambda / 2) * SLACK) continue;
      isSwept[i] = 1;
      added++;
    }
    if (added === 0) return beta;
  }
}

/** Positions that are not 0. */
export function indexesOf(values: ArrayLike<number>): Float64Array {
  const indexes: number[] = [];
  for (let i = 0; i < values.length; i++) if (values[i] !== 0) indexes.push(i);
  return Float64Array.from(indexes);
}

/** The lines and columns of a symmetric matrix that are asked for. */
export function partOf(matrix: Float64Array, size: number, indexes: Float64Array): Float64Array {
  if (indexes.length === size) return matrix;
  const part = new Float64Array(indexes.length ** 2);
  let at = 0;
  for (const i of indexes) {
    for (const j of indexes) part[at++] = matrix[i * size + j] as number;
  }
  return part;
}

/** The smallest factor of a path as a share of the largest, where rows are more than columns or not. */
const SHARE_OF_MANY_ROWS = 1e-4;
const SHARE_OF_FEW_ROWS = 1e-2;

/**
 * Factors from the smallest one that leaves no coefficient downwards, equally far apart in logarithm.
 * @param gradient where all coefficients but the constant are 0
 */
export function pathFactors({ design, size }: Problem, gradient: Float64Array, count: number) {
  const largest = 2 * gradient.subarray(0, size - 1).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const share = design.rowCount > design.columnCount ? SHARE_OF_MANY_ROWS : SHARE_OF_FEW_ROWS;
  return Array.from({ length: count }, (_, i) => largest * share ** (i / (count - 1)));
}
