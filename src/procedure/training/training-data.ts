// Reads what a training query selects: features by column, labels, weights. Rows come in the order
// of their names, so that a model does not depend on how the data was stored.

import { usePlanColumns } from '../../exec/operator/plan-columns.ts';
import type { PreparedQuery } from '../../exec/query.ts';
import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import {
  type ExtractedColumns,
  extractColumns,
  type ScalarForm,
} from '../../exec/vector/extract.ts';
import { columnSource, sourceOfColumn } from '../../learn/feature/column-source.ts';
import type { SourceColumn } from '../../learn/feature/source.ts';
import {
  duplicatedColumn,
  labelAmongFeatures,
  noRows,
  regressionTarget,
} from '../../learn/label.ts';
import { rowWeight } from '../../learn/weight.ts';
import { childrenOf } from '../../plan/children.ts';
import type { BoundExpression, ProjectItem, RowExpression } from '../../plan/expression.ts';
import { inputsOf } from '../../plan/map-plan.ts';
import type { PlanNode } from '../../plan/plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import { type Atom, isTrue } from '../../value/atom.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { rowNamesView } from '../../value/column/row-names.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { cellsOf, compareValues, latestOf, Row, Scalar, type Value } from '../../value/value.ts';
import { compileRowItems } from '../classifier/feature-probe.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import type { SampleReport } from './query-sums.ts';
import { sampledQuery } from './sampled-query.ts';
import { refuseManyClasses, requireTwoClasses } from './two-classes.ts';

/** How labels are read: truthiness, a finite number, any atom, or the names of a row's columns. */
export type LabelForm = 'truth' | 'number' | 'atom' | 'set';

export type Labels =
  | { readonly form: 'truth'; readonly values: Uint8Array }
  | { readonly form: 'number'; readonly values: Float64Array }
  | { readonly form: 'atom'; readonly values: readonly Exclude<Atom, null>[] }
  | { readonly form: 'set'; readonly values: readonly (readonly string[])[] };

export interface TrainingData {
  readonly rowCount: number;
  /** rows that were left out because they have no label */
  readonly unlabelledCount: number;
  /** features in natural order of their names */
  readonly features: readonly SourceColumn[];
  readonly labels: Labels;
  /** one a row; absent when the query has no weight */
  readonly weights: Float64Array | undefined;
  /** present: these are not all rows */
  readonly sample?: SampleReport | undefined;
}

/** @throws DATA_ERROR when all rows are of one class */
export function twoClasses({ labels, rowCount }: TrainingData): Uint8Array {
  if (labels.form !== 'truth') throw new Error('labels are read by their truth');
  requireTwoClasses(
    labels.values.reduce((sum, label) => sum + label, 0),
    rowCount,
  );
  return labels.values;
}

export interface TrainingDataOptions {
  /** rows whose weight is null or 0 are left out, instead of being refused or kept */
  readonly skipsWeightless?: boolean;
  /** what the rows are for, in messages; default: training */
  readonly work?: string;
  /** too many rows of another system are sampled by it; absent: they are refused */
  readonly sampleSeed?: number;
}

/**
 * Reads all rows that have a label.
 * @throws DATA_ERROR when nothing remains, or a label or weight cannot be used
 */
export function readTrainingData(
  context: ProcedureContext,
  query: InputQuery,
  form: LabelForm,
  options: TrainingDataOptions = {},
): TrainingData {
  const { sampleSeed } = options;
  const { prepared, sample } =
    sampleSeed === undefined
      ? { prepared: context.query(query), sample: undefined }
      : sampledQuery(context, query, sampleSeed);
  refuseLabelFeatures(prepared, context);
  const skips = options.skipsWeightless === true;
  const data =
    readColumns(context, prepared, form, skips) ??
    readMadeColumns(context, prepared, form, skips) ??
    readRows(context, prepared, form, skips);
  if (data.rowCount === 0) {
    throw noRows(isEmptyDataset(prepared.plan.root, context), options.work);
  }
  return sample === undefined ? data : { ...data, sample };
}

const SCALAR_FORM: Readonly<Record<Exclude<LabelForm, 'set'>, ScalarForm>> = {
  truth: 'truth',
  number: 'numbers',
  atom: 'codes',
};

