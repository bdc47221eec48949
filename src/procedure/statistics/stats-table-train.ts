import { type Static, Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { type Aggregate, sumAt } from '../../learn/sums/sums.ts';
import { columnOf } from '../../learn/sums/term.ts';
import { keyText } from '../../learn/table/key.ts';
import {
  count,
  countsOf,
  type KeyTable,
  type StatsTables,
  statsTablesToJson,
} from '../../learn/table/stats-table.ts';
import { inputQuery, outputDataset, url } from '../../schema/declare.ts';
import { isTrue } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { checkFunctionUrl, functionName } from '../classifier/model-parameter.ts';
import { checkOutcomes, outcomes } from '../classifier/outcome-parameter.ts';
import { CARRIER, outcomeRows, withOutcomes } from '../classifier/outcome-rows.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { makeModelCard, trainingOptions } from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { bySumsOrRows, type QuerySums, sumsOfQuery } from '../training/query-sums.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';

const TYPE = 'statsTable.train';

const PARAMETERS = Type.Object({
  trainingData: inputQuery({
    description: 'selects the columns whose values are counted, in the order of the query',
  }),
  outcomes,
  outputDataset: Type.Optional(
    outputDataset({
      description:
        'dataset to make of the counts before each row; absent over rows of another system: none',
      defaultType: 'sparse.mutable',
    }),
  ),
  statsTableFileUrl: url({
    description: 'where the tables are saved; empty: nowhere',
    default: '',
  }),
  functionName,
  ...runOnCreation,
});

type StatsTableParams = Static<typeof PARAMETERS>;

/** Counts how often the values of columns were seen, and with which outcomes. */
export const statsTableTrain = workerProcedure({
  name: TYPE,
  summary: 'Counts how often each value of some columns was seen, and with which outcomes.',
  parameters: PARAMETERS,
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
      steps.next();
      const { made, reading } = bySumsOrRows(
        context,
        () => summedOutcomes(context, params),
        (sums) => countBySums(sums, params.outcomes),
        () => countRows(context, params),
      );
      const { tables, rowCount } = made;
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
      made.commit?.();
      steps.finish();
      if (params.functionName !== '') {
        context.outputFunction({
          id: params.functionName,
          type: 'statsTable.getCounts',
          params: { statsTableFileUrl },
        });
      }
      return { details: { modelCard, ...(reading === undefined ? {} : { reading }) } };
    });
  },
});

interface CountedTables {
  readonly tables: StatsTables;
  readonly rowCount: number;
  /** Makes the counts before each row visible. */
  commit?(): void;
}

function countRows(context: ProcedureContext, params: StatsTableParams): CountedTables {
  const names = params.outcomes.map(([name]) => name);
  const tables: StatsTables = { outcomes: names, columns: new Map() };
  const prefixes = ['trial', ...names].map((name) => Path.of(name));
  const output = context.output(params.outputDataset, 'sparse.mutable');
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
  return { tables, rowCount, commit: () => output.commit() };
}

/** Counts before each row are those of rows in their order, which sums do not have. */
function summedOutcomes(context: ProcedureContext, params: StatsTableParams) {
  if (params.outputDataset != null) return undefined;
  const query = withOutcomes(params.trainingData, params.outcomes);
  return sumsOfQuery(context, query, { carrier: CARRIER });
}

/** A pass for each column. */
function countBySums(sums: QuerySums, outcomes: StatsTableParams['outcomes']): CountedTables {
  const tables: StatsTables = { outcomes: outcomes.map(([name]) => name), columns: new Map() };
  const conditions = outcomes.map((_, index) => columnOf(sums.columns.length + index));
  const values: Aggregate[] = [
    { kind: 'rows' },
    ...conditions.map((of) => ({ kind: 'sum', of }) as const),
  ];
  let rowCount = 0;
  for (const [index, { path }] of sums.columns.entries()) {
    const groups = sums.groups({ keys: [columnOf(index)], values });
    const table: KeyTable = new Map();
    for (const group of groups) {
      const key = keyText(group.keys[0] ?? null);
      // Null and the empty text have one key.
      const counts = countsOf(tables, table, key);
      table.set(
        key,
        counts.map((before, position) => before + sumAt(group, position)),
      );
    }
    tables.columns.set(path.toString(), table);
    rowCount = groups.reduce((total, group) => total + sumAt(group, 0), 0);
  }
  return { tables, rowCount };
}
