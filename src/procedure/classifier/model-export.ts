import { Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { loadClassifier } from '../../function/model/classifier.ts';
import { exportOnnx, OPSET_MAX, OPSET_MIN } from '../../learn/onnx/export.ts';
import { choice, url } from '../../schema/declare.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';

/** Writes a classifier for other programs. */
export const modelExport = workerProcedure({
  name: 'model.export',
  summary: 'Writes a trained classifier as an ONNX file, which other programs score with.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that a training procedure saved' }),
    format: choice(['onnx'], { description: 'form of the file', default: 'onnx' }),
    outputFileUrl: url({ description: 'the file to write' }),
    opset: Type.Integer({
      description: 'version of the operators',
      minimum: OPSET_MIN,
      maximum: OPSET_MAX,
      default: 17,
    }),
    ...runOnCreation,
  }),
  async run(context, { modelFileUrl, outputFileUrl, opset }) {
    const steps = context.steps([
      { name: 'loading model', type: 'percentile' },
      { name: 'saving model', type: 'percentile' },
    ]);
    steps.next();
    const { data, spans } = await loadClassifier(modelFileUrl, context);
    try {
      const bytes = exportOnnx(workspaceOf(context.arenas), data, opset);
      context.checkCancelled();
      steps.next();
      const sink = await context.files.create(outputFileUrl);
      try {
        await sink.write(bytes);
        await sink.commit();
      } catch (thrown) {
        await sink.abort();
        throw thrown;
      }
      steps.finish();
      return { result: { format: 'onnx', opset, bytes: bytes.length } };
    } finally {
      for (const span of spans) context.arenas.free(span);
    }
  },
});
