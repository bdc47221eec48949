import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { type InputQuery, inputQuery, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { queriedColumns } from '../queried-columns.ts';
import { bySumsOrRows, sumsOfQuery } from '../training/query-sums.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import type { ColumnSummary } from './column-summary.ts';
import { summaryJob } from './summary-job.ts';
import { summarizeBySums } from './summed-columns.ts';

const NAME = 'summary.statistics';
const OPTIONS = { frequentCount: 10, quantiles: [0.25, 0.5, 0.75], binCount: 0 } as const;

const PARAMETERS = Type.Object({
  inputData: inputQuery({ description: 'the rows; select * and plain columns' }),
  outputDataset: Type.Optional(
    outputDataset({
      description: 'dataset to make, a row for each column',
      defaultType: 'sparse.mutable',
    }),
  ),
  ...runOnCreation,
});

/** Counts, quartiles and most frequent values of each column. */
export const summaryStatistics = workerProcedure({
  name: NAME,
  summary: 'Records counts, moments, quartiles and the most frequent values of each column.',
  parameters: PARAMETERS,
  check: (params) => check(params.inputData),
  run(context, params) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }]);
    progress.next();
    const { made, reading } = bySumsOrRows(
      context,
      () => sumsOfQuery(context, params.inputData, {}),
      (sums) => {
        const summaries = summarizeBySums(sums, OPTIONS);
        return sums.columns.map(({ path }, index) => ({
          path,
          summary: summaries[index] as ColumnSummary,
        }));
      },
      () => summariesOfRows(context, params.inputData),
    );
    const output = context.output(params.outputDataset, 'sparse.mutable');
    for (const { path, summary } of made) {
      const cells = factsOf(summary).map(
        ([name, atom]): RecordedCell => [new Path(['value', ...name]), atom, context.startedAt],
      );
      output.record({ name: path, cells });
    }
    const result = output.commit();
    progress.finish();
    return { result, ...(reading === undefined ? {} : { details: { reading } }) };
  },
});

interface SummarizedColumn {
  readonly path: Path;
  readonly summary: ColumnSummary;
}

function summariesOfRows(context: ProcedureContext, query: InputQuery): SummarizedColumn[] {
  const { columns, release } = queriedColumns(context, query);
  const summaries = context.parallel.run(summaryJob, { columns, options: OPTIONS }, columns.length);
  release();
  return columns.map(({ path }, index) => ({
    path: new Path(path),
    summary: summaries[index] as ColumnSummary,
  }));
}

function factsOf(summary: ColumnSummary): [name: readonly string[], atom: Atom][] {
  const { nullCount, uniqueCount, mostFrequent, numbers } = summary;
  const facts: [readonly string[], Atom][] = [
    [['data_type'], numbers === undefined ? 'categorical' : 'number'],
    [['num_null'], nullCount],
    [['num_unique'], uniqueCount],
  ];
  if (numbers !== undefined) {
    const [first = 0, median = 0, third = 0] = numbers.quantiles;
    facts.push([['min'], numbers.min], [['max'], numbers.max], [['avg'], numbers.mean]);
    facts.push([['stddev'], numbers.stddev], [['1st_quartile'], first], [['median'], median]);
    facts.push([['3rd_quartile'], third]);
  }
  for (const { text, count } of mostFrequent) facts.push([['most_frequent_items', text], count]);
  return facts;
}

/** @throws INVALID_PARAMETER */
function check(inputData: InputQuery): void {
  const query = checkTrainingQuery(inputData, { type: NAME, shape: 'any' });
  for (const item of query.select) {
    if (item.kind === 'wildcard') continue;
    const isColumn = item.kind === 'named-expression' && item.expression.kind === 'column';
    if (isColumn && item.name !== '*') continue;
    throw failure(
      'INVALID_PARAMETER',
      `${query.text.slice(item.start, item.end)} is not a supported SELECT value expression for ${NAME}`,
    );
  }
}
