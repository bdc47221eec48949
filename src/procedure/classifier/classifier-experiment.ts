import { type Static, Type } from 'typebox';
import { queryTextOf, quoteName } from '../../dataset/parameter.ts';
import { readQuery } from '../../exec/query.ts';
import { MODES } from '../../learn/label.ts';
import { choice, type InputQuery, inputQuery, url } from '../../schema/declare.ts';
import type { NamedItem, Query } from '../../sql/node.ts';
import { printSql } from '../../sql/printer.ts';
import { failure } from '../../util/error.ts';
import { runOnCreation } from '../parameter.ts';
import { type ServiceProcedureContext, serviceProcedure } from '../procedure-type.ts';
import { checkTrainingQuery, findItem } from '../training/training-query.ts';
import { aggregateResults } from './experiment-aggregate.ts';
import { learnerParameters } from './learner-parameter.ts';
import { randomSeed } from './model-parameter.ts';
import { MULTILABEL_STRATEGIES } from './train-classifier.ts';

const TYPE = 'classifier.experiment';

const FOLD = Type.Object({
  trainingWhere: Type.String({ description: 'rows to train on', default: 'true' }),
  testingWhere: Type.String({ description: 'rows to test on', default: 'true' }),
  trainingOffset: Type.Integer({ description: 'rows to skip', minimum: 0, default: 0 }),
  trainingLimit: Type.Integer({ description: 'rows at most; -1: all', minimum: -1, default: -1 }),
  testingOffset: Type.Integer({ description: 'rows to skip', minimum: 0, default: 0 }),
  testingLimit: Type.Integer({ description: 'rows at most; -1: all', minimum: -1, default: -1 }),
  trainingOrderBy: Type.String({ description: 'order of rows', default: 'rowHash()' }),
  testingOrderBy: Type.String({ description: 'order of rows', default: 'rowHash()' }),
});
type Fold = Static<typeof FOLD>;

const PARAMETERS = Type.Object({
  experimentName: Type.String({ description: 'begins the names of all that is made', default: '' }),
  inputData: inputQuery({
    description: 'selects a row named features, a label, and perhaps a weight; no WHERE or LIMIT',
  }),
  testingDataOverride: Type.Optional(inputQuery({ description: 'tested on instead of inputData' })),
  datasetFolds: Type.Array(FOLD, { description: 'folds, one by one', default: [] }),
  kfold: Type.Integer({ description: 'folds of equal size; 0: none', minimum: 0, default: 0 }),
  stratify: Type.Boolean({
    description: 'labels are spread evenly over the folds; without kfold, over two halves',
    default: false,
  }),
  groupBy: Type.Optional(
    Type.String({
      description: 'SQL expression: rows of one value go to one fold',
    }),
  ),
  repeats: Type.Integer({
    description: 'with kfold: how often rows are dealt out anew',
    minimum: 1,
    default: 1,
  }),
  mode: choice(MODES, { description: 'what the label is', default: 'boolean' }),
  multilabelStrategy: choice(MULTILABEL_STRATEGIES, {
    description: 'how rows of several labels are trained on, in mode multilabel',
    default: 'one-vs-all',
  }),
  ...learnerParameters,
  equalizationFactor: Type.Number({
    description: '0: rows weigh as given; 1: every class has the same total',
    default: 0.5,
  }),
  recallOverN: Type.Array(Type.Integer({ minimum: 1 }), {
    description: 'how many best labels count, in modes categorical and multilabel',
    default: [],
  }),
  uniqueScoresOnly: Type.Boolean({
    description: 'in mode boolean: one row of output for each distinct score',
    default: false,
  }),
  modelFileUrlPattern: url({
    description: 'where models are saved; `$runid` stands for the name and number of the fold',
  }),
  keepArtifacts: Type.Boolean({
    description: 'false: procedures and functions are removed at the end',
    default: true,
  }),
  evalTrain: Type.Boolean({
    description: 'also test on the rows that were trained on',
    default: false,
  }),
  outputAccuracyDataset: Type.Boolean({
    description: 'a dataset of the tested rows for each fold',
    default: true,
  }),
  randomSeed,
  ...runOnCreation,
});
type Params = Static<typeof PARAMETERS>;

