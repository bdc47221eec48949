import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { keyText } from '../../learn/table/key.ts';
import {
  count,
  countsOf,
  type StatsTables,
  statsTablesToJson,
} from '../../learn/table/stats-table.ts';
import { inputQuery, outputDataset, url } from '../../schema/declare.ts';
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

const TYPE = 'statsTable.train';

/** Counts how often the values of columns were seen, and with which outcomes. */
export const statsTableTrain = workerProcedure({
  name: TYPE,
  summary: 'Counts how often each value of some columns was seen, and with which outcomes.',
  parameters: Type.Object({
    trainingData: inputQuery({
      description: 'selects the columns whose values are counted, in the order of the query',
    }),
    outcomes,
    outputDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the counts before each row',
        defaultType: 'sparse.mutable',
      }),
    ),
    statsTableFileUrl: url({
      description: 'where the tables are saved; empty: nowhere',
      default: '',
    }),
    functionName,
    ...runOnCreation,
  }),
  check(params) {
    checkOutcomes(params.outcomes, 'trial');
    checkFunctionUrl(TYPE, { ...params, modelFileUrl: params.statsTableFileUrl });
    const rules = { type: TYPE, shape: 'any', allowsGroupBy: true } as const;
    checkTrainingQuery(params.trainingData, rules);
  },
  run(context, params) {
    const steps = context.steps(TRAINING_STEPS);
    const { statsTableFileUrl } = params;
    return withModelFileIfAny(context.files, statsTableFileUrl, async (save) => {
      steps.next();
      const names = params.outcomes.map(([name]) => name);
      const tables: StatsTables = { outcomes: names, columns: new Map() };
      const prefixes = ['trial', ...names].map((name) => Path.of(name));
      const output = context.output(params.outputDataset, 'sparse.mutable');
      steps.next();
      let rowCount = 0;
      for (const row of outcomeRows(context, params.trainingData, params.outcomes)) {
        rowCount++;
        const isSeen = Uint8Array.from(row.outcomes, (atom) => Number(isTrue(atom)));
        const cells: RecordedCell[] = [];
        for (const { column, atom, ts } of row.cells) {
          const name = column.toString();
          const key = keyText(atom);
          const before = countsOf(tables, tables.columns.get(name) ?? new Map(), key);
          for (const [i, prefix] of prefixes.entries()) {
            cells.push([prefix.concat(column), before[i] as number, ts]);
          }
          count(tables, name, key, isSeen);
        }
        output.record({ name: row.name, cells });
      }
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: 'statsTable.getCounts',
        algorithm: 'statsTable',
        configuration: trainingOptions(params),
        trainingQuery: params.trainingData,
        rows: { used: rowCount },
        features: [],
        redactFeatureStats: false,
        randomSeed: null,
      });
      await save(statsTablesToJson('statsTable.getCounts', tables), modelCard);
      output.commit();
      steps.finish();
      if (params.functionName !== '') {
        context.outputFunction({
          id: params.functionName,
          type: 'statsTable.getCounts',
          params: { statsTableFileUrl },
        });
      }
      return { details: { modelCard } };
    });
  },
});
