import { Type } from 'typebox';
import { fitGaussians } from '../../learn/cluster/gaussian.ts';
import { gaussiansToJson } from '../../learn/model/points-model.ts';
import { outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { workerProcedure } from '../procedure-type.ts';
import { recordClusters, recordNumberedRows } from './cluster-output.ts';
import { clusterParameters } from './kmeans-train.ts';
import { checkPointParameters, trainOnPoints } from './point-training.ts';

const TYPE = 'gaussianclustering.train';

/** Divides points into clusters that are normal distributions of their own. */
export const gaussianClusteringTrain = workerProcedure({
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
  check(params) {
    checkPointParameters(TYPE, params);
    if (params.numClusters < 2) {
      throw failure('INVALID_PARAMETER', "EM with less than 2 clusters doesn't make any sense!");
    }
  },
  run(context, params) {
    return trainOnPoints(context, params, {
      functionType: 'gaussianclustering',
      noRows:
        'Gaussian clustering training requires at least 1 datapoint. Did the query select any rows?',
      fit: (learning, { points }) => fitGaussians(learning, points, params),
      toJson: ({ clusters }, columnNames) => gaussiansToJson({ columnNames, clusters }),
      record({ labels, clusters }, rows) {
        if (params.outputDataset != null) {
          recordClusters(context, params.outputDataset, rows, labels);
        }
        const columns = [
          ...rows.columnNames.map((name) => Path.parse(name)),
          ...covarianceColumns(rows.points.dimension),
        ];
        const cells = clusters.map(({ mean, covariance }) => [...mean, ...covariance]);
        recordNumberedRows(context, params.centroidsDataset, columns, cells);
      },
      iterations: ({ logLikelihoods }) =>
        logLikelihoods.map((logLikelihood) => ({ logLikelihood })),
    });
  },
});

/** The cells of a covariance, row by row: c00, c01, … with two digits at least. */
function covarianceColumns(dimension: number): Path[] {
  return Array.from({ length: dimension ** 2 }, (_, index) =>
    Path.of(`c${String(index).padStart(2, '0')}`),
  );
}
