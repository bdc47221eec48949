import { Type } from 'typebox';
import { inputQuery, outputDataset } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import { compareSeconds, MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import { flatten } from '../../value/value.ts';
import { knownItemColumns } from '../export/export-columns.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { checkTrainingQuery } from '../training/training-query.ts';

const ROWS_PER_REPORT = 512;

const PARAMETERS = Type.Object({
  inputData: inputQuery({ description: 'the rows; it must have a FROM clause' }),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make, of one row', defaultType: 'tabular' }),
  ),
  ...runOnCreation,
});

/** Counts rows, columns, cells, data points and timestamps. */
export const datasetStats = workerProcedure({
  name: 'dataset.stats',
  summary: 'Counts the rows, columns, cells, data points and timestamps of a query.',
  parameters: PARAMETERS,
  check(params) {
    const { inputData } = params;
    checkTrainingQuery(inputData, { type: 'dataset.stats', shape: 'any', allowsGroupBy: true });
  },
  run(context, params) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const columns = new Set<string>();
    const prepared = context.query(params.inputData, (plan) => {
      for (const paths of knownItemColumns(plan, context.namespace)) {
        for (const path of paths ?? []) columns.add(path.toString());
      }
      return plan;
    });
    const times = new Set<number>();
    let rowCount = 0;
    let cellCount = 0;
    let pointCount = 0;
    for (const { row } of prepared.run()) {
      if (rowCount++ % ROWS_PER_REPORT === 0) {
        context.checkCancelled();
        progress.update(1 - 1 / (1 + rowCount / 1e5));
      }
      const own = new Set<string>();
      flatten(row, [], (path, _atom, ts) => {
        own.add(path.toString());
        times.add(ts);
        pointCount++;
      });
      for (const name of own) columns.add(name);
      cellCount += own.size;
    }
    const [earliest, latest] = range(times);
    const facts = {
      rowsCount: rowCount,
      columnsCount: columns.size,
      cellsCount: cellCount,
      dataPointsCount: pointCount,
      distinctTimestampsCount: times.size,
      earliestTimestamp: new Timestamp(earliest),
      latestTimestamp: new Timestamp(latest),
    };
    const output = context.output(params.outputDataset, 'tabular');
    const cells = Object.entries(facts).map(
      ([column, atom]) => [Path.of(column), atom, context.startedAt] as const,
    );
    output.record({ name: Path.of('result'), cells });
    const result = output.commit();
    progress.finish();
    return { result };
  },
});

function range(times: ReadonlySet<number>): [earliest: number, latest: number] {
  let earliest = Number.POSITIVE_INFINITY;
  let latest = MINUS_INFINITY;
  for (const ts of times) {
    if (compareSeconds(ts, earliest) < 0 && !Number.isNaN(ts)) earliest = ts;
    if (compareSeconds(ts, latest) > 0) latest = ts;
  }
  return [earliest, latest];
}
