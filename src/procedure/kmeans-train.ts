import { Type } from 'typebox';
import {
  choice,
  type InputQuery,
  inputQuery,
  type OutputDatasetSpec,
  outputDataset,
} from '../dataset/parameter.ts';
import { CLUSTER_METRICS, fitKmeans, type KmeansOptions } from '../learn/cluster/kmeans.ts';
import { kmeansToJson } from '../learn/model/points-model.ts';
import { Path } from '../value/path.ts';
import { recordClusters, recordNumberedRows } from './cluster-output.ts';
import { fitContext } from './fit-context.ts';
import { withModelFileIfAny } from './model-file.ts';
import { checkFunctionUrl, functionName, modelFileUrl, randomSeed } from './model-parameter.ts';
import { runOnCreation } from './parameter.ts';
import { readPoints } from './point-rows.ts';
import type { WorkerProcedureType } from './procedure-type.ts';
import { checkTrainingQuery } from './training-query.ts';
import { TRAINING_STEPS } from './training-steps.ts';

const TYPE = 'kmeans.train';

interface KmeansParams extends KmeansOptions {
  readonly trainingData: InputQuery;
  readonly numInputDimensions: number;
  readonly outputDataset?: OutputDatasetSpec;
  readonly centroidsDataset?: OutputDatasetSpec;
  readonly modelFileUrl?: string;
  readonly functionName: string;
}

/** Parameters of all clusterings. */
export const clusterParameters = {
  trainingData: inputQuery({ description: 'selects points: a row each, all columns numbers' }),
  numInputDimensions: Type.Integer({
    description: 'columns that are taken, from the first of the select list; -1: all',
    minimum: -1,
    default: -1,
  }),
  maxIterations: Type.Integer({ description: 'iterations at most', minimum: 0, default: 100 }),
  outputDataset: Type.Optional(
    outputDataset({
      description: 'dataset to make of the cluster of each row',
      defaultType: 'embedding',
    }),
  ),
  modelFileUrl: Type.Optional(modelFileUrl),
  functionName,
  randomSeed,
  ...runOnCreation,
};

/** Divides points into clusters around means. */
export const kmeansTrain: WorkerProcedureType = {
  kind: 'procedure',
  name: TYPE,
  summary: 'Divides points into clusters around their means.',
  parameters: Type.Object({
    ...clusterParameters,
    numClusters: Type.Integer({ description: 'clusters to make', minimum: 1, default: 10 }),
    metric: choice(CLUSTER_METRICS, { description: 'distance of two points', default: 'cosine' }),
    centroidsDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the centroids, a row each',
        defaultType: 'embedding',
      }),
    ),
  }),
  execution: 'worker',
  check(params) {
    checkFunctionUrl(TYPE, params);
    checkTrainingQuery(params.trainingData as InputQuery, { type: TYPE, shape: 'any' });
  },
  async run(context, params) {
    const options = params as unknown as KmeansParams;
    const steps = context.steps(TRAINING_STEPS);
    return withModelFileIfAny(context.files, options.modelFileUrl, async (save) => {
      steps.next();
      const rows = readPoints(context, options.trainingData, {
        numInputDimensions: options.numInputDimensions,
        noRows: 'Kmeans training requires at least 1 datapoint. Did the query select any rows?',
      });
      const { points, columnNames } = rows;
      try {
        steps.next();
        const learning = fitContext(context, (share) => steps.update(share));
        const { centroids, labels, losses } = fitKmeans(learning, points, options);
        steps.next();
        const { metric, outputDataset: output, centroidsDataset, randomSeed: seed } = options;
        await save(kmeansToJson({ columnNames, metric, centroids }));
        if (output != null) recordClusters(context, output, rows, labels);
        if (centroidsDataset != null) {
          const columns = columnNames.map((name) => Path.parse(name));
          recordNumberedRows(context, centroidsDataset, columns, centroids);
        }
        steps.finish();
        if (options.functionName !== '') {
          context.outputFunction({
            id: options.functionName,
            type: 'kmeans',
            params: { modelFileUrl: options.modelFileUrl },
          });
        }
        const iterations = losses.map((loss, index) => ({ iteration: index + 1, loss }));
        return { details: { randomSeed: seed, iterations } };
      } finally {
        context.arenas.free(points.span);
      }
    });
  },
};
