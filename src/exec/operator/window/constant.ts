// Expressions that are the same for every row.
import type { BoundExpression } from '../../../plan/expression.ts';
import { Scalar } from '../../../value/value.ts';

/** Whether an expression is one atom that is not null, for every row. */
export function isConstantValue(expression: BoundExpression): boolean {
  if (expression.kind !== 'constant') return false;
  return expression.value instanceof Scalar && expression.value.atom !== null;
}
