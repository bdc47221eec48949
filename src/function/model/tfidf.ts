import { Type } from 'typebox';
import {
  type DocumentFrequencies,
  frequenciesFromJson,
  IDF_TYPES,
  TF_TYPES,
  weighTerms,
} from '../../learn/tfidf.ts';
import { choice, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Path } from '../../value/path.ts';
import { flatten, Row, RowBuilder, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType } from './point-input.ts';

/** Weights of the terms of a document. */
export const tfidf = functionType({
  name: 'tfidf',
  summary: 'Weighs the terms of a document by how often it has them and how rare they are.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that tfidf.train saved' }),
    tfType: choice(TF_TYPES, {
      description: 'weight of the count f of a term: f, ln(1 + f), or 0.5 + 0.5 f / largest count',
      default: 'raw',
    }),
    idfType: choice(IDF_TYPES, {
      description:
        'weight of rarity, of N documents n with the term: ln(1 + N/(1+n)), 1, ln(N/(1+n)), ln(1 + largest n/(1+n)), ln((N-n)/(1+n))',
      default: 'inverseSmooth',
    }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    return { ...(await loadModel(modelFileUrl, context, frequenciesFromJson)), spans: [] };
  },
  compile({ tfType, idfType }, _scope, artifact) {
    const model = artifact as DocumentFrequencies;
    const row = { kind: 'row', members: [], open: true } as const;
    return {
      input: [{ kind: 'row', members: [{ name: 'input', type: row }], open: false }],
      output: outputRowType('output', row),
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const member = input instanceof Row ? input.values[input.indexOf('input')] : undefined;
        const paths: Path[] = [];
        const counts: number[] = [];
        const times: number[] = [];
        if (member !== undefined) {
          flatten(member, [], (path, atom, ts) => {
            if (atom === null) return;
            if (typeof atom !== 'number') {
              throw failure(
                'INVALID_PARAMETER',
                `the count of term '${path}' is not a number; 'input' is a row of terms and counts`,
              );
            }
            paths.push(path);
            counts.push(atom);
            times.push(ts);
          });
        }
        const terms = paths.map((path) => path.toString());
        const weights = weighTerms(model, terms, counts, tfType, idfType);
        const builder = new RowBuilder();
        for (const [index, path] of paths.entries()) {
          builder.addPath(path, new Scalar(weights[index] as number, times[index] as number));
        }
        return new Row(['output'], [builder.build()]);
      },
    };
  },
});
