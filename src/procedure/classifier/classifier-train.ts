import { type Static, Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { collectBytes } from '../../file/byte-stream.ts';
import { type ConfigurationEntry, resolveEntry } from '../../learn/configuration.ts';
import { MODES, type Mode } from '../../learn/label.ts';
import type { Recipe } from '../../learn/learner.ts';
import { readRecipe, recipeDocument } from '../../learn/learners.ts';
import { classifierToJson } from '../../learn/model/classifier-json.ts';
import { choice, inputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { JsonSyntaxError, parseJson } from '../../util/exact-json.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { makeModelCard } from '../training/model-card.ts';
import { withModelFile } from '../training/model-file.ts';
import { bySumsOrRows } from '../training/query-sums.ts';
import { type LabelForm, readTrainingData } from '../training/training-data.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { BUNDLED_CONFIGURATIONS } from './bundled-configuration.ts';
import { learnerParameters } from './learner-parameter.ts';
import {
  checkModelUrl,
  functionName,
  modelFileUrl,
  randomSeed,
  redactFeatureStats,
} from './model-parameter.ts';
import { summedClassifierRows, type TrainedOnRows, trainBySums } from './train-by-sums.ts';
import { MULTILABEL_STRATEGIES, type TrainingOrder, trainClassifier } from './train-classifier.ts';

const TYPE = 'classifier.train';

const PARAMETERS = Type.Object({
  trainingData: inputQuery({
    description: 'selects a row named features, a label, and perhaps a weight',
  }),
  mode: choice(MODES, {
    description: 'what the label is: a truth value, a number, one of several values, or a set',
    default: 'boolean',
  }),
  multilabelStrategy: choice(MULTILABEL_STRATEGIES, {
    description: 'how rows of several labels are trained on, in mode multilabel',
    default: 'one-vs-all',
  }),
  ...learnerParameters,
  equalizationFactor: Type.Number({
    description: '0: rows weigh as given; 1: every class has the same total',
    default: 0.5,
  }),
  modelFileUrl,
  functionName,
  redactFeatureStats,
  randomSeed,
  ...runOnCreation,
});

type ClassifierTrainParams = Static<typeof PARAMETERS>;

/** Trains a classifier with an algorithm that a configuration names. */
export const classifierTrain = workerProcedure({
  name: TYPE,
  summary: 'Trains a classifier or a regressor with a configurable algorithm.',
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
    const entry = resolveEntry(await readConfiguration(context, options), options.algorithm);
    const { unknownKeys, iterations, modelCard, reading } = await withModelFile(
      context.files,
      options.modelFileUrl,
      async (file) => {
        const order = readOrder(entry, options);
        const { recipe } = order;
        const tookTime = stopwatch(context, recipe);
        steps.next();
        const { made, reading } = bySumsOrRows<TrainedOnRows>(
          context,
          () => summedClassifierRows(context, options.trainingData),
          (sums) => trainBySums(context, sums, options.trainingData, order, steps),
          () => {
            const data = readTrainingData(context, options.trainingData, LABEL_FORM[options.mode], {
              sampleSeed: options.randomSeed,
            });
            tookTime('extracting features');
            if (recipe.options.verbosity >= VERBOSITY_OF_COUNTS) {
              const counts = `${data.rowCount} rows of ${data.features.length} columns`;
              context.log(`training ${recipe.learner.type} on ${counts}`);
            }
            steps.next();
            const trained = trainClassifier(context, data, order, (share) => steps.update(share));
            return { data, trained, sample: data.sample };
          },
        );
        const { data, trained } = made;
        try {
          tookTime('training');
          steps.next();
          const card = makeModelCard(context, {
            kind: 'classifier',
            mode: options.mode,
            algorithm: recipe.learner.type,
            configuration: recipeDocument(recipe),
            trainingQuery: options.trainingData,
            rows: { used: data.rowCount, skippedNullLabel: data.unlabelledCount },
            labelDistribution: trained.labelWeights,
            features: data.features,
            redactFeatureStats: options.redactFeatureStats,
            randomSeed: options.randomSeed,
          });
          await file.save(classifierToJson(workspaceOf(context.arenas), trained.model), card);
          tookTime('saving model');
          return {
            unknownKeys: order.unknownKeys,
            iterations: trained.iterations,
            modelCard: card,
            reading,
          };
        } finally {
          trained.free();
        }
      },
    );
    steps.finish();
    if (options.functionName !== '') {
      context.outputFunction({
        id: options.functionName,
        type: 'classifier',
        params: { modelFileUrl: options.modelFileUrl },
      });
    }
    return {
      details: {
        randomSeed: options.randomSeed,
        ...(unknownKeys.length === 0 ? {} : { unknownKeys }),
        ...(iterations.length === 0 ? {} : { iterations }),
        modelCard,
        ...(reading === undefined ? {} : { reading }),
      },
    };
  },
});

/** The `verbosity` of learners that tells what is learned from. */
const VERBOSITY_OF_COUNTS = 3;

/** With `profile`, logs how long the work since the last call took. */
function stopwatch(context: ProcedureContext, { options }: Recipe): (work: string) => void {
  if (!options.profile) return () => undefined;
  let started = performance.now();
  return (work) => {
    const now = performance.now();
    context.log(`${work} took ${Math.round(now - started)} ms`);
    started = now;
  };
}

const LABEL_FORM: Readonly<Record<Mode, LabelForm>> = {
  boolean: 'truth',
  regression: 'number',
  categorical: 'atom',
  multilabel: 'set',
};

/** @throws DATA_ERROR when the file is not JSON, and what opening it throws */
async function readConfiguration(
  context: ProcedureContext,
  { configuration, configurationFile }: ClassifierTrainParams,
): Promise<unknown> {
  if (configuration !== undefined && configuration !== null) return configuration;
  if (configurationFile === undefined) return BUNDLED_CONFIGURATIONS;
  const file = await context.files.open(configurationFile);
  const text = new TextDecoder().decode(await collectBytes(file.stream()));
  try {
    return parseJson(text);
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown;
    throw failure('DATA_ERROR', `configuration file ${configurationFile}: ${thrown.message}`, {
      file: configurationFile,
      line: thrown.line,
      column: thrown.column,
    });
  }
}

/** @throws INVALID_PARAMETER for unknown types and options, and a mode that the learner lacks */
function readOrder(entry: ConfigurationEntry, params: ClassifierTrainParams): TrainingOrder {
  const { mode, multilabelStrategy, equalizationFactor, randomSeed: seed } = params;
  const isOneVsAll = entry.type === 'onevsall';
  const inner = mode !== 'multilabel' || isOneVsAll ? mode : STRATEGY_MODES[multilabelStrategy];
  const { recipe, unknownKeys } = readRecipe(entry, inner);
  return { recipe, unknownKeys, mode, strategy: multilabelStrategy, equalizationFactor, seed };
}

/** What a learner sees of rows with several labels. */
const STRATEGY_MODES = {
  random: 'categorical',
  decompose: 'categorical',
  'one-vs-all': 'boolean',
} as const;
