// The expressions of a window function.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { WindowCall } from '../../../plan/plan.ts';

/** The same call with other expressions; those of its frame are constants. */
export function mapCall(
  call: WindowCall,
  map: (expression: BoundExpression) => BoundExpression,
): WindowCall {
  const { modifiers } = call;
  const mapKeys = (keys: WindowCall['orderBy']) =>
    keys.map((key) => ({ ...key, expression: map(key.expression) }));
  return {
    ...call,
    args: call.args.map(map),
    modifiers: modifiers && {
      ...modifiers,
      orderBy: mapKeys(modifiers.orderBy),
      filter: modifiers.filter && map(modifiers.filter),
    },
    partitionBy: call.partitionBy.map(map),
    orderBy: mapKeys(call.orderBy),
  };
}