/** The way without rows: undefined when the query is not that simple. */
function readColumns(
  context: ProcedureContext,
  prepared: PreparedQuery,
  form: LabelForm,
  skipsWeightless: boolean,
): TrainingData | undefined {
  const { arenas, namespace, parallel, scope } = context;
  const { root } = prepared.plan;
  if (form === 'set') return undefined;
  const label = root.kind === 'project' ? namedExpression(root.items, 'label') : undefined;
  // A plain column may hold more than two values, which its truth alone would not tell.
  const isPlainColumn = label?.kind === 'column';
  const extracted = extractColumns(prepared.plan, {
    row: 'features',
    scalars: {
      label: form === 'truth' && isPlainColumn ? 'codes' : SCALAR_FORM[form],
      weight: 'numbers',
    },
    namespace,
    scope,
    engine: { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN },
  });
  if (extracted === undefined) return undefined;
  const check = () => context.checkCancelled();
  const { rows, unlabelledCount } = labelledRows(extracted, context, skipsWeightless);
  check();
  const labels = extractedLabels(extracted, rows, form, labelTextOf(prepared), check);
  if (labels === undefined) return undefined;
  const weight = extracted.scalars.weight;
  const rowCount = rows?.length ?? extracted.snapshot.rowCount;
  return {
    rowCount,
    unlabelledCount,
    features: extracted.features.map(({ path, column }) =>
      sourceOfColumn(path.toString(), column, arenas, rows, check),
    ),
    labels,
    weights:
      weight?.form === 'numbers'
        ? checkedWeights(rows === undefined ? weight.values : gather(weight.values, rows))
        : undefined,
  };
}

/** The way of operators: undefined when rows have to be made one by one. */
function readMadeColumns(
  context: ProcedureContext,
  prepared: PreparedQuery,
  form: LabelForm,
  skipsWeightless: boolean,
): TrainingData | undefined {
  const { arenas, parallel } = context;
  const { root } = prepared.plan;
  if (form === 'set' || root.kind !== 'project') return undefined;
  const isWeighted = namesWeight(root.items);
  const skips = skipsWeightless && isWeighted;
  const options = {
    row: 'features',
    scalars: ['label', 'weight'],
    engine: { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN },
  };
  return usePlanColumns(root, prepared.runtime, options, (made) => {
    const check = () => context.checkCancelled();
    const look = every(ROWS_PER_CHECK, check);
    const { label, weight } = made.scalars;
    if (label === undefined) return undefined;
    const labels = new ColumnView(label, arenas);
    const weights = weight && new ColumnView(weight, arenas);
    const rows = new Int32Array(made.rowCount);
    let count = 0;
    let unlabelledCount = 0;
    for (let row = 0; row < made.rowCount; row++) {
      look();
      if (labels.isNull(row)) unlabelledCount++;
      else if (!skips || isCounted(weights?.atomAt(row) ?? null)) rows[count++] = row;
    }
    const chosen = rowsInOrder(rows.subarray(0, count), made.nameAt, look);
    if (chosen === undefined) return undefined;
    const atoms = Array.from(chosen, (row) => {
      look();
      return labels.atomAt(row) as Exclude<Atom, null>;
    });
    return {
      rowCount: count,
      unlabelledCount,
      features: made.features
        .toSorted((a, b) => comparePaths(a.path, b.path))
        .map(({ path, column }) => sourceOfColumn(path.toString(), column, arenas, chosen, check)),
      labels: makeLabels(atoms, form, labelTextOf(prepared), look),
      weights: isWeighted
        ? Float64Array.from(chosen, (row) => rowWeight(weights?.atomAt(row) ?? null))
        : undefined,
    };
  });
}

function isCounted(weight: Atom): boolean {
  return weight !== null && weight !== 0;
}

/** Rows in the order of their names; undefined when two names are equal, which values then order. */
function rowsInOrder(
  rows: Int32Array,
  nameAt: (row: number) => Path,
  look: () => void,
): Int32Array | undefined {
  const named = Array.from(rows, (row) => {
    look();
    return { row, name: nameAt(row) };
  });
  let isAscending = true;
  for (let i = 1; i < named.length && isAscending; i++) {
    look();
    isAscending = comparePaths((named[i - 1] as Named).name, (named[i] as Named).name) < 0;
  }
  if (isAscending) return rows;
  named.sort((a, b) => {
    look();
    return comparePaths(a.name, b.name);
  });
  for (let i = 1; i < named.length; i++) {
    if (comparePaths((named[i - 1] as Named).name, (named[i] as Named).name) === 0)
      return undefined;
  }
  return Int32Array.from(named, ({ row }) => row);
}

