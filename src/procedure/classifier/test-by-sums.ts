// Tests of scores that another system computes, by the sums of its rows.
import { ERROR_QUANTILES, type RegressionReport, rSquared } from '../../learn/metric/regression.ts';
import { emptyTestSet } from '../../learn/metric/test-set.ts';
import { valueAtRankOf } from '../../learn/sums/ranks.ts';
import { type Aggregate, type Group, SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import {
  choose,
  columnOf,
  compare,
  constant,
  minus,
  over,
  shared,
  type Term,
  type Test,
  times,
} from '../../learn/sums/term.ts';
import { featureGroups, VALUE_COUNT_MAX, weighted } from '../../learn/sums/training.ts';
import { failure } from '../../util/error.ts';
import { isTrue } from '../../value/atom.ts';
import type { QuerySums } from '../training/query-sums.ts';

/** Rows of the same score and label as one of their weight. */
export interface SummedScores {
  readonly scores: Float64Array;
  readonly labels: Uint8Array;
  readonly weights: Float64Array;
  /** present: scores that are close stand for one another, which changes the area by this at most */
  readonly aucErrorMax: number | undefined;
}

const SCORE = columnOf(0);
const LABEL = columnOf('label');

/**
 * @throws SumsRefused when rows have to be read, DATA_ERROR for scores and weights that are no numbers
 */
export function summedScores(sums: QuerySums): SummedScores {
  const hasWeights = requirePlain(sums);
  const [facts] = sums.groups({
    keys: [],
    values: [
      ...[{ kind: 'rows' } as const, { kind: 'count', of: SCORE } as const],
      ...[{ kind: 'distinct', of: SCORE } as const, { kind: 'min', of: SCORE } as const],
      ...[{ kind: 'max', of: SCORE } as const, ...weightFacts(hasWeights)],
    ],
  });
  if (facts === undefined || sumAt(facts, 0) === 0) throw emptyTestSet();
  const [rowCount, count, distinct] = [0, 1, 2].map((at) => sumAt(facts, at));
  const [low, high] = [facts.values[3], facts.values[4]];
  checkWeights(facts, hasWeights, 5);
  if (count !== rowCount || typeof low !== 'number' || typeof high !== 'number') {
    throw failure('DATA_ERROR', 'Classifier returned a NaN score: the score must be a number');
  }
  if (Number.isNaN(low)) throw failure('DATA_ERROR', 'Classifier returned a NaN score');
  const isMany = (distinct as number) > VALUE_COUNT_MAX;
  if (isMany && (rowCount as number) <= sums.groupCountMax) {
    throw new SumsRefused(`there are ${distinct} scores, and all rows can be read`);
  }
  if (isMany && !(Number.isFinite(low) && Number.isFinite(high))) {
    throw new SumsRefused('not all scores are finite');
  }
  const fact = { name: 'score', kind: 'number', low, high, mean: Number.NaN } as const;
  const { labels, source, weights } = featureGroups(
    {
      ...{ sums, hasWeights, rowCount: rowCount as number, weightTotal: 1 },
      facts: [{ ...fact, count: count as number, distinct: distinct as number }],
      classes: {
        ...{ labelCount: 2, factors: Float64Array.of(1, 1), weights: new Float64Array(2) },
        ...{ rowCounts: new Float64Array(2), atoms: [], classOf: (atom) => (isTrue(atom) ? 1 : 0) },
      },
    },
    0,
    false,
  );
  if (source.kind !== 'numbers') throw new SumsRefused('scores are no numbers');
  const scores = Float64Array.from(source.pieces.flatMap(({ values }) => [...values]));
  const truths = Uint8Array.from(labels);
  const aucErrorMax = isMany ? errorOf(scores, truths, weights) : undefined;
  return { scores, labels: truths, weights, aucErrorMax };
}

/** Pairs of different labels that fall into one cell count half, and might count wholly or not. */
function errorOf(scores: Float64Array, labels: Uint8Array, weights: Float64Array): number {
  const cells = new Map<number, [number, number]>();
  const totals: [number, number] = [0, 0];
  for (const [at, score] of scores.entries()) {
    const cell = cells.get(score) ?? [0, 0];
    const label = labels[at] as 0 | 1;
    cell[label] += weights[at] as number;
    totals[label] += weights[at] as number;
    cells.set(score, cell);
  }
  let pairs = 0;
  for (const [negative, positive] of cells.values()) pairs += negative * positive;
  return pairs === 0 ? 0 : pairs / 2 / (totals[0] * totals[1]);
}

const FINITE_MAX = constant(Number.MAX_VALUE);
const FINITE_MIN = constant(-Number.MAX_VALUE);

/** @throws SumsRefused when rows have to be read, DATA_ERROR when no row has a score and a label */
export function summedRegression(sums: QuerySums): RegressionReport {
  const hasWeights = requirePlain(sums);
  const where: Test = {
    kind: 'all',
    tests: [SCORE, LABEL].flatMap((x) => [
      compare('>=', x, FINITE_MIN),
      compare('<=', x, FINITE_MAX),
    ]),
  };
  const distance = minus(SCORE, LABEL);
  const ratio = over(distance, LABEL);
  const size = choose(
    [{ test: compare('<', ratio, constant(0)), value: minus(constant(0), ratio) }],
    ratio,
  );
  const relative = choose([{ test: compare('=', SCORE, LABEL), value: constant(0) }], size);
  const training = { hasWeights };
  const [all] = sums.groups({
    keys: [],
    where,
    values: [
      ...[{ kind: 'rows' } as const, weighted(training), weighted(training, LABEL)],
      ...[weighted(training, times(distance, distance)), ...weightFacts(hasWeights)],
    ],
  });
  if (all === undefined || sumAt(all, 0) === 0) throw emptyTestSet();
  checkWeights(all, hasWeights, 4);
  const [rowCount, weight, labelSum, squaredError] = [0, 1, 2, 3].map((at) => sumAt(all, at)) as [
    number,
    number,
    number,
    number,
  ];
  const off = minus(LABEL, constant(labelSum / weight));
  const isBounded = compare('<=', relative, FINITE_MAX);
  const finite = choose([{ test: isBounded, value: relative }], constant(-1));
  const [rest] = sums.groups({
    shared: [finite],
    keys: [],
    where,
    values: [
      weighted(training, times(off, off)),
      { kind: 'max', of: shared(0) },
      { kind: 'sum', of: choose([{ test: isBounded, value: constant(1) }], constant(0)) },
    ],
  }) as [Group];
  const finiteCount = sumAt(rest, 2);
  const range = { low: 0, high: Math.max(0, sumAt(rest, 1)) };
  const quantile = (share: number): number => {
    const rank = Math.floor((rowCount - 1) * share);
    if (rank >= finiteCount) return Number.POSITIVE_INFINITY;
    return valueAtRankOf(sums, relative as Term, rank, range, where);
  };
  return {
    r2: rSquared(squaredError, sumAt(rest, 0)),
    mse: weight === 0 ? 0 : squaredError / weight,
    quantileErrors: Object.fromEntries(ERROR_QUANTILES.map((q) => [String(q), quantile(q)])),
  };
}

/** @returns whether rows have weights */
function requirePlain({ columns, label, weight }: QuerySums): boolean {
  const isPlain = columns.length === 1 && String(columns[0]?.path) === 'score';
  if (!isPlain || label === undefined)
    throw new SumsRefused('the query has no plain score or label');
  return weight !== undefined;
}

function weightFacts(hasWeights: boolean): readonly Aggregate[] {
  const of = columnOf('weight');
  if (!hasWeights) return [];
  return [
    { kind: 'count', of },
    { kind: 'min', of },
    { kind: 'max', of },
  ];
}

function checkWeights(facts: Group, hasWeights: boolean, from: number): void {
  if (!hasWeights) return;
  const [count, low, high] = [0, 1, 2].map((at) => facts.values[from + at]);
  const areFinite = [low, high].every((each) => Number.isFinite(each));
  if (count === facts.values[0] && areFinite) return;
  throw failure('DATA_ERROR', 'the weight of a test row must be a finite number');
}
