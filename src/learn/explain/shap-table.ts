// Shapley values of small trees looked up: what the leaves below a node count depends on few tests.
import { legendrePoints, type ShapTree } from './tree-shap.ts';
import { PARENT_AGAIN, type TreeView } from './tree-view.ts';

/** Levels of a tree whose leaves are looked up together. */
const BLOCK_HEIGHT_MAX = 2;
/** Tests that what a block counts depends on: a table has an entry for each of their outcomes. */
const TEST_COUNT_MAX = 10;

/** A test on the way to a leaf, and the outcome that leads on. */
interface Step {
  readonly node: number;
  readonly outcome: number;
  readonly feature: number;
  /** share of the node's training rows with this outcome */
  readonly share: number;
}

/** A lowest part of the tree. */
interface Block {
  readonly root: number;
  readonly path: readonly Step[];
  /** nodes of the block that test, parents first */
  readonly inner: readonly number[];
  readonly features: readonly number[];
  readonly leaves: readonly { readonly steps: readonly Step[]; readonly value: number }[];
}

/**
 * The same values as those of compileShapTree, from tables: an entry for every outcome of the tests
 * that lead to a block of leaves and lie in it. Faster by far where trees are small, but the tables
 * take time and memory, so they are for many rows.
 * @param roomMax numbers that tables may have in all
 * @returns undefined for trees that are too deep for them, or have nodes of more than two children
 */
export function compileShapTable(
  tree: TreeView,
  output: number,
  expected: number,
  roomMax: number,
): { readonly shap: ShapTree; readonly room: number } | undefined {
  const order: number[] = [];
  const blocks: Block[] = [];
  if (!collect(tree, output, order, blocks)) return undefined;
  const room = blocks.reduce((sum, block) => sum + entryCount(block) * block.features.length, 0);
  if (room > roomMax) return undefined;
  const table = new Float64Array(room);
  const offsets = new Int32Array(blocks.length);
  let at = 0;
  for (const [index, block] of blocks.entries()) {
    offsets[index] = at;
    const width = block.features.length;
    for (let mask = 0; mask < entryCount(block); mask++, at += width) {
      fillEntry(block, mask, table.subarray(at, at + width));
    }
  }
  // Nodes above the blocks, and the masks of tests passed on the way to each node.
  const lefts = Int32Array.from(order, (node) => tree.children(node)[0] as number);
  const rights = Int32Array.from(order, (node) => tree.children(node)[1] as number);
  const masks = new Int32Array(tree.nodeCount);
  const roots = Int32Array.from(blocks, ({ root }) => root);
  const innerEnds = new Int32Array(blocks.length);
  const inner = Int32Array.from(blocks.flatMap((block) => block.inner));
  const featureEnds = new Int32Array(blocks.length);
  const features = Int32Array.from(blocks.flatMap((block) => block.features));
  let [innerEnd, featureEnd] = [0, 0];
  for (const [index, block] of blocks.entries()) {
    innerEnds[index] = innerEnd += block.inner.length;
    featureEnds[index] = featureEnd += block.features.length;
  }
  const shap: ShapTree = {
    expected,
    add(row, weight, contributions) {
      for (let i = 0; i < lefts.length; i++) {
        const node = order[i] as number;
        const mask = (masks[node] as number) << 1;
        const taken = tree.taken(node, row);
        masks[lefts[i] as number] = mask | (taken ^ 1);
        masks[rights[i] as number] = mask | taken;
      }
      let from = 0;
      let feature = 0;
      for (let block = 0; block < roots.length; block++) {
        let mask = masks[roots[block] as number] as number;
        const end = innerEnds[block] as number;
        for (; from < end; from++) mask = (mask << 1) | tree.taken(inner[from] as number, row);
        const last = featureEnds[block] as number;
        let entry = (offsets[block] as number) + mask * (last - feature);
        for (; feature < last; feature++, entry++) {
          const to = features[feature] as number;
          contributions[to] = (contributions[to] as number) + weight * (table[entry] as number);
        }
      }
    },
  };
  return { shap, room };
}

function entryCount({ path, inner }: Block): number {
  return 1 << (path.length + inner.length);
}

