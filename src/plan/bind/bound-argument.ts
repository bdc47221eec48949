// What a function's declaration is told about the arguments of a call.
import type { Atom } from '../../value/atom.ts';
import { Scalar, type Value } from '../../value/value.ts';
import type { BoundExpression } from '../expression.ts';
import type { BoundArgument } from '../function.ts';

export function boundArguments(
  args: readonly BoundExpression[],
  surfaces: readonly string[],
): BoundArgument[] {
  return args.map((arg, index) => ({
    type: arg.type,
    constant: constantValue(arg),
    surface: surfaces[index] as string,
  }));
}

/** The atoms of constant arguments; undefined where an argument varies or is no atom. */
export function constantAtoms(args: readonly BoundExpression[]): (Atom | undefined)[] {
  return args.map((arg) => {
    const value = constantValue(arg);
    return value instanceof Scalar ? value.atom : undefined;
  });
}

export function constantValue(expression: BoundExpression): Value | undefined {
  return expression.kind === 'constant' ? expression.value : undefined;
}
