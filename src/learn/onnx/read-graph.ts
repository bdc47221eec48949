// What the graph of an ONNX model computes of its inputs, told without rows: sums of trees or of
// coefficients, and what becomes of them.
import { failure } from '../../util/error.ts';
import {
  DOUBLE,
  FLOAT,
  ML_DOMAIN,
  type OnnxModel,
  type OnnxNode,
  STRING,
  type Tensor,
} from './model.ts';
import {
  numberIn,
  numbersOf,
  outputsOf,
  readClasses,
  readTreeList,
  type TreeList,
  textOf,
  textsOf,
} from './tree-operator.ts';

/** A column of a matrix that follows from one input. */
export type GraphColumn =
  | {
      readonly kind: 'number';
      readonly input: number;
      /** rounded to a float before anything else */
      readonly isFloat: boolean;
      /** its value is (x - offset) * scale */
      readonly offset: number;
      readonly scale: number;
      /** what x is where it is missing; absent: it stays missing */
      readonly imputed?: number;
    }
  /** 1 where the input is this category, else 0 */
  | { readonly kind: 'flag'; readonly input: number; readonly category: string }
  /** as it comes, good for nothing but flags */
  | { readonly kind: 'text'; readonly input: number };

export interface TreeSums {
  readonly kind: 'trees';
  readonly list: TreeList;
  /** training rows of each node; empty: the file does not tell */
  readonly covers: readonly number[];
  readonly columns: readonly GraphColumn[];
  /** the leaves are multiplied by it */
  readonly factor: number;
  /** added to the outputs */
  readonly base: readonly number[];
  /** the output of the leaves that is the only one; absent: all are */
  readonly only?: number;
}

export interface LinearSums {
  readonly kind: 'linear';
  readonly columns: readonly GraphColumn[];
  /** a row an output */
  readonly coefficients: readonly (readonly number[])[];
  readonly constants: readonly number[];
}

/** N x width numbers. */
export interface GraphScores {
  readonly sums: TreeSums | LinearSums;
  readonly width: number;
  readonly link: 'none' | 'logistic' | 'softmax' | 'exp';
  /** scores are divided by their sum */
  readonly isShare: boolean;
  /** one sum for two classes: the first has this minus the score of the second */
  readonly whole?: number;
  /** names of the classes, if it is a classifier */
  readonly classes?: readonly (string | number)[];
}

export interface GraphInput {
  readonly tensor: string;
  /** the column of the tensor */
  readonly column: number;
  readonly isText: boolean;
}

type Told =
  | { readonly kind: 'columns'; readonly columns: readonly GraphColumn[] }
  | { readonly kind: 'scores'; readonly scores: GraphScores }
  | { readonly kind: 'constant'; readonly tensor: Tensor }
  /** not known what it is, and who made it */
  | { readonly kind: 'other'; readonly operator: string };

export interface Graph {
  readonly inputs: readonly GraphInput[];
  readonly scores: GraphScores;
}

/**
 * @param widths columns of inputs whose shape does not tell
 * @throws DATA_ERROR naming an operator when no output is a model that can be told
 */
export function readGraph(
  { constants, inputs, nodes, outputs }: OnnxModel,
  widths: ReadonlyMap<string, number>,
): Graph {
  const told = new Map<string, Told>();
  for (const [name, tensor] of constants) told.set(name, { kind: 'constant', tensor });
  const list: GraphInput[] = [];
  for (const { name, type, dims } of inputs) {
    const width = dims.length < 2 ? 1 : (widths.get(name) ?? (dims[1] as number));
    const isText = type === STRING;
    const columns = Array.from({ length: width }, (_, column): GraphColumn => {
      const input = list.push({ tensor: name, column, isText }) - 1;
      if (isText) return { kind: 'text', input };
      return { kind: 'number', input, isFloat: type === FLOAT, offset: 0, scale: 1 };
    });
    told.set(name, { kind: 'columns', columns });
  }
  for (const node of nodes) {
    const made = readNode(
      node,
      node.inputs.map((name) => told.get(name) ?? { kind: 'other', operator: node.op }),
    );
    for (const [index, name] of node.outputs.entries()) {
      told.set(name, made[index] ?? { kind: 'other', operator: operatorOf(node) });
    }
  }
  const answers = outputs.map(({ name }) => told.get(name));
  const scores = answers.find((answer) => answer?.kind === 'scores');
  if (scores !== undefined) return { inputs: list, scores: scores.scores };
  const unknown = answers.findLast((answer) => answer?.kind === 'other');
  throw failure(
    'DATA_ERROR',
    `${unknown === undefined ? 'nothing computes its outputs' : `its outputs follow from the operator ${unknown.operator}, which is not imported here`}; tree ensembles and linear models are, after scalers, imputers and one-hot encoders of their inputs`,
    unknown === undefined ? {} : { operator: unknown.operator },
  );
}

