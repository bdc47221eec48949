// DISTINCT ON: the first row of each run of equal values.
import type { DistinctOnNode } from '../../../plan/plan.ts';
import { compareValues, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { moveTo } from './order-frame.ts';
import type { RowSource } from './source.ts';

export function compileDistinctOn(
  node: DistinctOnNode,
  input: RowSource,
  compiler: Compiler,
): RowSource {
  const evaluators = node.expressions.map((expression) => compiler.evaluator(expression));
  return function* () {
    const frame = new Frame();
    let previous: readonly Value[] | undefined;
    for (const row of input()) {
      moveTo(frame, row, node.late);
      const values = evaluators.map((evaluate) => evaluate(frame));
      if (previous === undefined || !allEqual(previous, values)) yield row;
      previous = values;
    }
  };
}

function allEqual(a: readonly Value[], b: readonly Value[]): boolean {
  return a.every((value, index) => compareValues(value, b[index] as Value) === 0);
}
