// What trainings over points share: parameters, reading, the model file, the function.
import { Type } from 'typebox';
import type { JsonObject } from '../../learn/model/container.ts';
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
import { fitContext } from '../training/fit-context.ts';
import { makeModelCard, pointFeatures, trainingOptions } from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { readingOf } from '../training/sampled-query.ts';
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
    const rows = readPoints(context, params.trainingData, {
      ...{ numInputDimensions, noRows },
      sampleSeed: params.randomSeed,
    });
    try {
      steps.next();
      const fit = training.fit(
        fitContext(context, (share) => steps.update(share)),
        rows,
      );
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: functionType,
        algorithm: functionType.replace('.embedRow', ''),
        configuration: trainingOptions(params),
        trainingQuery: params.trainingData,
        rows: { used: rows.points.rowCount },
        features: pointFeatures(context, rows.points, rows.columnNames),
        redactFeatureStats: params.redactFeatureStats,
        randomSeed: params.randomSeed,
      });
      await save(training.toJson(fit, rows.columnNames), modelCard);
      training.record(fit, rows);
      steps.finish();
      if (name !== '') {
        context.outputFunction({ id: name, type: functionType, params: { modelFileUrl } });
      }
      const iterations = training.iterations(fit).map((each, index) => ({
        iteration: index + 1,
        ...each,
      }));
      return {
        details: { randomSeed: params.randomSeed, iterations, modelCard, ...readingOf(rows) },
      };
    } finally {
      context.arenas.free(rows.points.span);
    }
  });
}
