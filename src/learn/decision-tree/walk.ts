// What a tree says of the rows that it was grown on, by their codes.
import { CATEGORIES_PER_COLUMN } from '../feature/feature.ts';
import type { FeatureMatrix } from '../feature/matrix.ts';
import type { Workspace } from '../workspace.ts';
import { sparseCode } from './node-entries.ts';
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
  const { offsets, lows, highs, scarce } = compileTests(matrix, tree);
  const { sparse } = matrix;
  for (let row = 0; row < matrix.rowCount; row++) {
    let node = 0;
    for (;;) {
      const test = tests[node] as number;
      if (test === TEST_LEAF) break;
      const column = scarce[node] as number;
      const code =
        column < 0 || sparse === undefined
          ? (u8[(offsets[node] as number) + row] as number)
          : sparseCode(workspace, sparse, row, column);
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

/** Where each node's codes are (`scarce`: the column whose entries have them, or -1), and which pass. */
function compileTests(matrix: FeatureMatrix, { tests, features, operands }: DecisionTree) {
  const columns = testedColumns(matrix, features);
  const offsets = new Float64Array(tests.length);
  const scarce = new Int32Array(tests.length).fill(-1);
  const lows = new Uint8Array(tests.length);
  const highs = new Uint8Array(tests.length);
  for (const [node, test] of tests.entries()) {
    if (test === TEST_LEAF) continue;
    const operand = operands[node] as number;
    const part = test === TEST_EQUAL ? Math.floor(operand / CATEGORIES_PER_COLUMN) : 0;
    const index = columns.get(`${features[node]}:${part}`);
    const column = index === undefined ? undefined : matrix.columns[index];
    if (index === undefined || column === undefined) {
      throw new Error('the tree tests a column that the matrix lacks');
    }
    offsets[node] = column.offset;
    if (column.isSparse) scarce[node] = index;
    const code = (operand % CATEGORIES_PER_COLUMN) + 1;
    lows[node] = test === TEST_EQUAL ? code : 1;
    highs[node] = test === TEST_EQUAL ? code : test === TEST_PRESENT ? 255 : operand + 1;
  }
  return { offsets, lows, highs, scarce };
}

/** Columns of the features that a tree tests, by feature and part: there may be a million others. */
function testedColumns(
  { columns }: FeatureMatrix,
  features: ArrayLike<number>,
): Map<string, number> {
  const tested = new Set(Array.from(features));
  const found = new Map<string, number>();
  for (let index = 0; index < columns.length; index++) {
    const { feature, part } = columns[index] as (typeof columns)[number];
    if (tested.has(feature)) found.set(`${feature}:${part}`, index);
  }
  return found;
}
