// Weights of training rows.
import { failure } from '../util/error.ts';
import type { Atom } from '../value/atom.ts';

/** @throws DATA_ERROR when a weight is null, negative or not a finite number */
export function rowWeight(weight: Atom): number {
  if (weight === null) throw failure('DATA_ERROR', 'classifier example weight cannot be null');
  const number = typeof weight === 'bigint' ? Number(weight) : weight;
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw failure('DATA_ERROR', 'classifier example weights must be finite');
  }
  if (number < 0) throw failure('DATA_ERROR', 'classifier example weight cannot be negative');
  return number;
}

/**
 * Weights in which each class counts for its own weight to the power 1 - equalizationFactor:
 * w x sum over the row's labels of W(label)^-factor, normalised to sum 1.
 * @param labels label positions, one a row
 * @param weights as given, one a row; absent when all are 1
 * @throws DATA_ERROR when nothing has weight
 */
export function equalizedWeights(
  labels: ArrayLike<number>,
  labelCount: number,
  equalizationFactor: number,
  weights?: Float64Array,
): Float64Array {
  const totals = new Float64Array(labelCount);
  const weightAt = (row: number) => (weights === undefined ? 1 : (weights[row] as number));
  for (let row = 0; row < labels.length; row++) {
    const label = labels[row] as number;
    totals[label] = (totals[label] as number) + weightAt(row);
  }
  const factors = totals.map((total) => (total > 0 ? total ** -equalizationFactor : 0));
  const result = new Float64Array(labels.length);
  for (let row = 0; row < labels.length; row++) {
    result[row] = weightAt(row) * (factors[labels[row] as number] as number);
  }
  return normalized(result);
}

/**
 * The same where a row has any number of labels: row r has those from offsets[r] up to
 * offsets[r + 1].
 */
export function equalizedSetWeights(
  labels: ArrayLike<number>,
  offsets: ArrayLike<number>,
  labelCount: number,
  equalizationFactor: number,
  weights?: Float64Array,
): Float64Array {
  const rowCount = offsets.length - 1;
  const totals = new Float64Array(labelCount);
  const weightAt = (row: number) => (weights === undefined ? 1 : (weights[row] as number));
  const forEachLabel = (visit: (row: number, label: number) => void) => {
    for (let row = 0; row < rowCount; row++) {
      const end = offsets[row + 1] as number;
      for (let i = offsets[row] as number; i < end; i++) visit(row, labels[i] as number);
    }
  };
  forEachLabel((row, label) => {
    totals[label] = (totals[label] as number) + weightAt(row);
  });
  const result = new Float64Array(rowCount);
  forEachLabel((row, label) => {
    const total = totals[label] as number;
    if (total === 0) return;
    result[row] = (result[row] as number) + weightAt(row) * total ** -equalizationFactor;
  });
  return normalized(result);
}

/** Scales weights to sum 1, in place. @throws DATA_ERROR when nothing has weight */
export function normalized(weights: Float64Array): Float64Array {
  let total = 0;
  for (const weight of weights) total += weight;
  if (!(total > 0 && Number.isFinite(total))) {
    throw failure('DATA_ERROR', 'cannot train with zero or non-finite weights');
  }
  for (let i = 0; i < weights.length; i++) weights[i] = (weights[i] as number) / total;
  return weights;
}
