import { Type } from 'typebox';
import { SVM_KERNELS } from '../../learn/svm/kernel.ts';
import { svmToJson } from '../../learn/svm/model.ts';
import { fitSvm, SVM_TYPES } from '../../learn/svm/svm.ts';
import { choice, inputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { runOnCreation } from '../parameter.ts';
import { readPoints } from '../points/point-rows.ts';
import { workerProcedure } from '../procedure-type.ts';
import { fitContext } from '../training/fit-context.ts';
import { makeModelCard, pointFeatures, trainingOptions } from '../training/model-card.ts';
import { withModelFile } from '../training/model-file.ts';
import { readingOf } from '../training/sampled-query.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';
import {
  checkModelUrl,
  functionName,
  modelFileUrl,
  redactFeatureStats,
} from './model-parameter.ts';

/** Nothing else is drawn, so that there is no parameter for it. */
const SAMPLE_SEED = 1;

const TYPE = 'svm.train';
const LABEL = 'label';

const flag = (description: string, value: 0 | 1) =>
  Type.Union([Type.Boolean(), Type.Literal(0), Type.Literal(1)], { description, default: value });

const OPTIONS = {
  kernel: Type.Unsafe<(typeof SVM_KERNELS)[number] | number>({
    description: `${SVM_KERNELS.join(', ')}, or its number from 0`,
    enum: [...SVM_KERNELS, ...SVM_KERNELS.keys()],
    default: 'rbf',
  }),
  degree: Type.Integer({ description: 'of poly', minimum: 0, default: 3 }),
  gamma: Type.Number({
    description: 'of poly, rbf and sigmoid; 0: 1 / number of coordinates',
    minimum: 0,
    default: 0,
  }),
  coef0: Type.Number({ description: 'of poly and sigmoid', default: 0 }),
  C: Type.Number({
    description: 'cost of classification and regressions',
    exclusiveMinimum: 0,
    default: 1,
  }),
  nu: Type.Number({
    description: 'share of support vectors of nu types and one class',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 0.5,
  }),
  p: Type.Number({ description: 'width of the tube of regression', minimum: 0, default: 0.1 }),
  eps: Type.Number({ description: 'when to stop', exclusiveMinimum: 0, default: 1e-3 }),
  shrinking: flag('leave variables out that stay at a bound', 1),
  probability: flag('accepted as 0 alone: there are no probabilities', 0),
};

const OPTION_DEFAULTS = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, schema]) => [name, Reflect.get(schema, 'default')]),
);

/** Trains a support vector machine. */
export const svmTrain = workerProcedure({
  name: TYPE,
  summary: 'Trains a support vector machine for classes, for numbers, or for one class.',
  parameters: Type.Object({
    trainingData: inputQuery({
      description: 'selects points with a numeric column named label; all columns numbers',
    }),
    modelFileUrl,
    functionName,
    redactFeatureStats,
    svmType: choice(SVM_TYPES, { description: 'what is trained', default: 'classification' }),
    configuration: Type.Object(OPTIONS, {
      description: 'options of the machine',
      default: OPTION_DEFAULTS,
    }),
    ...runOnCreation,
  }),
  check(params) {
    checkModelUrl(TYPE, params);
    checkTrainingQuery(params.trainingData, { type: TYPE, shape: 'any' });
    if (Number(params.configuration.probability) === 1) {
      throw failure(
        'INVALID_PARAMETER',
        'configuration.probability 1 is not available; train a probabilizer on the scores instead',
      );
    }
  },
  async run(context, params) {
    const steps = context.steps(TRAINING_STEPS);
    const { configuration, svmType } = params;
    const { kernel, shrinking } = configuration;
    const facts = await withModelFile(context.files, params.modelFileUrl, async (file) => {
      steps.next();
      const rows = readPoints(context, params.trainingData, {
        target: LABEL,
        sampleSeed: SAMPLE_SEED,
        noRows: 'SVM training requires at least 1 datapoint. Did the query select any rows?',
      });
      try {
        steps.next();
        const learning = fitContext(context, (share) => steps.update(share));
        const model = fitSvm(learning, rows.points, rows.targets ?? new Float64Array(), {
          ...configuration,
          kernel: typeof kernel === 'number' ? (SVM_KERNELS[kernel] ?? 'rbf') : kernel,
          shrinking: Boolean(shrinking),
          svmType,
        });
        steps.next();
        const card = makeModelCard(context, {
          kind: 'svm',
          algorithm: 'svm',
          configuration: trainingOptions(params),
          trainingQuery: params.trainingData,
          rows: { used: rows.points.rowCount },
          features: pointFeatures(context, rows.points, rows.columnNames),
          redactFeatureStats: params.redactFeatureStats,
          randomSeed: null,
        });
        await file.save(svmToJson(model, rows.columnNames), card);
        return { modelCard: card, ...readingOf(rows) };
      } finally {
        context.arenas.free(rows.points.span);
      }
    });
    steps.finish();
    if (params.functionName !== '') {
      context.outputFunction({
        id: params.functionName,
        type: 'svm',
        params: { modelFileUrl: params.modelFileUrl },
      });
    }
    return { details: facts };
  },
});
