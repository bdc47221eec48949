// Aggregates of how values spread and vary together: variances, covariances, shapes.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import {
  addToVariance,
  makeVariance,
  mergeVariances,
  type VarianceState,
} from '../aggregate/accumulator.ts';
import { ofAtoms, overThreeRows, type Timed, X, Y } from '../aggregate/atom-aggregate.ts';
import { numberAtom, requireDouble } from '../conversion.ts';

function variance(
  name: string,
  aliases: readonly string[],
  summary: string,
  result: string,
  finish: (state: VarianceState) => number | null,
): FunctionDeclaration {
  return ofAtoms<VarianceState>({
    name,
    aliases,
    summary,
    parameters: [X],
    examples: overThreeRows(`${name}(value)`, result),
    init: makeVariance,
    add: (state, x) => addToVariance(state, x, MINUS_INFINITY),
    merge: mergeVariances,
    finish: (state) => {
      const value = finish(state);
      return value === null ? null : numberAtom(value);
    },
  });
}

/** Means, sums of squared differences from them and of their products, of pairs (y, x). */
interface PairState extends Timed {
  count: number;
  meanX: number;
  meanY: number;
  squaresX: number;
  squaresY: number;
  products: number;
}

function ofPairs(
  name: string,
  summary: string,
  result: string,
  finish: (state: PairState) => number | null,
): FunctionDeclaration {
  return ofAtoms<PairState>({
    name,
    summary,
    parameters: [Y, X],
    examples: overThreeRows(`${name}(value * 2, value)`, result),
    init: () => ({
      count: 0,
      meanX: 0,
      meanY: 0,
      squaresX: 0,
      squaresY: 0,
      products: 0,
      ts: MINUS_INFINITY,
    }),
    add: (state, yAtom, xAtom) => {
      const [y, x] = [requireDouble(yAtom), requireDouble(xAtom)];
      state.count++;
      const dx = x - state.meanX;
      const dy = y - state.meanY;
      state.meanX += dx / state.count;
      state.meanY += dy / state.count;
      state.squaresX += dx * (x - state.meanX);
      state.squaresY += dy * (y - state.meanY);
      state.products += dx * (y - state.meanY);
    },
    merge: (state, other) => {
      if (other.count === 0) return;
      const count = state.count + other.count;
      const share = (state.count * other.count) / count;
      const dx = other.meanX - state.meanX;
      const dy = other.meanY - state.meanY;
      state.squaresX += other.squaresX + dx * dx * share;
      state.squaresY += other.squaresY + dy * dy * share;
      state.products += other.products + dx * dy * share;
      state.meanX += (dx * other.count) / count;
      state.meanY += (dy * other.count) / count;
      state.count = count;
    },
    finish: (state) => {
      const value = finish(state);
      return value === null || Number.isNaN(value) ? null : numberAtom(value);
    },
  });
}

/** Sums of powers, for the shape of a distribution. */
interface PowerState extends Timed {
  count: number;
  sums: [number, number, number, number];
}

function shape(
  name: string,
  summary: string,
  result: string,
  finish: (state: PowerState) => number | null,
): FunctionDeclaration {
  return ofAtoms<PowerState>({
    name,
    summary,
    parameters: [X],
    examples: [[`${name}(value) FROM row_dataset([1, 2, 3, 10])`, result]],
    init: () => ({ count: 0, sums: [0, 0, 0, 0], ts: MINUS_INFINITY }),
    add: (state, atom) => {
      const x = requireDouble(atom);
      state.count++;
      for (let i = 0, power = x; i < 4; i++, power *= x) (state.sums[i] as number) += power;
    },
    merge: (state, other) => {
      state.count += other.count;
      other.sums.forEach((sum, i) => {
        (state.sums[i] as number) += sum;
      });
    },
    finish: (state) => {
      const value = finish(state);
      return value === null || !Number.isFinite(value) ? null : numberAtom(value);
    },
  });
}

/** The adjusted Fisher-Pearson coefficient. */
function skewnessOf({ count: n, sums: [s1, s2, s3] }: PowerState): number | null {
  if (n <= 2) return null;
  const spread = (s2 / n - (s1 / n) ** 2) ** 3;
  if (spread <= 0) return null;
  const third = (s3 - (3 * s2 * s1) / n + (2 * s1 ** 3) / n ** 2) / n;
  return ((Math.sqrt(n * (n - 1)) / (n - 2)) * third) / Math.sqrt(spread);
}

/** The excess over a normal distribution, adjusted for the size of the sample. */
function kurtosisOf({ count: n, sums: [s1, s2, s3, s4] }: PowerState): number | null {
  if (n <= 3) return null;
  const second = (s2 - (s1 * s1) / n) / n;
  if (second <= 0) return null;
  const fourth =
    (s4 - (4 * s3 * s1) / n + (6 * s2 * s1 * s1) / n ** 2 - (3 * s1 ** 4) / n ** 3) / n;
  return ((n - 1) * (((n + 1) * fourth) / (second * second) - 3 * (n - 1))) / ((n - 2) * (n - 3));
}

export const momentFunctions: readonly FunctionDeclaration[] = [
  variance(
    'var_pop',
    [],
    'The variance of the values themselves (divided by n); null when there are none.',
    '0.6666666666666666',
    ({ count, squares }) => (count === 0 ? null : squares / count),
  ),
  variance(
    'var_samp',
    [],
    'The sample variance (divided by n-1); null below two values.',
    '1',
    ({ count, squares }) => (count < 2 ? null : squares / (count - 1)),
  ),
  variance(
    'stddev_pop',
    [],
    'The square root of var_pop.',
    '0.816496580927726',
    ({ count, squares }) => (count === 0 ? null : Math.sqrt(squares / count)),
  ),
  variance('stddev_samp', [], 'The square root of var_samp.', '1', ({ count, squares }) =>
    count < 2 ? null : Math.sqrt(squares / (count - 1)),
  ),
  ofPairs(
    'covar_pop',
    'The covariance of pairs (divided by n).',
    '1.3333333333333333',
    ({ count, products }) => (count === 0 ? null : products / count),
  ),
  ofPairs(
    'covar_samp',
    'The sample covariance of pairs (divided by n-1).',
    '2',
    ({ count, products }) => (count < 2 ? null : products / (count - 1)),
  ),
  ofPairs(
    'corr',
    'The correlation of pairs, from -1 to 1.',
    '1',
    ({ products, squaresX, squaresY }) => products / Math.sqrt(squaresX * squaresY),
  ),
  ofPairs(
    'regr_slope',
    'The slope of the line of least squares, y by x.',
    '2',
    ({ products, squaresX }) => (squaresX === 0 ? null : products / squaresX),
  ),
  ofPairs(
    'regr_intercept',
    'Where the line of least squares meets x = 0.',
    '0',
    ({ products, squaresX, meanX, meanY }) =>
      squaresX === 0 ? null : meanY - (products / squaresX) * meanX,
  ),
  ofPairs(
    'regr_r2',
    'The square of the correlation: the share of the variance that the line explains.',
    '1',
    ({ products, squaresX, squaresY }) => {
      if (squaresX === 0) return null;
      return squaresY === 0 ? 1 : (products * products) / (squaresX * squaresY);
    },
  ),
  shape(
    'skewness',
    'How far the values lean to one side (adjusted Fisher-Pearson); null below three values.',
    '1.763632614803888',
    skewnessOf,
  ),
  shape(
    'kurtosis',
    'How heavy the tails are beside a normal distribution (excess, adjusted); null below four values.',
    '3.227999999999999',
    kurtosisOf,
  ),
];
