import { type Static, Type } from 'typebox';
import { collectBytes } from '../file/byte-stream.ts';
import { type ConfigurationEntry, readOptions, resolveEntry } from '../learn/configuration.ts';
import { buildMatrix } from '../learn/feature/matrix.ts';
import { labelList, labelPositions, MODES, type Mode } from '../learn/label.ts';
import type { Learner, OptionValues, Target } from '../learn/learner.ts';
import { findLearner } from '../learn/learners.ts';
import type { ClassifierModel } from '../learn/model/classifier.ts';
import { classifierToJson } from '../learn/model/classifier-json.ts';
import { equalizedWeights, normalized } from '../learn/weight.ts';
import { choice, inputQuery, url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { every } from '../util/every.ts';
import { JsonSyntaxError, parseJson } from '../util/exact-json.ts';
import { atomToJsonText } from '../value/json.ts';
import { BUNDLED_CONFIGURATIONS } from './bundled-configuration.ts';
import { fitContext, workspaceOf } from './fit-context.ts';
import { withModelFile } from './model-file.ts';
import { checkModelUrl, functionName, modelFileUrl, randomSeed } from './model-parameter.ts';
import { runOnCreation } from './parameter.ts';
import { type ProcedureContext, workerProcedure } from './procedure-type.ts';
import {
  type LabelForm,
  readTrainingData,
  type TrainingData,
  twoClasses,
} from './training-data.ts';
import { checkTrainingQuery } from './training-query.ts';

const TYPE = 'classifier.train';

const PARAMETERS = Type.Object({
  trainingData: inputQuery({
    description: 'selects a row named features, a label, and perhaps a weight',
  }),
  mode: choice(MODES, {
    description: 'what the label is: a truth value, a number, one of several values, or a set',
    default: 'boolean',
  }),
  multilabelStrategy: choice(['random', 'decompose', 'one-vs-all'], {
    description: 'how rows of several labels are trained on, in mode multilabel',
    default: 'one-vs-all',
  }),
  algorithm: Type.String({
    description: 'dot path of the entry in the configuration; empty: the configuration itself',
    default: '',
  }),
  configuration: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [{ type: 'object' }, { type: 'null' }],
      description: 'algorithm configuration; instead of configurationFile',
    }),
  ),
  configurationFile: Type.Optional(
    url({ description: 'JSON file of named configurations; default: the bundled ones' }),
  ),
  equalizationFactor: Type.Number({
    description: '0: rows weigh as given; 1: every class has the same total',
    default: 0.5,
  }),
  modelFileUrl,
  functionName,
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
    if (params.mode === 'multilabel') {
      throw failure(
        'INVALID_PARAMETER',
        'mode multilabel is not available; accepted are boolean, regression, categorical',
      );
    }
  },
  async run(context, options) {
    const steps = context.steps([
      { name: 'extracting features', type: 'percentile' },
      { name: 'training', type: 'percentile' },
      { name: 'saving model', type: 'percentile' },
    ]);
    const entry = resolveEntry(await readConfiguration(context, options), options.algorithm);
    const unknownKeys = await withModelFile(context.files, options.modelFileUrl, async (file) => {
      const recipe = readRecipe(entry, options);
      const tookTime = stopwatch(context, recipe);
      steps.next();
      const data = readTrainingData(context, options.trainingData, LABEL_FORM[options.mode]);
      tookTime('extracting features');
      if ((recipe.options.verbosity as number) >= VERBOSITY_OF_COUNTS) {
        const counts = `${data.rowCount} rows of ${data.features.length} columns`;
        context.log(`training ${recipe.learner.type} on ${counts}`);
      }
      steps.next();
      const model = trainModel(context, data, recipe, (share) => steps.update(share));
      tookTime('training');
      steps.next();
      await file.save(classifierToJson(workspaceOf(context.arenas), model));
      tookTime('saving model');
      return recipe.unknownKeys;
    });
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
      },
    };
  },
});

/** The `verbosity` of learners that tells what is learned from. */
const VERBOSITY_OF_COUNTS = 3;

/** With `profile`, logs how long the work since the last call took. */
function stopwatch(context: ProcedureContext, { options }: Recipe): (work: string) => void {
  if (options.profile !== true) return () => undefined;
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
  multilabel: 'atom',
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

/** A learner with everything that it was told. */
interface Recipe {
  readonly learner: Learner;
  readonly options: OptionValues;
  /** keys of the root of the configuration that mean nothing */
  readonly unknownKeys: readonly string[];
  readonly mode: Mode;
  readonly equalizationFactor: number;
  readonly seed: number;
}

/** @throws INVALID_PARAMETER for unknown types and options, and a mode that the learner lacks */
function readRecipe(entry: ConfigurationEntry, params: ClassifierTrainParams): Recipe {
  const { mode, equalizationFactor, randomSeed: seed } = params;
  const learner = findLearner(entry);
  if (!learner.modes.includes(mode)) {
    throw failure(
      'INVALID_PARAMETER',
      `classifier type '${learner.type}' does not support mode ${mode}; accepted are ${learner.modes.join(', ')}`,
    );
  }
  const { options, unknownKeys } = readOptions(entry, learner.options);
  return { learner, options, unknownKeys, mode, equalizationFactor, seed };
}

/** Labels between two looks at the cancel flag. */
const LABELS_PER_CHECK = 16_384;

function trainModel(
  context: ProcedureContext,
  data: TrainingData,
  { learner, options, mode, equalizationFactor, seed }: Recipe,
  onProgress: (share: number) => void,
): ClassifierModel {
  const look = every(LABELS_PER_CHECK, () => context.checkCancelled());
  const { target, labels, weights } = targetOf(data, mode, equalizationFactor, look);
  context.checkCancelled();
  const learning = fitContext(context, onProgress);
  const rows = { rowCount: data.rowCount, weights };
  const { coding } = learner;
  const matrix = buildMatrix(
    learning.workspace,
    data.features,
    rows,
    { coding, arena: 0 },
    context,
  );
  try {
    const algorithm = learner.fit(learning, { matrix, target, weights }, options, seed);
    return { mode, labels, features: matrix.features, algorithm };
  } finally {
    context.arenas.free(matrix.span);
  }
}

function targetOf(
  data: TrainingData,
  mode: Mode,
  equalizationFactor: number,
  look: () => void,
): { readonly target: Target; readonly labels: string[]; readonly weights: Float64Array } {
  const { labels, rowCount, weights } = data;
  switch (labels.form) {
    case 'truth': {
      const codes = Uint16Array.from(twoClasses(data));
      return {
        target: { kind: 'classes', labels: codes, labelCount: 2 },
        labels: [],
        weights: equalizedWeights(codes, 2, equalizationFactor, weights),
      };
    }
    case 'number':
      return {
        target: { kind: 'regression', values: labels.values },
        labels: [],
        weights: normalized(weights?.slice() ?? new Float64Array(rowCount).fill(1)),
      };
    case 'atom': {
      const list = labelList(labels.values, look);
      if (list.length > 0xffff) {
        throw failure(
          'DATA_ERROR',
          `${list.length} labels in mode ${mode}; at most 65535 are accepted`,
        );
      }
      const positions = labelPositions(list);
      const codes = Uint16Array.from(labels.values, (label) => {
        look();
        return positions.get(atomToJsonText(label)) as number;
      });
      return {
        target: { kind: 'classes', labels: codes, labelCount: list.length },
        labels: list,
        weights: equalizedWeights(codes, list.length, equalizationFactor, weights),
      };
    }
  }
}
