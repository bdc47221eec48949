import { Type } from 'typebox';
import { nearestOf } from '../../learn/cluster/nearest.ts';
import { kmeansFormula } from '../../learn/formula/point-formulas.ts';
import { type KmeansModel, kmeansFromJson } from '../../learn/model/points-model.ts';
import { atomType } from '../../plan/type/type.ts';
import { url } from '../../schema/declare.ts';
import { Row, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType, pointInputType, pointReader } from './point-input.ts';

/** The cluster of a point, as kmeans.train found them. */
export const kmeans = functionType({
  name: 'kmeans',
  summary: 'Tells the cluster whose centroid is nearest to a point.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that kmeans.train saved' }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    return { ...(await loadModel(modelFileUrl, context, kmeansFromJson)), spans: [] };
  },
  compile(_params, _scope, artifact) {
    const { columnNames, centroids, metric } = artifact as KmeansModel;
    const read = pointReader('embedding', columnNames);
    const nearest = nearestOf(centroids, metric);
    return {
      input: [pointInputType('embedding', columnNames)],
      output: outputRowType('cluster', atomType('integer')),
      takesAnyValue: false,
      features: { member: 'embedding', names: columnNames },
      formula: () => kmeansFormula(artifact as KmeansModel),
      isLight: true,
      apply(input) {
        const { point, ts } = read(input);
        return new Row(['cluster'], [new Scalar(nearest(point), ts)]);
      },
    };
  },
});
