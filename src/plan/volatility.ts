// Whether a plan gives the same rows whenever it runs.
import { someExpression } from './children.ts';
import type { BoundExpression } from './expression.ts';
import type { FunctionNamespace } from './function.ts';
import { expressionsOf, inputsOf } from './map-plan.ts';
import type { PlanNode } from './plan.ts';

/** Whether a plan may have other rows when it runs once more. */
export function isVolatile(node: PlanNode, builtins: FunctionNamespace): boolean {
  const draws = (part: BoundExpression): boolean => {
    if (part.kind !== 'call') return false;
    const found = builtins.findFunction(part.name);
    return found !== undefined && 'volatility' in found && found.volatility === 'volatile';
  };
  return (
    node.kind === 'sample' ||
    expressionsOf(node).some((expression) => someExpression(expression, draws)) ||
    inputsOf(node).some((input) => isVolatile(input, builtins))
  );
}
