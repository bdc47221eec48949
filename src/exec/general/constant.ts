// Expressions without columns, evaluated while a query is bound.

import type { BoundExpression } from '../../plan/expression.ts';
import type { CallContext } from '../../plan/function.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { Value } from '../../value/value.ts';
import { Frame } from './frame.ts';
import { makeCompiler } from './plan.ts';
import { makeRuntime } from './runtime.ts';

/** @throws what the evaluation throws */
export function evaluateConstant(
  expression: BoundExpression,
  namespace: Namespace,
  scope: CallContext,
): Value {
  const runtime = makeRuntime([], { namespace, scope });
  const compiler = makeCompiler(runtime, () => []);
  return compiler.evaluator(expression)(new Frame());
}
