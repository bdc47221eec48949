import { Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { layoutToJson } from '../../learn/layout/model.ts';
import { fitTsne, usedPerplexity } from '../../learn/layout/tsne.ts';
import { pointColumns } from '../../learn/points.ts';
import { outputDataset } from '../../schema/declare.ts';
import { NOT_A_DATE } from '../../value/timestamp.ts';
import { workerProcedure } from '../procedure-type.ts';
import { pointsByRow, recordLayout } from './layout-output.ts';
import { checkPointParameters, pointParameters, trainOnPoints } from './point-training.ts';

const TYPE = 'tsne.train';

/** Lays points out in few dimensions, near ones near each other. */
export const tsneTrain = workerProcedure({
  name: TYPE,
  summary: 'Lays points out in few dimensions so that near points stay near (t-SNE).',
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
    perplexity: Type.Number({
      description: 'how many neighbours count for each point; at most a third of the rows is used',
      exclusiveMinimum: 0,
      default: 30,
    }),
    tolerance: Type.Number({
      description: 'how exactly the perplexity is met, as a difference of entropies',
      exclusiveMinimum: 0,
      default: 1e-5,
    }),
    learningRate: Type.Number({
      description:
        'step size of the descent; at most the number of rows, at first a twelfth of it, is used',
      exclusiveMinimum: 0,
      default: 500,
    }),
    minIterations: Type.Integer({ description: 'iterations at least', minimum: 0, default: 200 }),
    maxIterations: Type.Integer({
      description: 'iterations at most; wins over minIterations',
      minimum: 0,
      default: 1000,
    }),
  }),
  check(params) {
    checkPointParameters(TYPE, params);
  },
  run(context, params) {
    return trainOnPoints(context, params, {
      functionType: 'tsne.embedRow',
      noRows: 't-sne training requires at least 1 datapoint. Did the query select any rows?',
      fit: (learning, { points }) => ({ ...fitTsne(learning, points, params), points }),
      toJson({ positions, points }, columnNames) {
        const columns = pointColumns(workspaceOf(context.arenas), points);
        const { rowCount } = points;
        return layoutToJson(
          'tsne.embedRow',
          {
            ...{ columnNames, positions, dimension: params.numOutputDimensions },
            points: pointsByRow(columns, rowCount),
          },
          { perplexity: usedPerplexity(params.perplexity, rowCount) },
        );
      },
      record({ positions }, rows) {
        recordLayout(context, params.rowOutputDataset, rows, positions, NOT_A_DATE);
      },
      iterations: ({ costs }) => costs.map(({ iteration, cost }) => ({ iteration, loss: cost })),
    });
  },
});
