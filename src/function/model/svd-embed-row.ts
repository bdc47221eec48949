import { Type } from 'typebox';
import { rowEmbedder, type SvdModel, svdFromJson } from '../../learn/svd/model.ts';
import { url } from '../../schema/declare.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { Embedding, flatten, Row } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType } from './point-input.ts';

/** The embedding of a row in the directions that svd.train found. */
export const svdEmbedRow = functionType({
  name: 'svd.embedRow',
  summary: 'Embeds a row in the directions that svd.train found.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that svd.train saved' }),
    maxSingularValues: Type.Integer({
      description: 'dimensions that are kept, from the first; -1: all',
      minimum: -1,
      default: -1,
    }),
    acceptUnknownValues: Type.Boolean({
      description: 'ignore values that training never saw, instead of refusing them',
      default: false,
    }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    return { ...(await loadModel(modelFileUrl, context, svdFromJson)), spans: [] };
  },
  compile({ maxSingularValues, acceptUnknownValues }, _scope, artifact) {
    const model = artifact as SvdModel;
    const names = [...new Set(model.columns.map(({ columnName }) => columnName))];
    const most = maxSingularValues;
    const all = model.singularValues.length;
    const width = most < 0 ? all : Math.min(all, most);
    const acceptsUnknown = acceptUnknownValues;
    const embedder = rowEmbedder(model, { width, acceptsUnknown });
    const row = { kind: 'row', members: [], open: true } as const;
    return {
      input: [{ kind: 'row', members: [{ name: 'row', type: row }], open: false }],
      output: outputRowType('embedding', { kind: 'embedding', shape: [width], element: 'number' }),
      takesAnyValue: false,
      features: { member: 'row', names },
      isLight: true,
      apply(input) {
        let ts = MINUS_INFINITY;
        const member = input instanceof Row ? input.values[input.indexOf('row')] : undefined;
        try {
          if (member !== undefined) {
            flatten(member, [], (path, atom, cellTs) => {
              embedder.add(path.toString(), atom);
              if (atom !== null) ts = laterOf(ts, cellTs);
            });
          }
        } catch (thrown) {
          embedder.take();
          throw thrown;
        }
        const embedding = new Embedding([width], Array.from(embedder.take()), ts);
        return new Row(['embedding'], [embedding]);
      },
    };
  },
});
