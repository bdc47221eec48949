// Scores as probabilities without a formula: the best non-decreasing step function.

/** A non-decreasing function: values at thresholds, straight lines between them. */
export interface IsotonicModel {
  /** ascending */
  readonly thresholds: Float64Array;
  readonly values: Float64Array;
}

/**
 * Pools adjacent violators: the non-decreasing function of the score with the least weighted squared
 * error; a block stands at its mean score.
 * @see Ayer et al., "An empirical distribution function for sampling with incomplete information",
 *   Ann. Math. Statist. 26, 1955
 */
export function fitIsotonic(
  scores: Float64Array,
  targets: Float64Array,
  weights: Float64Array,
): IsotonicModel {
  const order = Uint32Array.from(scores.keys()).sort(
    (a, b) => (scores[a] as number) - (scores[b] as number),
  );
  const blocks: { weight: number; score: number; target: number; last: number }[] = [];
  for (const row of order) {
    const weight = weights[row] as number;
    if (weight === 0) continue;
    const score = scores[row] as number;
    const top = blocks.at(-1);
    if (top !== undefined && top.last === score) {
      top.weight += weight;
      top.score += weight * score;
      top.target += weight * (targets[row] as number);
    } else {
      const target = weight * (targets[row] as number);
      merge(blocks);
      blocks.push({ weight, score: weight * score, target, last: score });
    }
  }
  merge(blocks);
  return {
    thresholds: Float64Array.from(blocks, ({ score, weight }) => score / weight),
    values: Float64Array.from(blocks, ({ target, weight }) => target / weight),
  };
}

/** Unites the last blocks while the last one is not above the one before. */
function merge(blocks: { weight: number; score: number; target: number; last: number }[]): void {
  for (;;) {
    const top = blocks.at(-1);
    const below = blocks.at(-2);
    if (top === undefined || below === undefined) return;
    if (below.target / below.weight < top.target / top.weight) return;
    below.weight += top.weight;
    below.score += top.score;
    below.target += top.target;
    below.last = top.last;
    blocks.pop();
  }
}

/** The function's value; constant beyond its ends. */
export function isotonicValue({ thresholds, values }: IsotonicModel, score: number): number {
  const last = thresholds.length - 1;
  if (score <= (thresholds[0] as number)) return values[0] as number;
  if (score >= (thresholds[last] as number)) return values[last] as number;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((thresholds[middle] as number) <= score) low = middle;
    else high = middle;
  }
  const from = thresholds[low] as number;
  const share = (score - from) / ((thresholds[high] as number) - from);
  const bottom = values[low] as number;
  return bottom + share * ((values[high] as number) - bottom);
}
