// Checks a decision tree node by node against a plain search over all tests.
import {
  type DecisionTree,
  NO_CHILD,
  TEST_EQUAL,
  TEST_LEAF,
  TEST_LESS,
  TEST_PRESENT,
} from '../../../../src/learn/decision-tree/tree.ts';
import type { FeatureMatrix } from '../../../../src/learn/feature/matrix.ts';

export type PlainTarget =
  | { readonly kind: 'classes'; readonly labels: readonly number[]; readonly labelCount: number }
  | { readonly kind: 'regression'; readonly values: readonly number[] };

const TOLERANCE = 1e-9;

/** What is wrong with the tree: splits that are not the best, outputs, row counts, leaves. */
export function plainDecisionTree(
  fitted: { tree: DecisionTree; codes: readonly (readonly number[])[]; matrix: FeatureMatrix },
  target: PlainTarget,
  weights: Float64Array,
  maxDepth: number,
): { readonly problems: string[] } {
  const { tree, codes, matrix } = fitted;
  const problems: string[] = [];

  const check = (node: number, rows: readonly number[], depth: number): void => {
    const fail = (what: string) => problems.push(`node ${node}: ${what}`);
    if (tree.exampleCounts[node] !== rows.length) fail('row count');
    checkOutput(node, rows, fail);
    const outcomes = matrix.columns.flatMap((column, index) =>
      testsOf(rows, codes[index] as readonly number[]).map((test) => ({ ...test, column })),
    );
    const possible = isPure(rows) || depth >= maxDepth ? [] : outcomes;
    if (tree.tests[node] === TEST_LEAF) {
      if (possible.length > 0) fail('a leaf that could be split');
      return;
    }
    if (possible.length === 0) {
      fail('a split that should not be');
      return;
    }
    const best = Math.min(...possible.map(({ parts }) => scoreOf(parts)));
    const first = possible.find(({ parts }) => scoreOf(parts) <= best + TOLERANCE);
    const parts = partsOf(node, rows);
    if (Math.abs(scoreOf(parts) - best) > TOLERANCE) fail('not the best split');
    if (Math.abs((tree.scores[node] as number) - scoreOf(parts)) > TOLERANCE) fail('score');
    if (JSON.stringify(first?.parts) !== JSON.stringify(parts)) fail('not the first of the best');
    for (const [outcome, part] of parts.entries()) {
      const child = tree.children[node * 3 + outcome] as number;
      if ((child === NO_CHILD) !== (part.length === 0)) fail(`child ${outcome}`);
      else if (child !== NO_CHILD) check(child, part, depth + 1);
    }
  };

  const partsOf = (node: number, rows: readonly number[]): number[][] => {
    const feature = tree.features[node] as number;
    const index = matrix.columns.findIndex((column) => column.feature === feature);
    const column = codes[index] as readonly number[];
    const operand = tree.operands[node] as number;
    const test = tree.tests[node];
    return split(rows, (row) => {
      const code = column[row] as number;
      if (test === TEST_PRESENT) return code > 0 ? 0 : 1;
      if (code === 0) return 2;
      return (test === TEST_LESS ? code <= operand + 1 : code === operand + 1) ? 0 : 1;
    });
  };

  const testsOf = (rows: readonly number[], column: readonly number[]) => {
    const code = (row: number) => column[row] as number;
    const present = [...new Set(rows.map(code))].filter((c) => c > 0).sort((a, b) => a - b);
    const isOrdered = matrix.features[matrix.columns[codes.indexOf(column)]?.feature ?? 0];
    const tests: { test: number; parts: number[][] }[] = [];
    if (rows.some((row) => code(row) === 0) && present.length > 0) {
      tests.push({ test: TEST_PRESENT, parts: split(rows, (row) => (code(row) > 0 ? 0 : 1)) });
    }
    const isNumeric = isOrdered?.kind === 'numeric';
    for (const [i, operand] of present.entries()) {
      if (isNumeric ? i === present.length - 1 : present.length < 2) continue;
      const isTrue = (c: number) => (isNumeric ? c <= operand : c === operand);
      const parts = split(rows, (row) => (code(row) === 0 ? 2 : isTrue(code(row)) ? 0 : 1));
      tests.push({ test: isNumeric ? TEST_LESS : TEST_EQUAL, parts });
    }
    return tests;
  };

  const scoreOf = (parts: readonly (readonly number[])[]): number => {
    if (target.kind === 'regression') return sum(parts.map(squaredError));
    const roots = parts.map((rows) => {
      const total = sum(rows.map((row) => weights[row] as number));
      return sum(
        classWeights(rows, target).map((weight) => Math.sqrt(weight * Math.max(0, total - weight))),
      );
    });
    return (2 * sum(roots)) / target.labelCount;
  };

  const mean = (rows: readonly number[]): number => {
    const values = target.kind === 'regression' ? target.values : [];
    const weighted = rows.map((row) => (weights[row] as number) * (values[row] as number));
    return sum(weighted) / sum(rows.map((row) => weights[row] as number));
  };

  const squaredError = (rows: readonly number[]): number => {
    if (target.kind !== 'regression' || rows.length === 0) return 0;
    const middle = mean(rows);
    return sum(
      rows.map((row) => (weights[row] as number) * ((target.values[row] as number) - middle) ** 2),
    );
  };

  const classWeights = (rows: readonly number[], classes: PlainTarget & { kind: 'classes' }) => {
    const sums = new Array<number>(classes.labelCount).fill(0);
    for (const row of rows) {
      const label = classes.labels[row] as number;
      sums[label] = (sums[label] as number) + (weights[row] as number);
    }
    return sums;
  };

  const isPure = (rows: readonly number[]): boolean => {
    const list = target.kind === 'regression' ? target.values : target.labels;
    return new Set(rows.map((row) => list[row])).size < 2;
  };

  const checkOutput = (node: number, rows: readonly number[], fail: (what: string) => void) => {
    const { width } = tree;
    const output = [...tree.outputs.subarray(node * width, (node + 1) * width)];
    let expected: number[];
    if (target.kind === 'regression') {
      expected = [mean(rows)];
    } else {
      const shares = classWeights(rows, target);
      const total = sum(shares);
      expected = shares.map((share) => share / total).slice(target.labelCount === 2 ? 1 : 0);
    }
    const isClose = output.every(
      (value, k) => Math.abs(value - (expected[k] as number)) <= TOLERANCE,
    );
    if (output.length !== expected.length || !isClose) fail('output');
  };

  check(
    0,
    Array.from(weights.keys()).filter((row) => (weights[row] as number) > 0),
    0,
  );
  return { problems };
}

function split(rows: readonly number[], outcome: (row: number) => number): number[][] {
  const parts: number[][] = [[], [], []];
  for (const row of rows) parts[outcome(row)]?.push(row);
  return parts;
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