/** Trains and tests on several folds of the data. */
export const classifierExperiment = serviceProcedure({
  name: TYPE,
  summary: 'Trains a classifier on parts of the data and tests it on the others, fold by fold.',
  parameters: PARAMETERS,
  check(params) {
    checkInput(params.inputData);
    if (params.testingDataOverride !== undefined) checkInput(params.testingDataOverride);
  },
  async run(context, params) {
    const folds = await planFolds(context, params);
    const steps = folds.flatMap((_, n) => [`fold ${n}: training`, `fold ${n}: testing`]);
    const progress = context.steps(steps.map((name) => ({ name, type: 'done' as const })));
    const names = namesOf(params.experimentName);
    await prepareProcedures(context, params, names);
    const results: FoldResult[] = [];
    try {
      for (const [n, fold] of folds.entries()) {
        results.push(await runFold(context, params, names, fold, n, progress));
      }
    } finally {
      if (!params.keepArtifacts) {
        await context.remove('procedure', names.trainer);
        await context.remove('procedure', names.scorer);
        for (const n of folds.keys()) await context.remove('function', names.function(n));
      }
      await context.remove('dataset', names.folds);
    }
    progress.finish();
    return {
      result: {
        folds: results,
        aggregatedTest: aggregateResults(results.map(({ resultsTest }) => resultsTest)),
        ...(params.evalTrain
          ? { aggregatedTrain: aggregateResults(results.map(({ resultsTrain }) => resultsTrain)) }
          : {}),
        avgDuration: aggregateResults(results.map(({ durationSecs }) => durationSecs)),
      },
      details: { randomSeed: params.randomSeed },
    };
  },
});

function checkInput(input: InputQuery): void {
  const query = checkTrainingQuery(input, {
    type: TYPE,
    shape: 'features and label',
    plain: true,
  });
  const refuse = (clause: string) =>
    failure('INVALID_PARAMETER', `${TYPE} does not support ${clause}`);
  if (query.where !== undefined) throw refuse('where');
  if (query.limit !== undefined) throw refuse('limit');
  if (query.offset !== undefined) throw refuse('offset');
}

function namesOf(experiment: string) {
  return {
    trainer: `${experiment}_trainer`,
    scorer: `${experiment}_scorer`,
    folds: `${experiment}_folds`,
    function: (n: number) => `${experiment}_scorer_${n}`,
    results: (n: number) => `${experiment}_results_${n}`,
    run: (n: number) => `${experiment}-${n}`,
  };
}
type Names = ReturnType<typeof namesOf>;

/** A fold, and how it is told in the result. */
interface PlannedFold {
  readonly fold: Fold;
  readonly echo: Readonly<Record<string, unknown>>;
}

/** @throws INVALID_PARAMETER for parameters that contradict one another */
async function planFolds(
  context: ServiceProcedureContext,
  params: Params,
): Promise<readonly PlannedFold[]> {
  const { datasetFolds, groupBy, kfold, repeats, stratify, testingDataOverride } = params;
  const refuse = (message: string) => failure('INVALID_PARAMETER', message);
  if (datasetFolds.length > 0 && kfold !== 0) {
    throw refuse('The datasetFolds and kfold parameters cannot be specified at the same time.');
  }
  if (kfold === 1) throw refuse('When using the kfold parameter, it must be >= 2.');
  const isDealt = stratify || groupBy !== undefined || repeats > 1;
  if (kfold >= 2 || isDealt) {
    if (testingDataOverride !== undefined) {
      throw refuse('Should not use a k-fold cross-validation if testing dataset is specified.');
    }
  }
  if (isDealt && datasetFolds.length > 0) {
    throw refuse('datasetFolds cannot be combined with stratify, groupBy or repeats');
  }
  if (datasetFolds.length > 0) return datasetFolds.map((fold) => ({ fold, echo: written(fold) }));
  if (isDealt) return dealtFolds(context, params);
  const parts = (count: number, indexes: readonly number[]) =>
    indexes.map((index) => {
      const part = `rowHash() % ${count}`;
      const fold = foldOf(`${part} != ${index}`, `${part} = ${index}`);
      return { fold, echo: written(fold) };
    });
  if (kfold >= 2) return parts(kfold, [...Array(kfold).keys()]);
  if (testingDataOverride !== undefined) return [{ fold: foldOf('true', 'true'), echo: {} }];
  return parts(2, [1]);
}

