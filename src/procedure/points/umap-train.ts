import { Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { layoutToJson } from '../../learn/layout/model.ts';
import { fitCurve, fitUmap, UMAP_INITS, UMAP_METRICS } from '../../learn/layout/umap.ts';
import { unitVector } from '../../learn/layout/umap-embed.ts';
import { pointColumns } from '../../learn/points.ts';
import { choice, outputDataset } from '../../schema/declare.ts';
import { NOT_A_DATE } from '../../value/timestamp.ts';
import { workerProcedure } from '../procedure-type.ts';
import { pointsByRow, recordLayout } from './layout-output.ts';
import { checkPointParameters, pointParameters, trainOnPoints } from './point-training.ts';

const TYPE = 'umap.train';

/** Lays points out in few dimensions by their neighbours. */
export const umapTrain = workerProcedure({
  name: TYPE,
  summary: 'Lays points out in few dimensions so that neighbours stay neighbours (UMAP).',
  parameters: Type.Object({
    ...pointParameters,
    rowOutputDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the position of each row',
        defaultType: 'embedding',
      }),
    ),
    numOutputDimensions: Type.Integer({
      description: 'dimensions of the layout',
      minimum: 1,
      default: 2,
    }),
    numNeighbors: Type.Integer({
      description: 'points that are near a point, itself included: few show detail, many the whole',
      minimum: 2,
      default: 15,
    }),
    minDist: Type.Number({
      description: 'how close points may lie in the layout',
      minimum: 0,
      default: 0.1,
    }),
    spread: Type.Number({
      description: 'scale of the layout; more than minDist',
      exclusiveMinimum: 0,
      default: 1,
    }),
    metric: choice(UMAP_METRICS, { description: 'distance of two points', default: 'euclidean' }),
    numEpochs: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 0 })], {
      description: 'passes over the edges; auto, or 0: 500 below 10,000 rows, else 200',
      default: 'auto',
    }),
    learningRate: Type.Number({
      description: 'size of the first steps',
      exclusiveMinimum: 0,
      default: 1,
    }),
    negativeSampleRate: Type.Integer({
      description: 'points that are pushed away for each that is pulled',
      minimum: 1,
      default: 5,
    }),
    init: choice(UMAP_INITS, { description: 'layout to start from', default: 'spectral' }),
    setOpMixRatio: Type.Number({
      description: '1: an edge of either point counts; 0: only edges of both',
      minimum: 0,
      maximum: 1,
      default: 1,
    }),
  }),
  check(params) {
    checkPointParameters(TYPE, params);
  },
  run(context, params) {
    const { numEpochs } = params;
    const options = { ...params, numEpochs: numEpochs === 'auto' ? 0 : numEpochs };
    return trainOnPoints(context, params, {
      functionType: 'umap.embedRow',
      noRows: 'umap training requires at least 1 datapoint. Did the query select any rows?',
      fit: (learning, { points }) => ({ ...fitUmap(learning, points, options), points }),
      toJson({ positions, points, meanDistance }, columnNames) {
        const columns = pointColumns(workspaceOf(context.arenas), points);
        const rows = pointsByRow(columns, points.rowCount);
        const isCosine = params.metric === 'cosine';
        const width = columns.length;
        for (let start = 0; isCosine && start < rows.length; start += width) {
          rows.set(unitVector(rows.subarray(start, start + width)), start);
        }
        const { numNeighbors, negativeSampleRate, learningRate } = params;
        return layoutToJson(
          'umap.embedRow',
          { columnNames, positions, dimension: params.numOutputDimensions, points: rows },
          {
            ...{ numNeighbors, negativeSampleRate, learningRate, isCosine, meanDistance },
            ...fitCurve(params.minDist, params.spread),
          },
        );
      },
      record({ positions }, rows) {
        recordLayout(context, params.rowOutputDataset, rows, positions, NOT_A_DATE);
      },
      iterations: () => [],
    });
  },
});
