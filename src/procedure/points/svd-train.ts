import { type Static, Type } from 'typebox';
import { columnSource } from '../../learn/feature/column-source.ts';
import { type Aggregate, SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import { columnOf } from '../../learn/sums/term.ts';
import type { FeatureFacts } from '../../learn/sums/training.ts';
import { fitSvdBySums } from '../../learn/svd/fit-by-sums.ts';
import { svdToJson } from '../../learn/svd/model.ts';
import { fitSvd, type SvdFit } from '../../learn/svd/svd.ts';
import type { VirtualColumn } from '../../learn/svd/virtual-column.ts';
import { inputQuery, type OutputDatasetSpec, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import {
  checkFunctionUrl,
  functionName,
  optionalModelFileUrl,
  redactFeatureStats,
} from '../classifier/model-parameter.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { type CellRows, readCells } from '../reshape/cell-rows.ts';
import type { FeatureSummary } from '../training/feature-summary.ts';
import { fitContext } from '../training/fit-context.ts';
import {
  type CardFacts,
  type CardFeatures,
  makeModelCard,
  trainingOptions,
} from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import {
  bySumsOrRows,
  type QuerySums,
  type SummedColumn,
  sumsOfQuery,
} from '../training/query-sums.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';

const TYPE = 'svd.train';

const PARAMETERS = Type.Object({
  trainingData: inputQuery({
    description: 'selects rows: numbers are scaled, other values become a column each',
  }),
  columnOutputDataset: Type.Optional(
    outputDataset({
      description: 'dataset to make of the singular vectors, a row for each column',
      defaultType: 'embedding',
    }),
  ),
  rowOutputDataset: Type.Optional(
    outputDataset({
      description: 'dataset to make of the embedding of each row',
      defaultType: 'embedding',
    }),
  ),
  numSingularValues: Type.Integer({
    description: 'singular values that are kept at most',
    minimum: 1,
    default: 100,
  }),
  numDenseBasisVectors: Type.Integer({
    description: 'columns that are decomposed, the most frequent ones; others are projected',
    minimum: 1,
    default: 2000,
  }),
  outputColumn: Type.String({
    description: 'name in front of the dimensions in the outputs',
    default: 'embedding',
  }),
  modelFileUrl: optionalModelFileUrl,
  functionName,
  redactFeatureStats,
  ...runOnCreation,
});

/** Finds the directions in which rows differ most. */
export const svdTrain = workerProcedure({
  name: TYPE,
  summary: 'Decomposes rows into singular vectors: the directions in which they differ most.',
  parameters: PARAMETERS,
  check(params) {
    checkFunctionUrl(TYPE, params);
    checkTrainingQuery(params.trainingData, { type: TYPE, shape: 'any' });
    if (params.outputColumn === '') {
      throw failure(
        'INVALID_PARAMETER',
        'SVD training procedure requires a non-empty output column name',
      );
    }
  },
  async run(context, options) {
    const steps = context.steps(TRAINING_STEPS);
    return withModelFileIfAny(context.files, options.modelFileUrl, async (save) => {
      steps.next();
      const learning = fitContext(context, (share) => steps.update(share));
      const { made, reading } = bySumsOrRows<FittedSvd>(
        context,
        // The embeddings of rows are made of rows.
        () =>
          options.rowOutputDataset == null
            ? sumsOfQuery(context, options.trainingData, {})
            : undefined,
        (sums) => {
          const { cells, features, rowCount } = summedCells(sums);
          steps.next();
          const fit = fitSvdBySums(learning, sums, cells, rowCount, options);
          return { fit, features, rowCount, rows: undefined };
        },
        () => {
          const rows = readCells(context, options.trainingData);
          const rowCount = rows.names.length;
          if (rowCount === 0) throw noRows();
          steps.next();
          const fit = fitSvd(learning, rows.columns, rowCount, options);
          return { fit, features: cellFeatures(context, rows), rowCount, rows };
        },
      );
      const { features, fit, rowCount, rows } = made;
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: 'svd.embedRow',
        algorithm: 'svd',
        configuration: trainingOptions(options),
        trainingQuery: options.trainingData,
        rows: { used: rowCount },
        features,
        redactFeatureStats: options.redactFeatureStats,
        randomSeed: null,
      });
      const modelTs = new Date(context.startedAt * 1000).toISOString();
      await save(svdToJson(fit, modelTs), modelCard);
      recordOutputs(context, options, rows, fit);
      steps.finish();
      if (options.functionName !== '') {
        context.outputFunction({
          id: options.functionName,
          type: 'svd.embedRow',
          params: { modelFileUrl: options.modelFileUrl },
        });
      }
      const singularValues = Array.from(fit.singularValues);
      return {
        details: { singularValues, modelCard, ...(reading === undefined ? {} : { reading }) },
      };
    });
  },
});

