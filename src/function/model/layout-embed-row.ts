// Functions that place a row in a layout that a training made.
import { Type } from 'typebox';
import { type LayoutModel, layoutFromJson } from '../../learn/layout/model.ts';
import { embedInTsne } from '../../learn/layout/tsne-embed.ts';
import { embedInUmap, type UmapEmbedOptions } from '../../learn/layout/umap-embed.ts';
import { type JsonObject, readChoice, readNumber } from '../../learn/model/container.ts';
import { url } from '../../schema/declare.ts';
import { Embedding, Row } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType, pointInputType, pointReader } from './point-input.ts';

interface LayoutFunction<Options> {
  readonly name: string;
  readonly summary: string;
  /** the procedure that saves its model files */
  readonly procedure: string;
  /** what the model file says beside the layout */
  readOptions(file: JsonObject): Options;
  place(model: LayoutModel, options: Options, point: Float64Array): Float64Array;
}

function layoutFunction<Options>(declaration: LayoutFunction<Options>) {
  const { name, summary, procedure, readOptions, place } = declaration;
  return functionType({
    name,
    summary,
    parameters: Type.Object({
      modelFileUrl: url({ description: `the model file that ${procedure} saved` }),
    }),
    binding: () => 'creation',
    async load({ modelFileUrl }, context) {
      const loaded = await loadModel(modelFileUrl, context, (json) => {
        const { model, file } = layoutFromJson(name, json);
        return { model, options: readOptions(file) };
      });
      return { ...loaded, spans: [] };
    },
    compile(_params, _scope, artifact) {
      const { model, options } = artifact as { model: LayoutModel; options: Options };
      const { columnNames, dimension } = model;
      const read = pointReader('embedding', columnNames);
      return {
        input: [pointInputType('embedding', columnNames)],
        output: outputRowType('embedding', {
          ...{ kind: 'embedding', shape: [dimension], element: 'number' },
        }),
        takesAnyValue: false,
        features: { member: 'embedding', names: columnNames },
        // Every training point is looked at.
        isLight: false,
        apply(input) {
          const { point, ts } = read(input);
          const position = Array.from(place(model, options, point));
          return new Row(['embedding'], [new Embedding([dimension], position, ts)]);
        },
      };
    },
  });
}

/** Where a row belongs in a layout of tsne.train. */
export const tsneEmbedRow = layoutFunction({
  name: 'tsne.embedRow',
  summary: 'Places a row in the layout that tsne.train made.',
  procedure: 'tsne.train',
  readOptions: (file) => ({ perplexity: readNumber(file.perplexity, 'perplexity', 0) }),
  place: (model, { perplexity }, point) => embedInTsne(model, perplexity, point),
});

/** Where a row belongs in a layout of umap.train. */
export const umapEmbedRow = layoutFunction({
  name: 'umap.embedRow',
  summary: 'Places a row in the layout that umap.train made.',
  procedure: 'umap.train',
  readOptions: (file): UmapEmbedOptions => ({
    a: readNumber(file.a, 'a', 0),
    b: readNumber(file.b, 'b', 0),
    numNeighbors: readNumber(file.numNeighbors, 'numNeighbors', 1),
    negativeSampleRate: readNumber(file.negativeSampleRate, 'negativeSampleRate', 0),
    learningRate: readNumber(file.learningRate, 'learningRate', 0),
    isCosine: readChoice(file.isCosine, 'isCosine', [true, false]),
    meanDistance: readNumber(file.meanDistance, 'meanDistance', 0),
  }),
  place: embedInUmap,
});
