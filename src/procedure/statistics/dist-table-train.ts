import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import {
  DEFAULT_STATISTICS,
  type DistTables,
  distTablesToJson,
  momentsOf,
  observe,
  readStatistics,
  STATISTICS,
  statisticOf,
  TABLE_MODES,
  WORDS,
} from '../../learn/table/dist-table.ts';
import { keyText } from '../../learn/table/key.ts';
import { choice, inputQuery, outputDataset, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { checkFunctionUrl, functionName } from '../classifier/model-parameter.ts';
import { checkOutcomes, outcomes } from '../classifier/outcome-parameter.ts';
import { type OutcomeRow, outcomeRows } from '../classifier/outcome-rows.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { makeModelCard, trainingOptions } from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';

const TYPE = 'experimental.distTable.train';

/** Statistics of numbers by the values of columns, before each row and after all. */
export const distTableTrain = workerProcedure({
  name: TYPE,
  aliases: ['distTable.train'],
  summary: 'Keeps statistics of numeric outcomes for each value of some columns.',
  parameters: Type.Object({
    trainingData: inputQuery({
      description: 'selects the columns whose values are the keys, in the order of the query',
    }),
    outcomes,
    statistics: Type.Array(Type.String(), {
      description: `what to tell of each outcome, of ${STATISTICS.join(', ')}; empty: the default`,
      default: [...DEFAULT_STATISTICS],
    }),
    mode: choice(TABLE_MODES, {
      description: 'keys are the values of columns, or the names of columns that are not null',
      default: 'fixedColumns',
    }),
    outputDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the statistics before each row',
        defaultType: 'tabular',
      }),
    ),
    distTableFileUrl: url({
      description: 'where the tables are saved; empty: nowhere',
      default: '',
    }),
    functionName,
    ...runOnCreation,
  }),
  check(params) {
    checkOutcomes(params.outcomes);
    checkFunctionUrl(TYPE, { ...params, modelFileUrl: params.distTableFileUrl });
    const rules = { type: TYPE, shape: 'any', allowsGroupBy: true } as const;
    checkTrainingQuery(params.trainingData, rules);
  },
  run(context, params) {
    const steps = context.steps(TRAINING_STEPS);
    const { distTableFileUrl, mode } = params;
    const statistics = readStatistics(params.statistics);
    return withModelFileIfAny(context.files, distTableFileUrl, async (save) => {
      steps.next();
      const names = params.outcomes.map(([name]) => name);
      const tables: DistTables = { mode, outcomes: names, columns: new Map() };
      const defaultType = mode === 'bagOfWords' ? 'sparse.mutable' : 'tabular';
      const output =
        params.outputDataset == null
          ? undefined
          : context.output(params.outputDataset, defaultType);
      steps.next();
      let rowCount = 0;
      for (const row of outcomeRows(context, params.trainingData, params.outcomes)) {
        rowCount++;
        const cells: RecordedCell[] = [];
        const values = row.outcomes.map((atom, i) => outcomeNumber(atom, names[i] as string, row));
        for (const { column, atom, ts } of row.cells) {
          if (mode === 'bagOfWords' && atom === null) continue;
          const name = mode === 'bagOfWords' ? WORDS : column.toString();
          const key = mode === 'bagOfWords' ? column.toString() : keyText(atom);
          const table = tables.columns.get(name) ?? new Map<string, Float64Array>();
          for (const [i, outcome] of names.entries()) {
            const moments = momentsOf(table, key, i);
            for (const statistic of statistics) {
              const path = Path.of(outcome).concat(column).concat(Path.of(statistic));
              cells.push([path, statisticOf(moments, statistic), ts]);
            }
          }
          observe(tables, name, key, values);
        }
        output?.record({ name: row.name, cells });
      }
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: 'experimental.distTable.getStats',
        algorithm: 'distTable',
        configuration: trainingOptions(params),
        trainingQuery: params.trainingData,
        rows: { used: rowCount },
        features: [],
        redactFeatureStats: false,
        randomSeed: null,
      });
      await save(distTablesToJson(tables), modelCard);
      output?.commit();
      steps.finish();
      if (params.functionName !== '') {
        context.outputFunction({
          id: params.functionName,
          type: 'experimental.distTable.getStats',
          params: { distTableFileUrl, statistics },
        });
      }
      return { details: { modelCard } };
    });
  },
});

function outcomeNumber(atom: Atom, outcome: string, row: OutcomeRow): number {
  if (atom === null) return Number.NaN;
  const number = typeof atom === 'bigint' ? Number(atom) : atom;
  if (typeof number === 'number') return number;
  throw failure('DATA_ERROR', `outcome '${outcome}' of row '${row.name}' is not a number`, {
    row: row.name.toString(),
    outcome,
  });
}
