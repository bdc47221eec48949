// Whether a plan computes with timestamps, other than carrying those of values along.
import { childrenOf, itemExpressions } from './children.ts';
import type { BoundExpression } from './expression.ts';
import type { FunctionCatalog } from './function.ts';
import { inputsOf } from './map-plan.ts';
import type { PlanNode } from './plan.ts';

/** Aggregates whose values do not depend on the timestamps of what they read. */
const TIMELESS_AGGREGATES: ReadonlySet<string> = new Set(
  ['count', 'sum', 'avg', 'min', 'max', 'variance', 'stddev', 'count_distinct'].flatMap((name) => [
    name,
    `vertical_${name}`,
  ]),
);

/**
 * False when the values of the result are the same whatever the timestamps of cells with one point
 * are. What is not known to be timeless counts as reading them.
 */
export function readsTimestamps(node: PlanNode, functions: FunctionCatalog): boolean {
  const reads = (expression: BoundExpression | undefined) =>
    expression !== undefined && expressionReads(expression, functions);
  return (
    nodeReads(node, reads) || inputsOf(node).some((input) => readsTimestamps(input, functions))
  );
}

type Reads = (expression: BoundExpression | undefined) => boolean;

function nodeReads(node: PlanNode, reads: Reads): boolean {
  switch (node.kind) {
    case 'scan':
    case 'single-row':
    case 'limit':
      return false;
    case 'filter':
      return reads(node.condition);
    case 'project':
      return node.items.some((item) => itemExpressions(item).some(reads)) || reads(node.name);
    case 'aggregate':
      return (
        node.keys.some(reads) ||
        node.aggregates.some(({ name, args }) => !TIMELESS_AGGREGATES.has(name) || args.some(reads))
      );
    case 'sort':
      return node.keys.some(({ expression }) => reads(expression));
    case 'distinct-on':
      return node.expressions.some(reads);
    case 'join':
      return (
        node.equalities.some(({ left, right }) => reads(left) || reads(right)) ||
        reads(node.own.left) ||
        reads(node.own.right) ||
        reads(node.residual)
      );
    default:
      return true;
  }
}

function expressionReads(expression: BoundExpression, functions: FunctionCatalog): boolean {
  switch (expression.kind) {
    case 'call':
      if (functions.findFunction(expression.name)?.kind !== 'scalar') return true;
      break;
    case 'user-call':
    case 'set-timestamp':
    case 'value-timestamp':
    case 'column-function':
      return true;
  }
  return childrenOf(expression).some((child) => expressionReads(child, functions));
}
