// Shapley values of small trees looked up: what the leaves below a node count depends on few tests.
import type { JobContext } from '../workspace.ts';
import { legendrePoints } from './tree-shap.ts';
import { PARENT_AGAIN, type RowCodes, type TreeView } from './tree-view.ts';

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

/** A lowest part of a tree. */
interface Block {
  readonly tree: TreeView;
  /** times what the leaves say */
  readonly weight: number;
  readonly path: readonly Step[];
  /** nodes of the block that test, parents first */
  readonly inner: readonly number[];
  readonly features: readonly number[];
  readonly leaves: readonly Leaf[];
}

interface Leaf {
  readonly steps: readonly Step[];
  readonly value: number;
}

/** Values of many trees, looked up. */
export interface ShapTables {
  /** trees whose values they are */
  readonly isCovered: readonly boolean[];
  /** Adds a row's contributions; `sign` is 1 or -1. */
  add(row: RowCodes, sign: number, contributions: Float64Array): void;
  /** The same for many rows, tree by tree, so that a tree's tables stay in the caches. */
  addAll(
    rows: readonly RowCodes[],
    signs: Int8Array,
    contributions: readonly Float64Array[],
    scope: JobContext,
  ): void;
}

/** Codes that a column can have. */
const CODE_COUNT = 256;

/**
 * The same values as those of compileShapTree, from tables: an entry for every outcome of the tests
 * that lead to a block of leaves and lie in it. Which entry it is follows from the row's codes: each
 * code of a column has a vector of the bits that it sets in all entries' numbers, and the vectors of
 * a row's codes are added up. Faster by far where trees are small, but the tables take time and
 * memory, so they are for many rows.
 * @param columnCount columns of a row's codes, each below 256
 * @param roomMax bytes that tables may have in all
 * @returns undefined where no tree suits: too deep, or with nodes of more than two children
 */
export function compileShapTables(
  trees: readonly TreeView[],
  { output, weights, columnCount, roomMax }: ShapTableOptions,
  scope: JobContext,
): ShapTables | undefined {
  const parts: AddTree[] = [];
  let room = roomMax;
  const isCovered = trees.map((tree, index) => {
    scope.checkCancelled();
    const blocks = blocksOf(tree, output, weights[index] as number);
    if (blocks === undefined) return false;
    const needed = blocks.reduce((sum, block) => sum + roomOf(block, columnCount), 0);
    if (needed > room) return false;
    room -= needed;
    parts.push(compileTree(blocks, columnCount));
    return true;
  });
  if (parts.length === 0) return undefined;
  return {
    isCovered,
    add(row, sign, contributions) {
      for (let part = 0; part < parts.length; part++) {
        (parts[part] as AddTree)(row, sign, contributions);
      }
    },
    addAll(rows, signs, contributions, own) {
      for (const addTree of parts) {
        own.checkCancelled();
        for (let i = 0; i < rows.length; i++) {
          addTree(rows[i] as RowCodes, signs[i] as number, contributions[i] as Float64Array);
        }
      }
    },
  };
}

type AddTree = ShapTables['add'];

function compileTree(blocks: readonly Block[], columnCount: number): AddTree {
  const entries = fillEntries(blocks);
  // Two numbers of entries are added as one: their bits are apart.
  const numbers = new Uint16Array(evenCount(blocks));
  const words = new Uint32Array(numbers.buffer);
  const bits = new Uint32Array(bitVectors(blocks, columnCount).buffer);
  const widths = Uint8Array.from(blocks, (block) => block.features.length);
  const features = Uint32Array.from(blocks.flatMap((block) => block.features));
  const offsets = new Uint32Array(blocks.length);
  for (let block = 1; block < blocks.length; block++) {
    const before = blocks[block - 1] as Block;
    offsets[block] = (offsets[block - 1] as number) + entryCount(before) * before.features.length;
  }
  const columns = Uint16Array.from(new Set(blocks.flatMap((block) => columnsOf(block))));
  return (row, sign, contributions) => {
    words.fill(0);
    for (let c = 0; c < columns.length; c++) {
      const column = columns[c] as number;
      const from = (column * CODE_COUNT + (row[column] as number)) * words.length;
      for (let i = 0; i < words.length; i++) {
        words[i] = (words[i] as number) + (bits[from + i] as number);
      }
    }
    let slot = 0;
    for (let block = 0; block < widths.length; block++) {
      const width = widths[block] as number;
      let entry = (offsets[block] as number) + (numbers[block] as number) * width;
      for (const end = slot + width; slot < end; slot++, entry++) {
        const to = features[slot] as number;
        contributions[to] = (contributions[to] as number) + sign * (entries[entry] as number);
      }
    }
  };
}

/** Columns that the tests of a block look at. */
function columnsOf({ tree, path, inner }: Block): number[] {
  return [...path.map(({ node }) => node), ...inner].map((node) => tree.column?.(node) as number);
}

export interface ShapTableOptions {
  readonly output: number;
  /** one a tree */
  readonly weights: readonly number[];
  readonly columnCount: number;
  readonly roomMax: number;
}

function roomOf(block: Block, columnCount: number): number {
  return entryCount(block) * block.features.length * 8 + columnCount * CODE_COUNT * 2;
}

function evenCount({ length }: readonly unknown[]): number {
  return length + (length % 2);
}

