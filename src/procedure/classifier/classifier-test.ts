import { type Static, Type } from 'typebox';
import { MODES, type Mode } from '../../learn/label.ts';
import {
  type BooleanCurve,
  booleanCurve,
  booleanReport,
  ratesAt,
  rowsOfDistinctScores,
} from '../../learn/metric/boolean.ts';
import {
  averagePrecision,
  CALIBRATION_STRATEGIES,
  calibrationReport,
} from '../../learn/metric/calibration.ts';
import { categoricalReport, predictedLabels } from '../../learn/metric/categorical.ts';
import { multilabelReport } from '../../learn/metric/multilabel.ts';
import { regressionReport } from '../../learn/metric/regression.ts';
import { emptyTestSet } from '../../learn/metric/test-set.ts';
import { choice, inputQuery, type OutputDatasetSpec, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { runOnCreation } from '../parameter.ts';
import { type OutputDataset, type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { bySumsOrRows, type QuerySums, sumsOfQuery } from '../training/query-sums.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { summedRegression, summedScores } from './test-by-sums.ts';
import { type LabelledScores, readTestRows, type TestRow, testedFunction } from './test-rows.ts';

const TYPE = 'classifier.test';

const PARAMETERS = Type.Object({
  mode: choice(MODES, { description: 'the mode of the model', default: 'boolean' }),
  testingData: inputQuery({ description: 'selects a score, a label, and perhaps a weight' }),
  outputDataset: Type.Optional(
    outputDataset({ description: 'a row for each tested row', defaultType: 'tabular' }),
  ),
  uniqueScoresOnly: Type.Boolean({
    description: 'in mode boolean: one row of output for each distinct score',
    default: false,
  }),
  recallOverN: Type.Array(Type.Integer({ minimum: 1 }), {
    description: 'how many best labels count, in modes categorical and multilabel',
    default: [],
  }),
  calibrationBins: Type.Integer({
    description:
      'in mode boolean, of probabilities: bins to compare them with outcomes in; 0: none',
    minimum: 0,
    maximum: 10_000,
    default: 0,
  }),
  calibrationStrategy: choice(CALIBRATION_STRATEGIES, {
    description: 'uniform: bins are equally wide; quantile: they hold equally many rows',
    default: 'uniform',
  }),
  prCurve: Type.Boolean({
    description: 'in mode boolean: tell the average precision, `prAuc`',
    default: false,
  }),
  ...runOnCreation,
});

type ClassifierTestParams = Static<typeof PARAMETERS>;

/** Compares scores with labels. */
export const classifierTest = workerProcedure({
  name: TYPE,
  summary: 'Measures how well scores agree with labels.',
  parameters: PARAMETERS,
  check(params) {
    checkTrainingQuery(params.testingData, {
      type: TYPE,
      shape: 'score and label',
      plain: true,
    });
    if (params.mode !== 'boolean' && (params.calibrationBins > 0 || params.prCurve)) {
      throw failure(
        'INVALID_PARAMETER',
        `calibrationBins and prCurve are for mode boolean, not ${params.mode}`,
      );
    }
  },
  run(context, options) {
    const steps = context.steps([
      { name: 'extracting features', type: 'percentile' },
      { name: 'testing', type: 'percentile' },
    ]);
    steps.next();
    const check = () => context.checkCancelled();
    const { made, reading } = bySumsOrRows<TestResult>(
      context,
      () => summedRows(context, options),
      (sums) => testBySums(sums, options, check),
      () => {
        const rows = readTestRows(context, options.testingData, options.mode);
        steps.next();
        const output = openOutput(context, options.outputDataset);
        const result = TESTS[options.mode](rows, options, output, check);
        output?.commit();
        return { result };
      },
    );
    steps.finish();
    const tested = testedFunction(context, options.testingData);
    const details = {
      ...(tested === undefined ? {} : { testedFunction: tested }),
      ...(reading === undefined ? {} : { reading }),
      ...(made.aucErrorMax === undefined ? {} : { aucErrorMax: made.aucErrorMax }),
    };
    return {
      result: withNumberTexts(made.result),
      ...(Object.keys(details).length === 0 ? {} : { details }),
    };
  },
});

interface TestResult {
  readonly result: unknown;
  readonly aucErrorMax?: number | undefined;
}

/** The rows where another system has them, and no row is to be told of. */
function summedRows(
  context: ProcedureContext,
  { mode, outputDataset: output, testingData }: ClassifierTestParams,
): QuerySums | undefined {
  const isTold = output !== undefined && output !== null;
  if (isTold || (mode !== 'boolean' && mode !== 'regression')) return undefined;
  return sumsOfQuery(context, testingData, { label: 'label', weight: 'weight' });
}

function testBySums(sums: QuerySums, options: ClassifierTestParams, check: () => void): TestResult {
  if (options.mode === 'regression') return { result: summedRegression(sums) };
  const { scores, labels, weights, aucErrorMax } = summedScores(sums);
  const curve = booleanCurve(scores, labels, weights, check);
  return { result: reportOf(curve, { scores, labels, weights }, options, check), aucErrorMax };
}

function openOutput(context: ProcedureContext, spec: OutputDatasetSpec): OutputDataset | undefined {
  if (spec === undefined || spec === null) return undefined;
  return context.output(spec, 'tabular');
}

type Test = (
  rows: readonly TestRow[],
  options: ClassifierTestParams,
  output: OutputDataset | undefined,
  check: () => void,
) => unknown;

const TESTS: Readonly<Record<Mode, Test>> = {
  boolean: testBoolean,
  regression: testRegression,
  categorical: testCategorical,
  multilabel: testMultilabel,
};

function testBoolean(
  rows: readonly TestRow[],
  options: ClassifierTestParams,
  output: OutputDataset | undefined,
  check: () => void,
): unknown {
  const scores = numbersOf(rows, ({ score }) => score, check);
  const labels = Uint8Array.from(numbersOf(rows, ({ truth }) => (truth ? 1 : 0), check));
  const weights = numbersOf(rows, ({ weight }) => weight, check);
  const curve = booleanCurve(scores, labels, weights, check);
  if (output !== undefined) {
    const chosen = options.uniqueScoresOnly
      ? rowsOfDistinctScores(curve, labels)
      : Uint32Array.from(rows, (_, row) => row);
    for (const row of chosen) {
      const point = curve.points[row] as number;
      record(output, rows[row] as TestRow, {
        index: point,
        label: labels[row] as number,
        score: scores[row] as number,
        weight: weights[row] as number,
        ...ratesAt(curve, point),
      });
    }
  }
  return reportOf(curve, { scores, labels, weights }, options, check);
}

interface ScoredLabels {
  readonly scores: Float64Array;
  readonly labels: Uint8Array;
  readonly weights: Float64Array;
}

function reportOf(
  curve: BooleanCurve,
  { scores, labels, weights }: ScoredLabels,
  { calibrationBins, calibrationStrategy, prCurve }: ClassifierTestParams,
  check: () => void,
): unknown {
  const report = booleanReport(curve, check);
  if (calibrationBins === 0 && !prCurve) return report;
  const bins = [calibrationBins, calibrationStrategy] as const;
  return {
    ...report,
    ...(prCurve ? { prAuc: averagePrecision(curve) } : {}),
    ...(calibrationBins > 0
      ? { calibration: calibrationReport(scores, labels, weights, ...bins, check) }
      : {}),
  };
}

function testRegression(
  rows: readonly TestRow[],
  _options: ClassifierTestParams,
  output: OutputDataset | undefined,
  check: () => void,
): unknown {
  const scores = numbersOf(rows, ({ score }) => score, check);
  const labels = numbersOf(rows, ({ label }) => Number(label), check);
  const weights = numbersOf(rows, ({ weight }) => weight, check);
  if (output !== undefined) {
    rows.forEach((row, index) => {
      record(output, row, {
        label: row.label,
        score: scores[index] as number,
        weight: weights[index] as number,
      });
    });
  }
  return regressionReport(scores, labels, weights, check);
}

function testCategorical(
  rows: readonly TestRow[],
  { recallOverN }: ClassifierTestParams,
  output: OutputDataset | undefined,
  check: () => void,
): unknown {
  if (rows.length === 0) throw emptyTestSet();
  const table = scoreTable(rows, check);
  const actual = Int32Array.from(numbersOf(rows, ({ label }) => table.labelIndex(label), check));
  const test = {
    ...table.scores,
    labels: table.labels,
    actual,
    weights: numbersOf(rows, ({ weight }) => weight, check),
  };
  const report = categoricalReport(test, recallOverN, check);
  if (output !== undefined) {
    const predicted = predictedLabels(test, check);
    rows.forEach((row, index) => {
      record(output, row, {
        label: row.label,
        weight: row.weight,
        maxLabel: table.labels[predicted[index] as number] as Atom,
        ...scoreColumns(row.scores),
      });
    });
  }
  return report;
}

function testMultilabel(
  rows: readonly TestRow[],
  { recallOverN }: ClassifierTestParams,
  output: OutputDataset | undefined,
  check: () => void,
): unknown {
  const table = scoreTable(rows, check);
  const offsets = new Uint32Array(rows.length + 1);
  const actual: number[] = [];
  rows.forEach((row, index) => {
    for (const label of row.labels) actual.push(table.labelIndex(label));
    offsets[index + 1] = actual.length;
  });
  if (output !== undefined) {
    for (const row of rows) {
      const labels = row.labels.map((label, index) => [`label.${index}`, label] as const);
      record(output, row, {
        ...Object.fromEntries(labels),
        weight: row.weight,
        ...scoreColumns(row.scores),
      });
    }
  }
  return multilabelReport(
    {
      ...table.scores,
      labels: table.labels.map(atomText),
      actual: Int32Array.from(actual),
      offsets,
      weights: numbersOf(rows, ({ weight }) => weight, check),
    },
    recallOverN,
    check,
  );
}

/** Rows read between two looks at the cancel flag. */
const ROWS_PER_CHECK = 32_768;

function numbersOf(
  rows: readonly TestRow[],
  read: (row: TestRow) => number,
  check: () => void,
): Float64Array {
  const numbers = new Float64Array(rows.length);
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_PER_CHECK === 0) check();
    numbers[index] = read(row);
  }
  return numbers;
}

