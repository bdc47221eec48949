import { Type } from 'typebox';
import { densityOf, logDensity } from '../../learn/cluster/gaussian.ts';
import { type GaussianModel, gaussiansFromJson } from '../../learn/model/points-model.ts';
import { atomType } from '../../plan/type/type.ts';
import { url } from '../../schema/declare.ts';
import { Row, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType, pointInputType, pointReader } from './point-input.ts';

/** The most probable cluster of a point, as gaussianclustering.train found them. */
export const gaussianClustering = functionType({
  name: 'gaussianclustering',
  aliases: ['em'],
  summary: 'Tells the cluster whose normal distribution is densest at a point.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that gaussianclustering.train saved' }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    return { ...(await loadModel(modelFileUrl, context, gaussiansFromJson)), spans: [] };
  },
  compile(_params, _scope, artifact) {
    const { columnNames, clusters } = artifact as GaussianModel;
    const read = pointReader('embedding', columnNames);
    const densities = clusters.map(densityOf);
    return {
      input: [pointInputType('embedding', columnNames)],
      output: outputRowType('cluster', atomType('integer')),
      takesAnyValue: false,
      features: { member: 'embedding', names: columnNames },
      isLight: true,
      apply(input) {
        const { point, ts } = read(input);
        let cluster = 0;
        let largest = Number.NEGATIVE_INFINITY;
        for (const [index, density] of densities.entries()) {
          const value = logDensity(density, point);
          if (value > largest) {
            largest = value;
            cluster = index;
          }
        }
        return new Row(['cluster'], [new Scalar(cluster, ts)]);
      },
    };
  },
});
