import { Type } from 'typebox';
import { CLUSTER_METRICS, fitKmeans } from '../../learn/cluster/kmeans.ts';
import { kmeansToJson } from '../../learn/model/points-model.ts';
import { choice, outputDataset } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import { workerProcedure } from '../procedure-type.ts';
import { recordClusters, recordNumberedRows } from './cluster-output.ts';
import { checkPointParameters, pointParameters, trainOnPoints } from './point-training.ts';

const TYPE = 'kmeans.train';

/** Parameters of all clusterings. */
export const clusterParameters = {
  ...pointParameters,
  maxIterations: Type.Integer({ description: 'iterations at most', minimum: 0, default: 100 }),
  outputDataset: Type.Optional(
    outputDataset({
      description: 'dataset to make of the cluster of each row',
      defaultType: 'embedding',
    }),
  ),
};

/** Divides points into clusters around means. */
export const kmeansTrain = workerProcedure({
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
  check(params) {
    checkPointParameters(TYPE, params);
  },
  run(context, params) {
    const { metric, outputDataset: output, centroidsDataset } = params;
    return trainOnPoints(context, params, {
      functionType: 'kmeans',
      noRows: 'Kmeans training requires at least 1 datapoint. Did the query select any rows?',
      fit: (learning, { points }) => fitKmeans(learning, points, params),
      toJson: ({ centroids }, columnNames) => kmeansToJson({ columnNames, metric, centroids }),
      record({ labels, centroids }, rows) {
        if (output != null) recordClusters(context, output, rows, labels);
        if (centroidsDataset == null) return;
        const columns = rows.columnNames.map((name) => Path.parse(name));
        recordNumberedRows(context, centroidsDataset, columns, centroids);
      },
      iterations: ({ losses }) => losses.map((loss) => ({ loss })),
    });
  },
});
