// The order of one sort key: direction, and where nulls go.
import type { SortKey } from '../../plan/expression.ts';
import { compareValues, type Value } from '../../value/value.ts';
import { isNull } from './call/lookup.ts';

/** Negative when the first value comes first. */
export type KeyOrder = (a: Value, b: Value) => number;

export function compileKeyOrder({ descending, nulls }: SortKey): KeyOrder {
  const directed: KeyOrder = descending ? (a, b) => compareValues(b, a) : compareValues;
  // Null is the smallest value, so that this is where it goes anyway.
  if (nulls === undefined || (nulls === 'last') === descending) return directed;
  const nullRank = nulls === 'first' ? -1 : 1;
  return (a, b) => {
    const ofA = isNull(a);
    if (ofA !== isNull(b)) return ofA ? nullRank : -nullRank;
    return ofA ? 0 : directed(a, b);
  };
}
