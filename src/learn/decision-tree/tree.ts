// Decision trees as plain values: three-way tests, and what each node says.

export const UPDATE_ALGORITHMS = ['prob', 'normal', 'gentle'] as const;
/** How a leaf's weights become its output. */
export type UpdateAlgorithm = (typeof UPDATE_ALGORITHMS)[number];

export const TEST_LEAF = 0;
export const TEST_PRESENT = 1;
export const TEST_LESS = 2;
export const TEST_EQUAL = 3;

export const NO_CHILD = -1;

/** Nodes in depth-first order, the root first; one element a node where nothing else is said. */
export interface DecisionTree {
  /** outputs of a node: one a label, 1 for two-class and regression trees */
  readonly width: number;
  /** one of the TEST_ numbers */
  readonly tests: Uint8Array;
  /** feature that is tested */
  readonly features: Int32Array;
  /** LESS: index of the boundary that values must be below; EQUAL: index of the category */
  readonly operands: Int32Array;
  /** score of the split; smaller is better */
  readonly scores: Float64Array;
  /** training rows */
  readonly exampleCounts: Float64Array;
  /** three a node: when the test is true, false, undecided; NO_CHILD where no training row went */
  readonly children: Int32Array;
  /** width a node */
  readonly outputs: Float64Array;
}

/** Collects nodes; a subtree grown elsewhere is appended whole. */
export class TreeBuilder {
  readonly width: number;
  readonly #tests: number[] = [];
  readonly #features: number[] = [];
  readonly #operands: number[] = [];
  readonly #scores: number[] = [];
  readonly #exampleCounts: number[] = [];
  readonly #children: number[] = [];
  readonly #outputs: number[] = [];

  constructor(width: number) {
    this.width = width;
  }

  addLeaf(output: ArrayLike<number>, exampleCount: number): number {
    const node = this.#tests.length;
    this.#tests.push(TEST_LEAF);
    this.#features.push(0);
    this.#operands.push(0);
    this.#scores.push(0);
    this.#exampleCounts.push(exampleCount);
    this.#children.push(NO_CHILD, NO_CHILD, NO_CHILD);
    for (let k = 0; k < this.width; k++) this.#outputs.push(output[k] as number);
    return node;
  }

  /** Makes a leaf an inner node. */
  setTest(node: number, test: number, feature: number, operand: number, score: number): void {
    this.#tests[node] = test;
    this.#features[node] = feature;
    this.#operands[node] = operand;
    this.#scores[node] = score;
  }

  setChild(node: number, outcome: number, child: number): void {
    this.#children[node * 3 + outcome] = child;
  }

  /** @returns the number of the subtree's root here */
  append(tree: DecisionTree): number {
    const base = this.#tests.length;
    for (let i = 0; i < tree.tests.length; i++) {
      const from = i * tree.width;
      this.addLeaf(tree.outputs.subarray(from, from + tree.width), tree.exampleCounts[i] as number);
      this.setTest(
        base + i,
        tree.tests[i] as number,
        tree.features[i] as number,
        tree.operands[i] as number,
        tree.scores[i] as number,
      );
      for (let outcome = 0; outcome < 3; outcome++) {
        const child = tree.children[i * 3 + outcome] as number;
        this.setChild(base + i, outcome, child === NO_CHILD ? NO_CHILD : base + child);
      }
    }
    return base;
  }

  /** The nodes in depth-first order, whatever order they were added in. */
  build(): DecisionTree {
    const order: number[] = [];
    const positions = new Int32Array(this.#tests.length);
    const pending = this.#tests.length === 0 ? [] : [0];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      positions[node] = order.length;
      order.push(node);
      for (let outcome = 2; outcome >= 0; outcome--) {
        const child = this.#children[node * 3 + outcome] as number;
        if (child !== NO_CHILD) pending.push(child);
      }
    }
    const { width } = this;
    const pick = (values: readonly number[]) => order.map((node) => values[node] as number);
    const children = order.flatMap((node) => this.#children.slice(node * 3, node * 3 + 3));
    return {
      width,
      tests: Uint8Array.from(pick(this.#tests)),
      features: Int32Array.from(pick(this.#features)),
      operands: Int32Array.from(pick(this.#operands)),
      scores: Float64Array.from(pick(this.#scores)),
      exampleCounts: Float64Array.from(pick(this.#exampleCounts)),
      children: Int32Array.from(children, (child) =>
        child === NO_CHILD ? NO_CHILD : (positions[child] as number),
      ),
      outputs: Float64Array.from(
        order.flatMap((node) => this.#outputs.slice(node * width, (node + 1) * width)),
      ),
    };
  }
}
