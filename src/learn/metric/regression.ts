// How far numeric scores are from their labels.
import { emptyTestSet } from './test-set.ts';

export const ERROR_QUANTILES = [0.25, 0.5, 0.75, 0.9] as const;

export interface RegressionReport {
  readonly r2: number;
  readonly mse: number;
  /** relative errors at each of ERROR_QUANTILES, by its text; infinite where a label is 0 */
  readonly quantileErrors: Readonly<Record<string, number>>;
}

/**
 * Rows whose score or label is not finite are left out.
 * @param weights one a row; absent when all are 1
 * @param check called now and then
 * @throws DATA_ERROR when no row is left
 */
export function regressionReport(
  scores: Float64Array,
  labels: Float64Array,
  weights?: Float64Array,
  check: () => void = () => {},
): RegressionReport {
  check();
  const errors = new Float64Array(scores.length);
  let count = 0;
  let weightSum = 0;
  let labelSum = 0;
  let squaredError = 0;
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row] as number;
    const label = labels[row] as number;
    if (!Number.isFinite(score) || !Number.isFinite(label)) continue;
    const weight = weights === undefined ? 1 : (weights[row] as number);
    weightSum += weight;
    labelSum += weight * label;
    squaredError += weight * (score - label) ** 2;
    errors[count++] = score === label ? 0 : Math.abs((score - label) / label);
  }
  if (count === 0) throw emptyTestSet();
  const mean = labelSum / weightSum;
  check();
  let variation = 0;
  for (let row = 0; row < scores.length; row++) {
    const label = labels[row] as number;
    if (!Number.isFinite(scores[row] as number) || !Number.isFinite(label)) continue;
    variation += (weights === undefined ? 1 : (weights[row] as number)) * (label - mean) ** 2;
  }
  check();
  const sorted = errors.subarray(0, count).sort();
  const quantile = (q: number) => sorted[Math.floor((count - 1) * q)] as number;
  return {
    r2: rSquared(squaredError, variation),
    mse: weightSum === 0 ? 0 : squaredError / weightSum,
    quantileErrors: Object.fromEntries(ERROR_QUANTILES.map((q) => [String(q), quantile(q)])),
  };
}

/** 1 without any error, 0 where labels do not vary. */
export function rSquared(squaredError: number, variation: number): number {
  if (squaredError === 0) return 1;
  return variation === 0 ? 0 : 1 - squaredError / variation;
}
