// What trainings over points share: parameters, reading, the model file, the function.
import { Type } from 'typebox';
import type { JsonObject } from '../../learn/model/container.ts';
import { type Aggregate, type Sums, SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import { columnOf } from '../../learn/sums/term.ts';
import type { FitContext } from '../../learn/workspace.ts';
import { type InputQuery, inputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import {
  checkFunctionUrl,
  functionName,
  optionalModelFileUrl,
  randomSeed,
  redactFeatureStats,
} from '../classifier/model-parameter.ts';
import { runOnCreation } from '../parameter.ts';
import type { ProcedureContext, ProcedureResult } from '../procedure-type.ts';
import type { FeatureSummary } from '../training/feature-summary.ts';
import { fitContext } from '../training/fit-context.ts';
import {
  type CardFacts,
  makeModelCard,
  pointFeatures,
  trainingOptions,
} from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { bySumsOrRows, type QuerySums, sumsOfQuery } from '../training/query-sums.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';
import { type PointRows, readPoints } from './point-rows.ts';

/** Parameters of all of them. */
export const pointParameters = {
  trainingData: inputQuery({ description: 'selects points: a row each, all columns numbers' }),
  numInputDimensions: Type.Integer({
    description: 'columns that are taken, from the first of the select list; -1: all',
    minimum: -1,
    default: -1,
  }),
  modelFileUrl: optionalModelFileUrl,
  functionName,
  redactFeatureStats,
  randomSeed,
  ...runOnCreation,
};

/** @throws INVALID_PARAMETER for parameters that contradict one another or the query */
export function checkPointParameters(type: string, params: PointParams): void {
  checkFunctionUrl(type, params);
  checkTrainingQuery(params.trainingData, { type, shape: 'any' });
  if (params.numInputDimensions === 0) {
    throw failure(
      'INVALID_PARAMETER',
      'numInputDimensions must be -1, for all, or at least 1; params.numInputDimensions is 0',
    );
  }
}

interface PointParams {
  readonly trainingData: InputQuery;
  readonly numInputDimensions: number;
  readonly modelFileUrl: string;
  readonly functionName: string;
  readonly redactFeatureStats: boolean;
  readonly randomSeed: number;
}

export interface PointTraining<Fit> {
  /** type of the function that the model file makes */
  readonly functionType: string;
  /** what the failure over no rows says */
  readonly noRows: string;
  fit(learning: FitContext, rows: PointRows): Fit;
  /** the model file as plain JSON */
  toJson(fit: Fit, columnNames: readonly string[]): JsonObject;
  /** Records the outputs. */
  record(fit: Fit, rows: PointRows): void;
  /** Records the outputs that need no rows, after `fitSums`. */
  recordSums?(fit: Fit, columnNames: readonly string[]): void;
  /**
   * As `fit`, of points in another system; absent: rows are needed.
   * @param sample reads rows of them, at most about so many
   * @throws SumsRefused
   */
  fitSums?(
    learning: FitContext,
    points: SummedPoints,
    sample: (rowCount: number) => PointRows,
  ): Fit;
  /** what each iteration says in the details of the run */
  iterations(fit: Fit): readonly Readonly<Record<string, number>>[];
}

/** Reads, trains, saves, records, and names the function. */
export function trainOnPoints<Fit>(
  context: ProcedureContext,
  params: PointParams,
  training: PointTraining<Fit>,
): Promise<ProcedureResult> {
  const steps = context.steps(TRAINING_STEPS);
  const { modelFileUrl, numInputDimensions, functionName: name } = params;
  return withModelFileIfAny(context.files, modelFileUrl, async (save) => {
    steps.next();
    const { noRows, functionType } = training;
    const options = { numInputDimensions, noRows, sampleSeed: params.randomSeed };
    const learning = fitContext(context, (share) => steps.update(share));
    const { made, reading } = bySumsOrRows<FittedPoints<Fit>>(
      context,
      () =>
        training.fitSums === undefined ? undefined : sumsOfQuery(context, params.trainingData, {}),
      (sums) => {
        const points = summedPoints(sums, numInputDimensions);
        steps.next();
        const fit = training.fitSums?.(learning, points, (sampleRowCount) =>
          readPoints(context, params.trainingData, { ...options, sampleRowCount }),
        ) as Fit;
        const { columnNames, features, rowCount } = points;
        return { fit, columnNames, features, rowCount, rows: undefined };
      },
      () => {
        const rows = readPoints(context, params.trainingData, options);
        steps.next();
        try {
          const { columnNames, points, sample } = rows;
          return {
            ...{ fit: training.fit(learning, rows), columnNames, rows, sample },
            features: pointFeatures(context, points, columnNames),
            rowCount: points.rowCount,
          };
        } catch (thrown) {
          context.arenas.free(rows.points.span);
          throw thrown;
        }
      },
    );
    const { columnNames, features, fit, rows } = made;
    try {
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: functionType,
        algorithm: functionType.replace('.embedRow', ''),
        configuration: trainingOptions(params),
        trainingQuery: params.trainingData,
        rows: { used: made.rowCount },
        features,
        redactFeatureStats: params.redactFeatureStats,
        randomSeed: params.randomSeed,
      });
      await save(training.toJson(fit, columnNames), modelCard);
      if (rows === undefined) training.recordSums?.(fit, columnNames);
      else training.record(fit, rows);
      steps.finish();
      if (name !== '') {
        context.outputFunction({ id: name, type: functionType, params: { modelFileUrl } });
      }
      const iterations = training.iterations(fit).map((each, index) => ({
        iteration: index + 1,
        ...each,
      }));
      return {
        details: {
          ...{ randomSeed: params.randomSeed, iterations, modelCard },
          ...(reading === undefined ? {} : { reading }),
        },
      };
    } finally {
      if (rows !== undefined) context.arenas.free(rows.points.span);
    }
  });
}

