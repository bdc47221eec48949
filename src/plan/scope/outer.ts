// Names of the queries around a sub-select: what it reads of their rows becomes its arguments.
import type { ColumnNode } from '../../sql/node.ts';
import type { BindContext } from '../bind/context.ts';
import type { BoundExpression } from '../expression.ts';

/** A column of a query further out; undefined when none certainly has it. */
export function bindOuter(node: ColumnNode, context: BindContext): BoundExpression | undefined {
  const { outer } = context;
  if (outer === undefined) return undefined;
  const bound = outer.scope.find?.(node, outer.context) ?? bindOuter(node, outer.context);
  if (bound === undefined) return undefined;
  return captured(node, bound, context);
}

function captured(node: ColumnNode, bound: BoundExpression, context: BindContext): BoundExpression {
  const args = context.outer?.args as BoundExpression[];
  const key = keyOf(bound);
  let index = args.findIndex((arg) => keyOf(arg) === key);
  if (index === -1) index = args.push(bound) - 1;
  const { start, end } = node;
  const subquery = context.outer?.subquery as number;
  return { kind: 'outer', subquery, index, type: bound.type, start, end };
}

/** Expressions are captured by what they mean, wherever they stand. */
function keyOf(bound: BoundExpression): string {
  const { start: _start, end: _end, ...meaning } = bound;
  return JSON.stringify(meaning);
}
