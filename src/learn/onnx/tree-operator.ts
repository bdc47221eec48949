// The operators of tree ensembles and linear models.
// @see https://github.com/onnx/onnx/blob/main/docs/Operators-ml.md
import { failure } from '../../util/error.ts';
import { logistic, normalQuantile } from '../glz/link.ts';
import { softmax } from '../model/score.ts';
import { type Attribute, FLOAT, INT64, type OnnxNode, type Tensor } from './model.ts';
import { matrixDims, numbersTensor, textsTensor } from './tensor.ts';

export type Operator = (inputs: readonly Tensor[]) => readonly Tensor[];

type Attributes = OnnxNode['attributes'];

export function numbersOf(attributes: Attributes, name: string): readonly number[] {
  const value: Attribute | undefined = attributes[`${name}_as_tensor`] ?? attributes[name];
  if (value === undefined) return [];
  if (typeof value === 'object' && 'dims' in value) return Array.from(value.numbers);
  return Array.isArray(value) && value.every((each) => typeof each === 'number') ? value : [];
}

export function textsOf(attributes: Attributes, name: string): readonly string[] {
  const value = attributes[name];
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : [];
}

export function textOf(attributes: Attributes, name: string, otherwise: string): string {
  const value = attributes[name];
  return typeof value === 'string' ? value : otherwise;
}

export function numberIn(attributes: Attributes, name: string, otherwise: number): number {
  const value = attributes[name];
  return typeof value === 'number' ? value : otherwise;
}

/** Nodes of all trees, by their position in the lists. */
export interface TreeList {
  readonly roots: readonly number[];
  readonly features: readonly number[];
  readonly modes: readonly string[];
  readonly values: readonly number[];
  readonly missingTrue: readonly number[];
  /** positions of the nodes where the test holds, and where not */
  readonly whenTrue: Int32Array;
  readonly whenFalse: Int32Array;
  /** of each leaf: outputs and what is added to them */
  readonly outputs: readonly (readonly (readonly [output: number, weight: number])[])[];
}

const MODES: ReadonlySet<string> = new Set([
  ...['LEAF', 'BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ'],
]);

/** @param of `target` or `class`: what the lists of leaves are called */
export function readTreeList(attributes: Attributes, of: 'target' | 'class'): TreeList {
  const ids = (name: string) => numbersOf(attributes, name);
  const trees = ids('nodes_treeids');
  const nodes = ids('nodes_nodeids');
  const modes = textsOf(attributes, 'nodes_modes');
  const features = ids('nodes_featureids');
  const values = ids('nodes_values');
  const lists = [nodes, modes, features, values, ids('nodes_truenodeids')];
  if (lists.some(({ length }) => length !== trees.length)) {
    throw failure('DATA_ERROR', 'the lists of a tree ensemble are not equally long');
  }
  const unknown = modes.find((mode) => !MODES.has(mode));
  if (unknown !== undefined) throw failure('DATA_ERROR', `tree nodes of mode '${unknown}'`);
  const positions = new Map(trees.map((tree, at) => [`${tree} ${nodes[at]}`, at]));
  const isChild = new Uint8Array(trees.length);
  const find = (tree: number | undefined, node: number | undefined): number => {
    const at = positions.get(`${tree} ${node}`);
    if (at === undefined) throw failure('DATA_ERROR', `tree ${tree} has no node ${node}`);
    return at;
  };
  const links = (name: string): Int32Array =>
    Int32Array.from(ids(name), (node, at) => {
      if (modes[at] === 'LEAF') return at;
      const child = find(trees[at], node);
      if (child === at) throw failure('DATA_ERROR', `node ${node} of a tree leads to itself`);
      if (isChild[child] === 1) {
        throw failure('DATA_ERROR', `node ${node} of tree ${trees[at]} is reached in two ways`);
      }
      isChild[child] = 1;
      return child;
    });
  const whenTrue = links('nodes_truenodeids');
  const whenFalse = links('nodes_falsenodeids');
  const outputs = trees.map((): [number, number][] => []);
  const weights = ids(`${of}_weights`);
  const outputIds = ids(`${of}_ids`);
  const leafNodes = ids(`${of}_nodeids`);
  for (const [i, tree] of ids(`${of}_treeids`).entries()) {
    const at = find(tree, leafNodes[i]);
    outputs[at]?.push([outputIds[i] as number, weights[i] as number]);
  }
  const roots = [...trees.keys()].filter((at) => isChild[at] === 0);
  if (roots.length !== new Set(trees).size) {
    throw failure('DATA_ERROR', 'a tree of the ensemble has no root, or several');
  }
  const missingTrue = ids('nodes_missing_value_tracks_true');
  return { roots, features, modes, values, missingTrue, whenTrue, whenFalse, outputs };
}

