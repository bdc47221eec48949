// Columns are standardised before their coefficients are penalised.
import type { Design } from '../design/design.ts';
import type { FitContext } from '../workspace.ts';

/** What is taken off a column, and what it is then divided by. */
export interface Scaling {
  readonly means: Float64Array;
  readonly deviations: Float64Array;
}

/** Columns as they are. */
export function noScaling({ columnCount }: Design): Scaling {
  return {
    means: new Float64Array(columnCount),
    deviations: new Float64Array(columnCount).fill(1),
  };
}

/** Weighted means and population deviations of the columns; 1 where a column is constant. */
export function measureScaling(
  { workspace, checkCancelled }: Pick<FitContext, 'workspace' | 'checkCancelled'>,
  design: Design,
  weights: Float64Array,
  addBias: boolean,
): Scaling {
  const { means, deviations } = noScaling(design);
  const { f64, u32 } = workspace.memory.get(design.span.arena);
  const { rowCount, denseCount, columnCount } = design;
  let total = 0;
  for (const weight of weights) total += weight;
  const squares = new Float64Array(columnCount);
  for (let c = 0; c < denseCount; c++) {
    checkCancelled();
    const from = (design.dense >>> 3) + c * rowCount;
    const values = f64.subarray(from, from + rowCount);
    let sum = 0;
    for (let row = 0; row < rowCount; row++) {
      sum += (weights[row] as number) * (values[row] as number);
    }
    const mean = sum / total;
    let square = 0;
    for (let row = 0; row < rowCount; row++) {
      const distance = (values[row] as number) - mean;
      square += (weights[row] as number) * distance * distance;
    }
    means[c] = mean;
    squares[c] = square / total;
  }
  checkCancelled();
  const starts = u32.subarray(design.starts >>> 2, (design.starts >>> 2) + rowCount + 1);
  const places = u32.subarray(design.columns >>> 2);
  const entries = design.values === 0 ? undefined : f64.subarray(design.values >>> 3);
  for (let row = 0; row < rowCount; row++) {
    const weight = (weights[row] as number) / total;
    const end = starts[row + 1] as number;
    for (let i = starts[row] as number; i < end; i++) {
      const c = places[i] as number;
      const value = entries === undefined ? 1 : (entries[i] as number);
      means[c] = (means[c] as number) + weight * value;
      squares[c] = (squares[c] as number) + weight * value * value;
    }
  }
  for (let c = 0; c < columnCount; c++) {
    const mean = means[c] as number;
    const square = squares[c] as number;
    const variance = c < denseCount ? square : square - mean * mean;
    if (variance > 0) deviations[c] = Math.sqrt(variance);
    // Without a constant there is nothing that a shift could move to.
    if (!addBias) means[c] = 0;
  }
  return { means, deviations };
}