function operatorOf({ domain, op }: OnnxNode): string {
  return domain === '' ? op : `${domain}.${op}`;
}

/** Outputs that are not among those answered are not known. */
function readNode(node: OnnxNode, inputs: readonly Told[]): readonly Told[] {
  const unknown = inputs.find((input) => input.kind === 'other');
  const table = node.domain === ML_DOMAIN ? CLASSIC : node.domain === '' ? GENERAL : {};
  const read = Object.hasOwn(table, node.op) ? table[node.op] : undefined;
  const made = unknown === undefined ? read?.(node, inputs) : undefined;
  if (made !== undefined) return made;
  const operator = unknown?.kind === 'other' ? unknown.operator : operatorOf(node);
  return node.outputs.map(() => ({ kind: 'other', operator }));
}

/** @returns undefined for inputs that it cannot be told of */
type NodeReader = (node: OnnxNode, inputs: readonly Told[]) => readonly Told[] | undefined;

/** What leaves its input as it is, as far as rows are concerned. */
const same: NodeReader = (_, [input]) =>
  input?.kind === 'columns' || input?.kind === 'scores' ? [input] : undefined;

const GENERAL: Readonly<Record<string, NodeReader>> = {
  Identity: (_, [input]) => input && [input],
  Reshape: same,
  Flatten: same,
  Squeeze: same,
  Cast({ attributes }, [input]) {
    const to = numberIn(attributes, 'to', 0);
    if (to !== FLOAT && to !== DOUBLE) return undefined;
    if (input?.kind === 'scores') return [input];
    if (input?.kind !== 'columns') return undefined;
    return mapColumns(input.columns, (column) =>
      column.kind === 'number' && to === FLOAT && column.scale === 1 && column.offset === 0
        ? { ...column, isFloat: true }
        : column.kind === 'text'
          ? undefined
          : column,
    );
  },
  Constant({ attributes: { value } }) {
    return typeof value === 'object' && 'dims' in value
      ? [{ kind: 'constant', tensor: value }]
      : undefined;
  },
  Concat({ attributes }, inputs) {
    const axis = numberIn(attributes, 'axis', 0);
    if (axis !== 1 && axis !== -1) return undefined;
    const columns = inputs.flatMap((input) => (input.kind === 'columns' ? input.columns : []));
    const isWhole = inputs.every((input) => input.kind === 'columns');
    return isWhole ? [{ kind: 'columns', columns }] : undefined;
  },
  Gather({ attributes }, [input, indexes]) {
    return numberIn(attributes, 'axis', 0) === 1 ? pickColumns(input, indexes) : undefined;
  },
  Add: arithmetic((x) => ({ factor: 1, constant: x })),
  Sub: arithmetic((x) => ({ factor: 1, constant: -x }), { isOrdered: true }),
  Mul: arithmetic((x) => ({ factor: x, constant: 0 })),
  Div: arithmetic((x) => ({ factor: 1 / x, constant: 0 }), { isOrdered: true }),
  MatMul: (_, [left, right]) => product(left, right),
  Gemm({ attributes }, [left, right, constants]) {
    const isPlain =
      numberIn(attributes, 'alpha', 1) === 1 &&
      numberIn(attributes, 'beta', 1) === 1 &&
      numberIn(attributes, 'transA', 0) === 0;
    if (!isPlain) return undefined;
    const made = product(left, right, numberIn(attributes, 'transB', 0) === 1);
    if (made === undefined || constants === undefined) return made;
    return GENERAL.Add?.({ op: 'Add', domain: '', inputs: [], outputs: [], attributes }, [
      ...made,
      constants,
    ]);
  },
  Sigmoid: (_, [input]) => linked(input, 'logistic'),
  Exp: (_, [input]) => linked(input, 'exp'),
  Softmax({ attributes }, [input]) {
    const axis = numberIn(attributes, 'axis', -1);
    return axis === 1 || axis === -1 ? linked(input, 'softmax') : undefined;
  },
};

