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
    const child = tree.next(node, row);
    if (child === PARENT_AGAIN) return bias;
    const next = tree.value(child, output);
    contributions[feature] = (contributions[feature] as number) + weight * (next - said);
    said = next;
    node = child;
  }
};

/** Shapley values of one tree; made once a tree and output. */
export interface ShapTree {
  /** what the tree says on average, by the training rows */
  readonly expected: number;
  /** Adds a row's contributions times `weight`. */
  add(row: RowCodes, weight: number, contributions: Float64Array): void;
}

/**
 * Shapley values where a feature that is not known goes every way, by the training rows of each.
 *
 * A leaf adds to feature i its value times (o_i - z_i) times the integral over t from 0 to 1 of the
 * product over the other features j on its path of (t o_j + (1 - t) z_j), where o_j is 1 if the row
 * passes all tests of j, and z_j the share of training rows that do: t^|S| (1 - t)^(d - 1 - |S|)
 * integrates to the Shapley weight of a set S. The product is a polynomial in t, which Gauss-Legendre
 * points integrate exactly, so one pass down and one up the tree make the sums of all leaves.
 * @see Lundberg, Erion & Lee, "Consistent individualized feature attribution for tree ensembles",
 *   2018 (what is computed); Yu et al., "Linear TreeShap", NeurIPS 2022 (sums by subtree)
 */
export function compileShapTree(tree: TreeView, output: number): ShapTree {
  const { edges, expected, pointCount } = edgesOf(tree, output);
  const { nodes, weights } = legendrePoints(pointCount);
  const count = edges.length;
  const parents = Int32Array.from(edges, ({ parent }) => parent);
  const earlier = Int32Array.from(edges, ({ before }) => before);
  const features = Int32Array.from(edges, ({ feature }) => feature);
  const tested = Int32Array.from(edges, ({ node }) => node);
  const outcomes = Int32Array.from(edges, ({ outcome }) => outcome);
  const values = Float64Array.from(edges, ({ value }) => value ?? 0);
  const isLeaf = Uint8Array.from(edges, ({ value }) => (value === undefined ? 0 : 1));
  // For each edge, first where the row fails a test of the feature, then where it passes them all:
  // factors of the product, their reciprocals, and what a sum counts for the feature.
  const factors = new Float64Array(count * 2 * pointCount);
  const reciprocals = new Float64Array(factors.length);
  const counts = new Float64Array(factors.length);
  for (const [edge, { zero }] of edges.entries()) {
    for (let one = 0; one < 2; one++) {
      for (let q = 0; q < pointCount; q++) {
        const t = nodes[q] as number;
        const factor = t * one + (1 - t) * zero;
        const at = (edge * 2 + one) * pointCount + q;
        factors[at] = factor;
        // A way that no training row went and this one does not either counts nothing.
        reciprocals[at] = factor === 0 ? 0 : 1 / factor;
        counts[at] = factor === 0 ? 0 : ((weights[q] as number) * (one - zero)) / factor;
      }
    }
  }
  const ones = new Uint8Array(count);
  const products = new Float64Array((count + 1) * pointCount);
  const sums = new Float64Array((count + 1) * pointCount);
  products.fill(1, count * pointCount);
  return {
    expected,
    add(row, weight, contributions) {
      let node = -1;
      let taken = 0;
      for (let edge = 0; edge < count; edge++) {
        if (tested[edge] !== node) {
          node = tested[edge] as number;
          taken = tree.taken(node, row);
        }
        const before = earlier[edge] as number;
        const one = taken === outcomes[edge] && (before < 0 || ones[before] === 1) ? 1 : 0;
        ones[edge] = one;
        const from = (parents[edge] as number) * pointCount;
        const to = edge * pointCount;
        const factor = (edge * 2 + one) * pointCount;
        if (before < 0) {
          for (let q = 0; q < pointCount; q++) {
            products[to + q] = (products[from + q] as number) * (factors[factor + q] as number);
          }
        } else {
          const old = (before * 2 + (ones[before] as number)) * pointCount;
          for (let q = 0; q < pointCount; q++) {
            products[to + q] =
              (products[from + q] as number) *
              (factors[factor + q] as number) *
              (reciprocals[old + q] as number);
          }
        }
        if (isLeaf[edge] === 1) {
          const value = weight * (values[edge] as number);
          for (let q = 0; q < pointCount; q++) {
            sums[to + q] = value * (products[to + q] as number);
          }
        } else {
          for (let q = 0; q < pointCount; q++) sums[to + q] = 0;
        }
      }
      for (let edge = count - 1; edge >= 0; edge--) {
        const to = (parents[edge] as number) * pointCount;
        const from = edge * pointCount;
        const before = earlier[edge] as number;
        const own = (edge * 2 + (ones[edge] as number)) * pointCount;
        let change = 0;
        if (before < 0) {
          for (let q = 0; q < pointCount; q++) {
            const sum = sums[from + q] as number;
            sums[to + q] = (sums[to + q] as number) + sum;
            change += sum * (counts[own + q] as number);
          }
        } else {
          // What the same feature counted further up counts no longer below here.
          const old = (before * 2 + (ones[before] as number)) * pointCount;
          for (let q = 0; q < pointCount; q++) {
            const sum = sums[from + q] as number;
            sums[to + q] = (sums[to + q] as number) + sum;
            change += sum * ((counts[own + q] as number) - (counts[old + q] as number));
          }
        }
        const feature = features[edge] as number;
        contributions[feature] = (contributions[feature] as number) + change;
      }
    },
  };
}