/** Whether a number passes the test of a node. */
export function passes(mode: string, x: number, value: number): boolean {
  switch (mode) {
    case 'BRANCH_LEQ':
      return x <= value;
    case 'BRANCH_LT':
      return x < value;
    case 'BRANCH_GTE':
      return x >= value;
    case 'BRANCH_GT':
      return x > value;
    case 'BRANCH_EQ':
      return x === value;
    default:
      return x !== value;
  }
}

/** Sums of what the leaves say, row by row, `width` a row. */
function sumTrees(
  list: TreeList,
  matrix: Tensor,
  width: number,
  base: readonly number[],
  aggregate: string,
): Float64Array {
  const [rows, columns] = matrixDims(matrix);
  const out = new Float64Array(rows * width);
  const { roots, features, modes, values, missingTrue, whenTrue, whenFalse, outputs } = list;
  const isExtreme = aggregate === 'MIN' || aggregate === 'MAX';
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < width; k++) {
      if (isExtreme) out[row * width + k] = Number.NaN;
    }
    for (const root of roots) {
      let at = root;
      // A walk that is longer than the list goes in circles.
      for (let steps = 0; modes[at] !== 'LEAF'; steps++) {
        if (steps > modes.length) throw failure('DATA_ERROR', 'a tree of the ensemble is a circle');
        const feature = features[at] as number;
        if (feature >= columns) {
          throw failure('DATA_ERROR', `a tree tests column ${feature} of ${columns}`);
        }
        const x = matrix.numbers[row * columns + feature] as number;
        const isTrue = Number.isNaN(x)
          ? missingTrue[at] === 1
          : passes(modes[at] as string, x, values[at] as number);
        at = (isTrue ? whenTrue : whenFalse)[at] as number;
      }
      for (const [output, weight] of outputs[at] ?? []) {
        const place = row * width + output;
        const before = out[place] as number;
        if (!isExtreme) out[place] = before + weight;
        else if (Number.isNaN(before)) out[place] = weight;
        else out[place] = aggregate === 'MIN' ? Math.min(before, weight) : Math.max(before, weight);
      }
    }
    for (let k = 0; k < width; k++) {
      const place = row * width + k;
      if (aggregate === 'AVERAGE') out[place] = (out[place] as number) / roots.length;
      out[place] = (out[place] as number) + (base[k] ?? 0);
    }
  }
  return out;
}

export function treeRegressor({ attributes }: OnnxNode): Operator {
  const list = readTreeList(attributes, 'target');
  const width = numberIn(attributes, 'n_targets', 1);
  const base = numbersOf(attributes, 'base_values');
  const aggregate = textOf(attributes, 'aggregate_function', 'SUM');
  const transform = textOf(attributes, 'post_transform', 'NONE');
  return ([matrix]) => {
    const sums = sumTrees(list, matrix as Tensor, width, base, aggregate);
    transformRows(transform, sums, width);
    return [numbersTensor(FLOAT, [sums.length / width, width], sums)];
  };
}

/** What the leaves of a classifier add to: all classes, or one sum that stands for two. */
export function outputsOf({ outputs }: TreeList, classCount: number) {
  const ids = new Set(outputs.flat().map(([output]) => output));
  const [only = 0] = ids;
  return {
    isPair: classCount === 2 && ids.size === 1,
    isPositive: outputs.flat().every(([, weight]) => weight >= 0),
    only,
  };
}

export function treeClassifier({ attributes }: OnnxNode): Operator {
  const list = readTreeList(attributes, 'class');
  const base = numbersOf(attributes, 'base_values');
  const transform = textOf(attributes, 'post_transform', 'NONE');
  const classes = readClasses(attributes);
  const { isPair, isPositive, only } = outputsOf(list, classes.count);
  return ([matrix]) => {
    const sums = sumTrees(list, matrix as Tensor, classes.count, isPair ? [] : base, 'SUM');
    if (!isPair) return classes.answer(sums, transform);
    const single = new Float64Array(sums.length / 2);
    for (let row = 0; row < single.length; row++) {
      single[row] = (sums[row * 2 + only] as number) + (base.at(-1) ?? 0);
    }
    return classes.answerPair(single, isPositive, transform);
  };
}