interface FittedPoints<Fit> {
  readonly fit: Fit;
  readonly columnNames: readonly string[];
  readonly features: CardFacts['features'];
  readonly rowCount: number;
  /** the span is the caller's to free */
  readonly rows: PointRows | undefined;
}

/** Points of which only sums come here; all coordinates are finite. */
export interface SummedPoints {
  readonly sums: Sums;
  readonly rowCount: number;
  readonly columnNames: readonly string[];
  readonly features: readonly FeatureSummary[];
}

/** @throws SumsRefused when a value is no finite number, which rows tell by name */
function summedPoints(sums: QuerySums, numInputDimensions: number): SummedPoints {
  const { columns } = sums;
  const chosen = numInputDimensions > 0 ? columns.slice(0, numInputDimensions) : columns;
  const other = chosen.find(({ atom }) => atom !== 'integer' && atom !== 'number');
  if (other !== undefined) throw new SumsRefused(`column ${other.path} is no column of numbers`);
  const values = chosen.flatMap((_, index): Aggregate[] => {
    const of = columnOf(index);
    const kinds = ['count', 'min', 'max', 'sum', 'distinct'] as const;
    return kinds.map((kind) => ({ kind, of }));
  });
  const [group] = sums.groups({ keys: [], values: [{ kind: 'rows' }, ...values] });
  const rowCount = group === undefined ? 0 : sumAt(group, 0);
  if (group === undefined || rowCount === 0) throw new SumsRefused('the query selects no rows');
  const features = chosen.map(({ path }, index): FeatureSummary => {
    const at = 1 + index * 5;
    const [min, max, sum] = [sumAt(group, at + 1), sumAt(group, at + 2), sumAt(group, at + 3)];
    if (sumAt(group, at) < rowCount || !Number.isFinite(min) || !Number.isFinite(max)) {
      throw new SumsRefused(`column ${path} has values that are no finite numbers`);
    }
    const [mean, distinct] = [sum / rowCount, sumAt(group, at + 4)];
    return { name: path.toString(), type: 'number', missing: 0, distinct, min, max, mean };
  });
  return { sums, rowCount, columnNames: features.map(({ name }) => name), features };
}
