// Whether memory grows: the medians of the first and the last quarter of its samples, which a
// garbage collection or a large result here and there does not move.

/** @returns the growth from the first quarter to the last, 0.1 for 10 % */
export function growthOf(samples: readonly number[]): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const first = median(samples.slice(0, quarter));
  return median(samples.slice(-quarter)) / first - 1;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
