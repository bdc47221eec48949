// Explanations of any model that has them: what a score starts from, and what each feature adds.
import { failure } from '../../util/error.ts';
import { compileDesign } from '../design/columns.ts';
import { repetitions } from '../fasttext/score.ts';
import type { Feature } from '../feature/feature.ts';
import { type Algorithm, mirrorOf, treesOf } from '../model/classifier.ts';
import type { JobContext, Workspace } from '../workspace.ts';
import { compileShapTables, type ShapTables } from './shap-table.ts';
import {
  compileShapTree,
  type ExplainTree,
  interventionalContributions,
  pathContributions,
  type ShapTree,
} from './tree-shap.ts';
import {
  decisionTreeFamily,
  ensembleFamily,
  type RowCodes,
  type TreeFamily,
  type Values,
} from './tree-view.ts';

export const EXPLAIN_METHODS = ['path', 'treeshap', 'interventional'] as const;
export type ExplainMethod = (typeof EXPLAIN_METHODS)[number];

export interface ExplainOptions {
  readonly method: ExplainMethod;
  /** interventional: rows whose values unknown features take, in turn */
  readonly background: readonly Values[];
}

/** Adds the contribution of each feature of a row; answers what they start from. */
export interface Explainer {
  (row: Values, label: number, contributions: Float64Array): number;
  /**
   * The same for many rows, where that takes less than one by one.
   * @param read the values of a row; asked once for each, in order
   * @param contributions one array a row, zeros
   * @returns what the contributions of each row start from
   */
  readonly all?: (
    read: (row: number) => Values,
    labels: ArrayLike<number>,
    contributions: readonly Float64Array[],
  ) => Float64Array;
}

export interface ExplainShape {
  readonly features: readonly Feature[];
  /** scores of the model: 1 unless labels have names */
  readonly width: number;
  readonly isRegression: boolean;
}

/** Features between two looks at the cancel flag are few; rows of the background are not. */
const BACKGROUND_ROWS_PER_CHECK = 64;

/**
 * @throws INVALID_PARAMETER when the model's family cannot be explained, or not by that method
 */
export function compileExplainer(
  workspace: Workspace,
  algorithm: Algorithm,
  shape: ExplainShape,
  options: ExplainOptions,
  scope: JobContext,
): Explainer {
  const compile = (member: Algorithm, own = shape) =>
    compileExplainer(workspace, member, own, options, scope);
  switch (algorithm.type) {
    case 'glz':
      return explainGlz(algorithm, shape, options);
    case 'fasttext':
      if (options.method !== 'path') throw unavailable(algorithm.type, options.method);
      return explainFastText(algorithm, shape);
    case 'one_vs_all': {
      const inner = { ...shape, width: 1, isRegression: false };
      const members = algorithm.members.map((member) => compile(member, inner));
      return (row, label, contributions) => (members[label] as Explainer)(row, 1, contributions);
    }
    case 'boosted_stumps':
      return compile(algorithm.committee);
    case 'random_forest':
      return explainTrees(ensembleFamily(workspace, algorithm.ensemble), 1, {
        ...{ mirror: 1, base: [], shape, options, scope },
      });
    case 'gbt': {
      const { ensemble, baseScore: base } = algorithm;
      const family = ensembleFamily(workspace, ensemble);
      return explainTrees(family, ensemble.width, { mirror: 0, base, shape, options, scope });
    }
    case 'committee':
    case 'decision_tree':
    case 'stump': {
      const trees = treesOf(algorithm);
      const treeWidth = trees?.[0]?.tree.width;
      if (trees?.every(({ tree }) => tree.width === treeWidth)) {
        const mirror = mirrorOf(algorithm) ?? 0;
        const family = decisionTreeFamily(shape.features, trees);
        const settings = { mirror, base: [], shape, options, scope };
        return explainTrees(family, treeWidth as number, settings);
      }
      if (algorithm.type !== 'committee') throw unavailable(algorithm.type, options.method);
      const members = algorithm.members.map((member) => compile(member));
      return (row, label, contributions) => {
        let bias = 0;
        const own = new Float64Array(contributions.length);
        for (const [index, member] of members.entries()) {
          const weight = algorithm.weights[index] as number;
          bias += weight * member(row, label, own.fill(0));
          for (let f = 0; f < own.length; f++) {
            contributions[f] = (contributions[f] as number) + weight * (own[f] as number);
          }
        }
        return bias;
      };
    }
    default:
      throw unavailable(algorithm.type, options.method);
  }
}

