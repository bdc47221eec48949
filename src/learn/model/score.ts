// Scores of any model: rows one by one, in batches, and by column.
import type { Atom } from '../../value/atom.ts';
import { compileDesign } from '../design/columns.ts';
import { compileFastText } from '../fasttext/score.ts';
import { notNumeric } from '../feature/describe.ts';
import type { Feature } from '../feature/feature.ts';
import { categoryPositions } from '../feature/matrix.ts';
import {
  categoryOf,
  denseSource,
  joinedCodes,
  joinedNumbers,
  numberOf,
  type SourceColumn,
} from '../feature/source.ts';
import { LINK_FUNCTIONS, logistic } from '../glz/link.ts';
import type { GlzModel } from '../glz/model.ts';
import type { NaiveBayesModel } from '../naive-bayes/model.ts';
import { bayesOutcome } from '../naive-bayes/naive-bayes.ts';
import { compilePerceptron } from '../perceptron/score.ts';
import { compileScorer, scoreRowsIn } from '../tree/scorer.ts';
import { type FitContext, type JobContext, NEVER_CANCELLED, type Workspace } from '../workspace.ts';
import { scoreCountOf } from './classifier.ts';
import type { OutputLink, Prepared, PreparedModel } from './prepare.ts';

/** Scores rows of values; made once per thread and model. */
export interface ModelScorer {
  /** scores a row */
  readonly width: number;
  /**
   * @param values one for each feature of the model, in their order; null or undefined is missing
   * @param output room for `width` scores
   * @throws DATA_ERROR when a text stands where training had numbers
   */
  score(values: ArrayLike<Atom | undefined>, output: Float64Array): void;
  /** @param read the values of a row; asked once for each, in order */
  scoreAll(rowCount: number, read: (row: number) => ArrayLike<Atom | undefined>): Float64Array;
  /** Gives the scorer's memory back; the model's stays. */
  release(): void;
}

/** @param scope is asked in between where features have many categories */
export function compileModelScorer(
  workspace: Workspace,
  { model, prepared }: PreparedModel,
  scope: JobContext = NEVER_CANCELLED,
): ModelScorer {
  return compilePrepared(workspace, model.features, prepared, shapeOf(model), scope);
}

/** What scores are about. */
export interface ScoreShape {
  readonly width: number;
  readonly isBoolean: boolean;
  readonly isRegression: boolean;
}

export function shapeOf(model: PreparedModel['model']): ScoreShape {
  return {
    width: scoreCountOf(model),
    isBoolean: model.mode === 'boolean',
    isRegression: model.mode === 'regression',
  };
}

const BINARY: ScoreShape = { width: 1, isBoolean: true, isRegression: false };

function compilePrepared(
  workspace: Workspace,
  features: readonly Feature[],
  prepared: Prepared,
  shape: ScoreShape,
  scope: JobContext,
): ModelScorer {
  switch (prepared.kind) {
    case 'trees':
      return compileTrees(workspace, prepared, shape, scope);
    case 'values':
      return byRow(shape.width, compileValues(features, prepared.algorithm, shape));
    case 'sum':
      return compileSum(workspace, features, prepared, shape, scope);
    case 'each':
      return compileEach(workspace, features, prepared, shape, scope);
  }
}

function compileTrees(
  workspace: Workspace,
  prepared: Extract<Prepared, { kind: 'trees' }>,
  { width }: ScoreShape,
  scope: JobContext,
): ModelScorer {
  const { ensemble } = prepared;
  const scorer = compileScorer(workspace, ensemble, scope);
  const finish = finisherOf(prepared, width);
  const outputs = new Float64Array(ensemble.width);
  return {
    width,
    score(values, output) {
      scorer.score(values, outputs);
      finish(outputs, 0, output, 0);
    },
    scoreAll(rowCount, read) {
      const raw = scorer.scoreAll(rowCount, read);
      return finishAll(raw, ensemble.width, rowCount, width, finish);
    },
    release: () => scorer.release(),
  };
}

type Finish = (raw: Float64Array, from: number, out: Float64Array, to: number) => void;

/** From the outputs of trees to scores: base, link, and labels that are mirror images. */
function finisherOf(
  { ensemble, base, link, mirror }: Extract<Prepared, { kind: 'trees' }>,
  width: number,
): Finish {
  const rawWidth = ensemble.width;
  return (raw, from, out, to) => {
    // Two outputs where one score is wanted: the second is that of "true".
    const skip = rawWidth === 2 && width === 1 ? 1 : 0;
    if (rawWidth === 1 && width === 2) {
      const second = applyLink(link, (raw[from] as number) + (base?.[0] ?? 0));
      out[to] = (mirror ?? 0) - second + 0;
      out[to + 1] = second;
      return;
    }
    for (let k = 0; k < width; k++) {
      out[to + k] = applyLink(link, (raw[from + skip + k] as number) + (base?.[k] ?? 0));
    }
    normalizeScores(link, out, to, width);
  };
}

