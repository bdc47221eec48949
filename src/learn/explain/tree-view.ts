// One form of all trees for explaining: nodes with any number of children, of which a row takes one.
import type { Atom } from '../../value/atom.ts';
import {
  type DecisionTree,
  NO_CHILD,
  TEST_LEAF,
  TEST_LESS,
  TEST_PRESENT,
} from '../decision-tree/tree.ts';
import { notNumeric } from '../feature/describe.ts';
import type { Feature } from '../feature/feature.ts';
import { categoryPositions } from '../feature/matrix.ts';
import { categoryOf, numberOf } from '../feature/source.ts';
import { readTree } from '../gbt/nodes.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';
import { compileEncoder } from '../tree/scorer.ts';
import type { Workspace } from '../workspace.ts';

export type Values = ArrayLike<Atom | undefined>;

/** A child that no training row went to says what its parent says; it has no number. */
export const PARENT_AGAIN = -1;

export interface TreeView {
  readonly nodeCount: number;
  /** feature that the node tests; -1 for a leaf */
  feature(node: number): number;
  /** nodes below; PARENT_AGAIN among them */
  children(node: number): readonly number[];
  /** position in `children` of where the row goes that was read last */
  taken(node: number, row: RowCodes): number;
  /** The child that the row goes to; PARENT_AGAIN. */
  next(node: number, row: RowCodes): number;
  /** which code of a row the node looks at, where rows are codes below 256 */
  column?(node: number): number;
  /** training rows, or their weight */
  cover(node: number): number;
  /** what the node says of an output */
  value(node: number, output: number): number;
}

/** A row in the form that a family of trees tests. */
export type RowCodes = ArrayLike<number>;

/** Trees that are tested on the same form of rows. */
export interface TreeFamily {
  readonly trees: readonly TreeView[];
  readonly weights: readonly number[];
  /** codes of a row, each below 256; absent where rows have another form */
  readonly columnCount?: number;
  /** A row of values as codes. */
  encode(values: Values): RowCodes;
}

/** Three-way trees; a row's form is a number a feature: NaN missing, or the category's position. */
export function decisionTreeFamily(
  features: readonly Feature[],
  trees: readonly { readonly tree: DecisionTree; readonly weight: number }[],
): TreeFamily {
  const positions = features.map((feature) =>
    feature.kind === 'categorical' ? categoryPositions(feature) : undefined,
  );
  return {
    trees: trees.map(({ tree }) => decisionTreeView(features, tree)),
    weights: trees.map(({ weight }) => weight),
    encode: (values) =>
      Float64Array.from(features, (feature, index) => {
        const value = values[index];
        if (value === null || value === undefined || feature.kind === 'unused') return Number.NaN;
        if (feature.kind === 'categorical') return positions[index]?.get(categoryOf(value)) ?? -1;
        const number = numberOf(value);
        if (number === undefined) throw notNumeric(feature.name, value);
        return number;
      }),
  };
}

function decisionTreeView(features: readonly Feature[], tree: DecisionTree): TreeView {
  const { tests, operands, width } = tree;
  const isLeaf = (node: number) => tests[node] === TEST_LEAF;
  const taken = (node: number, row: RowCodes): number => {
    const index = tree.features[node] as number;
    const value = row[index] as number;
    if (tests[node] === TEST_PRESENT) return Number.isNaN(value) ? 1 : 0;
    if (Number.isNaN(value)) return 2;
    const operand = operands[node] as number;
    if (tests[node] !== TEST_LESS) return value === operand ? 0 : 1;
    const feature = features[index] as Feature;
    const boundary = feature.kind === 'numeric' ? (feature.boundaries[operand] as number) : 0;
    return value < boundary ? 0 : 1;
  };
  const children = [...tests.keys()].map((node) => {
    if (isLeaf(node)) return [];
    const own = [...tree.children.subarray(node * 3, node * 3 + 3)];
    return own.map((child) => (child === NO_CHILD ? PARENT_AGAIN : child));
  });
  return {
    nodeCount: tests.length,
    feature: (node) => (isLeaf(node) ? -1 : (tree.features[node] as number)),
    children: (node) => children[node] as number[],
    taken,
    next: (node, row) => (children[node] as number[])[taken(node, row)] as number,
    cover: (node) => tree.exampleCounts[node] as number,
    value: (node, output) => tree.outputs[node * width + output] as number,
  };
}

/** Packed trees; a row's form is a code a column. Trees of other outputs say 0. */
export function ensembleFamily(workspace: Workspace, ensemble: TreeEnsemble): TreeFamily {
  const { columns, features, slots, trees, weights, divisor } = ensemble;
  const encode = compileEncoder(features, columns);
  return {
    trees: trees.map((_, index) => {
      const nodes = readTree(workspace, ensemble, index);
      const slot = slots?.[index];
      const isLeaf = (node: number) => nodes.left(node) === node;
      return {
        nodeCount: nodes.nodeCount,
        feature: (node) => (isLeaf(node) ? -1 : nodes.feature(node)),
        children(node) {
          if (isLeaf(node)) return [];
          const left = nodes.left(node);
          return nodes.stopsMissing(node) ? [left, left + 1, PARENT_AGAIN] : [left, left + 1];
        },
        next(node, row) {
          const code = row[nodes.column(node)] as number;
          if (code === 0 && nodes.stopsMissing(node)) return PARENT_AGAIN;
          return nodes.goesLeft(node, code) ? nodes.left(node) : nodes.left(node) + 1;
        },
        column: nodes.column,
        taken(node, row) {
          const code = row[nodes.column(node)] as number;
          if (code === 0 && nodes.stopsMissing(node)) return 2;
          return nodes.goesLeft(node, code) ? 0 : 1;
        },
        cover: nodes.cover,
        value: (node, output) =>
          slot === undefined ? nodes.value(node, output) : slot === output ? nodes.value(node) : 0,
      };
    }),
    weights: weights.map((weight) => weight / divisor),
    columnCount: columns.length,
    encode(values) {
      const codes = new Uint8Array(Math.max(1, columns.length));
      encode(values, codes, 0);
      return codes;
    },
  };
}
