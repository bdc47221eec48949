// Aggregates over the versions of each cell. Nulls among the versions are skipped.
import type { ValueFunction } from '../../plan/function.ts';
import { ANY_TYPE } from '../../plan/type/type.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import {
  Embedding,
  effectiveTs,
  embeddingAsRow,
  Row,
  Scalar,
  type Value,
} from '../../value/value.ts';
import {
  addToSum,
  countAtom,
  makeChoice,
  makeSum,
  offer,
  type Preference,
  preferEarlier,
  preferLarger,
  preferLater,
  preferSmaller,
} from '../aggregate/accumulator.ts';
import { numberAtom, structuredError } from '../conversion.ts';
import { family, parameter } from '../declare.ts';

const { value } = family('temporal', { isLinear: true });

/** The result over the non-null versions of one cell, of which there is at least one. */
type CellAggregate = (versions: readonly Scalar[]) => Scalar;

interface TemporalOptions {
  readonly name: string;
  readonly summary: string;
  readonly example: string;
  readonly result: string;
  readonly aggregate: CellAggregate;
  /** nested rows are walked instead of refused */
  readonly nests?: boolean;
}

function temporal(options: TemporalOptions): ValueFunction {
  const { name, summary, example, result, aggregate, nests = false } = options;
  return value({
    name,
    summary,
    parameters: [parameter('x', 'a column, or a row whose columns are treated one by one')],
    examples: [[example, result]],
    nulls: 'handle',
    timestamps: 'own',
    versions: 'all',
    resultType: () => ANY_TYPE,
    evaluatePoints: ([points = []]) => {
      const rows = points.flatMap((point) => rowOfPoint(point));
      const [row] = rows;
      if (row !== undefined) return aggregateRow(row, aggregate, nests);
      const versions = points.filter((point) => point instanceof Scalar);
      return aggregateVersions(versions, aggregate) ?? nullOf(versions);
    },
  });
}

export const temporalFunctions: readonly ValueFunction[] = [
  temporal({
    name: 'temporal_count',
    summary: 'The number of versions.',
    example: 'temporal_count(5)',
    result: '1',
    aggregate: (versions) => {
      const state = makeSum();
      for (const { ts } of versions) countAtom(state, ts);
      return new Scalar(state.count, state.ts);
    },
  }),
  temporal({
    name: 'temporal_sum',
    summary: 'The sum of the versions; a single version is its own sum.',
    example: 'temporal_sum(5)',
    result: '5',
    aggregate: (versions) => (versions.length === 1 ? (versions[0] as Scalar) : sum(versions, 1)),
  }),
  temporal({
    name: 'temporal_avg',
    summary: 'The mean of the versions.',
    example: 'temporal_avg(5)',
    result: '5',
    aggregate: (versions) => sum(versions, versions.length),
  }),
  temporal({
    name: 'temporal_min',
    summary: 'The smallest version.',
    example: "temporal_min('a')",
    result: '"a"',
    aggregate: choosing(preferSmaller),
  }),
  temporal({
    name: 'temporal_max',
    summary: 'The largest version.',
    example: "temporal_max('a')",
    result: '"a"',
    aggregate: choosing(preferLarger),
  }),
  temporal({
    name: 'temporal_earliest',
    summary: 'The version with the smallest timestamp, the smaller of equally early ones.',
    example: 'temporal_earliest(5)',
    result: '5',
    aggregate: choosing(preferEarlier),
    nests: true,
  }),
  temporal({
    name: 'temporal_latest',
    summary: 'The version with the largest timestamp, the smaller of equally late ones.',
    example: 'temporal_latest(5)',
    result: '5',
    aggregate: choosing(preferLater),
    nests: true,
  }),
];

function rowOfPoint(point: Value): Row[] {
  if (point instanceof Row) return [point];
  return point instanceof Embedding ? [embeddingAsRow(point)] : [];
}

/** Columns without a non-null version are absent from the result. */
function aggregateRow(row: Row, aggregate: CellAggregate, nests: boolean): Row {
  const names: string[] = [];
  const values: Value[] = [];
  for (let i = 0; i < row.length; ) {
    const name = row.names[i] as string;
    const versions: Scalar[] = [];
    for (; i < row.length && row.names[i] === name; i++) {
      const member = row.values[i] as Value;
      if (member instanceof Scalar) {
        versions.push(member);
        continue;
      }
      if (!nests) throw structuredError(member);
      names.push(name);
      values.push(aggregateRow(rowOfPoint(member)[0] as Row, aggregate, nests));
    }
    const result = aggregateVersions(versions, aggregate);
    if (result === undefined) continue;
    names.push(name);
    values.push(result);
  }
  return new Row(names, values);
}

function aggregateVersions(
  versions: readonly Scalar[],
  aggregate: CellAggregate,
): Scalar | undefined {
  const present = versions.filter(({ atom }) => atom !== null);
  return present.length === 0 ? undefined : aggregate(present);
}

function nullOf(versions: readonly Scalar[]): Scalar {
  const [first] = versions;
  return new Scalar(null, first === undefined ? MINUS_INFINITY : effectiveTs(first));
}

function sum(versions: readonly Scalar[], divisor: number): Scalar {
  const state = makeSum();
  for (const { atom, ts } of versions) addToSum(state, atom, ts);
  return new Scalar(numberAtom(state.sum / divisor), state.ts);
}

function choosing(prefers: Preference): CellAggregate {
  return (versions) => {
    const state = makeChoice();
    for (const { atom, ts } of versions) offer(state, prefers, atom, ts);
    return new Scalar(state.chosen?.atom ?? null, state.chosen?.ts ?? MINUS_INFINITY);
  };
}
