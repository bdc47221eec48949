// Packed trees as the attributes of a TreeEnsembleRegressor.
import { boundariesOf, categoryCode, type Feature, MISSING_CODE } from '../feature/feature.ts';
import type { TreeNodes } from '../gbt/nodes.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';
import { type Attribute, DOUBLE, type Tensor } from './model.ts';

/** A number, or the flag of a set of codes of a text. */
interface TreeColumn {
  readonly feature: number;
  readonly set?: Float64Array;
}

/** Where a walk goes on: at a node of the packed tree, or to what one says as a leaf. */
type Target = { readonly node: number; readonly isLeaf: boolean };

/** Collects trees, and the columns that they test. */
export class TreeWriter {
  readonly columns: TreeColumn[] = [];
  readonly #columnIds = new Map<string, number>();
  readonly #features: readonly Feature[];
  readonly #ensemble: TreeEnsemble;
  readonly #treeIds: number[] = [];
  readonly #nodeIds: number[] = [];
  readonly #featureIds: number[] = [];
  readonly #modes: string[] = [];
  readonly #values: number[] = [];
  readonly #trueIds: number[] = [];
  readonly #falseIds: number[] = [];
  readonly #missingTrue: number[] = [];
  readonly #targetTrees: number[] = [];
  readonly #targetNodes: number[] = [];
  readonly #targetIds: number[] = [];
  readonly #targetWeights: number[] = [];

  constructor(features: readonly Feature[], ensemble: TreeEnsemble) {
    this.#features = features;
    this.#ensemble = ensemble;
  }

  attributes(): Record<string, Attribute> {
    const doubles = (values: readonly number[]): Tensor => ({
      type: DOUBLE,
      dims: [values.length],
      numbers: Float64Array.from(values),
    });
    return {
      n_targets: this.#ensemble.width,
      aggregate_function: 'SUM',
      post_transform: 'NONE',
      nodes_treeids: this.#treeIds,
      nodes_nodeids: this.#nodeIds,
      nodes_featureids: this.#featureIds,
      nodes_modes: this.#modes,
      nodes_values_as_tensor: doubles(this.#values),
      nodes_truenodeids: this.#trueIds,
      nodes_falsenodeids: this.#falseIds,
      nodes_missing_value_tracks_true: this.#missingTrue,
      target_treeids: this.#targetTrees,
      target_nodeids: this.#targetNodes,
      target_ids: this.#targetIds,
      target_weights_as_tensor: doubles(this.#targetWeights),
    };
  }

  addTree(tree: number, nodes: TreeNodes): void {
    let nodeCount = 0;
    const reserve = (): number => nodeCount++;
    const pending: { readonly id: number; readonly target: Target }[] = [];
    const child = (target: Target): number => {
      const id = reserve();
      pending.push({ id, target });
      return id;
    };
    child({ node: 0, isLeaf: false });
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { id, target } = next;
      const { node } = target;
      if (target.isLeaf || nodes.left(node) === node) {
        this.#addNode(tree, id, 0, 'LEAF', 0, 0, 0, 0);
        this.#addWeights(tree, id, nodes, node);
        continue;
      }
      const split = this.#splitOf(nodes, node);
      if (split.presence === undefined) {
        const yes = child(split.yes);
        const no = child(split.no);
        const { column, mode, value, missingYes } = split;
        this.#addNode(tree, id, column, mode, value, yes, no, missingYes);
        continue;
      }
      // First whether there is a value, then the test itself.
      const test = reserve();
      const without = child(split.missing);
      const { presence } = split;
      this.#addNode(tree, id, presence.column, presence.mode, presence.value, test, without, 0);
      const yes = child(split.yes);
      const no = child(split.no);
      this.#addNode(tree, test, split.column, split.mode, split.value, yes, no, 0);
    }
  }

  #splitOf(nodes: TreeNodes, node: number): Split {
    const index = nodes.feature(node);
    const feature = this.#features[index] as Feature;
    const goesLeft = nodes.codesLeft(node);
    const left = { node: nodes.left(node), isLeaf: false };
    const right = { node: nodes.left(node) + 1, isLeaf: false };
    const stops = nodes.stopsMissing(node);
    const missing = stops ? { node, isLeaf: true } : goesLeft(0) ? left : right;
    if (feature.kind !== 'categorical') {
      const boundaries =
        feature.kind === 'numeric' ? boundariesOf(feature, nodes.part(node)) : new Float64Array();
      const column = this.#columnOf({ feature: index });
      const presence = { column, mode: 'BRANCH_LEQ', value: Number.POSITIVE_INFINITY };
      let count = 0;
      while (count <= boundaries.length && goesLeft(count + 1) === goesLeft(1)) count++;
      const [below, above] = goesLeft(1) ? [left, right] : [right, left];
      if (count > boundaries.length) {
        return { ...presence, yes: below, no: missing, missing, missingYes: 0 };
      }
      const test = { column, mode: 'BRANCH_LT', value: boundaries[count - 1] as number };
      if (stops) return { ...test, yes: below, no: above, missing, missingYes: 0, presence };
      const missingYes = missing === below ? 1 : 0;
      return { ...test, yes: below, no: above, missing, missingYes };
    }
    // Own codes of the column for: missing, each category, a category that is new.
    const codes = [
      MISSING_CODE,
      ...[...feature.categories.keys(), -1].map((category) =>
        categoryCode(feature, category, nodes.part(node)),
      ),
    ];
    const set = Float64Array.from(codes, (code) => Number(goesLeft(code)));
    const test = { column: this.#columnOf({ feature: index, set }), mode: 'BRANCH_GT', value: 0.5 };
    const split = { ...test, yes: left, no: right, missing, missingYes: 0 };
    if (!stops) return split;
    const present = Float64Array.from(codes, (code) => Number(code !== MISSING_CODE));
    const column = this.#columnOf({ feature: index, set: present });
    return { ...split, presence: { column, mode: 'BRANCH_GT', value: 0.5 } };
  }

  #columnOf(column: TreeColumn): number {
    const key = `${column.feature} ${column.set?.join('') ?? ''}`;
    const known = this.#columnIds.get(key);
    if (known !== undefined) return known;
    const id = this.columns.push(column) - 1;
    this.#columnIds.set(key, id);
    return id;
  }

  #addNode(
    tree: number,
    id: number,
    column: number,
    mode: string,
    value: number,
    yes: number,
    no: number,
    missingYes: number,
  ): void {
    this.#treeIds.push(tree);
    this.#nodeIds.push(id);
    this.#featureIds.push(column);
    this.#modes.push(mode);
    this.#values.push(value);
    this.#trueIds.push(yes);
    this.#falseIds.push(no);
    this.#missingTrue.push(missingYes);
  }

  #addWeights(tree: number, id: number, nodes: TreeNodes, node: number): void {
    const { divisor, slots, weights, width } = this.#ensemble;
    const factor = (weights[tree] as number) / divisor;
    const slot = slots?.[tree];
    for (let output = 0; output < (slot === undefined ? width : 1); output++) {
      this.#targetTrees.push(tree);
      this.#targetNodes.push(id);
      this.#targetIds.push(slot ?? output);
      this.#targetWeights.push(factor * nodes.value(node, slot === undefined ? output : 0));
    }
  }
}

interface Test {
  readonly column: number;
  readonly mode: string;
  readonly value: number;
}

interface Split extends Test {
  readonly yes: Target;
  readonly no: Target;
  readonly missing: Target;
  /** 1: a missing value passes the test */
  readonly missingYes: number;
  /** asked first, where missing values go a way of their own */
  readonly presence?: Test;
}
