// Expressions evaluated by the general evaluator, for values that are few.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { ArenaAllocator } from '../../../value/column/arena-set.ts';
import type { Value } from '../../../value/value.ts';
import type { Compiler } from '../../general/compiler.ts';
import { Frame } from '../../general/frame.ts';
import { compileScalar } from '../../scalar/compile.ts';
import { DictionaryTables } from '../dictionary-table.ts';
import { memoKey } from '../value-memo.ts';

/** Tables whose expressions this compiler compiles. */
export function dictionaryTables(arenas: ArenaAllocator, compiler: Compiler): DictionaryTables {
  const compile = (expression: BoundExpression) => rowFunction(expression, compiler);
  const { builtins } = compiler.runtime.namespace;
  const compileScalarOf = (expression: BoundExpression) => compileScalar(expression, builtins);
  const subqueryCells = (index: number) => compiler.runtime.subqueryCells(index);
  const keyOf = (expression: BoundExpression, id: number) => memoKey(expression, id, builtins);
  const evaluations = { compile, compileScalar: compileScalarOf, memoKey: keyOf, subqueryCells };
  return new DictionaryTables(arenas, evaluations, compiler.runtime);
}

/** Values between two looks at the cancel flag. */
const VALUES_PER_CHECK = 1024;

/** An expression as a function of a row, for evaluation over dictionaries. */
export function rowFunction(expression: BoundExpression, compiler: Compiler) {
  const evaluate = compiler.evaluator(expression);
  const frame = new Frame();
  const { scope } = compiler.runtime;
  let valueCount = 0;
  return (row: Value) => {
    if (valueCount++ % VALUES_PER_CHECK === 0) scope.checkCancelled();
    frame.row = row as typeof frame.row;
    return evaluate(frame);
  };
}
