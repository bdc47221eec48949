import { Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { loadClassifier } from '../../function/model/classifier.ts';
import {
  denseSource,
  joinedCodes,
  joinedNumbers,
  type SourceColumn,
} from '../../learn/feature/source.ts';
import {
  IMPORTANCE_METRICS,
  type ImportanceMetric,
  type ImportanceMode,
  measureOf,
  type Outcomes,
  permutationImportance,
  sampleRows,
} from '../../learn/importance.ts';
import { hasUsableFeature } from '../../learn/model/classifier.ts';
import { compileModelScorer } from '../../learn/model/score.ts';
import { choice, inputQuery, outputDataset, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { Row, RowBuilder, Scalar, type Value } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { type Labels, readTrainingData } from '../training/training-data.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { randomSeed } from './model-parameter.ts';

const TYPE = 'classifier.importance';

const MODES = ['boolean', 'regression', 'categorical'] as const;
const METRICS = ['auc', 'accuracy', 'f1Score', 'mse', 'r2', 'logLoss'] as const;

const LABEL_FORM = { boolean: 'truth', regression: 'number', categorical: 'atom' } as const;

/** Measures what a classifier loses when the values of one feature at a time are permuted. */
export const classifierImportance = workerProcedure({
  name: TYPE,
  summary: 'Measures how much of the quality of a classifier rests on each feature.',
  parameters: Type.Object({
    functionName: Type.String({
      description: 'id of the classifier function to measure; instead of modelFileUrl',
      default: '',
    }),
    modelFileUrl: url({
      description: 'the model file that a training procedure saved; instead of functionName',
      default: '',
    }),
    testingData: inputQuery({
      description: 'selects a row named features, a label, and perhaps a weight',
    }),
    mode: choice(MODES, { description: 'the mode of the model', default: 'boolean' }),
    metric: Type.Optional(
      choice(METRICS, {
        description:
          'what is measured: auc, accuracy, f1Score or logLoss in mode boolean; accuracy, f1Score or logLoss in mode categorical; r2 or mse in mode regression; default: the first of the mode',
      }),
    ),
    repeats: Type.Integer({
      description: 'permutations of each feature',
      minimum: 1,
      maximum: 10_000,
      default: 5,
    }),
    randomSeed,
    maxRows: Type.Integer({
      description: 'rows that are used at most; of more, as many are drawn',
      minimum: 1,
      default: 100_000,
    }),
    outputDataset: Type.Optional(
      outputDataset({
        description: 'a row for each feature: importance, std, baseline and rank',
        defaultType: 'tabular',
      }),
    ),
    ...runOnCreation,
  }),
  check({ functionName, modelFileUrl, testingData, mode, metric }) {
    if ((functionName === '') === (modelFileUrl === '')) {
      throw failure(
        functionName === '' ? 'MISSING_PARAMETER' : 'INVALID_PARAMETER',
        `${TYPE} needs either a functionName or a modelFileUrl`,
      );
    }
    metricOf(mode, metric);
    checkTrainingQuery(testingData, { type: TYPE, shape: 'features and label', plain: true });
  },
  async run(context, params) {
    const { mode, repeats, randomSeed: seed } = params;
    const metric = metricOf(mode, params.metric);
    const steps = context.steps([
      { name: 'extracting features', type: 'percentile' },
      { name: 'permuting', type: 'percentile' },
    ]);
    steps.next();
    const data = readTrainingData(context, params.testingData, LABEL_FORM[mode], {
      work: 'measuring importance',
    });
    const rows = sampleRows(data.rowCount, params.maxRows, seed);
    const names = data.features.map(({ name }) => name);
    const readers = data.features.map(atomReader);
    const weights = Float64Array.from(rows, (row) => data.weights?.[row] ?? 1);
    steps.next();
    const scorer = await openScorer(context, params, names);
    try {
      const values: Atom[] = new Array(names.length).fill(null);
      const scoreAll = (permuted?: number, order?: Uint32Array): Float64Array =>
        scorer.scoreAll(rows.length, (index) => {
          for (let column = 0; column < values.length; column++) {
            const at = column === permuted ? (order?.[index] as number) : index;
            values[column] = (readers[column] as AtomReader)(rows[at] as number);
          }
          return values;
        });
      const unchanged = scoreAll();
      const outcomes = outcomesOf(data.labels, rows, scorer.labels());
      const check = () => context.checkCancelled();
      const measure = measureOf(metric, outcomes, weights, unchanged, check);
      const baseline = measure(unchanged);
      const found = permutationImportance({
        rowCount: rows.length,
        featureCount: names.length,
        repeats,
        seed,
        metric,
        baseline,
        measure,
        score: scoreAll,
        progress: (share) => steps.update(share),
      });
      const features = found
        .map((each, index) => ({ name: names[index] as string, index, ...each }))
        .sort((a, b) => b.importance - a.importance || a.index - b.index);
      if (params.outputDataset !== undefined && params.outputDataset !== null) {
        const output = context.output(params.outputDataset, 'tabular');
        const ts = context.startedAt;
        for (const [rank, { name, importance, std }] of features.entries()) {
          const cells = Object.entries({ importance, std, baseline, rank });
          output.record({
            name: Path.parse(name),
            cells: cells.map(([column, number]) => [new Path([column]), number, ts]),
          });
        }
        output.commit();
      }
      steps.finish();
      return {
        result: {
          baseline,
          metric,
          features: features.map(({ name, importance, std }) => [name, importance, std]),
        },
        details: { randomSeed: seed },
      };
    } finally {
      scorer.release();
    }
  },
});

/** @throws INVALID_PARAMETER when the mode does not have the metric */
function metricOf(mode: ImportanceMode, metric: ImportanceMetric | undefined): ImportanceMetric {
  const accepted: readonly ImportanceMetric[] = IMPORTANCE_METRICS[mode];
  if (metric === undefined) return accepted[0] as ImportanceMetric;
  if (accepted.includes(metric)) return metric;
  throw failure(
    'INVALID_PARAMETER',
    `metric ${metric} is not for mode ${mode}; accepted are ${accepted.join(', ')}`,
  );
}

type AtomReader = (row: number) => Atom;

function atomReader(source: SourceColumn): AtomReader {
  const dense = denseSource(source);
  switch (dense.kind) {
    case 'nulls':
      return () => null;
    case 'codes': {
      const codes = joinedCodes(dense.pieces);
      const atoms: readonly Atom[] = [null, ...dense.entries];
      return (row) => atoms[codes[row] as number] as Atom;
    }
    case 'numbers': {
      const numbers = joinedNumbers(dense.pieces);
      return (row) => {
        const number = numbers[row] as number;
        return Number.isNaN(number) ? null : number;
      };
    }
  }
}

interface Scorer {
  /** Scores of rows whose values `read` gives, in the order of the features of the data. */
  scoreAll(rowCount: number, read: (row: number) => readonly Atom[]): Float64Array;
  /** JSON texts of the labels that have scores, in their order; known once rows were scored */
  labels(): readonly string[];
  release(): void;
}

function openScorer(
  context: ProcedureContext,
  params: {
    readonly functionName: string;
    readonly modelFileUrl: string;
    readonly mode: ImportanceMode;
  },
  names: readonly string[],
): Promise<Scorer> | Scorer {
  const { functionName, modelFileUrl, mode } = params;
  return functionName === ''
    ? openModel(context, modelFileUrl, mode, names)
    : openFunction(context, functionName, mode, names);
}

/** Rows between two looks at the cancel flag. */
const ROWS_PER_CALL = 1024;

async function openModel(
  context: ProcedureContext,
  modelUrl: string,
  mode: ImportanceMode,
  names: readonly string[],
): Promise<Scorer> {
  const { files, arenas } = context;
  const check = () => context.checkCancelled();
  const { data, spans } = await loadClassifier(modelUrl, { files, arenas, checkCancelled: check });
  const free = () => {
    for (const span of spans) arenas.free(span);
  };
  try {
    const { model } = data;
    if (model.mode !== mode) {
      throw failure('INVALID_PARAMETER', `the model is of mode ${model.mode}, not ${mode}`);
    }
    if (!hasUsableFeature(model)) throw failure('DATA_ERROR', 'the model has no usable feature');
    const scorer = compileModelScorer(workspaceOf(arenas), data, { checkCancelled: check });
    const columns = new Map(names.map((name, index) => [name, index]));
    const sources = model.features.map(({ name }) => columns.get(name));
    const values: (Atom | undefined)[] = new Array(sources.length).fill(undefined);
    return {
      scoreAll(rowCount, read) {
        const scores = new Float64Array(rowCount * scorer.width);
        for (let from = 0; from < rowCount; from += ROWS_PER_CALL) {
          check();
          const part = scorer.scoreAll(Math.min(ROWS_PER_CALL, rowCount - from), (row) => {
            const own = read(from + row);
            for (const [index, source] of sources.entries()) {
              values[index] = source === undefined ? undefined : own[source];
            }
            return values;
          });
          scores.set(part, from * scorer.width);
        }
        return scores;
      },
      labels: () => model.labels,
      release() {
        scorer.release();
        free();
      },
    };
  } catch (thrown) {
    free();
    throw thrown;
  }
}

/** @throws ENTITY_NOT_FOUND, and DATA_ERROR later when its output has no scores */
function openFunction(
  context: ProcedureContext,
  id: string,
  mode: ImportanceMode,
  names: readonly string[],
): Scorer {
  const called = context.namespace.findUserFunction(id);
  if (called === undefined) {
    throw failure('ENTITY_NOT_FOUND', { form: 'function', id }, { kind: 'function', id });
  }
  const { scope } = context;
  const paths = names.map((name) => Path.parse(name));
  const ts = context.startedAt;
  const applyAll =
    called.applyAll ??
    ((inputs: readonly Value[]) => inputs.map((input) => called.apply(input, scope)));
  let labels: readonly string[] | undefined;
  const scoresOf = (output: Value): readonly Value[] => {
    const value = output instanceof Row ? output.values : [];
    const member = mode === 'categorical' ? 'scores' : 'score';
    const found = output instanceof Row ? value[output.indexOf(member)] : undefined;
    if (mode !== 'categorical' && found instanceof Scalar) return [found];
    if (mode === 'categorical' && found instanceof Row) {
      labels ??= found.names;
      if (isSameList(labels, found.names)) return found.values;
      throw failure('DATA_ERROR', `function '${id}' scores other labels in other rows`);
    }
    throw failure(
      'DATA_ERROR',
      `function '${id}' is no classifier of mode ${mode}: its output has no ${member}`,
    );
  };
  return {
    scoreAll(rowCount, read) {
      const scores: number[] = [];
      for (let from = 0; from < rowCount; from += ROWS_PER_CALL) {
        context.checkCancelled();
        const count = Math.min(ROWS_PER_CALL, rowCount - from);
        const inputs = Array.from({ length: count }, (_, row) => {
          const features = new RowBuilder();
          for (const [index, atom] of read(from + row).entries()) {
            if (atom !== null) features.addPath(paths[index] as Path, new Scalar(atom, ts));
          }
          return new Row(['features'], [features.build()]);
        });
        for (const output of applyAll(inputs, scope)) {
          for (const score of scoresOf(output)) scores.push(numberOf(score, id));
        }
      }
      return Float64Array.from(scores);
    },
    labels: () => labels ?? [],
    release: () => undefined,
  };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((each, index) => each === b[index]));
}

function numberOf(score: Value, id: string): number {
  if (score instanceof Scalar && typeof score.atom === 'number') return score.atom;
  throw failure('DATA_ERROR', `function '${id}' gave a score that is not a number`);
}

function outcomesOf(labels: Labels, rows: Uint32Array, scored: readonly string[]): Outcomes {
  switch (labels.form) {
    case 'truth':
      return {
        mode: 'boolean',
        values: Uint8Array.from(rows, (row) => labels.values[row] as number),
      };
    case 'number':
      return {
        mode: 'regression',
        values: Float64Array.from(rows, (row) => labels.values[row] as number),
      };
    case 'atom': {
      const positions = new Map(scored.map((label, index) => [label, index]));
      const values = Int32Array.from(rows, (row) => {
        const text = atomToJsonText(labels.values[row] as Atom);
        const position = positions.get(text) ?? positions.size;
        positions.set(text, position);
        return position;
      });
      return {
        mode: 'categorical',
        labels: [...positions.keys()],
        scoredCount: scored.length,
        values,
      };
    }
    case 'set':
      throw new Error('no mode of this procedure has sets of labels');
  }
}