/** The bits that each code of each column sets in the number of each block's entry. */
function bitVectors(blocks: readonly Block[], columnCount: number): Uint16Array {
  const stride = evenCount(blocks);
  const bits = new Uint16Array(columnCount * CODE_COUNT * stride);
  const row = new Uint8Array(columnCount);
  for (const [index, { tree, path, inner }] of blocks.entries()) {
    const tests = [
      ...path.map(({ node, outcome }) => ({ node, outcome })),
      ...inner.map((node) => ({ node, outcome: 1 })),
    ];
    for (const [position, { node, outcome }] of tests.entries()) {
      const column = tree.column?.(node) as number;
      const bit = 1 << (tests.length - 1 - position);
      for (let code = 0; code < CODE_COUNT; code++) {
        row[column] = code;
        if (tree.taken(node, row) !== outcome) continue;
        const at = (column * CODE_COUNT + code) * stride + index;
        bits[at] = (bits[at] as number) + bit;
      }
      row[column] = 0;
    }
  }
  return bits;
}

function entryCount({ path, inner }: Block): number {
  return 1 << (path.length + inner.length);
}

/** The blocks of a tree; undefined where tables do not suit it. */
function blocksOf(tree: TreeView, output: number, weight: number): Block[] | undefined {
  const blocks: Block[] = [];
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
    if (path.length > TEST_COUNT_MAX) return undefined;
    if (heightOf(node) > BLOCK_HEIGHT_MAX) {
      const children = tree.children(node);
      if (children.length !== 2 || children.includes(PARENT_AGAIN)) return undefined;
      const steps = stepsOf(node);
      for (const [outcome, child] of children.entries()) {
        pending.push({ node: child, path: [...path, steps[outcome] as Step] });
      }
      continue;
    }
    const inner: number[] = [];
    const leaves: Leaf[] = [];
    const below = [{ node, steps: path }];
    for (let own = below.shift(); own !== undefined; own = below.shift()) {
      if (isLeaf(own.node)) {
        leaves.push({ steps: own.steps, value: tree.value(own.node, output) });
        continue;
      }
      const children = tree.children(own.node);
      if (children.length !== 2 || children.includes(PARENT_AGAIN)) return undefined;
      inner.push(own.node);
      const steps = stepsOf(own.node);
      for (const [outcome, child] of children.entries()) {
        below.push({ node: child, steps: [...own.steps, steps[outcome] as Step] });
      }
    }
    if (path.length + inner.length > TEST_COUNT_MAX) return undefined;
    const features = [...new Set(leaves.flatMap(({ steps }) => steps.map((step) => step.feature)))];
    blocks.push({ tree, weight, path, inner, features, leaves });
  }
  return blocks;
}

/** The entries of blocks, one after another. */
function fillEntries(blocks: readonly Block[]): Float64Array {
  const size = blocks.reduce((sum, block) => sum + entryCount(block) * block.features.length, 0);
  const entries = new Float64Array(size);
  let at = 0;
  for (const block of blocks) {
    for (const leaf of block.leaves) addLeaf(block, leaf, entries, at);
    at += entryCount(block) * block.features.length;
  }
  return entries;
}

/** Adds what a leaf counts for the block's features, whichever outcomes the tests have. */
function addLeaf(block: Block, { steps, value }: Leaf, entries: Float64Array, from: number): void {
  const { path, inner, features, weight } = block;
  const testCount = path.length + inner.length;
  const own = [...new Set(steps.map(({ feature }) => feature))];
  const places = own.map((feature) => features.indexOf(feature));
  // Share of the training rows that pass all tests of a feature, and which bits say that a row does.
  const zeros = own.map(() => 1);
  const wanted = own.map(() => 0);
  const looked = own.map(() => 0);
  for (const [index, { node, outcome, feature, share }] of steps.entries()) {
    const position = index < path.length ? index : path.length + inner.indexOf(node);
    const bit = 1 << (testCount - 1 - position);
    const i = own.indexOf(feature);
    zeros[i] = (zeros[i] as number) * share;
    looked[i] = (looked[i] as number) | bit;
    if (index < path.length || outcome === 1) wanted[i] = (wanted[i] as number) | bit;
  }
  const { nodes, weights } = pointsFor(Math.ceil(own.length / 2));
  const factors = new Float64Array(own.length);
  const width = features.length;
  for (let mask = 0; mask < entryCount(block); mask++) {
    for (let q = 0; q < nodes.length; q++) {
      const t = nodes[q] as number;
      let product = weight * value * (weights[q] as number);
      for (let i = 0; i < own.length; i++) {
        const one = (mask & (looked[i] as number)) === wanted[i] ? t : 0;
        const factor = one + (1 - t) * (zeros[i] as number);
        factors[i] = factor;
        product *= factor;
      }
      if (product === 0) continue;
      for (let i = 0; i < own.length; i++) {
        const one = (mask & (looked[i] as number)) === wanted[i] ? 1 : 0;
        const place = from + mask * width + (places[i] as number);
        entries[place] =
          (entries[place] as number) +
          (product * (one - (zeros[i] as number))) / (factors[i] as number);
      }
    }
  }
}

const POINTS: (ReturnType<typeof legendrePoints> | undefined)[] = [];

function pointsFor(count: number): ReturnType<typeof legendrePoints> {
  POINTS[count] ??= legendrePoints(count);
  return POINTS[count] as ReturnType<typeof legendrePoints>;
}