function applyLink(link: OutputLink, sum: number): number {
  switch (link) {
    case 'none':
    case 'softmax':
      return sum;
    case 'exp':
      return Math.exp(sum);
    default:
      return logistic(sum);
  }
}

function normalizeScores(link: OutputLink, out: Float64Array, to: number, width: number): void {
  if (link === 'softmax') softmax(out, to, width);
  else if (link === 'logit_norm' && width > 1) toShares(out, to, width);
}

/** Divided by their sum, in place. */
function toShares(out: Float64Array, to: number, width: number): void {
  let total = 0;
  for (let k = 0; k < width; k++) total += out[to + k] as number;
  for (let k = 0; k < width; k++) out[to + k] = (out[to + k] as number) / total;
}

/** Exponentials that sum to 1, in place. */
export function softmax(out: Float64Array, to: number, width: number): void {
  let highest = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < width; k++) highest = Math.max(highest, out[to + k] as number);
  let total = 0;
  for (let k = 0; k < width; k++) {
    const value = Math.exp((out[to + k] as number) - highest);
    out[to + k] = value;
    total += value;
  }
  for (let k = 0; k < width; k++) out[to + k] = (out[to + k] as number) / total;
}

function finishAll(
  raw: Float64Array,
  rawWidth: number,
  rowCount: number,
  width: number,
  finish: Finish,
): Float64Array {
  const scores = new Float64Array(rowCount * width);
  for (let row = 0; row < rowCount; row++) finish(raw, row * rawWidth, scores, row * width);
  return scores;
}

type RowScore = (values: ArrayLike<Atom | undefined>, output: Float64Array) => void;

function byRow(width: number, score: RowScore): ModelScorer {
  return {
    width,
    score,
    scoreAll(rowCount, read) {
      const scores = new Float64Array(rowCount * width);
      const output = new Float64Array(width);
      for (let row = 0; row < rowCount; row++) {
        score(read(row), output);
        scores.set(output, row * width);
      }
      return scores;
    },
    release() {},
  };
}

function compileValues(
  features: readonly Feature[],
  algorithm: Extract<Prepared, { kind: 'values' }>['algorithm'],
  shape: ScoreShape,
): RowScore {
  switch (algorithm.type) {
    case 'glz':
      return compileGlz(features, algorithm, shape);
    case 'naive_bayes':
      return compileBayes(features, algorithm, shape);
    case 'perceptron':
      return compilePerceptron(features, algorithm, shape);
    case 'fasttext':
      return compileFastText(features, algorithm, shape);
    case 'null':
      return (_, output) => {
        output.fill(0);
        output[0] = shape.isBoolean ? 0 : 1;
      };
  }
}

function compileGlz(
  features: readonly Feature[],
  { columns, decode, jointly, link, weights }: GlzModel,
  shape: ScoreShape,
): RowScore {
  const read = compileDesign(features, columns);
  const rows = shape.isBoolean ? weights.slice(-1) : weights;
  const count = columns.features.length;
  const { inverse } = LINK_FUNCTIONS[link];
  let sums: Float64Array = new Float64Array(rows.length);
  const add = (column: number, value: number) => {
    for (let k = 0; k < rows.length; k++) {
      sums[k] = (sums[k] as number) + value * ((rows[k] as Float64Array)[column] as number);
    }
  };
  return (values, output) => {
    sums = output;
    for (let k = 0; k < rows.length; k++) sums[k] = (rows[k] as Float64Array)[count] as number;
    read(values, add);
    if (!decode) return;
    for (let k = 0; k < rows.length; k++) output[k] = inverse(sums[k] as number);
    if (jointly === 'softmax') softmax(output, 0, rows.length);
    else if (jointly === 'shares') toShares(output, 0, rows.length);
  };
}

