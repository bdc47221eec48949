// The rows that a window frame takes in, as ranges of positions in a sorted partition.
import type { BoundExpression, SortKey } from '../../../plan/expression.ts';
import type { FrameBound, WindowFrame } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import { Scalar, type Value } from '../../../value/value.ts';
import { isNull } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { compileKeyOrder } from '../key-order.ts';
import type { Partition, PositionRange } from './partition.ts';

/** The range of a frame before anything is excluded. */
export type FrameRange = (partition: Partition, position: number) => PositionRange;

export function compileFrameRange(
  frame: WindowFrame,
  orderBy: readonly SortKey[],
  compiler: Compiler,
): FrameRange {
  const from = compileBound(frame, frame.from, true, orderBy, compiler);
  const to = compileBound(frame, frame.to, false, orderBy, compiler);
  return (partition, position) => {
    const start = from(partition, position);
    return [start, Math.max(start, to(partition, position))];
  };
}

type BoundPosition = (partition: Partition, position: number) => number;

function compileBound(
  { unit }: WindowFrame,
  bound: FrameBound,
  isStart: boolean,
  orderBy: readonly SortKey[],
  compiler: Compiler,
): BoundPosition {
  if (bound.kind === 'unbounded') {
    return isStart ? () => 0 : ({ rows }) => rows.length;
  }
  if (bound.kind === 'current-row') {
    if (unit === 'rows') return (_, position) => position + (isStart ? 0 : 1);
    return ({ groupOf, groupStarts }, position) =>
      groupStarts[(groupOf[position] as number) + (isStart ? 0 : 1)] as number;
  }
  const sign = bound.kind === 'preceding' ? -1 : 1;
  if (unit === 'range') return compileDistance(bound.offset, sign, isStart, orderBy, compiler);
  const count = sign * countOf(bound.offset, compiler);
  if (unit === 'rows') {
    return ({ rows }, position) => clamp(position + count + (isStart ? 0 : 1), rows.length);
  }
  return ({ groupOf, groupStarts }, position) => {
    const group = (groupOf[position] as number) + count + (isStart ? 0 : 1);
    return groupStarts[clamp(group, groupStarts.length - 1)] as number;
  };
}

function clamp(value: number, max: number): number {
  return Math.max(0, Math.min(value, max));
}

function countOf(offset: BoundExpression, compiler: Compiler): number {
  const value = compiler.evaluator(offset)(new Frame());
  return Number((value as Scalar).atom);
}

/** RANGE with an offset: the first row at or behind the key plus or minus the offset. */
function compileDistance(
  offset: BoundExpression,
  sign: number,
  isStart: boolean,
  orderBy: readonly SortKey[],
  compiler: Compiler,
): BoundPosition {
  const key = orderBy[0] as SortKey;
  const compare = compileKeyOrder(key);
  const { start, end } = offset;
  const upward = sign > 0 !== key.descending;
  const moved = compiler.evaluator({
    kind: 'arithmetic',
    operator: upward ? '+' : '-',
    left: key.expression,
    right: offset,
    type: { kind: 'any' },
    start,
    end,
  });
  const frame = new Frame();
  return ({ rows, keys, groupOf, groupStarts }, position) => {
    const current = keys[position] as Value;
    // Null is as far from every key as can be, and next to itself.
    if (isNull(current)) {
      return groupStarts[(groupOf[position] as number) + (isStart ? 0 : 1)] as number;
    }
    if (current instanceof Scalar && typeof current.atom === 'string') {
      throw failure(
        'SQL_EXECUTION',
        'a RANGE frame with an offset orders numbers or timestamps, not strings',
      );
    }
    const edge = moved(frame.at(rows[position] as (typeof rows)[number]));
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = compare(keys[middle] as Value, edge);
      if (order < 0 || (order === 0 && !isStart)) low = middle + 1;
      else high = middle;
    }
    return skipNulls(keys, low, isStart);
  };
}

/** Nulls at either end of the order are in no range of other keys. */
function skipNulls(keys: readonly Value[], position: number, isStart: boolean): number {
  let at = position;
  if (isStart) {
    while (at < keys.length && isNull(keys[at] as Value)) at++;
  } else {
    while (at > 0 && isNull(keys[at - 1] as Value)) at--;
  }
  return at;
}

/** What is left of a range when EXCLUDE has taken its part. */
export function remainingRanges(
  [from, to]: PositionRange,
  exclude: WindowFrame['exclude'],
  { groupOf, groupStarts }: Partition,
  position: number,
): readonly PositionRange[] {
  if (exclude === 'no others') return [[from, to]];
  const group = groupOf[position] as number;
  const start = exclude === 'current row' ? position : (groupStarts[group] as number);
  const end = exclude === 'current row' ? position + 1 : (groupStarts[group + 1] as number);
  const ranges: PositionRange[] = [[from, Math.min(to, start)]];
  if (exclude === 'ties' && position >= from && position < to) {
    ranges.push([position, position + 1]);
  }
  ranges.push([Math.max(from, end), to]);
  return ranges.filter(([first, last]) => first < last);
}
