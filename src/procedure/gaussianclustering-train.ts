import { Type } from 'typebox';
import { type InputQuery, type OutputDatasetSpec, outputDataset } from '../dataset/parameter.ts';
import { fitGaussians, type GaussianOptions } from '../learn/cluster/gaussian.ts';
import { gaussiansToJson } from '../learn/model/points-model.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { recordClusters, recordNumberedRows } from './cluster-output.ts';
import { fitContext } from './fit-context.ts';
import { clusterParameters } from './kmeans-train.ts';
import { withModelFileIfAny } from './model-file.ts';
import { checkFunctionUrl } from './model-parameter.ts';
import { readPoints } from './point-rows.ts';
import type { WorkerProcedureType } from './procedure-type.ts';
import { checkTrainingQuery } from './training-query.ts';
import { TRAINING_STEPS } from './training-steps.ts';

const TYPE = 'gaussianclustering.train';

interface GaussianParams extends GaussianOptions {
  readonly trainingData: InputQuery;
  readonly numInputDimensions: number;
  readonly outputDataset?: OutputDatasetSpec;
  readonly centroidsDataset?: OutputDatasetSpec;
  readonly modelFileUrl?: string;
  readonly functionName: string;
}

/** Divides points into clusters that are normal distributions of their own. */
export const gaussianClusteringTrain: WorkerProcedureType = {
  kind: 'procedure',
  name: TYPE,
  aliases: ['em.train'],
  summary: 'Divides points into clusters that are normal distributions of their own.',
  parameters: Type.Object({
    ...clusterParameters,
    numClusters: Type.Integer({ description: 'clusters to make, 2 or more', default: 10 }),
    centroidsDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the means and covariances, a row for each cluster',
        defaultType: 'embedding',
      }),
    ),
  }),
  execution: 'worker',
  check(params) {
    checkFunctionUrl(TYPE, params);
    checkTrainingQuery(params.trainingData as InputQuery, { type: TYPE, shape: 'any' });
    if ((params.numClusters as number) < 2) {
      throw failure('INVALID_PARAMETER', "EM with less than 2 clusters doesn't make any sense!");
    }
  },
  async run(context, params) {
    const options = params as unknown as GaussianParams;
    const steps = context.steps(TRAINING_STEPS);
    return withModelFileIfAny(context.files, options.modelFileUrl, async (save) => {
      steps.next();
      const rows = readPoints(context, options.trainingData, {
        numInputDimensions: options.numInputDimensions,
        noRows:
          'Gaussian clustering training requires at least 1 datapoint. Did the query select any rows?',
      });
      const { points, columnNames } = rows;
      try {
        steps.next();
        const learning = fitContext(context, (share) => steps.update(share));
        const { clusters, labels, logLikelihoods } = fitGaussians(learning, points, options);
        steps.next();
        await save(gaussiansToJson({ columnNames, clusters }));
        if (options.outputDataset != null) {
          recordClusters(context, options.outputDataset, rows, labels);
        }
        const columns = [
          ...columnNames.map((name) => Path.parse(name)),
          ...cells(points.dimension),
        ];
        recordNumberedRows(
          ...([context, options.centroidsDataset, columns] as const),
          clusters.map(({ mean, covariance }) => [...mean, ...covariance]),
        );
        steps.finish();
        if (options.functionName !== '') {
          context.outputFunction({
            id: options.functionName,
            type: 'gaussianclustering',
            params: { modelFileUrl: options.modelFileUrl },
          });
        }
        const iterations = logLikelihoods.map((logLikelihood, index) => ({
          iteration: index + 1,
          logLikelihood,
        }));
        return { details: { randomSeed: options.randomSeed, iterations } };
      } finally {
        context.arenas.free(points.span);
      }
    });
  },
};

/** Names of the cells of a covariance, row by row: c00, c01, … with two digits at least. */
function cells(dimension: number): Path[] {
  return Array.from({ length: dimension ** 2 }, (_, index) =>
    Path.of(`c${String(index).padStart(2, '0')}`),
  );
}
