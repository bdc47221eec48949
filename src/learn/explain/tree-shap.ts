// How much each feature of a row moves what a tree says of it.
import { PARENT_AGAIN, type RowCodes, type TreeView } from './tree-view.ts';

/** Adds to contributions, one a feature, and tells the bias that they start from. */
export type ExplainTree = (
  tree: TreeView,
  row: RowCodes,
  output: number,
  weight: number,
  contributions: Float64Array,
) => number;

/** Each step down credits the tested feature with what it changes. */
export const pathContributions: ExplainTree = (tree, row, output, weight, contributions) => {
  let node = 0;
  let said = tree.value(0, output);
  const bias = weight * said;
  for (;;) {
    const feature = tree.feature(node);
    if (feature < 0) return bias;
    const child = tree.children(node)[tree.taken(node, row)] as number;
    if (child === PARENT_AGAIN) return bias;
    const next = tree.value(child, output);
    contributions[feature] = (contributions[feature] as number) + weight * (next - said);
    said = next;
    node = child;
  }
};

/** One feature on the way to a leaf; `share` is the weight of all ways that lead here. */
interface PathElement {
  feature: number;
  zero: number;
  one: number;
  share: number;
}

/**
 * Shapley values where a feature that is not known goes every way, by the training rows of each. In
 * polynomial time, for nodes with any number of children.
 * @see Lundberg, Erion & Lee, "Consistent individualized feature attribution for tree ensembles",
 *   2018, algorithm 2
 */
export const treeShap: ExplainTree = (tree, row, output, weight, contributions) => {
  let expected = 0;
  const visit = (
    node: number,
    value: number,
    path: readonly PathElement[],
    zero: number,
    one: number,
    feature: number,
    reach: number,
  ): void => {
    const extended = extend(path, zero, one, feature);
    const tested = node === PARENT_AGAIN ? -1 : tree.feature(node);
    if (tested < 0) {
      expected += reach * value;
      for (let i = 1; i < extended.length; i++) {
        const element = extended[i] as PathElement;
        const share = unwoundSum(extended, i) * (element.one - element.zero) * value * weight;
        contributions[element.feature] = (contributions[element.feature] as number) + share;
      }
      return;
    }
    let inner: readonly PathElement[] = extended;
    let zeroBefore = 1;
    let oneBefore = 1;
    const known = extended.findIndex((element, i) => i > 0 && element.feature === tested);
    if (known > 0) {
      const element = extended[known] as PathElement;
      zeroBefore = element.zero;
      oneBefore = element.one;
      inner = unwind(extended, known);
    }
    const children = tree.children(node);
    const taken = tree.taken(node, row);
    const covers = children.map((child) => (child === PARENT_AGAIN ? 0 : tree.cover(child)));
    const total = covers.reduce((sum, cover) => sum + cover, 0);
    for (const [index, child] of children.entries()) {
      const share = total > 0 ? (covers[index] as number) / total : 0;
      const isTaken = index === taken ? oneBefore : 0;
      if (share === 0 && isTaken === 0) continue;
      const says = child === PARENT_AGAIN ? tree.value(node, output) : tree.value(child, output);
      visit(child, says, inner, zeroBefore * share, isTaken, tested, reach * share);
    }
  };
  visit(0, tree.value(0, output), [], 1, 1, -1, 1);
  return weight * expected;
};

function extend(
  path: readonly PathElement[],
  zero: number,
  one: number,
  feature: number,
): PathElement[] {
  const length = path.length;
  const next = path.map((element) => ({ ...element }));
  next.push({ feature, zero, one, share: length === 0 ? 1 : 0 });
  for (let i = length - 1; i >= 0; i--) {
    const here = next[i] as PathElement;
    const above = next[i + 1] as PathElement;
    above.share += (one * here.share * (i + 1)) / (length + 1);
    here.share = (zero * here.share * (length - i)) / (length + 1);
  }
  return next;
}

/** The path without the element at `index`, as if it had never been there. */
function unwind(path: readonly PathElement[], index: number): PathElement[] {
  const last = path.length - 1;
  const { zero, one } = path[index] as PathElement;
  const next = path.map((element) => ({ ...element }));
  let carried = (next[last] as PathElement).share;
  for (let i = last - 1; i >= 0; i--) {
    const here = next[i] as PathElement;
    if (one !== 0) {
      const before = here.share;
      here.share = (carried * (last + 1)) / ((i + 1) * one);
      carried = before - (here.share * zero * (last - i)) / (last + 1);
    } else {
      here.share = (here.share * (last + 1)) / (zero * (last - i));
    }
  }
  for (let i = index; i < last; i++) {
    const here = next[i] as PathElement;
    const above = next[i + 1] as PathElement;
    here.feature = above.feature;
    here.zero = above.zero;
    here.one = above.one;
  }
  next.pop();
  return next;
}

function unwoundSum(path: readonly PathElement[], index: number): number {
  const last = path.length - 1;
  const { zero, one } = path[index] as PathElement;
  let carried = (path[last] as PathElement).share;
  let total = 0;
  for (let i = last - 1; i >= 0; i--) {
    const { share } = path[i] as PathElement;
    if (one !== 0) {
      const part = (carried * (last + 1)) / ((i + 1) * one);
      total += part;
      carried = share - (part * zero * (last - i)) / (last + 1);
    } else {
      total += (share * (last + 1)) / (zero * (last - i));
    }
  }
  return total;
}

/**
 * Shapley values against one other row, from which unknown features take their values.
 * @returns what the tree says of the other row
 * @see Lundberg et al., "From local explanations to global understanding with explainable AI for
 *   trees", Nature Machine Intelligence 2, 2020
 */
export function interventionalContributions(
  tree: TreeView,
  row: RowCodes,
  other: RowCodes,
  output: number,
  weight: number,
  contributions: Float64Array,
): number {
  // 1: the way follows the row's value of the feature, 2: the other's.
  const sides = new Map<number, 1 | 2>();
  let bias = 0;
  const leaf = (value: number): void => {
    let own = 0;
    let others = 0;
    for (const side of sides.values()) {
      if (side === 1) own++;
      else others++;
    }
    if (own === 0) bias += weight * value;
    if (own + others === 0) return;
    const ways = factorialShare(own, others);
    for (const [feature, side] of sides) {
      const change = side === 1 ? ways / own : -ways / others;
      contributions[feature] = (contributions[feature] as number) + weight * value * change;
    }
  };
  const visit = (node: number, value: number): void => {
    const feature = node === PARENT_AGAIN ? -1 : tree.feature(node);
    if (feature < 0) {
      leaf(value);
      return;
    }
    const children = tree.children(node);
    const go = (index: number) => {
      const child = children[index] as number;
      visit(child, child === PARENT_AGAIN ? value : tree.value(child, output));
    };
    const mine = tree.taken(node, row);
    const theirs = tree.taken(node, other);
    const side = sides.get(feature);
    if (mine === theirs || side === 1) go(mine);
    else if (side === 2) go(theirs);
    else {
      sides.set(feature, 1);
      go(mine);
      sides.set(feature, 2);
      go(theirs);
      sides.delete(feature);
    }
  };
  visit(0, tree.value(0, output));
  return bias;
}

/** own! others! / (own + others)! */
function factorialShare(own: number, others: number): number {
  let share = 1;
  for (let i = 1; i <= others; i++) share *= i / (own + i);
  return share;
}
