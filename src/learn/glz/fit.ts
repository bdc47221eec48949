// Fitting generalised linear models: the penalised deviance over a design matrix.
import { failure } from '../../util/error.ts';
import type { Design } from '../design/design.ts';
import { type FitContext, withScratch } from '../workspace.ts';
import { indexesOf, pathFactors } from './lasso.ts';
import type { Link } from './link.ts';
import { FisherFit, LeastSquaresFit, type PenalizedFit } from './penalized-fit.ts';
import { Problem } from './problem.ts';
import { measureScaling, noScaling } from './scaling.ts';

export interface GlzOptions {
  readonly link: Link;
  readonly addBias: boolean;
  /** columns are standardised before they are penalised */
  readonly normalize: boolean;
  readonly regularization: 'none' | 'l1' | 'l2';
  /** negative: chosen by the error that is made on rows left out */
  readonly lambda: number;
  /** l1 with a chosen factor: factors of a path that are tried; 0: powers of ten */
  readonly pathLength: number;
  /** l1: sweeps at most, and the change that ends them */
  readonly sweepCountMax: number;
  readonly epsilon: number;
  /** columns that depend on those before them are left out */
  readonly condition: boolean;
}

/** What one of the factors that are tried gives. */
export interface FactorTrial {
  readonly factor: number;
  /** coefficients that are not 0, without the constant */
  readonly coefficientCount: number;
  readonly deviance: number;
  readonly leaveOneOutError: number;
}

/** Penalties that are tried when there is no path. */
const LAMBDAS = Array.from({ length: 16 }, (_, i) => 10 ** (1 - i));

/** A path ends when a factor explains this share of the deviance, or hardly more than the one before. */
const EXPLAINED_ENOUGH = 0.999;
const EXPLAINED_MORE_MIN = 1e-5;
/** Factors of a path that are always tried. */
const TRIED_COUNT_MIN = 5;

/**
 * Minimises the deviance + lambda |b|^2 (l2) or + lambda |b|_1 (l1) over the coefficients b,
 * among them the constant. A linear link is one least-squares problem.
 * @param targets one a row; between 0 and 1 unless the link is linear
 * @param weights one a row, 0 leaves a row out; sums, not means, are penalised
 * @param report told of each factor that is tried
 * @returns a coefficient for each place of the design, then the constant, in original units
 * @throws DATA_ERROR when a target is out of the link's range
 */
export function fitGlz(
  context: FitContext,
  design: Design,
  targets: Float64Array,
  weights: Float64Array,
  options: GlzOptions,
  report: (trial: FactorTrial) => void = () => undefined,
): Float64Array {
  const { addBias, condition, epsilon, link, regularization, sweepCountMax } = options;
  if (link !== 'linear') {
    for (const target of targets) {
      if (target >= 0 && target <= 1) continue;
      throw failure(
        'DATA_ERROR',
        `link ${link} needs labels from 0 to 1, not ${target}; link linear takes all numbers`,
      );
    }
  }
  // Without a penalty the solution does not depend on scales, and scaled columns are exact.
  const isScaled = options.normalize || regularization === 'none';
  const scaling = isScaled ? measureScaling(context, design, weights, addBias) : noScaling(design);
  const { workspace } = context;
  return withScratch(workspace, design.span.arena, Problem.sizeOf(design), (scratch) => {
    const problem = new Problem(context, design, scaling, { addBias, condition }, scratch);
    const penalty = { isSparse: regularization === 'l1', epsilon, sweepCountMax };
    const fit =
      link === 'linear'
        ? new LeastSquaresFit(problem, targets, weights, penalty)
        : new FisherFit(problem, link, targets, weights, penalty);
    return problem.toOriginal(solve(problem, fit, options, report));
  });
}

function solve(
  problem: Problem,
  fit: PenalizedFit,
  { lambda, pathLength, regularization }: GlzOptions,
  report: (trial: FactorTrial) => void,
): Float64Array {
  if (regularization === 'none') return fit.solve(0);
  if (lambda >= 0) return fit.solve(lambda);
  const isPath = pathLength > 0;
  const factors = isPath ? pathFactors(problem, fit.gradientOfNone(), pathLength) : LAMBDAS;
  let best: Float64Array | undefined;
  let least = Number.POSITIVE_INFINITY;
  let none = 0;
  let explainedBefore = 0;
  for (const [index, factor] of factors.entries()) {
    problem.context.checkCancelled();
    const beta = fit.solve(factor, isPath ? factors[index - 1] : undefined);
    const deviance = fit.deviance();
    const error = fit.leaveOneOutError();
    const coefficientCount = indexesOf(beta.subarray(0, -1)).length;
    report({ factor, coefficientCount, deviance, leaveOneOutError: error });
    if (best === undefined || error < least) {
      least = error;
      best = beta;
    }
    if (!isPath) continue;
    if (index === 0) none = deviance;
    const explained = 1 - deviance / none;
    if (!(none > 0) || explained > EXPLAINED_ENOUGH) break;
    const isMore = explained - explainedBefore >= EXPLAINED_MORE_MIN * explained;
    if (!isMore && index >= TRIED_COUNT_MIN) break;
    explainedBefore = explained;
  }
  return best ?? fit.solve(0);
}
