// Classifiers as ONNX models, for runtimes that know nothing of Rowan.
import { failure } from '../../util/error.ts';
import { type DesignColumns, EXTRACT_EQUALS, EXTRACT_PRESENCE } from '../design/columns.ts';
import type { CategoricalFeature, Feature } from '../feature/feature.ts';
import { readTree } from '../gbt/nodes.ts';
import type { Link } from '../glz/link.ts';
import type { GlzModel } from '../glz/model.ts';
import type { OutputLink, Prepared, PreparedModel } from '../model/prepare.ts';
import { type ScoreShape, shapeOf } from '../model/score.ts';
import type { Activation, PerceptronModel } from '../perceptron/model.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import {
  type Attribute,
  DOUBLE,
  encodeOnnx,
  FLOAT,
  INT64,
  ML_DOMAIN,
  type OnnxNode,
  STRING,
  type Tensor,
} from './model.ts';
import { TreeWriter } from './tree-writer.ts';

export const OPSET_MIN = 13;
export const OPSET_MAX = 21;

/**
 * One input tensor a feature, N x 1: doubles, NaN where missing, or texts, '' where missing. One
 * output: `score`, N x 1, or `scores`, N x labels, whose order the metadata tell.
 * @throws DATA_ERROR for models that ONNX has no operators for
 */
export function exportOnnx(
  workspace: Workspace,
  { model, prepared }: PreparedModel,
  opset: number,
): Uint8Array {
  const shape = shapeOf(model);
  const graph = new GraphBuilder(workspace, model.features);
  const scores = graph.scores(prepared, shape);
  const name = shape.width === 1 && model.labels.length === 0 ? 'score' : 'scores';
  graph.add('Cast', [scores], { to: FLOAT }, name);
  const used = model.features.filter((feature) => feature.kind !== 'unused');
  return encodeOnnx(
    {
      opset,
      nodes: graph.nodes,
      inputs: used.map((feature) => ({
        name: feature.name,
        type: feature.kind === 'numeric' ? DOUBLE : STRING,
        dims: [-1, 1],
      })),
      outputs: [{ name, type: FLOAT, dims: [-1, shape.width] }],
      constants: graph.constants,
      metadata: { mode: model.mode, labels: JSON.stringify(model.labels) },
    },
    'rowan',
  );
}

/** Names of the families that can be told in ONNX, for messages. */
const EXPORTED =
  'glz, perceptron, decision_tree, stump, boosted_stumps, gbt, random forests, and bagging, boosting and one-vs-all of these';

class GraphBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly constants = new Map<string, Tensor>();
  readonly #workspace: Workspace;
  readonly #features: readonly Feature[];
  readonly #codes = new Map<number, string>();
  #nextName = 0;

  constructor(workspace: Workspace, features: readonly Feature[]) {
    this.#workspace = workspace;
    this.#features = features;
  }

  /** @returns the name of the output */
  add(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    output = this.#fresh(op),
    domain = '',
  ): string {
    this.nodes.push({ op, domain, inputs, outputs: [output], attributes });
    return output;
  }

  /** A tensor of `prepared`'s scores: N x width, doubles or floats. */
  scores(prepared: Prepared, shape: ScoreShape): string {
    switch (prepared.kind) {
      case 'trees':
        return this.#treeScores(prepared, shape);
      case 'values': {
        const { algorithm } = prepared;
        if (algorithm.type === 'glz') return this.#glzScores(algorithm, shape);
        if (algorithm.type === 'perceptron') return this.#perceptronScores(algorithm, shape);
        throw failure(
          'DATA_ERROR',
          `a model of type ${algorithm.type} cannot be written as ONNX; accepted are ${EXPORTED}`,
        );
      }
      case 'sum': {
        const parts = prepared.members.map((member, index) =>
          this.add('Mul', [
            this.#double(this.scores(member, shape)),
            this.#scalar(prepared.weights[index] as number),
          ]),
        );
        const sum = parts.length === 1 ? (parts[0] as string) : this.add('Sum', parts);
        return this.#linked(sum, prepared.link, shape.width);
      }
      case 'each': {
        const own: ScoreShape = { width: 1, isBoolean: true, isRegression: false };
        const parts = prepared.members.map((member, label) => {
          const score = this.#double(this.scores(member, own));
          const [slope, constant] = prepared.calibrations?.[label] ?? [];
          if (slope === undefined || constant === undefined) return score;
          const scaled = this.add('Mul', [score, this.#scalar(slope)]);
          return this.add('Sigmoid', [this.add('Add', [scaled, this.#scalar(constant)])]);
        });
        return this.add('Concat', parts, { axis: 1 });
      }
    }
  }

  #treeScores(prepared: Extract<Prepared, { kind: 'trees' }>, { width }: ScoreShape): string {
    const { base, ensemble, link, mirror } = prepared;
    const rawWidth = ensemble.width;
    let raw = this.#double(this.#treeSums(ensemble));
    if (rawWidth === 2 && width === 1) {
      raw = this.add('Gather', [raw, this.#integers([1], [1])], { axis: 1 });
    }
    const outputs = Math.min(rawWidth, width);
    if (base !== undefined) {
      raw = this.add('Add', [raw, this.#doubles(base.slice(0, outputs), [1, outputs])]);
    }
    if (rawWidth === 1 && width === 2) {
      const second = this.#linked(raw, link, 1);
      const first = this.add('Sub', [this.#scalar(mirror ?? 0), second]);
      return this.add('Concat', [first, second], { axis: 1 });
    }
    return this.#linked(raw, link, width);
  }

  #linked(sums: string, link: OutputLink, width: number): string {
    switch (link) {
      case 'none':
        return sums;
      case 'softmax':
        return this.add('Softmax', [sums], { axis: 1 });
      case 'exp':
        return this.add('Exp', [sums]);
      case 'logistic':
      case 'logit':
        return this.add('Sigmoid', [sums]);
      case 'logit_norm': {
        const scores = this.add('Sigmoid', [sums]);
        return width === 1 ? scores : this.#shares(scores);
      }
    }
  }

  #shares(scores: string): string {
    const total = this.add('ReduceSum', [scores, this.#integers([1], [1])], { keepdims: 1 });
    return this.add('Div', [scores, total]);
  }

  #treeSums(ensemble: TreeEnsemble): string {
    const writer = new TreeWriter(this.#features, ensemble);
    for (const index of ensemble.trees.keys()) {
      writer.addTree(index, readTree(this.#workspace, ensemble, index));
    }
    const columns = writer.columns.map((column) =>
      column.set === undefined
        ? (this.#features[column.feature] as Feature).name
        : this.#flags(column.feature, [column.set]),
    );
    // A model of leaves alone reads nothing, but the operator needs an input.
    const anything = columns.length > 0 ? columns : [this.#anyColumn()];
    const matrix = this.add('Concat', anything, { axis: 1 });
    return this.add('TreeEnsembleRegressor', [matrix], writer.attributes(), undefined, ML_DOMAIN);
  }

  #anyColumn(): string {
    const index = this.#features.findIndex(({ kind }) => kind !== 'unused');
    const feature = this.#features[index];
    if (feature === undefined) {
      throw failure('DATA_ERROR', 'the model has no usable feature, so there is nothing to export');
    }
    if (feature.kind === 'numeric') return feature.name;
    return this.#flags(index, [new Float64Array(codeCount(feature as CategoricalFeature))]);
  }

  #glzScores(
    { columns, decode, jointly, link, weights }: GlzModel,
    { isBoolean }: ScoreShape,
  ): string {
    const rows = isBoolean ? weights.slice(-1) : weights;
    const count = columns.features.length;
    const constants = this.#doubles(
      rows.map((row) => row[count] as number),
      [1, rows.length],
    );
    const products: string[] = [];
    for (const [matrix, list] of this.#design(columns, () => 0)) {
      const block = list.flatMap((column) => rows.map((row) => row[column] as number));
      products.push(this.add('MatMul', [matrix, this.#doubles(block, [list.length, rows.length])]));
    }
    // Without a column the sum still has a row for each row of the input.
    if (products.length === 0) {
      const zero = this.#doubles(new Array<number>(rows.length).fill(0), [1, rows.length]);
      products.push(this.add('MatMul', [this.#zeros(), zero]));
    }
    const sums = this.add('Sum', [...products, constants]);
    if (!decode) return sums;
    const scores = this.#inverse(link, sums);
    if (jointly === 'softmax') return this.add('Softmax', [scores], { axis: 1 });
    return jointly === 'shares' ? this.#shares(scores) : scores;
  }

  #zeros(): string {
    const any = this.#anyColumn();
    const isMissing = this.add('IsNaN', [any]);
    const number = this.add('Cast', [isMissing], { to: DOUBLE });
    return this.add('Mul', [number, this.#scalar(0)]);
  }

  #inverse(link: Link, sums: string): string {
    switch (link) {
      case 'linear':
        return sums;
      case 'logit':
        return this.add('Sigmoid', [sums]);
      case 'log':
        return this.add('Exp', [sums]);
      case 'comp_log_log': {
        const inner = this.add('Neg', [this.add('Exp', [sums])]);
        return this.add('Sub', [this.#scalar(1), this.add('Exp', [inner])]);
      }
      case 'probit': {
        // Runtimes have the error function for floats only.
        const scaled = this.add('Mul', [sums, this.#scalar(Math.SQRT1_2)]);
        const erf = this.add('Erf', [this.add('Cast', [scaled], { to: FLOAT })]);
        const shifted = this.add('Add', [this.#double(erf), this.#scalar(1)]);
        return this.add('Mul', [shifted, this.#scalar(0.5)]);
      }
    }
  }

  #perceptronScores(
    { columns, means, layers, low, high, isRegression }: PerceptronModel,
    { isBoolean }: ScoreShape,
  ): string {
    const blocks = this.#design(columns, (column) => means[column] as number);
    if (blocks.length === 0) {
      throw failure('DATA_ERROR', 'the perceptron reads no feature, so there is nothing to export');
    }
    let current =
      blocks.length === 1
        ? (blocks[0]?.[0] as string)
        : this.add(
            'Concat',
            blocks.map(([matrix]) => matrix),
            { axis: 1 },
          );
    const order = blocks.flatMap(([, list]) => list);
    for (const [
      index,
      { inputCount, outputCount, weights, biases, activation },
    ] of layers.entries()) {
      const inputs = index === 0 ? order : [...Array(inputCount).keys()];
      const block = inputs.flatMap((i) =>
        Array.from({ length: outputCount }, (_, o) => weights[o * inputCount + i] as number),
      );
      const product = this.add('MatMul', [
        current,
        this.#doubles(block, [inputCount, outputCount]),
      ]);
      const sum = this.add('Add', [product, this.#doubles(biases, [1, outputCount])]);
      current = this.#double(this.#activated(activation, sum));
    }
    if (isBoolean || isRegression) {
      const { outputCount } = layers.at(-1) as PerceptronModel['layers'][number];
      const index = isRegression ? 0 : outputCount - 1;
      current = this.add('Gather', [current, this.#integers([index], [1])], { axis: 1 });
    }
    if (isRegression) {
      const scaled = this.add('Mul', [current, this.#scalar(high - low)]);
      return this.add('Add', [scaled, this.#scalar(low)]);
    }
    const shifted = this.add('Sub', [current, this.#scalar(low)]);
    const share = this.add('Div', [shifted, this.#scalar(high - low)]);
    return this.add('Clip', [share, this.#scalar(0, []), this.#scalar(1, [])]);
  }

  /** Runtimes have most of them for floats only. */
  #activated(activation: Activation, sum: string): string {
    const float = (input: string) => this.add('Cast', [input], { to: FLOAT });
    switch (activation) {
      case 'logsig':
        return this.add('Sigmoid', [float(sum)]);
      case 'tanh':
        return this.add('Tanh', [float(sum)]);
      case 'tanhs': {
        const scaled = this.add('Mul', [sum, this.#scalar(2 / 3)]);
        const tanh = this.#double(this.add('Tanh', [float(scaled)]));
        return this.add('Mul', [tanh, this.#scalar(1.7159)]);
      }
      case 'nonstandard':
        return this.add('Softsign', [float(sum)]);
      case 'softmax':
        return this.add('Softmax', [float(sum)], { axis: 1 });
      case 'identity':
        return sum;
    }
  }

  /**
   * Design columns in blocks of columns that come from one feature: a matrix, and the positions of
   * its columns.
   * @param missing what a number counts as where it is missing
   */
  #design(
    { features, extracts, categories }: DesignColumns,
    missing: (column: number) => number,
  ): DesignBlock[] {
    const byFeature = new Map<number, number[]>();
    for (const [column, feature] of features.entries()) {
      byFeature.set(feature, [...(byFeature.get(feature) ?? []), column]);
    }
    return [...byFeature].flatMap(([index, own]): DesignBlock[] => {
      const feature = this.#features[index] as Feature;
      if (feature.kind === 'categorical') {
        const sets = own
          .filter((column) => extracts[column] === EXTRACT_EQUALS)
          .map((column) => {
            const set = new Float64Array(codeCount(feature));
            set[(categories[column] as number) + 1] = 1;
            return set;
          });
        return [[this.#flags(index, sets), own]];
      }
      const isMissing = this.add('IsNaN', [feature.name]);
      return own.map((column) => {
        if (extracts[column] === EXTRACT_PRESENCE) {
          const isPresent = this.add('Not', [isMissing]);
          return [this.add('Cast', [isPresent], { to: DOUBLE }), [column]];
        }
        const otherwise = this.#scalar(missing(column));
        return [this.add('Where', [isMissing, otherwise, feature.name]), [column]];
      });
    });
  }

  /** One column for each set of codes of a categorical feature: 1 where the code is in it. */
  #flags(index: number, sets: readonly Float64Array[]): string {
    const feature = this.#features[index] as CategoricalFeature;
    const count = codeCount(feature);
    const table = new Float64Array(count * sets.length);
    for (const [s, set] of sets.entries()) {
      for (let code = 0; code < count; code++) table[code * sets.length + s] = set[code] as number;
    }
    const rows = this.add(
      'Gather',
      [this.#doubles(table, [count, sets.length]), this.#codesOf(index)],
      { axis: 0 },
    );
    return this.add('Reshape', [rows, this.#integers([-1, sets.length], [2])]);
  }

  /** 0 where the text is missing, 1 + the position of its category, or 1 + the number of them. */
  #codesOf(index: number): string {
    const known = this.#codes.get(index);
    if (known !== undefined) return known;
    const { name, categories } = this.#features[index] as CategoricalFeature;
    if (categories.includes('')) {
      throw failure(
        'DATA_ERROR',
        `feature '${name}' has the empty text as a category, which stands for a missing value in ONNX`,
      );
    }
    const codes = this.add(
      'LabelEncoder',
      [name],
      {
        keys_strings: ['', ...categories],
        values_int64s: [0, ...categories.keys()].map((code, at) => (at === 0 ? 0 : code + 1)),
        default_int64: categories.length + 1,
      },
      undefined,
      ML_DOMAIN,
    );
    this.#codes.set(index, codes);
    return codes;
  }

  #double(input: string): string {
    return this.add('Cast', [input], { to: DOUBLE });
  }

  #scalar(value: number, dims: readonly number[] = [1, 1]): string {
    return this.#doubles([value], dims);
  }

  #doubles(values: ArrayLike<number>, dims: readonly number[]): string {
    return this.#constant({ type: DOUBLE, dims, numbers: Float64Array.from(values) });
  }

  #integers(values: ArrayLike<number>, dims: readonly number[]): string {
    return this.#constant({ type: INT64, dims, numbers: Float64Array.from(values) });
  }

  #constant(tensor: Tensor): string {
    const name = this.#fresh('constant');
    this.constants.set(name, tensor);
    return name;
  }

  /** Names of features may be anything, but do not begin like this. */
  #fresh(what: string): string {
    return `\u00b7${what}${this.#nextName++}`;
  }
}

/** A matrix of design columns of one feature, and their positions. */
type DesignBlock = readonly [matrix: string, columns: readonly number[]];

/** Missing, the categories, and one that is new. */
function codeCount({ categories }: CategoricalFeature): number {
  return categories.length + 2;
}
