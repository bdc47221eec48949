// What a tree says of the rows that it was grown on, by their codes.
import { CATEGORIES_PER_COLUMN } from '../feature/feature.ts';
import type { FeatureMatrix } from '../feature/matrix.ts';
import type { Workspace } from '../workspace.ts';
import { type DecisionTree, NO_CHILD, TEST_EQUAL, TEST_LEAF, TEST_PRESENT } from './tree.ts';

/** Adds weight x output of the leaf of every row to `sums`, tree.width numbers a row. */
export function addTreeOutputs(
  workspace: Workspace,
  matrix: FeatureMatrix,
  tree: DecisionTree,
  weight: number,
  sums: Float64Array,
): void {
  const { u8 } = workspace.memory.get(matrix.span.arena);
  const { tests, children, outputs, width } = tree;
  const { offsets, lows, highs } = compileTests(matrix, tree);
  for (let row = 0; row < matrix.rowCount; row++) {
    let node = 0;
    for (;;) {
      const test = tests[node] as number;
      if (test === TEST_LEAF) break;
      const code = u8[(offsets[node] as number) + row] as number;
      let outcome = 1;
      if (code === 0) outcome = test === TEST_PRESENT ? 1 : 2;
      else if (code >= (lows[node] as number) && code <= (highs[node] as number)) outcome = 0;
      const next = children[node * 3 + outcome] as number;
      if (next === NO_CHILD) break;
      node = next;
    }
    for (let k = 0; k < width; k++) {
      const at = row * width + k;
      sums[at] = (sums[at] as number) + weight * (outputs[node * width + k] as number);
    }
  }
}

/** Where each node's codes are, and which of them pass. */
function compileTests(matrix: FeatureMatrix, { tests, features, operands }: DecisionTree) {
  const columns = new Map(
    matrix.columns.map((column) => [`${column.feature}:${column.part}`, column]),
  );
  const offsets = new Float64Array(tests.length);
  const lows = new Uint8Array(tests.length);
  const highs = new Uint8Array(tests.length);
  for (const [node, test] of tests.entries()) {
    if (test === TEST_LEAF) continue;
    const operand = operands[node] as number;
    const part = test === TEST_EQUAL ? Math.floor(operand / CATEGORIES_PER_COLUMN) : 0;
    const column = columns.get(`${features[node]}:${part}`);
    if (column === undefined) throw new Error('the tree tests a column that the matrix lacks');
    offsets[node] = column.offset;
    const code = (operand % CATEGORIES_PER_COLUMN) + 1;
    lows[node] = test === TEST_EQUAL ? code : 1;
    highs[node] = test === TEST_EQUAL ? code : test === TEST_PRESENT ? 255 : operand + 1;
  }
  return { offsets, lows, highs };
}
