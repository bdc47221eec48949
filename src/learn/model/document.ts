// What the details of a classifier show of its model.

import { NODE_STOPS_MISSING } from '../../kernel/generated.ts';
import { printNumber } from '../../value/number-text.ts';
import { TEST_EQUAL, TEST_LEAF, TEST_LESS, TEST_PRESENT } from '../decision-tree/tree.ts';
import { EXTRACTS } from '../design/columns.ts';
import type { Feature } from '../feature/feature.ts';
import { gbtDocument } from '../gbt/document.ts';
import type { GlzModel } from '../glz/model.ts';
import { type PackedTree, type TreeEnsemble, treeParts } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import {
  type Algorithm,
  type ClassifierModel,
  type CommitteeModel,
  type DecisionTreeModel,
  mirrorOf,
  type StumpModel,
} from './classifier.ts';
import type { JsonObject } from './container.ts';

const ENCODINGS = { prob: 'PROB', gentle: 'PM_ONE', normal: 'PM_INF' } as const;
const OPERATORS = {
  [TEST_PRESENT]: 'PRESENT',
  [TEST_LESS]: 'LESS',
  [TEST_EQUAL]: 'EQUAL',
} as const;

/** `{type, params}` of the model, or `{type, model}` where there is only text to tell. */
export function modelDocument(workspace: Workspace, model: ClassifierModel): JsonObject {
  return algorithmDocument(workspace, model, model.algorithm);
}

/** A line about a model: what it is made of, and how many features and labels it knows. */
export function modelSummary({ algorithm, features, labels }: ClassifierModel): string {
  const known = [countOf(features.length, 'feature')];
  if (labels.length > 0) known.push(countOf(labels.length, 'label'));
  return `${partsOf(algorithm)}, ${known.join(', ')}`;
}

