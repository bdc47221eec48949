import { Type } from 'typebox';
import {
  type ProbabilizerModel,
  probabilityOf,
  probabilizerFromJson,
} from '../../learn/model/probabilizer-json.ts';
import { atomType } from '../../plan/type/type.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Row, Scalar, type Value } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType } from './point-input.ts';

/** Turns scores into probabilities, as probabilizer.train learned it. */
export const probabilizer = functionType({
  name: 'probabilizer',
  summary: 'Turns the score of a classifier into a probability.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that probabilizer.train saved' }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    return { ...(await loadModel(modelFileUrl, context, probabilizerFromJson)), spans: [] };
  },
  compile(_params, _scope, artifact) {
    const model = artifact as ProbabilizerModel;
    return {
      input: [outputRowType('score', atomType('number'))],
      output: outputRowType('prob', atomType('number')),
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const { number, ts } = readScore(input);
        const prob = number === null ? null : probabilityOf(model, number);
        return new Row(['prob'], [new Scalar(prob, ts)]);
      },
    };
  },
});

function readScore(input: Value): { readonly number: number | null; readonly ts: number } {
  const value = input instanceof Row ? input.values[input.indexOf('score')] : undefined;
  if (!(value instanceof Scalar)) throw failure('DATA_ERROR', 'a score is needed, a number');
  const { atom, ts } = value;
  if (atom === null) return { number: null, ts };
  const number = typeof atom === 'bigint' ? Number(atom) : atom;
  if (typeof number === 'number') return { number, ts };
  throw failure('DATA_ERROR', `the score must be a number, not ${atomToJsonText(atom)}`);
}
