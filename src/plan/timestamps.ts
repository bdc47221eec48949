// Whether a plan computes with timestamps, other than carrying those of values along.
import { childrenOf, itemExpressions } from './children.ts';
import type { BoundExpression } from './expression.ts';
import { expressionsOf, inputsOf } from './map-plan.ts';
import type { Namespace } from './namespace.ts';
import type { PlanNode } from './plan.ts';

/** Functions beside those of atoms whose values do not depend on the timestamps of what they read. */
const TIMELESS_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['count', 'sum', 'avg', 'min', 'max', 'variance', 'stddev'].flatMap((name) => [
    name,
    `vertical_${name}`,
  ]),
  ...['count_distinct', 'first', 'last', 'any_value', 'string_agg', 'array_agg', 'histogram'],
  ...['row_number', 'rank', 'dense_rank', 'percent_rank', 'cume_dist', 'ntile', 'lag', 'lead'],
  ...['first_value', 'last_value', 'nth_value'],
]);

/**
 * False when the values of the result are the same whatever the timestamps of cells with one point
 * are. What is not known to be timeless counts as reading them.
 */
export function readsTimestamps(node: PlanNode, functions: Functions): boolean {
  const reads = (expression: BoundExpression | undefined) =>
    expression !== undefined && expressionReads(expression, functions);
  return (
    nodeReads(node, reads, functions) ||
    inputsOf(node).some((input) => readsTimestamps(input, functions))
  );
}

type Functions = Pick<Namespace, 'builtins' | 'findUserFunction'>;
type Reads = (expression: BoundExpression | undefined) => boolean;

function nodeReads(node: PlanNode, reads: Reads, { builtins }: Functions): boolean {
  const isTimeless = ({ name }: { readonly name: string }) => {
    const found = builtins.findFunction(name);
    // What takes atoms alone knows of no timestamps.
    const isOfAtoms = found?.kind === 'aggregate' && found.addAtoms !== undefined;
    return isOfAtoms || TIMELESS_FUNCTIONS.has(name);
  };
  switch (node.kind) {
    case 'scan':
    case 'ask':
    case 'single-row':
    case 'limit':
    case 'distinct':
    case 'set-operation':
    case 'shared':
    case 'recursive':
    case 'recursive-table':
    case 'rejoin':
      return false;
    case 'filter':
      return reads(node.condition);
    case 'project':
      return node.items.some((item) => itemExpressions(item).some(reads)) || reads(node.name);
    case 'aggregate':
    case 'grouping-sets':
      return !node.aggregates.every(isTimeless) || expressionsOf(node).some(reads);
    case 'window':
      return !node.calls.every(isTimeless) || expressionsOf(node).some(reads);
    case 'sort':
    case 'distinct-on':
    case 'limit-by':
    case 'values':
    case 'series':
    case 'row-dataset':
    case 'lateral':
      return expressionsOf(node).some(reads);
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

function expressionReads(expression: BoundExpression, functions: Functions): boolean {
  switch (expression.kind) {
    case 'call':
      if (functions.builtins.findFunction(expression.name)?.kind !== 'scalar') return true;
      break;
    case 'user-call':
      // Models look at values alone.
      if (functions.findUserFunction(expression.name)?.columnScores === undefined) return true;
      break;
    case 'set-timestamp':
    case 'value-timestamp':
    case 'column-function':
      return true;
  }
  return childrenOf(expression).some((child) => expressionReads(child, functions));
}