/** Folds that a procedure deals out, since no expression could. */
async function dealtFolds(
  context: ServiceProcedureContext,
  params: Params,
): Promise<PlannedFold[]> {
  const { groupBy, kfold, mode, randomSeed: seed, repeats, stratify } = params;
  const query = readInput(params.inputData);
  const label = findItem(query, 'label') as NamedItem;
  const group = groupBy === undefined ? '' : `, (${groupBy}) AS "group"`;
  const inputData = {
    select: `${printSql(label.expression)} AS label${group}`,
    from: fromOf(query),
    ...(query.when === undefined ? {} : { when: printSql(query.when) }),
  };
  const names = namesOf(params.experimentName);
  const count = Math.max(kfold, 2);
  const outputDataset = { id: names.folds, type: 'tabular' };
  const own = { inputData, mode, kfold: count, stratify, repeats, randomSeed: seed, outputDataset };
  const dealer = `${params.experimentName}_dealer`;
  await context.remove('procedure', dealer);
  await context.obtain('procedure', {
    id: dealer,
    type: 'classifier.folds',
    params: { ...own, runOnCreation: false },
  });
  try {
    await context.runProcedure(dealer, {});
  } finally {
    await context.remove('procedure', dealer);
  }
  const indexes = kfold >= 2 ? [...Array(kfold).keys()] : [1];
  return Array.from({ length: repeats }, (_, repeat) =>
    indexes.map((index): PlannedFold => {
      const rows = (condition: string) =>
        `rowName() IN (SELECT rowName() FROM ${quoteName(names.folds)} WHERE fold${repeat} ${condition})`;
      const fold = foldOf(rows(`!= ${index}`), rows(`= ${index}`));
      return { fold, echo: { kfold: count, index, repeat, stratify } };
    }),
  ).flat();
}

const DEFAULT_FOLD: Fold = {
  trainingWhere: 'true',
  testingWhere: 'true',
  trainingOffset: 0,
  trainingLimit: -1,
  testingOffset: 0,
  testingLimit: -1,
  trainingOrderBy: 'rowHash()',
  testingOrderBy: 'rowHash()',
};

function foldOf(trainingWhere: string, testingWhere: string): Fold {
  return { ...DEFAULT_FOLD, trainingWhere, testingWhere };
}

/** Members that differ from their default. */
function written(fold: Fold): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fold).filter(([key, value]) => DEFAULT_FOLD[key as keyof Fold] !== value),
  );
}

/** Procedures that train and test; those of an earlier experiment of that name are replaced. */
async function prepareProcedures(
  context: ServiceProcedureContext,
  params: Params,
  names: Names,
): Promise<void> {
  const { algorithm, configuration, configurationFile, equalizationFactor, mode } = params;
  await context.remove('procedure', names.trainer);
  await context.remove('procedure', names.scorer);
  await context.obtain('procedure', {
    id: names.trainer,
    type: 'classifier.train',
    params: {
      ...{ trainingData: params.inputData, mode, algorithm, equalizationFactor },
      ...(configuration === undefined ? {} : { configuration }),
      ...(configurationFile === undefined ? {} : { configurationFile }),
      multilabelStrategy: params.multilabelStrategy,
      modelFileUrl: modelUrl(params, names, 0),
      randomSeed: params.randomSeed,
      runOnCreation: false,
    },
  });
  await context.obtain('procedure', {
    id: names.scorer,
    type: 'classifier.test',
    params: {
      mode,
      testingData: scoreQuery(params.inputData, names.function(0), params.mode, DEFAULT_TEST),
      recallOverN: params.recallOverN,
      uniqueScoresOnly: params.uniqueScoresOnly,
      runOnCreation: false,
    },
  });
}

function modelUrl({ modelFileUrlPattern }: Params, names: Names, n: number): string {
  return modelFileUrlPattern.replaceAll('$runid', names.run(n));
}