function partsOf(algorithm: Algorithm): string {
  switch (algorithm.type) {
    case 'random_forest':
    case 'gbt':
      return `${algorithm.type} of ${countOf(algorithm.ensemble.trees.length, 'tree')}`;
    case 'boosted_stumps':
      return `${algorithm.type} of ${countOf(algorithm.committee.members.length, 'stump')}`;
    case 'committee':
    case 'one_vs_all':
      return `${algorithm.type} of ${countOf(algorithm.members.length, 'model')} of type ${algorithm.members[0]?.type}`;
    default:
      return algorithm.type;
  }
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function algorithmDocument(
  workspace: Workspace,
  model: ClassifierModel,
  algorithm: Algorithm,
): JsonObject {
  switch (algorithm.type) {
    case 'decision_tree': {
      const root = treeNode(model, algorithm, 0);
      const encoding = ENCODINGS[algorithm.updateAlgorithm];
      return { type: 'DecisionTree', params: { tree: { root }, encoding } };
    }
    case 'stump':
      return { type: 'Stump', params: stumpDocument(model, algorithm) };
    case 'random_forest':
      return forestDocument(workspace, algorithm.ensemble);
    case 'committee':
      return committeeDocument(workspace, model, algorithm);
    case 'boosted_stumps': {
      const stumps = stumpsOf(algorithm.committee).map(({ stump, weight }) => ({
        ...stumpDocument(model, stump),
        weight,
      }));
      const zeros = Array.from({ length: Math.max(2, model.labels.length) }, () => 0);
      return { type: 'BoostedStumps', params: { stumps, bias: zeros, missing: zeros } };
    }
    case 'glz':
      return glzDocument(model, algorithm);
    case 'gbt':
      return gbtDocument(workspace, model, algorithm);
    default:
      return { type: algorithm.type, model: describeInWords(model, algorithm) };
  }
}

function forestDocument(workspace: Workspace, ensemble: TreeEnsemble): JsonObject {
  const classifiers = ensemble.trees.map((tree) => ({
    type: 'DecisionTree',
    params: {
      tree: { root: new PackedDocument(workspace, ensemble, tree).node(0) },
      encoding: 'PROB',
    },
  }));
  const weights = ensemble.weights.map((weight) => weight / ensemble.divisor);
  return { type: 'Committee', params: { classifiers, weights, bias: [0, 0], encoding: 'PROB' } };
}

function committeeDocument(
  workspace: Workspace,
  model: ClassifierModel,
  { members, weights }: CommitteeModel,
): JsonObject {
  const classifiers = members.map((member) => algorithmDocument(workspace, model, member));
  const bias = Array.from({ length: Math.max(2, model.labels.length) }, () => 0);
  const [first] = members;
  const isTree = first?.type === 'decision_tree' || first?.type === 'stump';
  const encoding = isTree ? ENCODINGS[first.updateAlgorithm] : 'PROB';
  return { type: 'Committee', params: { classifiers, weights, bias, encoding } };
}

function stumpsOf(
  { members, weights }: CommitteeModel,
  factor = 1,
): { readonly stump: StumpModel; readonly weight: number }[] {
  return members.flatMap((member, index) => {
    const weight = factor * (weights[index] as number);
    if (member.type === 'stump') return [{ stump: member, weight }];
    return member.type === 'committee' ? stumpsOf(member, weight) : [];
  });
}

function stumpDocument(model: ClassifierModel, stump: StumpModel): JsonObject {
  const { tree, updateAlgorithm, z } = stump;
  const says = (outcome: number): number[] => {
    const child = tree.children[outcome] as number;
    const node = Math.max(child, 0);
    const output = tree.outputs.subarray(node * tree.width, (node + 1) * tree.width);
    return Array.from(predictions(model, stump, output));
  };
  const test = tree.tests[0] as number;
  const feature = model.features[tree.features[0] as number] as Feature;
  return {
    split: test === TEST_LEAF ? null : splitOf(feature, test, tree.operands[0] as number),
    Z: z,
    action: { true: says(0), false: says(1), missing: says(2) },
    encoding: ENCODINGS[updateAlgorithm],
  };
}

function glzDocument({ features }: ClassifierModel, glz: GlzModel): JsonObject {
  const { columns, link, addBias, weights } = glz;
  const list = Array.from(columns.features, (index, column) => {
    const feature = features[index] as Feature;
    const category = columns.categories[column] as number;
    return {
      feature: feature.name,
      extract: EXTRACTS[columns.extracts[column] as number],
      ...(category >= 0 && feature.kind === 'categorical'
        ? { category: feature.categories[category] }
        : {}),
    };
  });
  return {
    type: 'GLZ',
    params: {
      addBias,
      features: list,
      link: link.toUpperCase(),
      weights: weights.map((row) => Array.from(addBias ? row : row.subarray(0, -1))),
    },
  };
}

/** Families without a document of their own. */
function describeInWords({ features, labels }: ClassifierModel, algorithm: Algorithm): string {
  const labelled = labels.length === 0 ? '' : `, ${labels.length} labels`;
  switch (algorithm.type) {
    case 'naive_bayes':
      return `naive Bayes over ${algorithm.tests.length} of ${features.length} features${labelled}`;
    case 'perceptron': {
      const sizes = algorithm.layers.map(({ outputCount }) => outputCount).join(' - ');
      return `perceptron with layers of ${sizes} units${labelled}`;
    }
    case 'fasttext':
      return `${algorithm.inputs.length / algorithm.dimensionCount} vectors of ${algorithm.dimensionCount} numbers${labelled}`;
    case 'one_vs_all':
      return `${algorithm.members.length} models of one label against the others, of type ${algorithm.members[0]?.type}`;
    default:
      return 'the first label always wins';
  }
}

function treeNode(model: ClassifierModel, owner: DecisionTreeModel, node: number): JsonObject {
  const { tree } = owner;
  const { width } = tree;
  const output = tree.outputs.subarray(node * width, (node + 1) * width);
  const pred = Array.from(predictions(model, owner, output));
  const examples = tree.exampleCounts[node];
  const test = tree.tests[node] as number;
  if (test === TEST_LEAF) return { type: 'leaf', examples, pred };
  const child = (outcome: number): JsonObject => {
    const index = tree.children[node * 3 + outcome] as number;
    // No training row went there: it repeats what this node would say.
    return index < 0 ? { type: 'leaf', examples: 0, pred } : treeNode(model, owner, index);
  };
  return {
    type: 'node',
    split: splitOf(
      model.features[tree.features[node] as number] as Feature,
      test,
      tree.operands[node] as number,
    ),
    z: tree.scores[node],
    examples,
    pred,
    true: child(0),
    false: child(1),
    missing: child(2),
  };
}

/** One number a label; two for boolean models, false first. */
function predictions(model: ClassifierModel, owner: Algorithm, output: Float64Array): Float64Array {
  const isPair = output.length === 1 && model.mode !== 'regression';
  if (!isPair || model.labels.length === 1) return output;
  const second = output[0] as number;
  return Float64Array.of((mirrorOf(owner) ?? 0) - second + 0, second);
}

function splitOf(feature: Feature, test: number, operand: number): JsonObject {
  const op = OPERATORS[test as keyof typeof OPERATORS];
  if (test === TEST_LESS && feature.kind === 'numeric') {
    return { feature: feature.name, op, value: printNumber(feature.boundaries[operand] as number) };
  }
  if (test === TEST_EQUAL && feature.kind === 'categorical') {
    return { feature: feature.name, op, value: feature.categories[operand] };
  }
  return { feature: feature.name, op };
}

/** A tree of a forest. Its tests part codes in two, and send missing values to either side. */
class PackedDocument {
  readonly #ensemble: TreeEnsemble;
  readonly #nodes: Uint32Array;
  readonly #values: Float64Array;
  readonly #covers: Float32Array;

  constructor(workspace: Workspace, ensemble: TreeEnsemble, { span, nodeCount }: PackedTree) {
    const { buffer } = workspace.memory.get(span.arena).memory;
    const parts = treeParts(span.offset, nodeCount, 1);
    this.#ensemble = ensemble;
    this.#nodes = new Uint32Array(buffer, parts.nodes, nodeCount * 2);
    this.#values = new Float64Array(buffer, parts.values, nodeCount);
    this.#covers = new Float32Array(buffer, parts.covers, nodeCount);
  }

  node(index: number): JsonObject {
    const share = this.#values[index] as number;
    const examples = this.#covers[index] as number;
    const pred = [1 - share, share];
    const test = this.#nodes[index * 2] as number;
    const distance = this.#nodes[index * 2 + 1] as number;
    if (distance === 0) return { type: 'leaf', examples, pred };
    const left = index + distance;
    const threshold = (test >>> 16) & 0xff;
    const offset = test >>> 24;
    const column = this.#ensemble.columns[test & (NODE_STOPS_MISSING - 1)];
    const feature = this.#ensemble.features[column?.feature ?? 0] as Feature;
    if (threshold === 0 && offset === 0 && (test & NODE_STOPS_MISSING) === 0) {
      const split = { feature: feature.name, op: 'PRESENT' };
      const missing = { type: 'leaf', examples: 0, pred };
      const inner = { type: 'node', split, z: this.#z(left), examples, pred };
      return { ...inner, true: this.node(left + 1), false: this.node(left), missing };
    }
    const missing =
      (test & NODE_STOPS_MISSING) !== 0
        ? { type: 'leaf', examples: 0, pred }
        : { type: 'same', as: offset === 0 ? 'true' : 'false' };
    return {
      ...{ type: 'node', split: rangeSplit(feature, threshold + offset), z: this.#z(left) },
      ...{ examples, pred, true: this.node(left), false: this.node(left + 1), missing },
    };
  }

  /** 2 (sqrt(a0 a1) + sqrt(b0 b1)) of the two children, as shares of their parent's weight. */
  #z(left: number): number {
    const half = (node: number) => {
      const share = this.#values[node] as number;
      return (this.#covers[node] as number) * Math.sqrt(share * (1 - share));
    };
    const total = (this.#covers[left] as number) + (this.#covers[left + 1] as number);
    return (2 * (half(left) + half(left + 1))) / total;
  }
}

/** The test "code is at most `code`": numbers below a boundary, or one of some categories. */
function rangeSplit(feature: Feature, code: number): JsonObject {
  if (feature.kind === 'numeric') return splitOf(feature, TEST_LESS, code - 1);
  const categories =
    feature.kind === 'categorical'
      ? feature.categories.filter((_, index) => (feature.buckets[index] as number) <= code)
      : [];
  return { feature: feature.name, op: 'IN', value: JSON.stringify(categories) };
}
