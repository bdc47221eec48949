// OFFSET and LIMIT.
import type { LimitNode } from '../../../plan/plan.ts';
import type { RowSource } from './source.ts';

export function compileLimit(node: LimitNode, input: RowSource): RowSource {
  const { offset, limit } = node;
  return function* () {
    let remaining = limit ?? Number.POSITIVE_INFINITY;
    if (remaining === 0) return;
    let skip = offset;
    for (const row of input()) {
      if (skip > 0) {
        skip--;
        continue;
      }
      yield row;
      if (--remaining === 0) return;
    }
  };
}