/** All rows' scores as one table; a label that a row does not score is below all others. */
function scoreTable(rows: readonly TestRow[], check: () => void) {
  const labels: Exclude<Atom, null>[] = [];
  const positions = new Map<Atom, number>();
  const labelIndex = (label: Atom): number => {
    let index = positions.get(label);
    if (index === undefined) {
      index = labels.push(label as Exclude<Atom, null>) - 1;
      positions.set(label, index);
    }
    return index;
  };
  const look = every(ROWS_PER_CHECK, check);
  for (const { scores } of rows) {
    for (const { label } of scores) {
      look();
      labelIndex(label);
    }
  }
  const columnCount = labels.length;
  const scores = new Float64Array(rows.length * columnCount).fill(Number.NEGATIVE_INFINITY);
  rows.forEach((row, index) => {
    for (const { label, score } of row.scores) {
      look();
      scores[index * columnCount + labelIndex(label)] = score;
    }
  });
  const columns = Int32Array.from({ length: columnCount }, (_, column) => column);
  return { labels, labelIndex, scores: { scores, columnCount, columns } };
}

function scoreColumns(scores: readonly LabelledScores[]): Record<string, number> {
  return Object.fromEntries(
    scores.map(({ column, score }) => [new Path(['score', column]).toString(), score]),
  );
}

/** Columns are printed paths. */
function record(output: OutputDataset, row: TestRow, cells: Readonly<Record<string, Atom>>): void {
  output.record({
    name: row.name,
    cells: Object.entries(cells).map(([column, atom]) => [Path.parse(column), atom, row.ts]),
  });
}

/** Numbers that JSON lacks are texts in status documents. */
function withNumberTexts(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : '-Inf';
  }
  if (Array.isArray(value)) return value.map(withNumberTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withNumberTexts(member)]),
  );
}
