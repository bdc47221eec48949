// WHERE and HAVING.
import type { FilterNode } from '../../../plan/plan.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { isTrue } from '../truth.ts';
import type { RowSource } from './source.ts';

export function compileFilter(node: FilterNode, input: RowSource, compiler: Compiler): RowSource {
  if (node.condition.kind === 'constant') {
    return isTrue(node.condition.value) ? input : () => [];
  }
  const test = compiler.predicate(node.condition);
  return function* () {
    const frame = new Frame();
    for (const row of input()) if (test(frame.at(row))) yield row;
  };
}