function compileBayes(
  features: readonly Feature[],
  { priors, tests }: NaiveBayesModel,
  { isBoolean }: ScoreShape,
): RowScore {
  const labelCount = priors.length;
  const sums = new Float64Array(labelCount);
  const readers = tests.map((test) => {
    const feature = features[test.feature] as Feature;
    const positions = feature.kind === 'categorical' ? categoryPositions(feature) : undefined;
    return { test, feature, positions };
  });
  return (values, output) => {
    sums.set(priors);
    for (const { test, feature, positions } of readers) {
      const value = values[test.feature];
      const isMissing = value === null || value === undefined;
      let number = 0;
      if (!isMissing && positions === undefined) {
        const read = numberOf(value);
        if (read === undefined) throw notNumeric(feature.name, value);
        number = read;
      }
      const position = isMissing ? -1 : (positions?.get(categoryOf(value)) ?? -1);
      const missing = isMissing || Number.isNaN(number);
      const outcome = bayesOutcome(test, feature, number, position, missing);
      if (outcome === 2 && !test.countsMissing) continue;
      for (let l = 0; l < labelCount; l++) {
        sums[l] = (sums[l] as number) + (test.logs[outcome * labelCount + l] as number);
      }
    }
    softmax(sums, 0, labelCount);
    if (isBoolean) output[0] = sums[1] as number;
    else output.set(sums);
  };
}

function compileSum(
  workspace: Workspace,
  features: readonly Feature[],
  prepared: Extract<Prepared, { kind: 'sum' }>,
  shape: ScoreShape,
  scope: JobContext,
): ModelScorer {
  const members = prepared.members.map((member) =>
    compilePrepared(workspace, features, member, shape, scope),
  );
  const { width } = shape;
  const own = new Float64Array(width);
  const score: RowScore = (values, output) => {
    output.fill(0);
    for (const [index, member] of members.entries()) {
      member.score(values, own);
      const weight = prepared.weights[index] as number;
      for (let k = 0; k < width; k++) {
        output[k] = (output[k] as number) + weight * (own[k] as number);
      }
    }
    for (let k = 0; k < width; k++) output[k] = applyLink(prepared.link, output[k] as number);
    normalizeScores(prepared.link, output, 0, width);
  };
  return { ...byRow(width, score), release: () => releaseAll(members) };
}

function compileEach(
  workspace: Workspace,
  features: readonly Feature[],
  { members: list, calibrations }: Extract<Prepared, { kind: 'each' }>,
  { width }: ScoreShape,
  scope: JobContext,
): ModelScorer {
  const members = list.map((member) => compilePrepared(workspace, features, member, BINARY, scope));
  const own = new Float64Array(1);
  const score: RowScore = (values, output) => {
    for (const [label, member] of members.entries()) {
      member.score(values, own);
      const [slope, constant] = calibrations?.[label] ?? [];
      const raw = own[0] as number;
      output[label] =
        slope === undefined || constant === undefined ? raw : logistic(slope * raw + constant);
    }
  };
  return { ...byRow(width, score), release: () => releaseAll(members) };
}

/**
 * Scores rows [0, rowCount) of columns, width scores a row.
 * @param sources one for each feature of the model, in their order
 */
export function scoreColumns(
  context: Pick<FitContext, 'workspace' | 'parallel' | 'checkCancelled'>,
  { model, prepared }: PreparedModel,
  sources: readonly SourceColumn[],
  rowCount: number,
): Float64Array {
  const shape = shapeOf(model);
  if (prepared.kind === 'trees') {
    const { ensemble } = prepared;
    if (ensemble.trees.length > 0) {
      const raw = scoreRowsIn(context, ensemble, sources, 0, rowCount);
      const finish = finisherOf(prepared, shape.width);
      return finishAll(raw, ensemble.width, rowCount, shape.width, finish);
    }
  }
  const scorer = compilePrepared(context.workspace, model.features, prepared, shape, context);
  try {
    const read = rowsOfSources(sources);
    return scorer.scoreAll(rowCount, (row) => {
      if (row % ROWS_PER_CHECK === 0) context.checkCancelled();
      return read(row);
    });
  } finally {
    scorer.release();
  }
}

const ROWS_PER_CHECK = 1024;

/** Rows of columns as values; the array is the same for every row. */
export function rowsOfSources(
  sources: readonly SourceColumn[],
): (row: number) => (Atom | undefined)[] {
  const values = new Array<Atom | undefined>(sources.length).fill(undefined);
  const readers = sources.map((column): ((row: number) => Atom | undefined) => {
    const source = denseSource(column);
    if (source.kind === 'nulls') return () => undefined;
    if (source.kind === 'codes') {
      const codes = joinedCodes(source.pieces);
      return (row) => {
        const code = codes[row] as number;
        return code === 0 ? undefined : (source.entries[code - 1] as Atom);
      };
    }
    const numbers = joinedNumbers(source.pieces);
    return (row) => {
      const value = numbers[row] as number;
      return Number.isNaN(value) ? undefined : value;
    };
  });
  return (row) => {
    for (let i = 0; i < readers.length; i++) {
      values[i] = (readers[i] as (row: number) => Atom | undefined)(row);
    }
    return values;
  };
}

function releaseAll(scorers: readonly ModelScorer[]): void {
  for (const scorer of scorers) scorer.release();
}