/** @returns false where tables do not suit the tree */
function collect(tree: TreeView, output: number, order: number[], blocks: Block[]): boolean {
  const isLeaf = (node: number) => node === PARENT_AGAIN || tree.feature(node) < 0;
  const heights = new Map<number, number>();
  const heightOf = (node: number): number => {
    if (isLeaf(node)) return 0;
    const known = heights.get(node);
    if (known !== undefined) return known;
    const height =
      1 + tree.children(node).reduce((top, child) => Math.max(top, heightOf(child)), 0);
    heights.set(node, height);
    return height;
  };
  const stepsOf = (node: number): Step[] => {
    const children = tree.children(node);
    const covers = children.map((child) => tree.cover(child));
    const total = covers.reduce((sum, cover) => sum + cover, 0);
    const feature = tree.feature(node);
    return children.map((_, outcome) => {
      const share = total > 0 ? (covers[outcome] as number) / total : 0;
      return { node, outcome, feature, share };
    });
  };
  const pending: { readonly node: number; readonly path: readonly Step[] }[] = [
    { node: 0, path: [] },
  ];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const { node, path } = next;
    if (path.length > TEST_COUNT_MAX) return false;
    if (heightOf(node) > BLOCK_HEIGHT_MAX) {
      const children = tree.children(node);
      if (children.length !== 2 || children.includes(PARENT_AGAIN)) return false;
      order.push(node);
      const steps = stepsOf(node);
      for (const [outcome, child] of children.entries()) {
        pending.push({ node: child, path: [...path, steps[outcome] as Step] });
      }
      continue;
    }
    const inner: number[] = [];
    const leaves: { readonly steps: readonly Step[]; readonly value: number }[] = [];
    const below = [{ node, steps: path }];
    for (let own = below.shift(); own !== undefined; own = below.shift()) {
      if (isLeaf(own.node)) {
        leaves.push({ steps: own.steps, value: tree.value(own.node, output) });
        continue;
      }
      const children = tree.children(own.node);
      if (children.length !== 2 || children.includes(PARENT_AGAIN)) return false;
      inner.push(own.node);
      const steps = stepsOf(own.node);
      for (const [outcome, child] of children.entries()) {
        below.push({ node: child, steps: [...own.steps, steps[outcome] as Step] });
      }
    }
    if (path.length + inner.length > TEST_COUNT_MAX) return false;
    const features = [...new Set(leaves.flatMap(({ steps }) => steps.map((step) => step.feature)))];
    blocks.push({ root: node, path, inner, features, leaves });
  }
  return true;
}

/** What all leaves of a block count for its features, where the tests have the mask's outcomes. */
function fillEntry(
  { path, inner, features, leaves }: Block,
  mask: number,
  entry: Float64Array,
): void {
  const testCount = path.length + inner.length;
  const bitAt = (position: number) => (mask >> (testCount - 1 - position)) & 1;
  for (const { steps, value } of leaves) {
    // 1 where the row passes all tests of the feature, and the share of training rows that do.
    const ones = new Map<number, number>();
    const zeros = new Map<number, number>();
    for (const [index, { node, outcome, feature, share }] of steps.entries()) {
      const isPassed =
        index < path.length
          ? bitAt(index)
          : Number(bitAt(path.length + inner.indexOf(node)) === outcome);
      ones.set(feature, (ones.get(feature) ?? 1) * isPassed);
      zeros.set(feature, (zeros.get(feature) ?? 1) * share);
    }
    const { nodes, weights } = pointsFor(Math.ceil(ones.size / 2));
    for (const [q, t] of nodes.entries()) {
      const factorOf = (feature: number) =>
        t * (ones.get(feature) as number) + (1 - t) * (zeros.get(feature) as number);
      let product = value * (weights[q] as number);
      for (const feature of ones.keys()) product *= factorOf(feature);
      if (product === 0) continue;
      for (const [feature, one] of ones) {
        const place = features.indexOf(feature);
        const change = (product * (one - (zeros.get(feature) as number))) / factorOf(feature);
        entry[place] = (entry[place] as number) + change;
      }
    }
  }
}

const POINTS: (ReturnType<typeof legendrePoints> | undefined)[] = [];

function pointsFor(count: number): ReturnType<typeof legendrePoints> {
  POINTS[count] ??= legendrePoints(count);
  return POINTS[count] as ReturnType<typeof legendrePoints>;
}