const CLASSIC: Readonly<Record<string, NodeReader>> = {
  ArrayFeatureExtractor: (_, [input, indexes]) => pickColumns(input, indexes),
  ZipMap: same,
  Scaler({ attributes }, [input]) {
    if (input?.kind !== 'columns') return undefined;
    const offsets = numbersOf(attributes, 'offset');
    const scales = numbersOf(attributes, 'scale');
    return mapColumns(input.columns, (column, index) => {
      const at = (list: readonly number[]) => (list.length === 1 ? list[0] : list[index]);
      return scaled(column, at(offsets) ?? 0, at(scales) ?? 1);
    });
  },
  Imputer({ attributes }, [input]) {
    if (input?.kind !== 'columns') return undefined;
    const floats = numbersOf(attributes, 'imputed_value_floats');
    const list = floats.length > 0 ? floats : numbersOf(attributes, 'imputed_value_int64s');
    if (!Number.isNaN(numberIn(attributes, 'replaced_value_float', Number.NaN))) return undefined;
    return mapColumns(input.columns, (column, index) => {
      const imputed = list.length === 1 ? list[0] : list[index];
      const isPlain = column.kind === 'number' && column.scale === 1 && column.offset === 0;
      return isPlain && imputed !== undefined ? { ...column, imputed } : undefined;
    });
  },
  OneHotEncoder({ attributes }, [input]) {
    const column = input?.kind === 'columns' ? input.columns[0] : undefined;
    if (input?.kind !== 'columns' || input.columns.length !== 1 || column === undefined) return;
    const texts = textsOf(attributes, 'cats_strings');
    const categories =
      column.kind === 'text' ? texts : numbersOf(attributes, 'cats_int64s').map(String);
    const columns = categories.map(
      (category): GraphColumn => ({ kind: 'flag', input: column.input, category }),
    );
    return columns.length === 0 ? undefined : [{ kind: 'columns', columns }];
  },
  Normalizer({ attributes }, [input]) {
    if (input?.kind !== 'scores' || textOf(attributes, 'norm', 'MAX') !== 'L1') return undefined;
    const { scores } = input;
    // Shares of a whole are as they were.
    if (scores.link === 'softmax' || scores.whole === 1) return [input];
    return [{ kind: 'scores', scores: { ...scores, isShare: true } }];
  },
  TreeEnsembleRegressor({ attributes }, [input]) {
    if (input?.kind !== 'columns') return undefined;
    const list = readTreeList(attributes, 'target');
    const width = numberIn(attributes, 'n_targets', 1);
    const aggregate = textOf(attributes, 'aggregate_function', 'SUM');
    if (aggregate !== 'SUM' && aggregate !== 'AVERAGE') return undefined;
    const factor = aggregate === 'AVERAGE' ? 1 / list.roots.length : 1;
    const sums = treeSums(attributes, list, input.columns, width, factor);
    return linked({ kind: 'scores', scores: plain(sums, width) }, linkOf(attributes));
  },
  TreeEnsembleClassifier({ attributes }, [input]) {
    if (input?.kind !== 'columns') return undefined;
    const list = readTreeList(attributes, 'class');
    const { count, numbers, texts } = readClasses(attributes);
    const sums = treeSums(attributes, list, input.columns, count, 1);
    const { isPair, isPositive, only } = outputsOf(list, count);
    const classes = texts.length > 0 ? texts : numbers;
    const unnamed = { kind: 'other', operator: 'TreeEnsembleClassifier' } as const;
    if (!isPair) {
      const scores = { ...plain(sums, count), classes };
      const made = linked({ kind: 'scores', scores }, linkOf(attributes));
      return made && [unnamed, ...made];
    }
    const base = sums.base.length === 0 ? [] : [sums.base.at(-1) as number];
    return [unnamed, ...pairOf({ ...sums, only, base }, classes, linkOf(attributes), isPositive)];
  },
  LinearRegressor({ attributes }, [input]) {
    if (input?.kind !== 'columns') return undefined;
    const sums = linearSums(attributes, input.columns, numberIn(attributes, 'targets', 1));
    return linked(
      { kind: 'scores', scores: plain(sums, sums.coefficients.length) },
      linkOf(attributes),
    );
  },
  LinearClassifier({ attributes }, [input]) {
    if (input?.kind !== 'columns') return undefined;
    const { count, numbers, texts } = readClasses(attributes);
    const classes = texts.length > 0 ? texts : numbers;
    const width = Math.round(
      numbersOf(attributes, 'coefficients').length / Math.max(1, input.columns.length),
    );
    const sums = linearSums(attributes, input.columns, width);
    const unnamed = { kind: 'other', operator: 'LinearClassifier' } as const;
    if (width === 1 && count === 2) {
      return [unnamed, ...pairOf(sums, classes, linkOf(attributes), false)];
    }
    if (width !== count) {
      throw failure('DATA_ERROR', `a linear model of ${width} outputs for ${count} classes`);
    }
    const made = linked(
      { kind: 'scores', scores: { ...plain(sums, width), classes } },
      linkOf(attributes),
    );
    return made && [unnamed, ...made];
  },
};

