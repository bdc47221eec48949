// Trees in model files.
import {
  NODE_LEAF,
  NODE_SIZE,
  NODE_STOPS_MISSING,
  SET_NODE_COLUMN_BITS,
  SET_SIZE,
} from '../../kernel/generated.ts';
import type { Span } from '../../value/column/snapshot.ts';
import {
  type DecisionTree,
  NO_CHILD,
  TEST_EQUAL,
  TEST_LEAF,
  TEST_LESS,
} from '../decision-tree/tree.ts';
import type { Feature } from '../feature/feature.ts';
import { type PackedTree, type TreeEnsemble, treeParts, valueCountOf } from '../tree/ensemble.ts';
import type { JobContext, Workspace } from '../workspace.ts';
import { decodeArray, encodeArray } from './base64.ts';
import { invalidMember, type JsonObject, readList, readNumber, readObject } from './container.ts';

export function treeToJson(tree: DecisionTree): JsonObject {
  return {
    width: tree.width,
    tests: encodeArray(tree.tests),
    features: encodeArray(tree.features),
    operands: encodeArray(tree.operands),
    scores: encodeArray(tree.scores),
    exampleCounts: encodeArray(tree.exampleCounts),
    children: encodeArray(tree.children),
    outputs: encodeArray(tree.outputs),
  };
}

/** @throws DATA_ERROR when it is not a tree over these features */
export function treeFromJson(value: unknown, features: readonly Feature[]): DecisionTree {
  const json = readObject(value, 'tree');
  const tree: DecisionTree = {
    width: readNumber(json.width, 'width', 1),
    tests: decodeArray(json.tests, 'u8', 'tests'),
    features: decodeArray(json.features, 'i32', 'features'),
    operands: decodeArray(json.operands, 'i32', 'operands'),
    scores: decodeArray(json.scores, 'f64', 'scores'),
    exampleCounts: decodeArray(json.exampleCounts, 'f64', 'exampleCounts'),
    children: decodeArray(json.children, 'i32', 'children'),
    outputs: decodeArray(json.outputs, 'f64', 'outputs'),
  };
  checkTree(tree, features);
  return tree;
}

function checkTree(tree: DecisionTree, features: readonly Feature[]): void {
  const count = tree.tests.length;
  const lengths = [tree.features, tree.operands, tree.scores, tree.exampleCounts];
  const isComplete =
    count > 0 &&
    lengths.every(({ length }) => length === count) &&
    tree.children.length === count * 3 &&
    tree.outputs.length === count * tree.width;
  if (!isComplete) throw invalidMember('tree', 'complete');
  for (let node = 0; node < count; node++) {
    if (!isValidNode(tree, node, features)) throw invalidMember(`node ${node}`, 'a valid test');
  }
}

function isValidNode(tree: DecisionTree, node: number, features: readonly Feature[]): boolean {
  const test = tree.tests[node] as number;
  if (test === TEST_LEAF) return true;
  const feature = features[tree.features[node] as number];
  const operand = tree.operands[node] as number;
  if (feature === undefined || feature.kind === 'unused' || test > TEST_EQUAL) return false;
  if (test === TEST_LESS && !(feature.kind === 'numeric' && operand in feature.boundaries)) {
    return false;
  }
  if (test === TEST_EQUAL && !(feature.kind === 'categorical' && operand in feature.categories)) {
    return false;
  }
  // Children come later, so that there are no cycles; only the third may be absent.
  const children = tree.children.subarray(node * 3, node * 3 + 3);
  return children.every(
    (child, outcome) =>
      (child === NO_CHILD && outcome === 2) || (child > node && child < tree.tests.length),
  );
}

export function ensembleToJson(workspace: Workspace, ensemble: TreeEnsemble): JsonObject {
  const { columns, trees, weights, width, divisor, slots, sets } = ensemble;
  const valueCount = valueCountOf(ensemble);
  const json = trees.map(({ span, nodeCount }) => {
    const { buffer } = workspace.memory.get(span.arena).memory;
    const parts = treeParts(span.offset, nodeCount, valueCount);
    return {
      nodes: encodeArray(new Uint32Array(buffer, parts.nodes, nodeCount * 2)),
      values: encodeArray(new Float64Array(buffer, parts.values, nodeCount * valueCount)),
      covers: encodeArray(new Float32Array(buffer, parts.covers, nodeCount)),
    };
  });
  const bits = sets && workspace.memory.get(sets.arena).memory.buffer;
  return {
    ...{ width, divisor, weights, columns },
    ...(slots === undefined ? {} : { slots }),
    ...(sets === undefined || bits === undefined
      ? {}
      : { sets: encodeArray(new Uint8Array(bits, sets.offset, sets.sizeBytes)) }),
    trees: json,
  };
}

