import { type Static, Type } from 'typebox';
import { inputQuery, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { readOrderedRows, recordPositions } from './ordered-rows.ts';

interface Bucket {
  readonly name: string;
  /** percentages */
  readonly low: number;
  readonly high: number;
}

const PARAMETERS = Type.Object({
  inputData: inputQuery({ description: 'the rows; ORDER BY ranks them' }),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
  ),
  percentileBuckets: Type.Record(Type.String(), Type.Tuple([Type.Number(), Type.Number()]), {
    description: 'name of each bucket with its percentages [low, high]',
    default: {},
  }),
  ...runOnCreation,
});

/** Puts rows into buckets by their place in the order of a query. */
export const bucketize = workerProcedure({
  name: 'bucketize',
  summary: 'Puts rows into buckets by their place in the order of a query.',
  parameters: PARAMETERS,
  check(params) {
    const { inputData, percentileBuckets } = params;
    checkTrainingQuery(inputData, { type: 'bucketize', shape: 'any', allowsGroupBy: true });
    sortedBuckets(percentileBuckets);
  },
  run(context, params) {
    const progress = context.steps([
      { name: 'iterating', type: 'percentile' },
      { name: 'bucketizing', type: 'percentile' },
    ]);
    progress.next();
    const rows = readOrderedRows(context, params.inputData, (count) =>
      progress.update(1 - 1 / (1 + count / 1e5)),
    );
    progress.next();
    const output = context.output(params.outputDataset, 'sparse.mutable');
    const buckets = sortedBuckets(params.percentileBuckets);
    const ranges = buckets.map(({ name, low, high }) => ({
      name,
      from: boundary(low, rows.rowCount),
      to: boundary(high, rows.rowCount),
    }));
    recordPositions(context, output, Path.of('bucket'), rows, ranges);
    const result = output.commit();
    progress.finish();
    return { result };
  },
});

/** The first row behind a percentage; in single precision, as the procedure is specified. */
function boundary(percentage: number, rowCount: number): number {
  if (percentage === 100) return rowCount;
  return Math.trunc(Math.fround(Math.fround(percentage / 100) * rowCount));
}

/** @throws INVALID_PARAMETER */
function sortedBuckets(given: Static<typeof PARAMETERS>['percentileBuckets']): Bucket[] {
  const buckets = Object.entries(given).map(([name, [low, high]]) => ({ name, low, high }));
  buckets.sort((a, b) => a.low - b.low);
  let previous: Bucket | undefined;
  for (const bucket of buckets) {
    const { low, high } = bucket;
    if (low < 0) throw invalid(bucket, 'lower bound must be greater or equal to 0');
    if (high > 100) throw invalid(bucket, 'higher bound must be lower or equal to 1 (100 %)');
    if (low >= high) throw invalid(bucket, 'higher bound must be greater than lower bound');
    if (previous !== undefined && low < previous.high) {
      throw invalid(bucket, `it is overlapping with ${shown(previous)}`);
    }
    previous = bucket;
  }
  return buckets;
}

function shown({ name, low, high }: Bucket): string {
  return `${JSON.stringify(name)} [${low}, ${high}]`;
}

function invalid(bucket: Bucket, reason: string): Error {
  return failure('INVALID_PARAMETER', `Invalid percentileBucket ${shown(bucket)}: ${reason}`, {
    bucket: bucket.name,
  });
}
