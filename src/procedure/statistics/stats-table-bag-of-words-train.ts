import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import {
  count,
  type KeyTable,
  type StatsTables,
  statsTablesToJson,
} from '../../learn/table/stats-table.ts';
import { inputQuery, outputDataset, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { isTrue } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { checkFunctionUrl, functionName } from '../classifier/model-parameter.ts';
import { checkOutcomes, outcomes } from '../classifier/outcome-parameter.ts';
import { outcomeRows } from '../classifier/outcome-rows.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { makeModelCard, trainingOptions } from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';

const TYPE = 'statsTable.bagOfWords.train';
/** The table of a bag of words. */
const WORDS = 'words';

/** Counts how often words were seen, and with which outcomes. */
export const statsTableBagOfWordsTrain = workerProcedure({
  name: TYPE,
  summary: 'Counts in how many rows each word was seen, and with which outcomes.',
  parameters: Type.Object({
    trainingData: inputQuery({ description: 'selects rows whose column names are words' }),
    outcomes,
    outputDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the counts, a row for each word',
        defaultType: 'tabular',
      }),
    ),
    statsTableFileUrl: url({
      description: 'where the table is saved; empty: nowhere',
      default: '',
    }),
    functionName,
    functionOutcomeToUse: Type.String({
      description: 'the outcome that the function tells of; needed with functionName',
      default: '',
    }),
    ...runOnCreation,
  }),
  check(params) {
    checkOutcomes(params.outcomes);
    checkFunctionUrl(TYPE, { ...params, modelFileUrl: params.statsTableFileUrl });
    const rules = { type: TYPE, shape: 'any', allowsGroupBy: true } as const;
    checkTrainingQuery(params.trainingData, rules);
  },
  run(context, params) {
    const steps = context.steps(TRAINING_STEPS);
    const { statsTableFileUrl, functionOutcomeToUse } = params;
    if (params.functionName !== '' && functionOutcomeToUse === '') {
      throw failure(
        'MISSING_PARAMETER',
        "The 'functionOutcomeToUse' parameter must be set when the 'functionName' parameter is set.",
      );
    }
    return withModelFileIfAny(context.files, statsTableFileUrl, async (save) => {
      steps.next();
      const names = params.outcomes.map(([name]) => name);
      const table: KeyTable = new Map();
      const tables: StatsTables = { outcomes: names, columns: new Map([[WORDS, table]]) };
      steps.next();
      let rowCount = 0;
      for (const row of outcomeRows(context, params.trainingData, params.outcomes)) {
        rowCount++;
        const isSeen = Uint8Array.from(row.outcomes, (atom) => Number(isTrue(atom)));
        for (const { column, atom } of row.cells) {
          if (atom !== null) count(tables, WORDS, column.toString(), isSeen);
        }
      }
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: 'statsTable.bagOfWords.posneg',
        algorithm: 'statsTable.bagOfWords',
        configuration: trainingOptions(params),
        trainingQuery: params.trainingData,
        rows: { used: rowCount },
        features: [],
        redactFeatureStats: false,
        randomSeed: null,
      });
      await save(statsTablesToJson('statsTable.bagOfWords.posneg', tables), modelCard);
      if (params.outputDataset != null) {
        const output = context.output(params.outputDataset, 'tabular');
        const columns = [Path.of('trials'), ...names.map((name) => Path.of('outcome', name))];
        for (const [word, counts] of table) {
          const cells = columns.map(
            (column, i): RecordedCell => [column, counts[i] as number, context.startedAt],
          );
          output.record({ name: Path.parse(word), cells });
        }
        output.commit();
      }
      steps.finish();
      if (params.functionName !== '') {
        context.outputFunction({
          id: params.functionName,
          type: 'statsTable.bagOfWords.posneg',
          params: { statsTableFileUrl, outcomeToUse: functionOutcomeToUse },
        });
      }
      return { details: { modelCard } };
    });
  },
});
