// Models of other programs, read from ONNX files, as classifiers.
import { failure } from '../../util/error.ts';
import { comparePaths, Path } from '../../value/path.ts';
import {
  EXTRACT_EQUALS,
  EXTRACT_PRESENCE,
  EXTRACT_VALUE,
  EXTRACT_VALUE_IF_PRESENT,
} from '../design/columns.ts';
import { CATEGORIES_PER_COLUMN, type Feature } from '../feature/feature.ts';
import type { GbtModel, Objective } from '../gbt/model.ts';
import { packTrees } from '../gbt/pack.ts';
import type { Link } from '../glz/link.ts';
import type { GlzModel } from '../glz/model.ts';
import { labelList, type Mode } from '../label.ts';
import type { ClassifierModel } from '../model/classifier.ts';
import type { JobContext, Workspace } from '../workspace.ts';
import { importTrees, type OutputTerms } from './import-trees.ts';
import type { OnnxModel, ValueInfo } from './model.ts';
import {
  type GraphColumn,
  type GraphInput,
  type GraphScores,
  type LinearSums,
  readGraph,
  type TreeSums,
} from './read-graph.ts';

export const IMPORT_MODES = ['boolean', 'regression', 'categorical'] as const;

export interface ImportOptions {
  /** absent: what the model's outputs tell */
  readonly mode?: (typeof IMPORT_MODES)[number] | undefined;
  /** of all columns of the inputs, in their order; empty: names of the tensors */
  readonly featureNames: readonly string[];
}

/**
 * The model of an ONNX file: trees become `gbt`, coefficients `glz`. It scores as the file does, as
 * far as doubles and floats are equal; numbers are rounded to floats before tests where the file
 * does so.
 * @param arena where trees are placed; their spans are the caller's to free
 * @throws INVALID_PARAMETER for names and modes that do not fit, DATA_ERROR for other models
 */
export function importOnnx(
  workspace: Workspace,
  onnx: OnnxModel,
  options: ImportOptions,
  arena: number,
  scope: JobContext,
): ClassifierModel {
  const { inputs, scores } = readGraph(onnx, unknownWidths(onnx.inputs, options.featureNames));
  const { mode, labels, outputs } = planOf(scores, options.mode, onnx.metadata);
  // Features of a model are in the order of their names.
  const names = namesOf(inputs, onnx.inputs, options.featureNames);
  const order = names
    .map((name, input) => ({ input, path: Path.parse(name) }))
    .sort((a, b) => comparePaths(a.path, b.path))
    .map(({ input }) => input);
  const positions = new Map(order.map((input, position) => [input, position]));
  const moved = <Column extends GraphColumn>(column: Column): Column => ({
    ...column,
    input: positions.get(column.input) as number,
  });
  const sortedNames = order.map((input) => names[input] as string);
  const isText = order.map((input) => (inputs[input] as GraphInput).isText);
  const sums = { ...scores.sums, columns: scores.sums.columns.map(moved) };
  if (sums.kind === 'linear') {
    const { features, model } = linearModel(sums, scores, sortedNames, isText, mode, outputs);
    return { mode, labels, features, algorithm: model };
  }
  if (scores.isShare) {
    throw failure('DATA_ERROR', 'its operator Normalizer after trees is not imported here');
  }
  const { columns, features, trees } = importTrees(sums, sortedNames, isText, outputs, scope);
  const shape = { width: outputs.length, takesTurns: false };
  const ensemble = packTrees(workspace, { features, columns }, trees, shape, arena);
  const isMargin = scores.whole === 0;
  const algorithm: GbtModel = {
    type: 'gbt',
    objective: OBJECTIVES[linkOf(scores, mode)],
    baseScore: baseOf(sums, outputs),
    learningRate: 1,
    output: isMargin ? 'margin' : 'probability',
    ensemble,
    gains: trees.map((tree) => new Float32Array(tree.columns.length)),
    bestIteration: Math.max(0, trees.length - 1),
  };
  return { mode, labels, features, algorithm };
}

const OBJECTIVES: Readonly<Record<GraphScores['link'], Objective>> = {
  none: 'squared',
  logistic: 'logistic',
  softmax: 'softmax',
  exp: 'poisson',
};

/** Two shares that add up to 1 are one logistic function. */
function linkOf({ link, width }: GraphScores, mode: Mode): GraphScores['link'] {
  return link === 'softmax' && width === 2 && mode === 'boolean' ? 'logistic' : link;
}

interface Plan {
  readonly mode: Exclude<Mode, 'multilabel'>;
  readonly labels: readonly string[];
  /** what the model's sums are, one an output */
  readonly outputs: readonly OutputTerms[];
}

