// DISTINCT ON: the first row of those with equal values, which stand together where they are sorted.
import type { DistinctOnNode } from '../../../plan/plan.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
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
    const met = node.sorted ? undefined : new Set<CanonicalKey>();
    let previous: readonly Value[] | undefined;
    for (const row of input()) {
      moveTo(frame, row, node.late);
      const values = evaluators.map((evaluate) => evaluate(frame));
      if (met !== undefined) {
        const key = keyOfTuple(values);
        if (!met.has(key)) yield row;
        met.add(key);
        continue;
      }
      if (previous === undefined || !allEqual(previous, values)) yield row;
      previous = values;
    }
  };
}

function allEqual(a: readonly Value[], b: readonly Value[]): boolean {
  return a.every((value, index) => compareValues(value, b[index] as Value) === 0);
}