/** Names of the classes, and answers of classifiers: labels and scores. */
export function readClasses(attributes: Attributes) {
  const texts = textsOf(attributes, 'classlabels_strings');
  const numbers = [
    ...numbersOf(attributes, 'classlabels_int64s'),
    ...numbersOf(attributes, 'classlabels_ints'),
  ];
  const count = Math.max(texts.length, numbers.length);
  const labelled = (winners: readonly number[]): Tensor =>
    texts.length > 0
      ? textsTensor(
          [winners.length],
          winners.map((index) => texts[index] as string),
        )
      : numbersTensor(
          INT64,
          [winners.length],
          Float64Array.from(winners, (index) => numbers[index] as number),
        );
  return {
    count,
    texts,
    numbers,
    answer(scores: Float64Array, transform: string): Tensor[] {
      const rows = scores.length / count;
      const winners = Array.from({ length: rows }, (_, row) => {
        const own = scores.subarray(row * count, (row + 1) * count);
        return own.indexOf(own.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY));
      });
      transformRows(transform, scores, count);
      return [labelled(winners), numbersTensor(FLOAT, [rows, count], scores)];
    },
    /** One sum for two classes. */
    answerPair(sums: Float64Array, isPositive: boolean, transform: string): Tensor[] {
      const scores = new Float64Array(sums.length * 2);
      const winners = Array.from(sums, (sum) => Number(sum > (isPositive ? 0.5 : 0)));
      for (const [row, sum] of sums.entries()) {
        const isLogistic = transform === 'LOGISTIC' && !isPositive;
        const second = isLogistic ? logistic(sum) : sum;
        const whole = isLogistic || isPositive ? 1 : 0;
        scores[row * 2] = whole - second;
        scores[row * 2 + 1] = second;
      }
      return [labelled(winners), numbersTensor(FLOAT, [sums.length, 2], scores)];
    },
  };
}

function transformRows(transform: string, scores: Float64Array, width: number): void {
  switch (transform) {
    case 'NONE':
      return;
    case 'LOGISTIC':
      for (let i = 0; i < scores.length; i++) scores[i] = logistic(scores[i] as number);
      return;
    case 'SOFTMAX':
      for (let from = 0; from < scores.length; from += width) softmax(scores, from, width);
      return;
    case 'PROBIT':
      for (let i = 0; i < scores.length; i++) scores[i] = normalQuantile(scores[i] as number);
      return;
    default:
      throw failure('DATA_ERROR', `post_transform '${transform}' is not supported`);
  }
}

/** Rows of the matrix times coefficients, a row an output, plus constants. */
function linearSums(attributes: Attributes, matrix: Tensor, width: number): Float64Array {
  const [rows, columns] = matrixDims(matrix);
  const coefficients = numbersOf(attributes, 'coefficients');
  const constants = numbersOf(attributes, 'intercepts');
  if (coefficients.length !== width * columns) {
    throw failure(
      'DATA_ERROR',
      `a linear model of ${coefficients.length} coefficients gets ${columns} columns`,
    );
  }
  const out = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < width; k++) {
      let sum = constants[k] ?? 0;
      for (let c = 0; c < columns; c++) {
        sum +=
          (coefficients[k * columns + c] as number) * (matrix.numbers[row * columns + c] as number);
      }
      out[row * width + k] = sum;
    }
  }
  return out;
}

export function linearRegressor({ attributes }: OnnxNode): Operator {
  const width = numberIn(attributes, 'targets', 1);
  const transform = textOf(attributes, 'post_transform', 'NONE');
  return ([matrix]) => {
    const sums = linearSums(attributes, matrix as Tensor, width);
    transformRows(transform, sums, width);
    return [numbersTensor(FLOAT, [sums.length / width, width], sums)];
  };
}

export function linearClassifier({ attributes }: OnnxNode): Operator {
  const classes = readClasses(attributes);
  const transform = textOf(attributes, 'post_transform', 'NONE');
  return ([matrix]) => {
    const [, columns] = matrixDims(matrix as Tensor);
    const rows = numbersOf(attributes, 'coefficients').length / columns;
    const sums = linearSums(attributes, matrix as Tensor, rows);
    return rows === 1 && classes.count === 2
      ? classes.answerPair(sums, false, transform)
      : classes.answer(sums, transform);
  };
}