function unavailable(type: string, method: ExplainMethod): Error {
  return failure(
    'INVALID_PARAMETER',
    method === 'path'
      ? `classifier.explain is not available for ${type}`
      : `classifier.explain method '${method}' is not available for ${type}`,
  );
}

interface TreeSettings {
  /** what both scores of two classes add up to */
  readonly mirror: number;
  /** added to every score */
  readonly base: readonly number[];
  readonly shape: ExplainShape;
  readonly options: ExplainOptions;
  readonly scope: JobContext;
}

function explainTrees(
  family: TreeFamily,
  treeWidth: number,
  { mirror, base, shape, options, scope }: TreeSettings,
): Explainer {
  const background = options.background.map((row) => family.encode(row));
  const shapTreesOf = shapTreesFor(family, scope);
  // With two classes a tree may keep only what it says of the second.
  const isPair = !shape.isRegression && treeWidth === 1;
  const outputOf = (label: number) => (shape.isRegression || isPair ? 0 : label);
  const signOf = (label: number) => (isPair && label === 0 ? -1 : 1);
  const startOf = (label: number) =>
    (isPair && label === 0 ? mirror : 0) + signOf(label) * (base[outputOf(label)] ?? 0);
  const explainer = (values: Values, label: number, contributions: Float64Array): number => {
    const row = family.encode(values);
    const output = outputOf(label);
    const sign = signOf(label);
    let bias = startOf(label);
    if (options.method === 'treeshap') {
      const { trees, tables, expected } = shapTreesOf(output, 1);
      tables?.add(row, sign, contributions);
      for (let i = 0; i < trees.length; i++) {
        const { shap, weight } = trees[i] as WeightedTree;
        shap.add(row, sign * weight, contributions);
      }
      return bias + sign * expected;
    }
    const explain = explainerOf(options, background, scope);
    for (const [index, tree] of family.trees.entries()) {
      const weight = sign * (family.weights[index] as number);
      bias += explain(tree, row, output, weight, contributions);
    }
    return bias;
  };
  if (options.method !== 'treeshap') return explainer;
  const all: Explainer['all'] = (read, labels, contributions) => {
    const rows = contributions.map((_, row) => family.encode(read(row)));
    const biases = Float64Array.from(rows, (_, row) => startOf(labels[row] as number));
    const outputs = rows.map((_, row) => outputOf(labels[row] as number));
    for (const output of new Set(outputs)) {
      const own = [...rows.keys()].filter((row) => outputs[row] === output);
      const { trees, tables, expected } = shapTreesOf(output, own.length);
      const codes = own.map((row) => rows[row] as RowCodes);
      const signs = Int8Array.from(own, (row) => signOf(labels[row] as number));
      const places = own.map((row) => contributions[row] as Float64Array);
      tables?.addAll(codes, signs, places, scope);
      for (const { shap, weight } of trees) {
        scope.checkCancelled();
        for (let i = 0; i < own.length; i++) {
          const sign = signs[i] as number;
          shap.add(codes[i] as RowCodes, sign * weight, places[i] as Float64Array);
        }
      }
      for (const [i, row] of own.entries()) {
        biases[row] = (biases[row] as number) + (signs[i] as number) * expected;
      }
    }
    return biases;
  };
  return Object.assign(explainer, { all });
}

/** Rows of one output that are explained before tables are made for more. */
const ROWS_BEFORE_TABLES = 32;
/** Bytes of the tables of one output. */
const TABLE_ROOM_MAX = 64 * 1024 * 1024;