interface Named {
  readonly row: number;
  readonly name: Path;
}

/** Numbers of the selected rows with a label, in the order of row names; undefined: all rows. */
function labelledRows(
  { snapshot, scalars, selection }: ExtractedColumns,
  context: ProcedureContext,
  skipsWeightless: boolean,
): { readonly rows: Int32Array | undefined; readonly unlabelledCount: number } {
  const { label, weight } = scalars;
  const counts = (row: number) =>
    !skipsWeightless || weight?.form !== 'numbers' || hasWeight(weight.values[row] as number);
  const hasLabel = (row: number) => {
    if (label === undefined) return false;
    if (label.form === 'truth') return label.values[row] !== 1;
    if (label.form === 'codes') return label.values[row] !== 0;
    return !Number.isNaN(label.values[row]);
  };
  const look = every(ROWS_PER_CHECK, () => context.checkCancelled());
  const found = new Int32Array(selection?.length ?? snapshot.rowCount);
  let count = 0;
  let unlabelledCount = 0;
  for (let i = 0; i < found.length; i++) {
    look();
    const row = selection === undefined ? i : (selection[i] as number);
    if (!hasLabel(row)) unlabelledCount++;
    else if (counts(row)) found[count++] = row;
  }
  const rows = found.subarray(0, count);
  if (snapshot.rowNames.kind === 'sequence') {
    const isAll = rows.length === snapshot.rowCount;
    return { rows: isAll ? undefined : rows, unlabelledCount };
  }
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, context.arenas);
  const paths = Array.from(rows, (row) => {
    look();
    return { row, path: names.pathAt(row) };
  });
  paths.sort((a, b) => {
    look();
    return comparePaths(a.path, b.path) || a.row - b.row;
  });
  for (const [index, { row }] of paths.entries()) rows[index] = row;
  return { rows, unlabelledCount };
}

function extractedLabels(
  { scalars }: ExtractedColumns,
  rows: Int32Array | undefined,
  form: LabelForm,
  labelText: string,
  check: () => void,
): Labels | undefined {
  const { label } = scalars;
  if (label === undefined) return undefined;
  switch (label.form) {
    case 'truth': {
      const truth = rows === undefined ? label.values : gather(label.values, rows);
      return { form: 'truth', values: truth.map((value) => value >> 1) };
    }
    case 'numbers': {
      const values = rows === undefined ? label.values : gather(label.values, rows);
      // A NaN may be a null or a label that cannot be learned: rows tell them apart.
      return values.every(Number.isFinite) ? { form: 'number', values } : undefined;
    }
    case 'codes': {
      const codes = rows === undefined ? label.values : gather(label.values, rows);
      if (form === 'truth') {
        const distinct = [...new Set(codes)];
        check();
        refuseManyClasses(
          distinct.map((code) => label.atom(code)),
          labelText,
        );
        const truths = new Map(distinct.map((code) => [code, truth(label.atom(code))]));
        const values = new Uint8Array(codes.length);
        for (let i = 0; i < codes.length; i++) values[i] = truths.get(codes[i] as number) as number;
        return { form, values };
      }
      const look = every(ROWS_PER_CHECK, check);
      const atoms = Array.from(codes, (code) => {
        look();
        return label.atom(code) as Exclude<Atom, null>;
      });
      return { form: 'atom', values: atoms };
    }
  }
}

function gather<T extends Uint8Array | Int32Array | Float64Array>(values: T, rows: Int32Array): T {
  const out = values.slice(0, 0) as T;
  const gathered = new (out.constructor as new (length: number) => T)(rows.length);
  for (let i = 0; i < rows.length; i++) gathered[i] = values[rows[i] as number] as number;
  return gathered;
}

/** Neither 0 nor missing; what cannot be a weight is left for the check to refuse. */
function hasWeight(weight: number): boolean {
  return weight !== 0 && !Number.isNaN(weight);
}

