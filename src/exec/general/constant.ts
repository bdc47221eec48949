// Expressions without columns, evaluated while a query is bound.
import type { Catalog } from '../../plan/catalog.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import type { CallScope } from '../../plan/function.ts';
import type { Value } from '../../value/value.ts';
import { Frame } from './frame.ts';
import { makeCompiler } from './plan.ts';
import { makeRuntime } from './runtime.ts';

/** @throws what the evaluation throws */
export function evaluateConstant(
  expression: BoundExpression,
  catalog: Catalog,
  scope: CallScope,
): Value {
  const runtime = makeRuntime([], { catalog, scope });
  const compiler = makeCompiler(runtime, () => []);
  return compiler.evaluator(expression)(new Frame());
}