/** @throws INVALID_PARAMETER when the model has no such mode */
function planOf(
  scores: GraphScores,
  wanted: ImportOptions['mode'],
  metadata: OnnxModel['metadata'],
): Plan {
  const classes = scores.classes ?? ownLabels(metadata);
  const isTruth = classes?.length === 2 && classes.every((label) => label === 0 || label === 1);
  const told = metadata.mode === 'boolean' && scores.width === 1 ? 'boolean' : undefined;
  const natural =
    told ?? (classes === undefined ? 'regression' : isTruth ? 'boolean' : 'categorical');
  const mode = wanted ?? natural;
  const count = scores.whole === undefined ? scores.width : 2;
  const refuse = (what: string) =>
    failure('INVALID_PARAMETER', `mode: ${mode} does not fit the model, which ${what}`);
  if (mode !== 'categorical') {
    if (mode === 'regression' && classes !== undefined) throw refuse('tells classes');
    if (mode === 'regression' && count !== 1) throw refuse(`has ${count} outputs`);
    if (mode === 'boolean' && count > 2) throw refuse(`tells ${count} classes`);
    return { mode, labels: [], outputs: [secondOf(scores)] };
  }
  if (classes === undefined) throw refuse('does not name classes');
  const labels = labelList(classes);
  if (labels.length !== count || classes.length !== count) {
    throw failure('DATA_ERROR', `the model has ${count} scores for ${labels.length} classes`);
  }
  const texts = classes.map((label) => JSON.stringify(label));
  const sources = labels.map((label) => texts.indexOf(label));
  if (scores.whole === undefined) {
    const outputs = sources.map((source) => ({ terms: [[source, 1]] as const, constant: 0 }));
    return { mode, labels, outputs };
  }
  // One sum, that of the second class; where the labels change places, what the first one has.
  const isTurned = sources[0] === 1;
  const rest = scores.link === 'logistic' ? 0 : scores.whole;
  const output: OutputTerms = { terms: [[0, isTurned ? -1 : 1]], constant: isTurned ? rest : 0 };
  return { mode, labels, outputs: [output] };
}

/** The score of "true", or the only one. */
function secondOf({ link, whole, width }: GraphScores): OutputTerms {
  if (width === 1 || whole !== undefined) return { terms: [[0, 1]], constant: 0 };
  if (link !== 'softmax') return { terms: [[1, 1]], constant: 0 };
  return {
    terms: [
      [1, 1],
      [0, -1],
    ],
    constant: 0,
  };
}

/** The labels that `model.export` tells. */
function ownLabels({ labels, mode }: OnnxModel['metadata']): (string | number)[] | undefined {
  if (labels === undefined || mode !== 'categorical') return undefined;
  try {
    const list: unknown = JSON.parse(labels);
    const atoms = Array.isArray(list) ? list.map((text): unknown => JSON.parse(String(text))) : [];
    const isLabel = (atom: unknown) => typeof atom === 'string' || typeof atom === 'number';
    return atoms.every(isLabel) && atoms.length > 0 ? (atoms as (string | number)[]) : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

function baseOf({ base }: TreeSums, outputs: readonly OutputTerms[]): number[] {
  return outputs.map(({ terms, constant }) =>
    terms.reduce((sum, [output, sign]) => sum + sign * (base[output] ?? 0), constant),
  );
}

const COLUMN_COUNT_MAX = 1_000_000;

/** Columns of the one input whose shape leaves them open. */
function unknownWidths(
  inputs: readonly ValueInfo[],
  featureNames: readonly string[],
): Map<string, number> {
  const isOpen = ({ dims }: ValueInfo) => dims.length >= 2 && !((dims[1] as number) > 0);
  const known = inputs.filter((input) => !isOpen(input));
  const count = known.reduce(
    (sum, { dims }) => sum + (dims.length < 2 ? 1 : (dims[1] as number)),
    0,
  );
  if (count > COLUMN_COUNT_MAX) {
    throw failure('DATA_ERROR', `the model has ${count} inputs; ${COLUMN_COUNT_MAX} are imported`);
  }
  const [open, ...more] = inputs.filter(isOpen);
  if (open === undefined) return new Map();
  const rest = featureNames.length - count;
  if (more.length === 0 && rest > 0) return new Map([[open.name, rest]]);
  throw failure(
    'INVALID_PARAMETER',
    `featureNames: the model's input '${open.name}' does not tell how many columns it has; name them all`,
  );
}

/** @throws INVALID_PARAMETER when there are fewer or more names than columns, or one twice */
function namesOf(
  inputs: readonly GraphInput[],
  tensors: readonly ValueInfo[],
  featureNames: readonly string[],
): readonly string[] {
  const widths = new Map<string, number>();
  for (const { tensor } of inputs) widths.set(tensor, (widths.get(tensor) ?? 0) + 1);
  const names =
    featureNames.length > 0
      ? featureNames
      : inputs.map(({ tensor, column }) =>
          widths.get(tensor) === 1 ? tensor : `${tensor}.${column}`,
        );
  if (names.length !== inputs.length) {
    const told = tensors.map(({ name }) => `'${name}' has ${widths.get(name) ?? 0}`).join(', ');
    throw failure(
      'INVALID_PARAMETER',
      `featureNames: ${names.length} names for ${inputs.length} columns of the model's inputs: ${told}`,
    );
  }
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name))
      throw failure('INVALID_PARAMETER', `featureNames: '${name}' is there twice`);
    seen.add(name);
  }
  return names;
}