function plain(sums: TreeSums | LinearSums, width: number): GraphScores {
  return { sums, width, link: 'none', isShare: false };
}

/** One sum for two classes, see the answers of classifiers of `tree-operator.ts`. */
function pairOf(
  sums: TreeSums | LinearSums,
  classes: readonly (string | number)[],
  link: GraphScores['link'] | undefined,
  isPositive: boolean,
): Told[] {
  if (link === undefined) return [];
  const isLogistic = link === 'logistic' && !isPositive;
  const scores: GraphScores = {
    ...{ sums, width: 1, isShare: false, classes },
    link: isLogistic ? 'logistic' : 'none',
    whole: isLogistic || isPositive ? 1 : 0,
  };
  return [{ kind: 'scores', scores }];
}

const LINKS: Readonly<Record<string, GraphScores['link']>> = {
  NONE: 'none',
  LOGISTIC: 'logistic',
  SOFTMAX: 'softmax',
};

function linkOf(attributes: OnnxNode['attributes']): GraphScores['link'] | undefined {
  return LINKS[textOf(attributes, 'post_transform', 'NONE')];
}

function linked(
  input: Told | undefined,
  link: GraphScores['link'] | undefined,
): Told[] | undefined {
  if (input?.kind !== 'scores' || link === undefined) return undefined;
  const { scores } = input;
  if (link === 'none') return [input];
  if (scores.link !== 'none' || scores.isShare || scores.whole !== undefined) return undefined;
  return [{ kind: 'scores', scores: { ...scores, link } }];
}

function treeSums(
  attributes: OnnxNode['attributes'],
  list: TreeList,
  columns: readonly GraphColumn[],
  width: number,
  factor: number,
): TreeSums {
  for (const [at, mode] of list.modes.entries()) {
    const feature = list.features[at] as number;
    if (mode !== 'LEAF' && !(feature in columns)) {
      throw failure('DATA_ERROR', `a tree tests column ${feature} of ${columns.length}`);
    }
  }
  const stray = list.outputs.flat().find(([output]) => !(output >= 0 && output < width));
  if (stray !== undefined) {
    throw failure('DATA_ERROR', `a leaf of a tree has output ${stray[0]} of ${width}`);
  }
  const rates = numbersOf(attributes, 'nodes_hitrates');
  const isTold = rates.length === list.modes.length && rates.some((rate) => rate !== rates[0]);
  const base = numbersOf(attributes, 'base_values');
  return { kind: 'trees', list, covers: isTold ? rates : [], columns, factor, base };
}

function linearSums(
  attributes: OnnxNode['attributes'],
  columns: readonly GraphColumn[],
  width: number,
): LinearSums {
  const all = numbersOf(attributes, 'coefficients');
  const constants = numbersOf(attributes, 'intercepts');
  if (all.length !== width * columns.length || all.length === 0) {
    throw failure(
      'DATA_ERROR',
      `a linear model of ${all.length} coefficients gets ${columns.length} columns`,
    );
  }
  return {
    kind: 'linear',
    columns,
    coefficients: Array.from({ length: width }, (_, k) =>
      all.slice(k * columns.length, (k + 1) * columns.length),
    ),
    constants: Array.from({ length: width }, (_, k) => constants[k] ?? 0),
  };
}

