import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { inputQuery, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, type Row } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { rowRecorder } from '../row-recorder.ts';
import { checkTrainingQuery, findItem } from '../training/training-query.ts';
import { meltColumns } from './melt-columns.ts';

const ROWS_PER_REPORT = 512;

const PARAMETERS = Type.Object({
  inputData: inputQuery({
    description:
      'select the row expressions to_fix, copied to every row, and to_melt, of which each column becomes a row',
  }),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'tabular' }),
  ),
  keyColumnName: Type.String({ description: 'column of the names', default: 'key' }),
  valueColumnName: Type.String({ description: 'column of the values', default: 'value' }),
  ...runOnCreation,
});

/** Turns columns into rows: one row for each column of each input row. */
export const melt = workerProcedure({
  name: 'melt',
  summary: 'Turns columns into rows: one row for each melted column of each input row.',
  parameters: PARAMETERS,
  check(params) {
    const { inputData } = params;
    const query = checkTrainingQuery(inputData, { type: 'melt', shape: 'any' });
    if (findItem(query, 'to_fix') === undefined || findItem(query, 'to_melt') === undefined) {
      throw failure(
        'INVALID_PARAMETER',
        "melt procedure expect a rows named 'to_melt' and 'to_fix'",
      );
    }
  },
  run(context, params) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const key = Path.of(params.keyColumnName);
    const value = Path.of(params.valueColumnName);
    const output = context.output(params.outputDataset, 'tabular');
    const prepared = context.query(params.inputData);
    const melted = output.takesColumns
      ? meltColumns(context, prepared.plan, { key, value })
      : undefined;
    if (melted !== undefined) {
      output.recordColumns(melted.table, melted);
      output.commit();
      progress.finish();
      return {};
    }
    const rows = rowRecorder(output, context);
    let rowCount = 0;
    for (const { name, row } of prepared.run()) {
      if (rowCount++ % ROWS_PER_REPORT === 0) {
        context.checkCancelled();
        progress.update(1 - 1 / (1 + rowCount / 1e5));
      }
      const fixed = cellsUnder(row, 'to_fix');
      const melted = cellsUnder(row, 'to_melt');
      const ts = melted.reduce((latest, [, , own]) => laterOf(latest, own), MINUS_INFINITY);
      for (const [path, atom] of melted) {
        const cells: RecordedCell[] = [...fixed, [key, path.toString(), ts], [value, atom, ts]];
        rows.record(name.concat(path), cells);
      }
    }
    rows.finish();
    output.commit();
    progress.finish();
    return {};
  },
});

/** The data points of one row expression. */
function cellsUnder(row: Row, name: string): RecordedCell[] {
  const cells: RecordedCell[] = [];
  for (const value of row.all(name)) {
    flatten(value, [], (path, atom, ts) => {
      if (path.length > 0) cells.push([path, atom, ts]);
    });
  }
  return cells;
}