function checkedWeights(weights: Float64Array): Float64Array {
  for (const weight of weights) rowWeight(Number.isNaN(weight) ? null : weight);
  return weights;
}

interface TrainingRow {
  readonly name: Path;
  readonly features: Value;
  /** 0 where there is a set */
  readonly label: Exclude<Atom, null>;
  readonly labels: readonly string[];
  readonly weight: Atom | undefined;
}

/** Rows, or comparisons of two, between two looks at the cancel flag. */
const ROWS_PER_CHECK = 16_384;
const ROW_OBJECTS_PER_CHECK = 1024;

/** Any query: row by row through the general evaluator. */
function readRows(
  context: ProcedureContext,
  prepared: PreparedQuery,
  form: LabelForm,
  skipsWeightless: boolean,
): TrainingData {
  const rows: TrainingRow[] = [];
  let unlabelledCount = 0;
  for (const { name, row } of prepared.run()) {
    if (rows.length % 256 === 0) context.checkCancelled();
    const labels = form === 'set' ? labelSet(row) : [];
    const label = form === 'set' ? 0 : scalarMember(row, 'label');
    if (label === undefined || label === null || labels === undefined) {
      unlabelledCount++;
      continue;
    }
    const weight = scalarMember(row, 'weight');
    if (skipsWeightless && (weight === null || weight === 0)) continue;
    const features = row.values[row.indexOf('features')] ?? new Row([], []);
    rows.push({ name, features, label, labels, weight });
  }
  const look = every(ROW_OBJECTS_PER_CHECK, () => context.checkCancelled());
  rows.sort((a, b) => {
    look();
    return comparePaths(a.name, b.name) || compareValues(a.features, b.features);
  });
  const isWeighted =
    prepared.plan.root.kind === 'project' ? namesWeight(prepared.plan.root.items) : false;
  return {
    rowCount: rows.length,
    unlabelledCount,
    features: featureColumns(rows, context),
    labels:
      form === 'set'
        ? { form, values: rows.map((row) => row.labels) }
        : makeLabels(
            rows.map((row) => row.label),
            form,
            labelTextOf(prepared),
            look,
          ),
    weights: isWeighted
      ? Float64Array.from(rows, ({ weight }) => rowWeight(weight ?? null))
      : undefined,
  };
}

function namesWeight(items: readonly ProjectItem[]): boolean {
  return items.some((item) => item.kind === 'named' && item.path.join('.') === 'weight');
}

/** The latest value of a member; undefined when there is none, or when it is a row. */
function scalarMember(row: Row, name: string): Atom | undefined {
  const points = row.all(name);
  const scalars = points.filter((point) => point instanceof Scalar);
  if (scalars.length === 0) {
    if (points.length > 0 && name === 'label') {
      throw failure('DATA_ERROR', `the label must be a single value, not a row`);
    }
    return undefined;
  }
  return latestOf(scalars).atom;
}

function truth(label: Atom): 0 | 1 {
  return isTrue(label) ? 1 : 0;
}

function makeLabels(
  labels: readonly Exclude<Atom, null>[],
  form: Exclude<LabelForm, 'set'>,
  labelText: string,
  look: () => void,
): Labels {
  switch (form) {
    case 'truth':
      refuseManyClasses(labels, labelText, look);
      return { form, values: Uint8Array.from(labels, truth) };
    case 'number':
      return { form, values: Float64Array.from(labels, regressionTarget) };
    case 'atom':
      return { form, values: labels };
  }
}

/** Names of the label's columns that are not null; undefined without a label. */
function labelSet(row: Row): string[] | undefined {
  const points = row.all('label');
  if (points.length === 0) return undefined;
  const names = new Set<string>();
  for (const point of points) {
    if (point instanceof Scalar) {
      if (point.atom === null) continue;
      throw failure('DATA_ERROR', 'Multilabel classification labels requires a row');
    }
    for (const { path, atom } of cellsOf(point)) {
      if (atom !== null) names.add(path.toString());
    }
  }
  return [...names];
}

