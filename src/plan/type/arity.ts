// The number of arguments of calls.
import type { CallNode } from '../../sql/node.ts';
import type { BindContext } from '../bind/context.ts';
import { bindingError } from '../error.ts';
import type { ParameterDeclaration } from '../function.ts';

export interface Arity {
  readonly min: number;
  readonly max: number;
}

export function arityOf(parameters: readonly ParameterDeclaration[]): Arity {
  const min = parameters.filter((p) => p.optional !== true && p.variadic !== true).length;
  const variadic = parameters[parameters.length - 1]?.variadic === true;
  return { min, max: variadic ? Number.POSITIVE_INFINITY : parameters.length };
}

/** `expected 1 argument, got 2`; undefined when the count is right. */
export function arityProblem(arity: Arity, count: number): string | undefined {
  const { min, max } = arity;
  if (count >= min && count <= max) return undefined;
  if (min === max) return `expected ${min} argument${min === 1 ? '' : 's'}, got ${count}`;
  if (max === Number.POSITIVE_INFINITY) return `expected at least ${min} arguments, got ${count}`;
  return `expected between ${min} and ${max} arguments, got ${count}`;
}

/** For functions of a scope, whose declarations are not in the namespace. */
export function requireArity(node: CallNode, count: number, context: BindContext): void {
  const problem = arityProblem({ min: count, max: count }, node.args.length);
  if (problem === undefined && !node.star) return;
  const message = `function ${node.name} ${problem ?? 'does not take *'}`;
  throw bindingError(context.text, node, message);
}
