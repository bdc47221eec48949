// How near neighbours are, on a scale of each point's own: as many count as the perplexity says.

const STEP_MAX = 200;

/**
 * Weights exp(-beta d^2), of sum 1, beta chosen so that their entropy is the logarithm of the
 * perplexity.
 * @param distances ascending
 * @param tolerance of the entropy
 */
export function affinities(
  distances: Float64Array,
  perplexity: number,
  tolerance: number,
): Float64Array {
  const wanted = Math.log(perplexity);
  const nearest = (distances[0] ?? 0) ** 2;
  // Taking the least square away changes no share, and keeps exp from vanishing for all.
  const squares = distances.map((distance) => distance * distance - nearest);
  const weights = new Float64Array(squares.length);
  const mean = squares.reduce((sum, square) => sum + square, 0) / squares.length;
  let beta = mean > 0 ? 1 / mean : 1;
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  for (let step = 0; step < STEP_MAX; step++) {
    let sum = 0;
    let weighted = 0;
    for (let i = 0; i < squares.length; i++) {
      const square = squares[i] as number;
      const weight = Math.exp(-beta * square);
      weights[i] = weight;
      sum += weight;
      weighted += square * weight;
    }
    const excess = Math.log(sum) + (beta * weighted) / sum - wanted;
    for (let i = 0; i < weights.length; i++) weights[i] = (weights[i] as number) / sum;
    if (Math.abs(excess) <= tolerance) break;
    if (excess > 0) {
      low = beta;
      beta = high === Number.POSITIVE_INFINITY ? beta * 2 : (beta + high) / 2;
    } else {
      high = beta;
      beta = (beta + low) / 2;
    }
  }
  return weights;
}
