// How far predictions are from targets, and the slopes and curvatures that a Fisher step needs.
import { LINK_FUNCTIONS, type Link } from './link.ts';

/** Numbers a row; `w` and `z` are written. */
export interface DevianceRows {
  readonly targets: Float64Array;
  readonly weights: Float64Array;
  /** linear predictors */
  readonly eta: Float64Array;
  /** expected curvatures of half the deviance by the linear predictor */
  readonly w: Float64Array;
  /** minus the slopes of half the deviance by the linear predictor */
  readonly z: Float64Array;
}

export interface Evaluation {
  readonly deviance: number;
  /** sums of the curvatures, and of their changes since the last evaluation */
  readonly curvature: number;
  readonly change: number;
}

/** @see McCullagh & Nelder, "Generalized linear models", 1989, chapter 2.5 */
export function evaluateDeviance(link: Link, rows: DevianceRows): Evaluation {
  return link === 'logit' ? evaluateLogistic(rows) : evaluateOther(link, rows);
}

/** The curvature, slope and deviance of a logistic row follow from one power of e. */
function evaluateLogistic({ targets, weights, eta, w, z }: DevianceRows): Evaluation {
  let [deviance, curvature, change] = [0, 0, 0];
  for (let row = 0; row < eta.length; row++) {
    const weight = weights[row] as number;
    if (weight === 0) {
      w[row] = 0;
      z[row] = 0;
      continue;
    }
    const linear = eta[row] as number;
    const target = targets[row] as number;
    const isPositive = linear >= 0;
    const power = Math.exp(isPositive ? -linear : linear);
    const share = 1 / (1 + power);
    const mean = isPositive ? share : power * share;
    const own = weight * Math.max(power * share * share, CURVATURE_MIN);
    change += Math.abs(own - (w[row] as number));
    curvature += own;
    w[row] = own;
    z[row] = weight * (target - mean);
    const miss = isPositive ? (1 - target) * linear : -target * linear;
    deviance += weight * (miss + Math.log1p(power) - entropy(target));
  }
  return { deviance: 2 * deviance, curvature, change };
}

/** Keeps rows that are told with certainty in the equations. */
const CURVATURE_MIN = 1e-15;

function entropy(target: number): number {
  if (target === 0 || target === 1) return 0;
  return -target * Math.log(target) - (1 - target) * Math.log(1 - target);
}

function evaluateOther(link: Link, { targets, weights, eta, w, z }: DevianceRows): Evaluation {
  const { inverse, slope } = LINK_FUNCTIONS[link];
  let [deviance, curvature, change] = [0, 0, 0];
  for (let row = 0; row < eta.length; row++) {
    const weight = weights[row] as number;
    if (weight === 0) {
      w[row] = 0;
      z[row] = 0;
      continue;
    }
    const linear = eta[row] as number;
    const target = targets[row] as number;
    const mean = Math.min(1 - 1e-12, Math.max(1e-12, inverse(linear)));
    const variance = mean * (1 - mean);
    const rise = Math.max(slope(linear), CURVATURE_MIN);
    const own = (weight * rise * rise) / variance;
    change += Math.abs(own - (w[row] as number));
    curvature += own;
    w[row] = own;
    z[row] = (weight * rise * (target - mean)) / variance;
    deviance += weight * binomialDeviance(target, mean);
  }
  return { deviance, curvature, change };
}

function binomialDeviance(y: number, mean: number): number {
  const first = y === 0 ? 0 : y * Math.log(y / mean);
  const second = y === 1 ? 0 : (1 - y) * Math.log((1 - y) / (1 - mean));
  return 2 * (first + second);
}