const LINKS: Readonly<Record<GraphScores['link'], Link>> = {
  none: 'linear',
  logistic: 'logit',
  softmax: 'linear',
  exp: 'log',
};

/** Coefficients of one input. */
interface InputTerms {
  /** a row each */
  readonly values: Float64Array;
  readonly presences: Float64Array;
  readonly categories: Map<string, Float64Array>;
}

function linearModel(
  { coefficients, columns, constants }: LinearSums,
  scores: GraphScores,
  names: readonly string[],
  isText: readonly boolean[],
  mode: Mode,
  outputs: readonly OutputTerms[],
): { readonly features: Feature[]; readonly model: GlzModel } {
  const count = outputs.length;
  const totals = outputs.map(({ terms, constant }) =>
    terms.reduce((sum, [row, sign]) => sum + sign * (constants[row] as number), constant),
  );
  const inputs = names.map(
    (): InputTerms => ({
      values: new Float64Array(count),
      presences: new Float64Array(count),
      categories: new Map(),
    }),
  );
  for (const [index, column] of columns.entries()) {
    const own = inputs[column.input] as InputTerms;
    for (const [k, { terms }] of outputs.entries()) {
      const weight = terms.reduce(
        (sum, [row, sign]) => sum + sign * (coefficients[row]?.[index] as number),
        0,
      );
      if (column.kind === 'text') {
        throw failure('DATA_ERROR', `the model reads input '${names[column.input]}' as a number`);
      }
      if (column.kind === 'flag') {
        const known = own.categories.get(column.category) ?? new Float64Array(count);
        known[k] = (known[k] as number) + weight;
        own.categories.set(column.category, known);
        continue;
      }
      // weight (x - offset) scale, where x is `imputed` if it is missing.
      const { imputed = 0, offset, scale } = column;
      const slope = weight * scale;
      own.values[k] = (own.values[k] as number) + slope;
      own.presences[k] = (own.presences[k] as number) - slope * imputed;
      totals[k] = (totals[k] as number) + slope * (imputed - offset);
    }
  }
  const list: { feature: number; extract: number; category: number; weights: Float64Array }[] = [];
  const features = names.map((name, feature): Feature => {
    const { categories, presences, values } = inputs[feature] as InputTerms;
    if (categories.size > 0 || isText[feature]) {
      if (values.some((value) => value !== 0)) {
        throw failure('DATA_ERROR', `the model reads input '${name}' as number and as category`);
      }
      const texts = [...categories.keys()];
      for (const [category, weights] of [...categories.values()].entries()) {
        list.push({ feature, extract: EXTRACT_EQUALS, category, weights });
      }
      const buckets = new Uint8Array();
      return {
        ...{ kind: 'categorical', name, coding: 'each', hasMissing: true, buckets },
        categories: texts,
        columnCount: Math.max(1, Math.ceil(texts.length / CATEGORIES_PER_COLUMN)),
      };
    }
    const hasPresence = presences.some((value) => value !== 0);
    const extract = hasPresence ? EXTRACT_VALUE_IF_PRESENT : EXTRACT_VALUE;
    list.push({ feature, extract, category: -1, weights: values });
    if (hasPresence) {
      list.push({ feature, extract: EXTRACT_PRESENCE, category: -1, weights: presences });
    }
    const boundaries = new Float64Array();
    return { kind: 'numeric', name, boundaries, hasMissing: hasPresence };
  });
  const rows = totals.map((total, k) =>
    Float64Array.from([...list.map(({ weights }) => weights[k] as number), total]),
  );
  const link = linkOf(scores, mode);
  const isPair = mode === 'boolean' || (mode === 'categorical' && count === 1);
  // The first of two labels has the rest; of a logistic function that is the mirrored sum.
  const rest = link === 'logistic' ? 0 : (scores.whole ?? 1);
  const first = (row: Float64Array) =>
    row.map((weight, column) => (column === list.length ? rest - weight : -weight));
  return {
    features,
    model: {
      ...{ type: 'glz', link: LINKS[link], decode: true, addBias: true },
      ...(link === 'softmax'
        ? { jointly: 'softmax' }
        : scores.isShare
          ? { jointly: 'shares' }
          : {}),
      columns: {
        features: Int32Array.from(list, ({ feature }) => feature),
        extracts: Uint8Array.from(list, ({ extract }) => extract),
        categories: Int32Array.from(list, ({ category }) => category),
      },
      weights: isPair ? [first(rows[0] as Float64Array), rows[0] as Float64Array] : rows,
      means: new Float64Array(list.length),
    },
  };
}
