// The smallest penalised deviance for one factor after the other.
import { failure } from '../../util/error.ts';
import { type Evaluation, evaluateDeviance } from './deviance.ts';
import { type SweepOptions, solveLasso } from './lasso.ts';
import { LeaveOneOut } from './leave-one-out.ts';
import { LINK_FUNCTIONS, type Link } from './link.ts';
import { conjugateGradient } from './matrix-free.ts';
import { DIRECT_COLUMN_COUNT_MAX, type Problem } from './problem.ts';

/** Each solution is where the next one begins. */
export interface PenalizedFit {
  /** where all coefficients but the constant are 0 */
  gradientOfNone(): Float64Array;
  /**
   * @param before a larger factor whose solution the last one is
   * @returns coefficients of scaled columns
   */
  solve(lambda: number, before?: number): Float64Array;
  /** of the last solution */
  deviance(): number;
  leaveOneOutError(): number;
}

export interface PenaltyOptions extends SweepOptions {
  readonly isSparse: boolean;
}

/** What a matrix that is not kept is solved to, as a share of the right side. */
const LEAST_SQUARES_TOLERANCE = 1e-11;

/** sum w (z - X beta)^2 + penalty */
export class LeastSquaresFit implements PenalizedFit {
  readonly #problem: Problem;
  readonly #targets: Float64Array;
  readonly #weights: Float64Array;
  readonly #options: PenaltyOptions;
  readonly #leaveOneOut: LeaveOneOut;
  readonly #gram: Float64Array | undefined;
  readonly #right: Float64Array;
  readonly #squares: number;
  #beta: Float64Array;
  #lambda = 0;

  constructor(
    problem: Problem,
    targets: Float64Array,
    weights: Float64Array,
    options: PenaltyOptions,
  ) {
    this.#problem = problem;
    this.#targets = targets;
    this.#weights = weights;
    this.#options = options;
    this.#leaveOneOut = new LeaveOneOut(problem, weights);
    this.#beta = new Float64Array(problem.size);
    const { w, z } = problem;
    w.set(weights);
    z.set(targets);
    this.#squares = sumOfRows(weights, (row) => (targets[row] as number) ** 2);
    if (problem.isDirect) {
      const { gram, right } = problem.normalEquations();
      this.#gram = gram;
      this.#right = right;
    } else {
      if (options.isSparse) throw tooManyColumns(problem);
      for (let row = 0; row < w.length; row++) z[row] = (w[row] as number) * (z[row] as number);
      this.#right = problem.transposed(z);
    }
  }

  gradientOfNone(): Float64Array {
    const last = this.#problem.size - 1;
    const total = this.#gram?.[last * (last + 2)] ?? 0;
    const none = new Float64Array(last + 1);
    none[last] = total > 0 ? (this.#right[last] as number) / total : 0;
    return this.#gradientAt(none);
  }

  #gradientAt(beta: Float64Array): Float64Array {
    return this.#gram === undefined ? this.#right : less(this.#right, times(this.#gram, beta));
  }

  solve(lambda: number, before?: number): Float64Array {
    this.#lambda = lambda;
    this.#beta = this.#solution(lambda, before);
    return this.#beta;
  }