function product(
  left: Told | undefined,
  right: Told | undefined,
  isTransposed = false,
): Told[] | undefined {
  if (left?.kind !== 'columns' || right?.kind !== 'constant') return undefined;
  const { dims, numbers } = right.tensor;
  const { columns } = left;
  const [rows = 0, width = 1] = isTransposed ? [dims[1], dims[0]] : dims;
  if (rows !== columns.length || dims.length > 2) return undefined;
  const at = (c: number, k: number) => numbers[isTransposed ? k * rows + c : c * width + k];
  const sums: LinearSums = {
    kind: 'linear',
    columns,
    coefficients: Array.from({ length: width }, (_, k) =>
      columns.map((_column, c) => at(c, k) as number),
    ),
    constants: new Array<number>(width).fill(0),
  };
  return [{ kind: 'scores', scores: plain(sums, width) }];
}

/** A step with constants: one for all columns, or one each. */
function arithmetic(
  effect: (x: number) => { readonly factor: number; readonly constant: number },
  { isOrdered = false } = {},
): NodeReader {
  return (_, [left, right]) => {
    const isTurned = left?.kind === 'constant' && !isOrdered;
    const [input, constant] = isTurned ? [right, left] : [left, right];
    if (constant?.kind !== 'constant') return undefined;
    const { numbers } = constant.tensor;
    const at = (index: number) => (numbers.length === 1 ? numbers[0] : numbers[index]);
    if (input?.kind === 'columns') {
      return mapColumns(input.columns, (column, index) => {
        const x = at(index);
        if (x === undefined) return undefined;
        const { factor, constant: shift } = effect(x);
        return scaled(column, -shift, factor);
      });
    }
    if (input?.kind !== 'scores') return undefined;
    const { scores } = input;
    const steps = Array.from({ length: scores.width }, (_none, k) => at(k));
    const effects = steps.map((x) => (x === undefined ? undefined : effect(x)));
    const isNothing = effects.every((each) => each?.factor === 1 && each.constant === 0);
    if (isNothing) return [input];
    if (scores.link !== 'none' || scores.isShare || scores.whole !== undefined) return undefined;
    const sums = adjusted(scores.sums, effects);
    return sums && [{ kind: 'scores', scores: { ...scores, sums } }];
  };
}

function adjusted(
  sums: TreeSums | LinearSums,
  effects: readonly ({ readonly factor: number; readonly constant: number } | undefined)[],
): TreeSums | LinearSums | undefined {
  const factors = effects.map((effect) => effect?.factor ?? Number.NaN);
  const shifts = effects.map((effect) => effect?.constant ?? Number.NaN);
  const [factor = 1] = factors;
  if (sums.kind === 'trees') {
    if (factors.some((each) => each !== factor)) return undefined;
    const base = shifts.map((shift, k) => (sums.base[k] ?? 0) * factor + shift);
    return { ...sums, factor: sums.factor * factor, base };
  }
  return {
    ...sums,
    coefficients: sums.coefficients.map((row, k) => row.map((x) => x * (factors[k] as number))),
    constants: sums.constants.map((x, k) => x * (factors[k] as number) + (shifts[k] as number)),
  };
}

/** The column (y - offset) * scale of a column y. */
function scaled(column: GraphColumn, offset: number, scale: number): GraphColumn | undefined {
  if (column.kind !== 'number' || !(scale !== 0 && Number.isFinite(scale))) return undefined;
  // ((x - a) * s - offset) * scale = (x - (a + offset / s)) * (s * scale)
  return {
    ...column,
    offset: column.offset + offset / column.scale,
    scale: column.scale * scale,
  };
}

function mapColumns(
  columns: readonly GraphColumn[],
  change: (column: GraphColumn, index: number) => GraphColumn | undefined,
): Told[] | undefined {
  const changed = columns.map(change);
  const known = changed.filter((column) => column !== undefined);
  return known.length === columns.length ? [{ kind: 'columns', columns: known }] : undefined;
}

function pickColumns(input: Told | undefined, indexes: Told | undefined): Told[] | undefined {
  if (input?.kind !== 'columns' || indexes?.kind !== 'constant') return undefined;
  const { columns } = input;
  const picked = Array.from(indexes.tensor.numbers, (index) => columns.at(index));
  const known = picked.filter((column) => column !== undefined);
  return known.length === picked.length ? [{ kind: 'columns', columns: known }] : undefined;
}