/** @throws DATA_ERROR when a walk over the trees could leave them */
export function ensembleFromJson(
  workspace: Workspace,
  json: JsonObject,
  features: readonly Feature[],
  arena: number,
  scope: JobContext,
): TreeEnsemble {
  const width = readNumber(json.width, 'width', 1);
  const columns = readList(json, 'columns').map((value) => {
    const column = readObject(value, 'columns');
    const feature = readNumber(column.feature, 'columns', 0);
    if (!(feature in features)) throw invalidMember('columns', 'about known features');
    return { feature, part: readNumber(column.part, 'columns', 0) };
  });
  const weights = readList(json, 'weights').map((weight) => readNumber(weight, 'weights'));
  const list = readList(json, 'trees');
  if (list.length !== weights.length) throw invalidMember('weights', 'one number a tree');
  const slots = json.slots === undefined ? undefined : readSlots(json, list.length, width);
  const bits = json.sets === undefined ? undefined : decodeArray(json.sets, 'u8', 'sets');
  const valueCount = slots === undefined ? width : 1;
  const setCount = bits === undefined ? 0 : Math.floor(bits.length / SET_SIZE);
  const columnCount = Math.max(1, columns.length);
  const spans: Span[] = [];
  const trees: PackedTree[] = [];
  try {
    for (const tree of list) {
      scope.checkCancelled();
      const shape = { width: valueCount, columnCount, setCount, arena };
      const packed = packedFromJson(workspace, tree, shape, scope);
      trees.push(packed);
      spans.push(packed.span);
    }
    let sets: Span | undefined;
    if (bits !== undefined) {
      sets = workspace.memory.allocateIn(arena, Math.max(SET_SIZE, bits.length));
      workspace.memory.get(arena).u8.set(bits, sets.offset);
    }
    return {
      ...{ features, columns, width, trees, weights },
      divisor: readNumber(json.divisor, 'divisor'),
      ...(slots === undefined ? {} : { slots }),
      ...(sets === undefined ? {} : { sets }),
    };
  } catch (thrown) {
    for (const span of spans) workspace.memory.free(span);
    throw thrown;
  }
}

function readSlots(json: JsonObject, treeCount: number, width: number): number[] {
  const slots = readList(json, 'slots').map((slot) => readNumber(slot, 'slots', 0));
  if (slots.length === treeCount && slots.every((slot) => slot < width)) return slots;
  throw invalidMember('slots', 'one output a tree');
}

interface PackedShape {
  readonly width: number;
  readonly columnCount: number;
  /** 0: nodes are ranges of codes */
  readonly setCount: number;
  readonly arena: number;
}

function packedFromJson(
  workspace: Workspace,
  value: unknown,
  { width, columnCount, setCount, arena }: PackedShape,
  scope: JobContext,
): PackedTree {
  const json = readObject(value, 'trees');
  const nodes = decodeArray(json.nodes, 'u32', 'nodes');
  scope.checkCancelled();
  const values = decodeArray(json.values, 'f64', 'values');
  const covers = decodeArray(json.covers, 'f32', 'covers');
  const nodeCount = covers.length;
  if (nodes.length !== nodeCount * 2 || values.length !== nodeCount * width || nodeCount === 0) {
    throw invalidMember('trees', 'complete');
  }
  scope.checkCancelled();
  const depth = depthOf(nodes, columnCount, setCount);
  scope.checkCancelled();
  const span = workspace.memory.allocateIn(arena, treeParts(0, nodeCount, width).sizeBytes);
  const parts = treeParts(span.offset, nodeCount, width);
  const { f32, f64, u32 } = workspace.memory.get(arena);
  u32.set(nodes, parts.nodes >>> 2);
  f64.set(values, parts.values >>> 3);
  f32.set(covers, parts.covers >>> 2);
  return { span, nodeCount, depth };
}

/** Steps to the deepest leaf. @throws DATA_ERROR when a link or a column does not exist */
function depthOf(nodes: Uint32Array, columnCount: number, setCount: number): number {
  const nodeCount = nodes.length / (NODE_SIZE / 4);
  const depths = new Uint32Array(nodeCount);
  let depth = 0;
  for (let node = 0; node < nodeCount; node++) {
    const test = nodes[node * 2] as number;
    const distance = nodes[node * 2 + 1] as number;
    const hasSets = setCount > 0;
    const column = test & ((hasSets ? 2 ** SET_NODE_COLUMN_BITS : NODE_STOPS_MISSING) - 1);
    const isLeaf = distance === 0;
    if (hasSets && test >>> SET_NODE_COLUMN_BITS >= setCount) {
      throw invalidMember(`node ${node}`, 'a test of a known set');
    }
    const leaf = hasSets ? 0 : NODE_LEAF;
    if (isLeaf ? test !== leaf : node + distance + 1 >= nodeCount) {
      throw invalidMember(`node ${node}`, 'linked to nodes of its tree');
    }
    if (column >= columnCount) throw invalidMember(`node ${node}`, 'a test of a known column');
    const below = (depths[node] as number) + 1;
    if (isLeaf) continue;
    depths[node + distance] = below;
    depths[node + distance + 1] = below;
    depth = Math.max(depth, below);
  }
  return depth;
}
