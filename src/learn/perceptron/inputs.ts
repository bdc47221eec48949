// Inputs of networks: dense rows, standardised or whitened.
import type { DesignColumns } from '../design/columns.ts';
import { EXTRACT_EQUALS, EXTRACT_PRESENCE } from '../design/columns.ts';
import type { FeatureValues } from '../feature/values.ts';
import type { PerceptronLayer } from './model.ts';

/** Every row's design columns, row by row; missing numbers are their column's weighted mean. */
export function denseRows(
  { features, extracts, categories }: DesignColumns,
  values: readonly FeatureValues[],
  rowCount: number,
  weights: Float64Array,
): { readonly rows: Float64Array; readonly means: Float64Array } {
  const width = features.length;
  const rows = new Float64Array(rowCount * width);
  const means = new Float64Array(width);
  const numbers = new Float64Array(rowCount);
  for (let column = 0; column < width; column++) {
    const own = values[features[column] as number] as FeatureValues;
    const extract = extracts[column] as number;
    numbers.fill(extract === EXTRACT_EQUALS || extract === EXTRACT_PRESENCE ? 0 : Number.NaN);
    if (own.kind === 'categories') {
      for (const [row, category] of own.indexes.entries()) {
        numbers[row] = category === categories[column] ? 1 : 0;
      }
    } else if (own.kind === 'numbers') {
      for (const [row, value] of own.values.entries()) {
        if (!Number.isNaN(value)) numbers[row] = extract === EXTRACT_PRESENCE ? 1 : value;
      }
    } else if (own.kind === 'sparse') {
      for (const [i, row] of own.rows.entries()) {
        numbers[row] = extract === EXTRACT_PRESENCE ? 1 : (own.values[i] as number);
      }
    }
    const mean = weightedMean(numbers, weights);
    means[column] = mean;
    for (let row = 0; row < rowCount; row++) {
      const value = numbers[row] as number;
      rows[row * width + column] = Number.isNaN(value) ? mean : value;
    }
  }
  return { rows, means };
}

function weightedMean(numbers: Float64Array, weights: Float64Array): number {
  let total = 0;
  let sum = 0;
  for (let row = 0; row < numbers.length; row++) {
    const value = numbers[row] as number;
    if (Number.isNaN(value)) continue;
    total += weights[row] as number;
    sum += (weights[row] as number) * value;
  }
  return total > 0 ? sum / total : 0;
}

/** A layer that takes the mean off each input and divides by its deviation, or does nothing. */
export function standardized(
  rows: Float64Array,
  means: Float64Array,
  width: number,
  weights: Float64Array,
  isOn: boolean,
): PerceptronLayer {
  const scales = isOn
    ? deviations(rows, means, width, weights).map((deviation) =>
        deviation > 0 ? 1 / deviation : 1,
      )
    : new Float64Array(width).fill(1);
  const matrix = new Float64Array(width * width);
  for (let i = 0; i < width; i++) matrix[i * width + i] = scales[i] as number;
  const biases = scales.map((scale, i) => (isOn ? -scale * (means[i] as number) : 0));
  return layerOf(width, matrix, biases);
}

/**
 * A layer whose outputs are uncorrelated: the inverse of the Cholesky factor of the covariance. An
 * input that depends on those before it says nothing new and becomes 0.
 */
export function whitening(
  rows: Float64Array,
  means: Float64Array,
  width: number,
  weights: Float64Array,
  isNormalized: boolean,
): PerceptronLayer {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const covariance = new Float64Array(width * width);
  for (let row = 0; row * width < rows.length; row++) {
    const weight = (weights[row] as number) / total;
    if (weight === 0) continue;
    for (let i = 0; i < width; i++) {
      const a = weight * ((rows[row * width + i] as number) - (means[i] as number));
      if (a === 0) continue;
      for (let j = 0; j <= i; j++) {
        const b = (rows[row * width + j] as number) - (means[j] as number);
        covariance[i * width + j] = (covariance[i * width + j] as number) + a * b;
      }
    }
  }
  const diagonal = Float64Array.from(
    { length: width },
    (_, i) => covariance[i * width + i] as number,
  );
  const factor = covariance;
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = factor[i * width + j] as number;
      for (let k = 0; k < j; k++) {
        sum -= (factor[i * width + k] as number) * (factor[j * width + k] as number);
      }
      const pivot = factor[j * width + j] as number;
      if (i === j)
        factor[i * width + j] = sum > 1e-8 * (diagonal[i] as number) ? Math.sqrt(sum) : 0;
      else factor[i * width + j] = pivot > 0 ? sum / pivot : 0;
    }
  }
  // Rows of the inverse by forward substitution.
  const inverse = new Float64Array(width * width);
  for (let i = 0; i < width; i++) {
    const pivot = factor[i * width + i] as number;
    if (pivot === 0) continue;
    for (let c = 0; c <= i; c++) {
      let sum = c === i ? 1 : 0;
      for (let k = c; k < i; k++) {
        sum -= (factor[i * width + k] as number) * (inverse[k * width + c] as number);
      }
      inverse[i * width + c] = sum / pivot;
    }
  }
  // Without normalisation an input keeps its spread.
  for (let i = 0; i < width && !isNormalized; i++) {
    const spread = Math.sqrt(diagonal[i] as number);
    for (let c = 0; c <= i; c++) {
      inverse[i * width + c] = spread * (inverse[i * width + c] as number);
    }
  }
  const biases = new Float64Array(width);
  for (let i = 0; i < width; i++) {
    let sum = 0;
    for (let c = 0; c < width; c++)
      sum += (inverse[i * width + c] as number) * (means[c] as number);
    biases[i] = -sum;
  }
  return layerOf(width, inverse, biases);
}

function layerOf(width: number, weights: Float64Array, biases: Float64Array): PerceptronLayer {
  return { inputCount: width, outputCount: width, weights, biases, activation: 'identity' };
}

function deviations(
  rows: Float64Array,
  means: Float64Array,
  width: number,
  weights: Float64Array,
): Float64Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const squares = new Float64Array(width);
  for (let row = 0; row * width < rows.length; row++) {
    const weight = (weights[row] as number) / total;
    for (let i = 0; i < width; i++) {
      const distance = (rows[row * width + i] as number) - (means[i] as number);
      squares[i] = (squares[i] as number) + weight * distance * distance;
    }
  }
  return squares.map(Math.sqrt);
}
