// Three-way trees as the binary nodes that kernels walk.
import {
  NODE_COLUMN_MAX,
  NODE_LEAF,
  NODE_SIZE,
  NODE_STOPS_MISSING,
} from '../../kernel/generated.ts';
import { failure } from '../../util/error.ts';
import {
  BOUNDARIES_PER_COLUMN,
  CATEGORIES_PER_COLUMN,
  columnCountOf,
  type Feature,
} from '../feature/feature.ts';
import { type CodeColumn, type PackedTree, treeParts } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import { type DecisionTree, NO_CHILD, TEST_EQUAL, TEST_LEAF, TEST_PRESENT } from './tree.ts';

/** The code columns that some tests read. */
export function testedColumns(
  features: readonly Feature[],
  trees: readonly DecisionTree[],
): CodeColumn[] {
  const used = features.map((feature) => new Array<boolean>(columnCountOf(feature)).fill(false));
  for (const tree of trees) {
    for (const [node, test] of tree.tests.entries()) {
      if (test === TEST_LEAF) continue;
      const parts = used[tree.features[node] as number] as boolean[];
      parts[partOf(test, tree.operands[node] as number)] = true;
    }
  }
  const columns = used.flatMap((parts, feature) =>
    parts.flatMap((isUsed, part) => (isUsed ? [{ feature, part }] : [])),
  );
  if (columns.length > NODE_COLUMN_MAX) {
    throw failure(
      'DATA_ERROR',
      `a tree model can test at most ${NODE_COLUMN_MAX} columns, not ${columns.length}`,
    );
  }
  return columns;
}

/** Any of a feature's columns knows whether it is missing; tests for presence read the first. */
function partOf(test: number, operand: number): number {
  if (test === TEST_PRESENT) return 0;
  const width = test === TEST_EQUAL ? CATEGORIES_PER_COLUMN : BOUNDARIES_PER_COLUMN;
  return Math.floor(operand / width);
}

interface PackedNode {
  readonly test: number;
  /** node of the three-way tree whose output and examples count here */
  readonly origin: number;
  left: number;
}

/** Writes a tree to an arena; the span is the caller's to free. */
export function packTree(
  workspace: Workspace,
  tree: DecisionTree,
  columns: readonly CodeColumn[],
  arena: number,
): PackedTree {
  const { nodes, depth } = layOut(tree, columns);
  const { width } = tree;
  const size = treeParts(0, nodes.length, width).sizeBytes;
  const span = workspace.memory.allocateIn(arena, size);
  const parts = treeParts(span.offset, nodes.length, width);
  const { u32, f32, f64 } = workspace.memory.get(arena);
  for (const [index, { test, origin, left }] of nodes.entries()) {
    const at = (parts.nodes + index * NODE_SIZE) >>> 2;
    u32[at] = test;
    u32[at + 1] = left === 0 ? 0 : left - index;
    for (let k = 0; k < width; k++) {
      f64[(parts.values >>> 3) + index * width + k] = tree.outputs[origin * width + k] as number;
    }
    f32[(parts.covers >>> 2) + index] = tree.exampleCounts[origin] as number;
  }
  return { span, nodeCount: nodes.length, depth };
}

/** A task of the layout: the tree below `origin`, after its test for missing values or before. */
interface Pending {
  readonly index: number;
  readonly origin: number;
  readonly isPresent: boolean;
  readonly depth: number;
}

/**
 * Breadth first. Left is "true". A node whose missing rows have a child of their own becomes two:
 * first a test for presence, then the test itself. Where training had none missing, a missing
 * value stops at the node, whose output is what its missing child would repeat.
 */
function layOut(tree: DecisionTree, columns: readonly CodeColumn[]) {
  const positions = new Map(columns.map(({ feature, part }, i) => [`${feature}:${part}`, i]));
  const nodes: PackedNode[] = [];
  const queue: Pending[] = [];
  let depthMax = 0;
  const add = (origin: number, isPresent: boolean, depth: number) => {
    const index = nodes.length;
    nodes.push({ test: testFor(origin, isPresent), origin, left: 0 });
    queue.push({ index, origin, isPresent, depth });
    depthMax = Math.max(depthMax, depth);
    return index;
  };
  const testFor = (origin: number, isPresent: boolean): number => {
    const test = tree.tests[origin] as number;
    if (test === TEST_LEAF) return NODE_LEAF;
    const operand = tree.operands[origin] as number;
    const feature = tree.features[origin] as number;
    const column = positions.get(`${feature}:${partOf(test, operand)}`) as number;
    // Codes above 0 go to the right: present values.
    if (test === TEST_PRESENT || (hasMissingChild(tree, origin) && !isPresent)) return column;
    const stops = isPresent ? 0 : NODE_STOPS_MISSING;
    if (test === TEST_EQUAL) {
      const code = (operand % CATEGORIES_PER_COLUMN) + 1;
      return (column | stops | (code << 24)) >>> 0;
    }
    return (column | stops | (((operand % BOUNDARIES_PER_COLUMN) + 1) << 16)) >>> 0;
  };
  add(0, false, 0);
  for (let next = 0; next < queue.length; next++) {
    const { index, origin, isPresent, depth } = queue[next] as Pending;
    const test = tree.tests[origin] as number;
    if (test === TEST_LEAF) continue;
    const child = (outcome: number) => tree.children[origin * 3 + outcome] as number;
    const node = nodes[index] as PackedNode;
    if (test === TEST_PRESENT) {
      node.left = add(child(1), false, depth + 1);
      add(child(0), false, depth + 1);
    } else if (hasMissingChild(tree, origin) && !isPresent) {
      node.left = add(child(2), false, depth + 1);
      add(origin, true, depth + 1);
    } else {
      node.left = add(child(0), false, depth + 1);
      add(child(1), false, depth + 1);
    }
  }
  return { nodes, depth: depthMax };
}

function hasMissingChild(tree: DecisionTree, node: number): boolean {
  return tree.children[node * 3 + 2] !== NO_CHILD;
}