interface FittedSvd {
  readonly fit: SvdFit;
  readonly features: CardFacts['features'];
  readonly rowCount: number;
  /** absent where only sums came here */
  readonly rows: CellRows | undefined;
}

function noRows(): Error {
  return failure('DATA_ERROR', 'SVD training requires at least 1 row; the query selects none');
}

/** What is known of the columns of rows that are elsewhere. @throws SumsRefused */
function summedCells(sums: QuerySums) {
  const values = sums.columns.flatMap((column, index): Aggregate[] => {
    const of = columnOf(index);
    const kinds = isNumber(column) ? (['min', 'max', 'sum'] as const) : [];
    return (['count', 'distinct', ...kinds] as const).map((kind) => ({ kind, of }));
  });
  const [group] = sums.groups({ keys: [], values: [{ kind: 'rows' }, ...values] });
  const rowCount = group === undefined ? 0 : sumAt(group, 0);
  if (group === undefined || rowCount === 0) throw noRows();
  let at = 1;
  const cells = sums.columns.map((column): FeatureFacts => {
    const name = column.path.toString();
    const [count, distinct] = [sumAt(group, at), sumAt(group, at + 1)];
    at += 2;
    if (!isNumber(column)) {
      return { name, kind: 'text', count, distinct, low: 0, high: 0, mean: 0 };
    }
    const [low, high, sum] = [sumAt(group, at), sumAt(group, at + 1), sumAt(group, at + 2)];
    at += 3;
    if (!Number.isFinite(low) || !Number.isFinite(high)) {
      throw new SumsRefused(`column ${name} has values that are no finite numbers`);
    }
    return { name, kind: 'number', count, distinct, low, high, mean: sum / count };
  });
  const features = cells.map(({ count, distinct, high, kind, low, mean, name }): FeatureSummary => {
    const shared = { name, missing: 1 - count / rowCount, distinct };
    if (count === 0) return { ...shared, type: 'unused', min: null, max: null, mean: null };
    return kind === 'number'
      ? { ...shared, type: 'number', min: low, max: high, mean }
      : { ...shared, type: 'category', min: null, max: null, mean: null };
  });
  return { cells, features, rowCount };
}

/** @throws SumsRefused for a column that is neither numbers nor texts for certain */
function isNumber({ atom, path }: SummedColumn): boolean {
  if (atom === 'integer' || atom === 'number') return true;
  if (atom === 'string') return false;
  throw new SumsRefused(`column ${path} is no column of numbers or texts`);
}

function cellFeatures(context: ProcedureContext, { columns, names }: CellRows): CardFeatures {
  const check = () => context.checkCancelled();
  return {
    length: columns.length,
    at(index) {
      const column = columns[index];
      return column && columnSource(column.name, column.rows, column.atoms, names.length, check);
    },
  };
}

function recordOutputs(
  context: ProcedureContext,
  { columnOutputDataset, rowOutputDataset, outputColumn }: Static<typeof PARAMETERS>,
  rows: CellRows | undefined,
  fit: SvdFit,
): void {
  const prefix = Path.parse(outputColumn);
  const columns = Array.from(fit.singularValues, (_, d) => prefix.concat(Path.of(String(d))));
  const record = (
    spec: OutputDatasetSpec,
    vectors: readonly Float64Array[],
    nameAt: (index: number) => Path,
    timeAt: (index: number) => number,
  ): void => {
    if (spec == null) return;
    const output = context.output(spec, 'embedding');
    for (const [index, vector] of vectors.entries()) {
      const ts = timeAt(index);
      const cells = columns.map((column, d) => [column, vector[d] as number, ts] as const);
      output.record({ name: nameAt(index), cells });
    }
    output.commit();
  };
  record(
    columnOutputDataset,
    fit.columnVectors,
    (index) => columnRowName(fit.columns[index] as VirtualColumn),
    () => context.startedAt,
  );
  if (rows === undefined) return;
  record(
    rowOutputDataset,
    fit.rowVectors,
    (index) => rows.names[index] as Path,
    (index) => rows.times[index] as number,
  );
}

/** How a virtual column is called: its column, what it is, and its value. */
function columnRowName(column: VirtualColumn): Path {
  const name = Path.parse(column.columnName);
  if (column.op === 'VALUE') return name.concat(Path.of('numericValue'));
  const { cellValue } = column;
  if (cellValue === null) return name.concat(Path.of('isNull'));
  if (cellValue === '') return name.concat(Path.of('stringEmpty'));
  const text = atomText(cellValue);
  const isNumber = typeof cellValue === 'number' || typeof cellValue === 'bigint';
  return name.concat(Path.of(isNumber ? 'numberEquals' : 'stringEquals', text));
}
