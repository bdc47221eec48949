import { type Static, Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { collectBytes } from '../../file/byte-stream.ts';
import { modelEnsembles } from '../../learn/model/classifier.ts';
import { classifierToJson } from '../../learn/model/classifier-json.ts';
import { MODEL_FORMAT } from '../../learn/model/container.ts';
import { IMPORT_MODES, importOnnx } from '../../learn/onnx/import.ts';
import { decodeOnnx } from '../../learn/onnx/model.ts';
import { spansOf } from '../../learn/tree/ensemble.ts';
import { choice, url } from '../../schema/declare.ts';
import { failure, RowanError } from '../../util/error.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { makeImportCard } from '../training/model-card.ts';
import { withModelFile } from '../training/model-file.ts';
import { checkModelUrl, functionName, modelFileUrl } from './model-parameter.ts';

const TYPE = 'model.import';

const PARAMETERS = Type.Object({
  inputFileUrl: url({ description: 'the ONNX file to read' }),
  format: choice(['onnx'], { description: 'form of the file', default: 'onnx' }),
  mode: Type.Optional(
    choice(IMPORT_MODES, {
      description:
        'what the scores are; absent: boolean for classes 0 and 1, categorical for other classes, else regression',
    }),
  ),
  featureNames: Type.Array(Type.String({ minLength: 1 }), {
    description:
      "names of the columns of the model's inputs, in their order; empty: the name of an input of one column, else name and position, as in x.0",
    default: [],
  }),
  modelFileUrl,
  functionName,
  ...runOnCreation,
});

/** Makes a classifier of another program's model. */
export const modelImport = workerProcedure({
  name: TYPE,
  summary: 'Makes a classifier of an ONNX file: tree ensembles and linear models.',
  parameters: PARAMETERS,
  check: (params) => checkModelUrl(TYPE, params),
  async run(context, options) {
    const steps = context.steps([
      { name: 'loading model', type: 'percentile' },
      { name: 'saving model', type: 'percentile' },
    ]);
    const modelCard = await withModelFile(context.files, options.modelFileUrl, async (file) => {
      steps.next();
      const workspace = workspaceOf(context.arenas);
      const model = await readModel(context, options);
      try {
        steps.next();
        const card = makeImportCard(context, {
          mode: model.mode,
          algorithm: model.algorithm.type,
          source: options.inputFileUrl,
          features: model.features.map(({ kind, name }) => ({
            name,
            type: kind === 'categorical' ? 'category' : 'number',
          })),
        });
        await file.save(classifierToJson(workspace, model), card);
        return card;
      } finally {
        for (const span of modelEnsembles(model.algorithm).flatMap(spansOf)) {
          context.arenas.free(span);
        }
      }
    });
    steps.finish();
    if (options.functionName !== '') {
      context.outputFunction({
        id: options.functionName,
        type: 'classifier',
        params: { modelFileUrl: options.modelFileUrl },
      });
    }
    return { details: { modelCard } };
  },
});

/** @throws DATA_ERROR naming the file when it is none, or its model cannot be told */
async function readModel(
  context: ProcedureContext,
  { featureNames, inputFileUrl, mode }: Static<typeof PARAMETERS>,
) {
  const file = await context.files.open(inputFileUrl);
  const bytes = await collectBytes(file.stream());
  context.checkCancelled();
  const head = Buffer.from(bytes.subarray(0, HEAD_SIZE)).toString('latin1');
  if (head.startsWith('{') && head.includes(MODEL_FORMAT)) {
    throw failure(
      'DATA_ERROR',
      `${inputFileUrl} is a model file of Rowan, not ONNX; a function takes it as its modelFileUrl as it is`,
      { url: inputFileUrl },
    );
  }
  try {
    const options = { featureNames, mode };
    return importOnnx(workspaceOf(context.arenas), decodeOnnx(bytes), options, 0, context);
  } catch (thrown) {
    if (!(thrown instanceof RowanError) || thrown.code !== 'DATA_ERROR') throw thrown;
    const message = `cannot import the ONNX file ${inputFileUrl}: ${thrown.message}`;
    throw failure('DATA_ERROR', message, { ...thrown.details, url: inputFileUrl });
  }
}

/** Bytes that tell model files of Rowan. */
const HEAD_SIZE = 64;
