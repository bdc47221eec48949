// The functions of SQL over the values of a row, for rows that are nothing but numbers.
import type { BoundExpression, ColumnExpression } from '../plan/expression.ts';
import type { Atom } from '../value/atom.ts';

/** Over `numbers[start]` to `numbers[end - 1]`, which are finite and not the negative zero. */
export type NumberAggregate = (numbers: ArrayLike<number>, start: number, end: number) => Atom;

/** `+ 0` turns the negative zero, which no atom is, into zero. */
export const NUMBER_AGGREGATES: Readonly<Record<string, NumberAggregate | undefined>> = {
  horizontal_count: (_numbers, start, end) => end - start,
  horizontal_sum: (numbers, start, end) => sum(numbers, start, end) + 0,
  horizontal_avg: (numbers, start, end) =>
    end === start ? null : sum(numbers, start, end) / (end - start) + 0,
  horizontal_min(numbers, start, end) {
    if (end === start) return null;
    let least = numbers[start] as number;
    for (let i = start + 1; i < end; i++) {
      if ((numbers[i] as number) < least) least = numbers[i] as number;
    }
    return least;
  },
  horizontal_max(numbers, start, end) {
    if (end === start) return null;
    let most = numbers[start] as number;
    for (let i = start + 1; i < end; i++) {
      if ((numbers[i] as number) > most) most = numbers[i] as number;
    }
    return most;
  },
};

/** In order, as the general way adds, so that both round alike. */
function sum(numbers: ArrayLike<number>, start: number, end: number): number {
  let total = 0;
  for (let i = start; i < end; i++) total += numbers[i] as number;
  return total;
}

type ColumnAggregateCall = Extract<BoundExpression, { kind: 'call' }> & {
  readonly args: readonly [ColumnExpression];
};

/** A call of one of these functions on a column. */
export function isNumberAggregateCall(
  expression: BoundExpression,
): expression is ColumnAggregateCall {
  return (
    expression.kind === 'call' &&
    Object.hasOwn(NUMBER_AGGREGATES, expression.name) &&
    expression.args.length === 1 &&
    expression.args[0]?.kind === 'column'
  );
}
