import { Type } from 'typebox';
import { svmFromJson } from '../../learn/svm/model.ts';
import { predictSvm } from '../../learn/svm/svm.ts';
import { atomType } from '../../plan/type/type.ts';
import { url } from '../../schema/declare.ts';
import { Row, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType, pointInputType, pointReader } from './point-input.ts';

/** Kernel values up to which a call stays on the thread that asks. */
const LIGHT_VECTOR_COUNT_MAX = 1000;

/** What a support vector machine says of a point. */
export const svm = functionType({
  name: 'svm',
  summary: 'Gives the class, the number, or +1 or -1 of one class, that svm.train learned.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that svm.train saved' }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    return { ...(await loadModel(modelFileUrl, context, svmFromJson)), spans: [] };
  },
  compile(_params, _scope, artifact) {
    const { model, columnNames } = artifact as ReturnType<typeof svmFromJson>;
    const read = pointReader('embedding', columnNames);
    const vectorCount = model.decisions.reduce((sum, { vectors }) => sum + vectors.length, 0);
    return {
      input: [pointInputType('embedding', columnNames)],
      output: outputRowType('output', atomType('number')),
      takesAnyValue: false,
      features: { member: 'embedding', names: columnNames },
      isLight: vectorCount <= LIGHT_VECTOR_COUNT_MAX,
      apply(input) {
        const { point, ts } = read(input);
        return new Row(['output'], [new Scalar(predictSvm(model, point), ts)]);
      },
    };
  },
});
