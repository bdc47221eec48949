// What the details of a classifier show of its model.

import { NODE_STOPS_MISSING } from '../../kernel/tree.ts';
import { printNumber } from '../../value/number-text.ts';
import {
  type DecisionTree,
  TEST_EQUAL,
  TEST_LEAF,
  TEST_LESS,
  TEST_PRESENT,
} from '../decision-tree/tree.ts';
import type { Feature } from '../feature/feature.ts';
import { type PackedTree, type TreeEnsemble, treeParts } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import { type ClassifierModel, expandScores } from './classifier.ts';
import type { JsonObject } from './container.ts';

const ENCODINGS = { prob: 'PROB', gentle: 'PM_ONE', normal: 'PM_INF' } as const;
const OPERATORS = {
  [TEST_PRESENT]: 'PRESENT',
  [TEST_LESS]: 'LESS',
  [TEST_EQUAL]: 'EQUAL',
} as const;

/** `{type, params}` of the model. */
export function modelDocument(workspace: Workspace, model: ClassifierModel): JsonObject {
  const { algorithm } = model;
  if (algorithm.type === 'decision_tree') {
    const root = treeNode(model, algorithm.tree, 0);
    return {
      type: 'DecisionTree',
      params: { tree: { root }, encoding: ENCODINGS[algorithm.updateAlgorithm] },
    };
  }
  const { ensemble } = algorithm;
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

function treeNode(model: ClassifierModel, tree: DecisionTree, node: number): JsonObject {
  const { width } = tree;
  const output = tree.outputs.subarray(node * width, (node + 1) * width);
  const pred = Array.from(predictions(model, output));
  const examples = tree.exampleCounts[node];
  const test = tree.tests[node] as number;
  if (test === TEST_LEAF) return { type: 'leaf', examples, pred };
  const child = (outcome: number): JsonObject => {
    const index = tree.children[node * 3 + outcome] as number;
    // No training row went there: it repeats what this node would say.
    return index < 0 ? { type: 'leaf', examples: 0, pred } : treeNode(model, tree, index);
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
function predictions(model: ClassifierModel, output: Float64Array): Float64Array {
  if (model.mode !== 'boolean') return expandScores(model, output);
  const asTwo = { ...model, mode: 'categorical', labels: ['0', '1'] } as const;
  return expandScores(asTwo, output);
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