/** A step from a node to one of its children. */
interface Edge {
  /** the node that tests */
  readonly node: number;
  /** position among its children */
  readonly outcome: number;
  readonly feature: number;
  /** the edge above; the number of edges for those of the root */
  parent: number;
  /** the nearest edge above of the same feature; -1: none */
  readonly before: number;
  /** share of training rows that pass this and all tests of the feature above */
  readonly zero: number;
  /** what a leaf says; undefined for inner nodes */
  readonly value: number | undefined;
}

/** Edges from the root down, parents first, and children of a node one after another. */
function edgesOf(tree: TreeView, output: number) {
  const edges: Edge[] = [];
  let expected = 0;
  let featureCountMax = 1;
  const pending = [{ node: 0, parent: -1, reach: 1, featureCount: 0 }];
  if (tree.feature(0) < 0) expected = tree.value(0, output);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, parent, reach, featureCount } = next;
    const feature = tree.feature(node);
    if (feature < 0) continue;
    let before = parent;
    while (before >= 0 && edges[before]?.feature !== feature) {
      before = (edges[before] as Edge).parent;
    }
    const children = tree.children(node);
    const covers = children.map((child) => (child === PARENT_AGAIN ? 0 : tree.cover(child)));
    const total = covers.reduce((sum, cover) => sum + cover, 0);
    const own = before < 0 ? featureCount + 1 : featureCount;
    featureCountMax = Math.max(featureCountMax, own);
    for (const [outcome, child] of children.entries()) {
      const share = total > 0 ? (covers[outcome] as number) / total : 0;
      const isLeaf = child === PARENT_AGAIN || tree.feature(child) < 0;
      const says = tree.value(child === PARENT_AGAIN ? node : child, output);
      const zero = share * (before < 0 ? 1 : (edges[before] as Edge).zero);
      const value = isLeaf ? says : undefined;
      if (isLeaf) expected += reach * share * says;
      const edge = edges.push({ node, outcome, feature, parent, before, zero, value }) - 1;
      if (!isLeaf)
        pending.push({ node: child, parent: edge, reach: reach * share, featureCount: own });
    }
  }
  for (const edge of edges) if (edge.parent < 0) edge.parent = edges.length;
  // A product of one factor less than there are features is of that degree.
  return { edges, expected, pointCount: Math.ceil(featureCountMax / 2) };
}

/** Points and weights that integrate polynomials of degree 2 count - 1 from 0 to 1. */
export function legendrePoints(count: number) {
  const nodes = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let step = 0; step < 100; step++) {
      let [below, value] = [1, x];
      for (let n = 2; n <= count; n++) {
        [below, value] = [value, ((2 * n - 1) * x * value - (n - 1) * below) / n];
      }
      slope = (count * (x * value - below)) / (x * x - 1);
      const change = value / slope;
      x -= change;
      if (Math.abs(change) < 1e-15) break;
    }
    nodes[i] = (x + 1) / 2;
    weights[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
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
