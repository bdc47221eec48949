// WHERE and HAVING.
import { printExpression } from '../../../plan/explain-expression.ts';
import type { FilterNode } from '../../../plan/plan.ts';
import { compileScalar } from '../../scalar/compile.ts';
import { scalarPredicate } from '../../scalar/predicate.ts';
import type { Compiler } from '../compiler.ts';
import { Frame, type Predicate } from '../frame.ts';
import { LookAhead } from '../look-ahead.ts';
import { isTrue } from '../truth.ts';
import { compileColumnLookup } from './column-lookup.ts';
import { compileKeyedFilter } from './keyed-filter.ts';
import type { RowSource } from './source.ts';

export function compileFilter(node: FilterNode, input: RowSource, compiler: Compiler): RowSource {
  if (node.condition.kind === 'constant') {
    return isTrue(node.condition.value) ? input : () => [];
  }
  const keyed = compileKeyedFilter(node, input, compiler);
  if (keyed !== undefined) return keyed;
  const lookAhead = new LookAhead([node.condition]);
  const test = compileCondition(node, compiler.lookingAhead(lookAhead));
  const rows = lookAhead.over(input);
  const lookUp = compileColumnLookup(node, compiler);
  return function* () {
    const frame = new Frame();
    for (const row of lookUp?.() ?? rows()) if (test(frame.at(row))) yield row;
  };
}

/** Generated code where the condition is made of atoms, else closures. */
function compileCondition(node: FilterNode, compiler: Compiler): Predicate {
  const general = compiler.predicate(node.condition);
  const { namespace, observe } = compiler.runtime;
  const program = compileScalar(node.condition, namespace.builtins);
  const test = program && scalarPredicate(program, general);
  if (test === undefined) return general;
  const text = printExpression(node.condition);
  observe?.(node, { expressions: [{ text, ways: ['generated JavaScript'] }] });
  return test;
}