  #solution(lambda: number, before: number | undefined): Float64Array {
    const problem = this.#problem;
    const gram = this.#gram;
    if (gram === undefined) {
      return conjugateGradient(problem, this.#right, lambda, LEAST_SQUARES_TOLERANCE);
    }
    if (!this.#options.isSparse) {
      problem.factorize(gram, problem.size, lambda);
      return problem.solve(this.#right);
    }
    const beta = this.#beta;
    const quadratic = { gram, gradient: this.#gradientAt(beta), beta, lambda };
    const hint = before === undefined ? {} : { lambdaBefore: before };
    return solveLasso(problem, { ...quadratic, ...hint }, this.#options);
  }

  deviance(): number {
    const beta = this.#beta;
    if (this.#gram !== undefined) {
      const squares =
        this.#squares - 2 * dot(beta, this.#right) + dot(beta, times(this.#gram, beta));
      // What is left of large numbers is exact only while it is not tiny beside them.
      if (squares > 1e-8 * this.#squares) return squares;
    }
    this.#problem.predict(beta);
    const { eta } = this.#problem;
    const targets = this.#targets;
    return sumOfRows(this.#weights, (r) => ((targets[r] as number) - (eta[r] as number)) ** 2);
  }

  leaveOneOutError(): number {
    const { isSparse } = this.#options;
    return this.#leaveOneOut.errorOf({
      gram: this.#gram,
      beta: this.#beta,
      ridge: isSparse ? 0 : this.#lambda,
      isSparse,
      squaredError: () => this.deviance(),
      residualOf: (row, linear) => ({
        residual: (this.#targets[row] as number) - linear,
        w: this.#weights[row] as number,
      }),
    });
  }
}

/** Steps with products of their own, and all steps, at most. */
const FRESH_COUNT_MAX = 25;
const STEP_COUNT_MAX = 100;
/** Share of the deviance that a step promises when it is the last one. */
const DEVIANCE_TOLERANCE = 1e-12;
/** Products are made anew when this share of the curvatures has changed. */
const DRIFT_MAX = 0.1;
/** A step with older products is to leave this share of what the one before promised. */
const PROGRESS_MIN = 0.1;
/** With fewer values than this, products are always made anew. */
const LARGE_VALUE_COUNT = 1e6;
const HALVING_COUNT_MAX = 12;
/** What is solved inside a step, where the matrix is not kept. */
const STEP_TOLERANCE = 1e-3;

/**
 * Fisher scoring. A step is made with products of an earlier one while the curvatures of the rows
 * have hardly changed: the slope, which decides where the steps end, is exact all the same.
 * @see McCullagh & Nelder, "Generalized linear models", 1989, chapter 2
 */
export class FisherFit implements PenalizedFit {
  readonly #problem: Problem;
  readonly #link: Link;
  readonly #targets: Float64Array;
  readonly #weights: Float64Array;
  readonly #options: PenaltyOptions;
  readonly #leaveOneOut: LeaveOneOut;
  #beta: Float64Array;
  #lambda = 0;
  #gram: Float64Array | undefined;
  #state: Evaluation;
  /** share of the curvatures that has changed since the products were made */
  #drift = Number.POSITIVE_INFINITY;
  /** penalty with which the factor was made */
  #factorLambda = Number.NaN;

  constructor(
    problem: Problem,
    link: Link,
    targets: Float64Array,
    weights: Float64Array,
    options: PenaltyOptions,
  ) {
    if (options.isSparse && !problem.isDirect) throw tooManyColumns(problem);
    this.#problem = problem;
    this.#link = link;
    this.#targets = targets;
    this.#weights = weights;
    this.#options = options;
    this.#leaveOneOut = new LeaveOneOut(problem, weights);
    this.#beta = new Float64Array(problem.size);
    if (problem.options.addBias) {
      let [sum, total] = [0, 0];
      for (let row = 0; row < targets.length; row++) {
        sum += (weights[row] as number) * (targets[row] as number);
        total += weights[row] as number;
      }
      // Half a row of either kind keeps it finite.
      const { forward } = LINK_FUNCTIONS[link];
      this.#beta[problem.size - 1] = forward((sum + 0.5) / (total + 1));
    }
    problem.w.fill(0);
    this.#state = this.#evaluate(this.#beta);
  }

  gradientOfNone(): Float64Array {
    return this.#problem.transposed(this.#problem.z);
  }

  deviance(): number {
    return this.#state.deviance;
  }

  solve(lambda: number, before?: number): Float64Array {
    const problem = this.#problem;
    this.#lambda = lambda;
    const isCheap = problem.design.rowCount * problem.size < LARGE_VALUE_COUNT;
    let freshCount = 0;
    let promisedBefore = Number.POSITIVE_INFINITY;
    for (let step = 0; step < STEP_COUNT_MAX && freshCount <= FRESH_COUNT_MAX; step++) {
      problem.context.checkCancelled();
      const isFresh = this.#refresh(isCheap || this.#drift > DRIFT_MAX);
      if (isFresh) freshCount++;
      const from = this.#beta;
      const gradient = problem.transposed(problem.z);
      const next = this.#step(gradient, lambda, step === 0 ? before : undefined);
      const promised = this.#promise(gradient, next);
      if (!(promised > 0)) break;
      const moved = this.#advance(next, promised, isFresh);
      if (moved < 1) {
        // Where the step was too long, or the products too old, they are made anew.
        if (moved === 0 && isFresh) break;
        this.#drift = Number.POSITIVE_INFINITY;
      } else if (!isFresh && promised > PROGRESS_MIN * promisedBefore) {
        this.#drift = Number.POSITIVE_INFINITY;
      }
      promisedBefore = promised;
      if (moved === 0) continue;
      if (promised <= DEVIANCE_TOLERANCE * (this.#state.deviance + 0.1)) break;
      if (this.#options.isSparse && largestChange(from, this.#beta) < this.#options.epsilon) break;
    }
    return this.#beta;
  }

  /** Makes the products when they are wanted; true: they are those of the coefficients. */
  #refresh(isWanted: boolean): boolean {
    if (!this.#problem.isDirect) return true;
    if (!isWanted) return false;
    this.#gram = this.#problem.normalEquations().gram;
    this.#factorLambda = Number.NaN;
    this.#drift = 0;
    return true;
  }

  #step(gradient: Float64Array, lambda: number, before: number | undefined): Float64Array {
    const problem = this.#problem;
    const beta = this.#beta;
    const gram = this.#gram;
    if (this.#options.isSparse && gram !== undefined) {
      const hint = before === undefined ? {} : { lambdaBefore: before };
      return solveLasso(problem, { gram, gradient, beta, lambda, ...hint }, this.#options);
    }
    const right = gradient.map((value, i) => value - lambda * (beta[i] as number));
    if (!problem.options.addBias) right[problem.size - 1] = 0;
    let change: Float64Array;
    if (gram === undefined) {
      change = conjugateGradient(problem, right, lambda, STEP_TOLERANCE);
    } else {
      if (this.#factorLambda !== lambda) problem.factorize(gram, problem.size, lambda);
      this.#factorLambda = lambda;
      change = problem.solve(right);
    }
    return beta.map((value, i) => value + (change[i] as number));
  }

  /** By how much the step lowers the penalised deviance, by its slope. */
  #promise(gradient: Float64Array, next: Float64Array): number {
    const beta = this.#beta;
    const { isSparse } = this.#options;
    let sum = 0;
    for (let i = 0; i < beta.length; i++) {
      const [from, to] = [beta[i] as number, next[i] as number];
      sum += 2 * (gradient[i] as number) * (to - from);
      const penalty = isSparse ? Math.abs(to) - Math.abs(from) : 2 * from * (to - from);
      sum -= this.#lambda * penalty;
    }
    return sum;
  }

  /** Goes to `next`, or a part of the way there. @returns the part; 0: it stays where it was */
  #advance(next: Float64Array, promised: number, isFresh: boolean): number {
    const from = this.#beta;
    const before = this.#state.deviance + this.#penalty(from);
    const slack = 1e-12 * (Math.abs(before) + 1);
    for (let halving = 0, part = 1; halving < HALVING_COUNT_MAX; halving++, part /= 2) {
      const to = from.map((value, i) => value + part * ((next[i] as number) - value));
      const state = this.#evaluate(to);
      const after = state.deviance + this.#penalty(to);
      if (after <= before - 1e-4 * part * promised + slack) {
        this.#beta = to;
        this.#state = state;
        return part;
      }
      // A step with old products is not worth a search.
      if (!isFresh) break;
    }
    this.#state = this.#evaluate(from);
    return 0;
  }

  #penalty(beta: Float64Array): number {
    const { isSparse } = this.#options;
    let sum = 0;
    for (const value of beta) sum += isSparse ? Math.abs(value) : value * value;
    return this.#lambda * sum;
  }

  #evaluate(beta: Float64Array): Evaluation {
    const problem = this.#problem;
    problem.predict(beta);
    const { eta, w, z } = problem;
    const rows = { targets: this.#targets, weights: this.#weights, eta, w, z };
    const state = evaluateDeviance(this.#link, rows);
    this.#drift += state.change / Math.max(state.curvature, Number.MIN_VALUE);
    return state;
  }

  leaveOneOutError(): number {
    const problem = this.#problem;
    const { isSparse } = this.#options;
    const { inverse, slope } = LINK_FUNCTIONS[this.#link];
    const targets = this.#targets;
    const weights = this.#weights;
    problem.predict(this.#beta);
    const { eta } = problem;
    this.#factorLambda = Number.NaN;
    return this.#leaveOneOut.errorOf({
      gram: this.#gram,
      beta: this.#beta,
      ridge: isSparse ? 0 : this.#lambda,
      isSparse,
      squaredError: () =>
        sumOfRows(weights, (r) => ((targets[r] as number) - inverse(eta[r] as number)) ** 2),
      residualOf(row, linear) {
        const mean = inverse(linear);
        const spread = Math.max(mean * (1 - mean), 1e-12);
        const w = ((weights[row] as number) * slope(linear) ** 2) / spread;
        return { residual: (targets[row] as number) - mean, w };
      },
    });
  }
}

function tooManyColumns({ design }: Problem): Error {
  return failure(
    'DATA_ERROR',
    `regularization l1 takes at most ${DIRECT_COLUMN_COUNT_MAX} columns, not ${design.columnCount}; l2 takes any number`,
  );
}

function largestChange(from: Float64Array, to: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < from.length; i++) {
    largest = Math.max(largest, Math.abs((to[i] as number) - (from[i] as number)));
  }
  return largest;
}

function sumOfRows(weights: Float64Array, squareOf: (row: number) => number): number {
  let sum = 0;
  for (let row = 0; row < weights.length; row++) {
    const weight = weights[row] as number;
    if (weight !== 0) sum += weight * squareOf(row);
  }
  return sum;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** The product of a symmetric matrix with a vector that may be mostly 0. */
function times(matrix: Float64Array, v: Float64Array): Float64Array {
  const out = new Float64Array(v.length);
  for (let i = 0; i < v.length; i++) {
    const factor = v[i] as number;
    if (factor === 0) continue;
    const line = matrix.subarray(i * v.length, (i + 1) * v.length);
    for (let j = 0; j < v.length; j++) out[j] = (out[j] as number) + factor * (line[j] as number);
  }
  return out;
}

function less(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, i) => value - (b[i] as number));
}
