// Scores of text classifiers: log probabilities.
import type { Atom } from '../../value/atom.ts';
import type { Feature } from '../feature/feature.ts';
import { numberOf } from '../feature/source.ts';
import type { FastTextModel } from './model.ts';

/** How often a feature counts: whole, positive. */
export function repetitions(value: Atom | undefined): number {
  if (value === null || value === undefined) return 0;
  const number = numberOf(value);
  // A text is there or not.
  if (number === undefined) return 1;
  return number >= 1 && Number.isFinite(number) ? Math.floor(number) : 0;
}

export function compileFastText(
  features: readonly Feature[],
  model: FastTextModel,
  { isBoolean }: { readonly isBoolean: boolean },
): (values: ArrayLike<Atom | undefined>, output: Float64Array) => void {
  const { dimensionCount, inputs, outputs, positions } = model;
  const labelCount = outputs.length / dimensionCount;
  const hidden = new Float64Array(dimensionCount);
  const scores = new Float64Array(labelCount);
  return (values, output) => {
    hidden.fill(0);
    let count = 0;
    for (let f = 0; f < features.length; f++) {
      const value = values[f];
      if (value === undefined || value === null) continue;
      const times = repetitions(value);
      const at = (positions[f] as number) * dimensionCount;
      if (times === 0 || at < 0) continue;
      count += times;
      for (let d = 0; d < dimensionCount; d++) {
        hidden[d] = (hidden[d] as number) + times * (inputs[at + d] as number);
      }
    }
    let highest = Number.NEGATIVE_INFINITY;
    for (let l = 0; l < labelCount; l++) {
      let sum = 0;
      const at = l * dimensionCount;
      for (let d = 0; d < dimensionCount; d++) {
        sum += (hidden[d] as number) * (outputs[at + d] as number);
      }
      scores[l] = count === 0 ? 0 : sum / count;
      highest = Math.max(highest, scores[l] as number);
    }
    let total = 0;
    for (let l = 0; l < labelCount; l++) total += Math.exp((scores[l] as number) - highest);
    const base = highest + Math.log(total);
    if (isBoolean) output[0] = Math.min(0, (scores[1] as number) - base);
    else for (let l = 0; l < labelCount; l++) output[l] = Math.min(0, (scores[l] as number) - base);
  };
}