interface WeightedTree {
  readonly shap: ShapTree;
  readonly weight: number;
}

interface ShapTrees {
  /** what all trees say on average */
  readonly expected: number;
  /** those that are not looked up */
  readonly trees: readonly WeightedTree[];
  readonly tables?: ShapTables | undefined;
}

/** Trees that are ready to be explained, by output. */
function shapTreesFor(
  { trees: views, weights, columnCount }: TreeFamily,
  scope: JobContext,
): (output: number, rowCount: number) => ShapTrees {
  const known: (ShapTrees | undefined)[] = [];
  const rowCounts: number[] = [];
  const withoutTables = (output: number): ShapTrees => {
    const trees = views.map((view, index) => {
      scope.checkCancelled();
      return { shap: compileShapTree(view, output), weight: weights[index] as number };
    });
    const expected = trees.reduce((sum, { shap, weight }) => sum + weight * shap.expected, 0);
    return { expected, trees };
  };
  return (output, rowCount) => {
    known[output] ??= withoutTables(output);
    const made = known[output] as ShapTrees;
    const before = rowCounts[output] ?? 0;
    rowCounts[output] = before + rowCount;
    const isTime = before < ROWS_BEFORE_TABLES && before + rowCount >= ROWS_BEFORE_TABLES;
    if (!isTime || columnCount === undefined) return made;
    const options = { output, weights, columnCount, roomMax: TABLE_ROOM_MAX };
    const tables = compileShapTables(views, options, scope);
    const trees = made.trees.filter((_, index) => tables?.isCovered[index] !== true);
    known[output] = { ...made, trees, tables };
    return known[output];
  };
}

function explainerOf(
  { method }: ExplainOptions,
  background: readonly RowCodes[],
  scope: JobContext,
): ExplainTree {
  if (method === 'path') return pathContributions;
  return (tree, row, output, weight, contributions) => {
    const share = weight / background.length;
    let bias = 0;
    for (const [index, other] of background.entries()) {
      if (index % BACKGROUND_ROWS_PER_CHECK === 0) scope.checkCancelled();
      bias += interventionalContributions(tree, row, other, output, share, contributions);
    }
    return bias;
  };
}

/** Terms of the linear predictor; Shapley values are those of the distance from the mean. */
function explainGlz(
  { columns, weights, means }: Extract<Algorithm, { type: 'glz' }>,
  { features }: ExplainShape,
  { method, background }: ExplainOptions,
): Explainer {
  const read = compileDesign(features, columns);
  const count = columns.features.length;
  const center = method === 'treeshap' ? means : new Float64Array(count);
  if (method === 'interventional') {
    for (const row of background) {
      read(row, (column, value) => {
        center[column] = (center[column] as number) + value / background.length;
      });
    }
  }
  const isCentred = method !== 'path';
  return (values, label, contributions) => {
    const row = (weights.length === 1 ? weights[0] : weights[label]) as Float64Array;
    let bias = row[count] as number;
    const add = (column: number, value: number) => {
      const feature = columns.features[column] as number;
      contributions[feature] = (contributions[feature] as number) + (row[column] as number) * value;
    };
    read(values, add);
    if (!isCentred) return bias;
    for (let column = 0; column < count; column++) {
      add(column, -(center[column] as number));
      bias += (row[column] as number) * (center[column] as number);
    }
    return bias;
  };
}

function explainFastText(
  { dimensionCount, inputs, outputs, positions }: Extract<Algorithm, { type: 'fasttext' }>,
  { features }: ExplainShape,
): Explainer {
  return (values, label, contributions) => {
    for (let f = 0; f < features.length; f++) {
      if (repetitions(values[f]) === 0 || (positions[f] as number) < 0) continue;
      const at = (positions[f] as number) * dimensionCount;
      let product = 0;
      for (let d = 0; d < dimensionCount; d++) {
        product += (inputs[at + d] as number) * (outputs[label * dimensionCount + d] as number);
      }
      contributions[f] = product;
    }
    return 0;
  };
}
