import { Type } from 'typebox';
import { choice, inputQuery, outputDataset } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { readOrderedRows, recordPositions } from './ordered-rows.ts';

const PARAMETERS = Type.Object({
  inputData: inputQuery({ description: 'the rows; ORDER BY ranks them' }),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
  ),
  rankingType: choice(['index'], {
    description: 'index: positions counted from 0',
    default: 'index',
  }),
  rankingColumnName: Type.String({ description: 'column of the position', default: 'rank' }),
  ...runOnCreation,
});

/** Records the position of each row in the order of a query. */
export const ranking = workerProcedure({
  name: 'ranking',
  summary: 'Records the position of each row in the order of a query.',
  parameters: PARAMETERS,
  check(params) {
    const { inputData } = params;
    checkTrainingQuery(inputData, { type: 'ranking', shape: 'any', allowsGroupBy: true });
  },
  run(context, params) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const rows = readOrderedRows(context, params.inputData, (count) =>
      progress.update(1 - 1 / (1 + count / 1e5)),
    );
    const output = context.output(params.outputDataset, 'sparse.mutable');
    const column = Path.of(params.rankingColumnName);
    recordPositions(context, output, column, rows, 'position');
    const result = output.commit();
    progress.finish();
    return { result };
  },
});
