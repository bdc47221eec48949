// Samples of training rows: who trains, who is set aside.
import type { TrainingData } from '../learner.ts';
import { Random } from '../random.ts';
import { normalized } from '../weight.ts';

const STREAM_SPLIT = 21;
const STREAM_BOOTSTRAP = 22;

export interface Sample {
  /** sum 1; rows that were set aside or not drawn have 0 */
  readonly weights: Float64Array;
  /** weights of the rows that were set aside */
  readonly validation: Float64Array;
}

/**
 * Sets a share of the rows with weight aside, and draws as many of the others as there are, with
 * replacement. At least one row trains; a class may be left without one. With a share of 0 there is
 * nothing to hold the draws against, and they would only leave rows out: all train as they are.
 */
export function drawSample(
  data: Pick<TrainingData, 'weights'>,
  share: number,
  seed: number,
  index: number,
): Sample {
  const { weights } = data;
  const rows = Uint32Array.from([...weights.keys()].filter((row) => (weights[row] as number) > 0));
  const validation = new Float64Array(weights.length);
  if (share === 0) return { weights, validation };
  const aside = Math.min(rows.length - 1, Math.round(rows.length * share));
  const random = Random.of(seed, STREAM_SPLIT, index);
  for (let i = 0; i < aside; i++) {
    const other = i + random.below(rows.length - i);
    const row = rows[other] as number;
    rows[other] = rows[i] as number;
    rows[i] = row;
    validation[row] = weights[row] as number;
  }
  // In the order of rows, so that the draws do not depend on the shuffle.
  const kept = rows.subarray(aside).sort();
  const counts = new Float64Array(weights.length);
  const draws = Random.of(seed, STREAM_BOOTSTRAP, index);
  for (let i = 0; i < kept.length; i++) {
    const row = kept[draws.below(kept.length)] as number;
    counts[row] = (counts[row] as number) + 1;
  }
  for (let row = 0; row < counts.length; row++) {
    counts[row] = (counts[row] as number) * (weights[row] as number);
  }
  return { weights: normalized(counts), validation };
}
