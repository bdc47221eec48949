// Statistics over the results of folds.

interface Spread {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly std: number;
}

/**
 * The structure of the last result, each number replaced by its spread over the results that have
 * it; lists and texts are left out.
 */
export function aggregateResults(results: readonly unknown[]): Record<string, unknown> {
  const last = results.at(-1);
  if (!isObject(last)) return {};
  const aggregate: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(last)) {
    const all = results.flatMap((result) =>
      isObject(result) && key in result ? [result[key]] : [],
    );
    if (typeof value === 'number') {
      aggregate[key] = spreadOf(all.filter((each) => typeof each === 'number'));
    } else if (isObject(value)) aggregate[key] = aggregateResults(all);
  }
  return aggregate;
}

/** With the population's standard deviation. */
function spreadOf(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { min: Math.min(...values), max: Math.max(...values), mean, std: Math.sqrt(square) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