interface FoldResult {
  readonly fold: unknown;
  readonly modelFileUrl: string;
  readonly functionName: string;
  readonly accuracyDataset?: string;
  readonly resultsTest: unknown;
  readonly resultsTrain?: unknown;
  readonly durationSecs: { readonly train: number; readonly test: number };
}

async function runFold(
  context: ServiceProcedureContext,
  params: Params,
  names: Names,
  { fold, echo }: PlannedFold,
  n: number,
  progress: ReturnType<ServiceProcedureContext['steps']>,
): Promise<FoldResult> {
  const { mode, inputData, testingDataOverride } = params;
  const functionName = names.function(n);
  const modelFileUrl = modelUrl(params, names, n);
  const training = partOf(fold, 'training');
  const testing = partOf(fold, 'testing');
  const started = performance.now();
  progress.next();
  const trainingData = partQuery(inputData, training);
  await context.runProcedure(
    names.trainer,
    { trainingData, modelFileUrl, functionName },
    progress.subProgress,
  );
  const trained = performance.now();
  progress.next();
  const accuracyDataset = names.results(n);
  const testingData = scoreQuery(testingDataOverride ?? inputData, functionName, mode, testing);
  const isKept = params.outputAccuracyDataset;
  if (isKept) await context.remove('dataset', accuracyDataset);
  const outputDataset = isKept ? { id: accuracyDataset, type: 'tabular' } : null;
  const test = await context.runProcedure(
    names.scorer,
    { testingData, outputDataset },
    progress.subProgress,
  );
  const tested = performance.now();
  const train = params.evalTrain
    ? await context.runProcedure(names.scorer, {
        testingData: scoreQuery(inputData, functionName, mode, training),
        outputDataset: null,
      })
    : undefined;
  return {
    fold: echo,
    modelFileUrl,
    functionName,
    ...(isKept ? { accuracyDataset } : {}),
    resultsTest: test.result,
    ...(train === undefined ? {} : { resultsTrain: train.result }),
    durationSecs: { train: (trained - started) / 1000, test: (tested - trained) / 1000 },
  };
}

interface Part {
  readonly where: string;
  readonly offset: number;
  readonly limit: number;
  readonly orderBy: string;
}

const DEFAULT_TEST: Part = { where: 'true', offset: 0, limit: -1, orderBy: 'rowHash()' };

function partOf(fold: Fold, side: 'training' | 'testing'): Part {
  return {
    where: fold[`${side}Where`],
    offset: fold[`${side}Offset`],
    limit: fold[`${side}Limit`],
    orderBy: fold[`${side}OrderBy`],
  };
}

function readInput(input: InputQuery): Query {
  const query = readQuery(queryTextOf(input));
  if (query.kind === 'query') return query;
  throw failure('INVALID_PARAMETER', 'the data must be a SELECT: put other queries into its FROM');
}

function fromOf({ from }: Query): string {
  return from === undefined ? '' : printSql(from);
}

/** The clauses of a part of the data; an order only matters where rows are left out by number. */
function partClauses(query: Query, { where, offset, limit, orderBy }: Part) {
  return {
    from: fromOf(query),
    ...(query.when === undefined ? {} : { when: printSql(query.when) }),
    where,
    ...(limit >= 0 || offset > 0 ? { orderBy, offset } : {}),
    ...(limit >= 0 ? { limit } : {}),
  };
}

function partQuery(input: InputQuery, part: Part): InputQuery {
  const query = readInput(input);
  return { select: query.select.map(printSql).join(', '), ...partClauses(query, part) };
}

/** The same rows with the function's score in place of the features. */
function scoreQuery(
  input: InputQuery,
  functionName: string,
  mode: Params['mode'],
  part: Part,
): InputQuery {
  const query = readInput(input);
  const text = (name: string) => {
    const item = findItem(query, name);
    return item === undefined ? undefined : printSql(item.expression);
  };
  const member = mode === 'boolean' || mode === 'regression' ? 'score' : 'scores';
  const call = `${quoteName(functionName)}({${text('features')} AS features})[${member}]`;
  const weight = text('weight');
  const items = [`${call} AS score`, `${text('label')} AS label`];
  if (weight !== undefined) items.push(`${weight} AS weight`);
  return { select: items.join(', '), ...partClauses(query, part) };
}
