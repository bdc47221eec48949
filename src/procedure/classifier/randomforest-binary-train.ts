import { type Static, Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { buildMatrix } from '../../learn/feature/matrix.ts';
import type { SourceColumn } from '../../learn/feature/source.ts';
import { fitForest } from '../../learn/forest/forest.ts';
import { FOREST_OPTIONS } from '../../learn/forest/options.ts';
import type { ClassifierModel } from '../../learn/model/classifier.ts';
import { classifierToJson } from '../../learn/model/classifier-json.ts';
import { inputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { fitContext } from '../training/fit-context.ts';
import { makeModelCard, trainingOptions } from '../training/model-card.ts';
import { withModelFile } from '../training/model-file.ts';
import { readingOf } from '../training/sampled-query.ts';
import { readTrainingData, type TrainingData, twoClasses } from '../training/training-data.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import {
  checkModelUrl,
  functionName,
  modelFileUrl,
  randomSeed,
  redactFeatureStats,
} from './model-parameter.ts';

const TYPE = 'randomforest.binary.train';

const PARAMETERS = Type.Object({
  trainingData: inputQuery({
    description: 'selects a row named features, a label read by its truth, and perhaps a weight',
  }),
  modelFileUrl,
  ...FOREST_OPTIONS,
  functionName,
  verbosity: Type.Boolean({ description: 'log every tree', default: false }),
  redactFeatureStats,
  randomSeed,
  ...runOnCreation,
});

type RandomForestParams = Static<typeof PARAMETERS>;

/** Trains a random forest for two classes. */
export const randomForestBinaryTrain = workerProcedure({
  name: TYPE,
  summary: 'Trains a random forest that tells two classes apart.',
  parameters: PARAMETERS,
  check(params) {
    checkModelUrl(TYPE, params);
    checkTrainingQuery(params.trainingData, {
      type: TYPE,
      shape: 'features and label',
      plain: true,
    });
  },
  async run(context, options) {
    const steps = context.steps([
      { name: 'extracting features', type: 'percentile' },
      { name: 'training', type: 'percentile' },
      { name: 'saving model', type: 'percentile' },
    ]);
    const facts = await withModelFile(context.files, options.modelFileUrl, async (file) => {
      steps.next();
      const data = readTrainingData(context, options.trainingData, 'truth', {
        skipsWeightless: true,
        sampleSeed: options.randomSeed,
      });
      data.features.forEach(refuseMixed);
      steps.next();
      const { model, free } = trainForest(context, data, options, (share) => steps.update(share));
      if (options.verbosity) logTrees(context, data, model);
      steps.next();
      try {
        const card = forestCard(context, data, options);
        await file.save(classifierToJson(workspaceOf(context.arenas), model), card);
        return { modelCard: card, ...readingOf(data) };
      } finally {
        free();
      }
    });
    steps.finish();
    if (options.functionName !== '') {
      const { modelFileUrl: url } = options;
      context.outputFunction({
        id: options.functionName,
        type: 'classifier',
        params: { modelFileUrl: url },
      });
    }
    return { details: { randomSeed: options.randomSeed, ...facts } };
  },
});

function trainForest(
  context: ProcedureContext,
  data: TrainingData,
  options: RandomForestParams,
  onProgress: (share: number) => void,
): { readonly model: ClassifierModel; free(): void } {
  const labels = twoClasses(data);
  const learning = fitContext(context, onProgress);
  const { workspace } = learning;
  const weights = data.weights === undefined ? {} : { weights: data.weights };
  context.checkCancelled();
  const targets = { rowCount: data.rowCount, targets: Float64Array.from(labels), ...weights };
  const coding = { coding: 'rank', arena: 0 } as const;
  const matrix = buildMatrix(workspace, data.features, targets, coding, context);
  try {
    const ensemble = fitForest(learning, { matrix, labels, ...weights }, options);
    return {
      model: {
        mode: 'boolean',
        labels: [],
        features: matrix.features,
        algorithm: { type: 'random_forest', ensemble },
      },
      free: () => {
        for (const { span } of ensemble.trees) context.arenas.free(span);
      },
    };
  } finally {
    context.arenas.free(matrix.span);
  }
}

function forestCard(context: ProcedureContext, data: TrainingData, params: RandomForestParams) {
  const { trainingData, randomSeed: seed, redactFeatureStats: redacts } = params;
  const totals = [0, 0];
  for (const [row, label] of twoClasses(data).entries()) {
    totals[label] = (totals[label] as number) + (data.weights?.[row] ?? 1);
  }
  return makeModelCard(context, {
    kind: 'classifier',
    mode: 'boolean',
    algorithm: 'randomforest',
    configuration: trainingOptions(params),
    trainingQuery: trainingData,
    rows: { used: data.rowCount, skippedNullLabel: data.unlabelledCount },
    labelDistribution: totals.map((total, label) => [label, total] as const),
    features: data.features,
    redactFeatureStats: redacts,
    randomSeed: seed,
  });
}

function logTrees(
  context: ProcedureContext,
  { rowCount, features }: TrainingData,
  { algorithm }: ClassifierModel,
): void {
  if (algorithm.type !== 'random_forest') return;
  const { trees } = algorithm.ensemble;
  context.log(`trained ${trees.length} trees on ${rowCount} rows of ${features.length} columns`);
  for (const [index, { nodeCount, depth }] of trees.entries()) {
    context.log(`tree ${index}: ${nodeCount} nodes, ${depth} levels`);
  }
}

/** A column of both strings and numbers is taken for a mistake. */
function refuseMixed(source: SourceColumn): void {
  if (source.kind !== 'codes') return;
  const hasText = source.entries.some((entry) => typeof entry === 'string');
  const hasNumber = source.entries.some((entry) => typeof entry === 'number');
  if (!hasText || !hasNumber) return;
  throw failure(
    'DATA_ERROR',
    `This classifier can't train on column ${source.name} which has both string  and numeric values. Consider using CAST (${source.name} AS STRING) or CAST (${source.name} AS NUMBER)`,
  );
}