/** One column for each name that any row has below its features. */
function featureColumns(
  rows: readonly TrainingRow[],
  context: Pick<ProcedureContext, 'checkCancelled'>,
): SourceColumn[] {
  const columns = new Map<string, { path: Path; rows: number[]; atoms: Atom[] }>();
  rows.forEach(({ features, name }, index) => {
    if (index % ROW_OBJECTS_PER_CHECK === 0) context.checkCancelled();
    for (const { path, atom } of cellsOf(features)) {
      const key = path.toString();
      let column = columns.get(key);
      if (column === undefined) {
        column = { path, rows: [], atoms: [] };
        columns.set(key, column);
      } else if (column.rows.at(-1) === index) {
        throw duplicatedColumn(key, name.toString());
      }
      column.rows.push(index);
      column.atoms.push(atom);
    }
  });
  return [...columns.values()]
    .sort((a, b) => comparePaths(a.path, b.path))
    .map(({ path, rows: own, atoms }) => {
      context.checkCancelled();
      return columnSource(path.toString(), own, atoms, rows.length, () => context.checkCancelled());
    });
}

/** Columns that the label reads must not be features. @throws DATA_ERROR naming the first one */
export function refuseLabelFeatures(prepared: PreparedQuery, context: ProcedureContext): void {
  const { root } = prepared.plan;
  const project = findProject(root);
  if (project === undefined) return;
  const features = namedExpression(project.items, 'features');
  const label = namedExpression(project.items, 'label');
  if (features?.kind !== 'row' || label === undefined) return;
  const probe = compileRowItems(features, context);
  for (const path of columnsOf(label)) {
    const found = probe(path);
    if (found) throw labelAmongFeatures(path.toString());
  }
  if (label.kind === 'row') refuseLabelWildcards(label, probe, project, context);
}

/** Columns that a wildcard of the label takes must not be features. @throws DATA_ERROR */
function refuseLabelWildcards(
  label: RowExpression,
  isFeature: (column: Path) => boolean,
  project: PlanNode,
  context: ProcedureContext,
): void {
  const scanned = scannedDataset(project);
  if (scanned === undefined) return;
  for (const item of label.items) {
    if (item.kind !== 'wildcard' || item.source !== 'input') continue;
    const { exact, prefix } = item.pattern;
    const isLabel = compileRowItems({ ...label, items: [item] }, context);
    for (const { path } of context.namespace.dataset(scanned).columns()) {
      if (!exact.every((element, index) => path.elements[index] === element)) continue;
      if (!isLabel(path) || !isFeature(path)) continue;
      const printed = new Path(prefix === '' ? exact : [...exact, prefix]).toString();
      throw labelAmongFeatures(path.toString(), printed);
    }
  }
}

/** The dataset whose rows a project reads, where it reads one. */
function scannedDataset(node: PlanNode): string | undefined {
  if (node.kind === 'scan') return node.dataset;
  const inputs = inputsOf(node);
  return inputs.length === 1 ? scannedDataset(inputs[0] as PlanNode) : undefined;
}

/** What the query selects as label, in its own words. */
export function labelTextOf({ plan, runtime }: PreparedQuery): string {
  const label = namedExpression(findProject(plan.root)?.items ?? [], 'label');
  if (label === undefined || runtime.text === undefined) return 'label';
  return runtime.text.slice(label.start, label.end);
}

function findProject(node: PlanNode): Extract<PlanNode, { kind: 'project' }> | undefined {
  if (node.kind === 'project') return node;
  const [input] = inputsOf(node);
  return input === undefined || node.kind === 'join' ? undefined : findProject(input);
}

function namedExpression(items: readonly ProjectItem[], name: string): BoundExpression | undefined {
  const item = items.find((each) => each.kind === 'named' && each.path.join('.') === name);
  return item?.kind === 'named' ? item.expression : undefined;
}

function columnsOf(expression: BoundExpression): Path[] {
  const paths: Path[] = [];
  const pending = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'column') paths.push(new Path(next.path));
    pending.push(...childrenOf(next));
  }
  return paths;
}

/** True when the dataset that the query scans has no row at all. */
function isEmptyDataset(node: PlanNode, context: ProcedureContext): boolean {
  if (node.kind === 'scan' || node.kind === 'ask') {
    return context.namespace.dataset(node.dataset).rowCount === 0;
  }
  return inputsOf(node).every((input) => isEmptyDataset(input, context));
}
