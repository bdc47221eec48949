import { Type } from 'typebox';
import {
  CLUSTER_METRICS,
  fitKmeans,
  initialCentroids,
  type KmeansFit,
  type KmeansOptions,
  requireClusters,
} from '../../learn/cluster/kmeans.ts';
import { fitKmeansBySums } from '../../learn/cluster/kmeans-by-sums.ts';
import { kmeansToJson } from '../../learn/model/points-model.ts';
import { type Group, SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import { columnOf, constant, plus, times } from '../../learn/sums/term.ts';
import type { FitContext } from '../../learn/workspace.ts';
import { choice, type OutputDatasetSpec, outputDataset } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { recordClusters, recordNumberedRows } from './cluster-output.ts';
import type { PointRows } from './point-rows.ts';
import {
  checkPointParameters,
  pointParameters,
  type SummedPoints,
  trainOnPoints,
} from './point-training.ts';

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
      fitSums(learning, points, sample) {
        if (output != null) throw new SumsRefused('outputDataset wants a row for each row');
        return fitBySums(learning, points, sample, params);
      },
      record({ labels, centroids }, rows) {
        if (output != null) recordClusters(context, output, rows, labels);
        recordCentroids(context, centroidsDataset, rows.columnNames, centroids);
      },
      recordSums: ({ centroids }, columnNames) =>
        recordCentroids(context, centroidsDataset, columnNames, centroids),
      iterations: ({ losses }) => losses.map((loss) => ({ loss })),
    });
  },
});

/** Rows that initial centroids are drawn from. */
const SEED_ROW_COUNT = 10_000;

function fitBySums(
  learning: FitContext,
  { columnNames, rowCount, sums }: SummedPoints,
  sample: (rowCount: number) => PointRows,
  options: KmeansOptions,
): KmeansFit {
  const { metric, numClusters } = options;
  requireClusters(rowCount, numClusters);
  if (metric === 'cosine') {
    const squares = columnNames.map((_, j) => times(columnOf(j), columnOf(j)));
    const length = squares.reduce(plus, constant(0));
    const groups = sums.groups({
      shared: [length],
      keys: [],
      values: [{ kind: 'min', of: { kind: 'shared', index: 0 } }],
    });
    if (!(sumAt(groups[0] as Group, 0) > 0)) {
      throw new SumsRefused('points without direction need rows');
    }
  }
  const rows = sample(Math.max(SEED_ROW_COUNT, 100 * numClusters));
  let first: Float64Array[];
  try {
    requireClusters(rows.points.rowCount, numClusters);
    first = initialCentroids(learning, rows.points, options);
  } finally {
    learning.workspace.memory.free(rows.points.span);
  }
  const fit = fitKmeansBySums(learning, sums, columnNames.length, first, options);
  return { ...fit, labels: new Int32Array(0) };
}

function recordCentroids(
  context: ProcedureContext,
  spec: OutputDatasetSpec | undefined,
  columnNames: readonly string[],
  centroids: readonly Float64Array[],
): void {
  if (spec == null) return;
  const columns = columnNames.map((name) => Path.parse(name));
  recordNumberedRows(context, spec, columns, centroids);
}
