// One window function or aggregate over the rows of a partition.
import type { AggregateFunction } from '../../../plan/function.ts';
import type { AggregateModifiers, WindowCall } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import { constant, NULL_VALUE, Scalar, type Value } from '../../../value/value.ts';
import { aggregateNamed, compileAggregate, inOrder } from '../aggregator.ts';
import { isNull, latestVersions } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { type Evaluator, Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';
import type { Partition, PositionRange } from './partition.ts';
import { SegmentTree } from './segment-tree.ts';
import { compileFrameRange, remainingRanges } from './window-frame.ts';

/** Computes a call for every row of a partition. */
export type PartitionCall = (
  partition: Partition,
  emit: (position: number, value: Value) => void,
) => void;

export function compileWindowCall(call: WindowCall, compiler: Compiler): PartitionCall {
  const declaration = compiler.runtime.namespace.builtins.findFunction(call.name);
  const run =
    declaration?.kind === 'window' ? compileRanking(call, compiler) : compileFramed(call, compiler);
  return placeErrors(run, call, compiler.runtime.text);
}

function compileRanking(call: WindowCall, compiler: Compiler): PartitionCall {
  switch (call.name) {
    case 'row_number':
      return byPosition((_, position) => position + 1);
    case 'rank':
      return byPosition(
        ({ groupOf, groupStarts }, position) =>
          1 + (groupStarts[groupOf[position] as number] as number),
      );
    case 'dense_rank':
      return byPosition(({ groupOf }, position) => 1 + (groupOf[position] as number));
    case 'percent_rank':
      return byPosition(({ rows, groupOf, groupStarts }, position) =>
        rows.length === 1
          ? 0
          : (groupStarts[groupOf[position] as number] as number) / (rows.length - 1),
      );
    case 'cume_dist':
      return byPosition(
        ({ rows, groupOf, groupStarts }, position) =>
          (groupStarts[(groupOf[position] as number) + 1] as number) / rows.length,
      );
    case 'ntile':
      return compileNtile(call, compiler);
    case 'lag':
    case 'lead':
      return compileShift(call, compiler);
    default:
      return compileNth(call, compiler);
  }
}

function byPosition(number: (partition: Partition, position: number) => number): PartitionCall {
  return (partition, emit) => {
    const count = partition.rows.length;
    for (let position = 0; position < count; position++) {
      emit(position, constant(number(partition, position)));
    }
  };
}

function compileNtile(call: WindowCall, compiler: Compiler): PartitionCall {
  const buckets = compiler.evaluator(call.args[0] as (typeof call.args)[number]);
  const frame = new Frame();
  return (partition, emit) => {
    const { rows } = partition;
    rows.forEach((row, position) => {
      const value = buckets(frame.at(row));
      if (isNull(value)) {
        emit(position, NULL_VALUE);
        return;
      }
      const count = positiveInteger(value, 'ntile');
      // The first rows.length % count buckets have one row more.
      const size = Math.floor(rows.length / count);
      const larger = rows.length % count;
      const edge = larger * (size + 1);
      const bucket =
        position < edge
          ? Math.floor(position / (size + 1))
          : larger + Math.floor((position - edge) / size);
      emit(position, constant(bucket + 1));
    });
  };
}

function positiveInteger(value: Value, name: string): number {
  const atom = value instanceof Scalar ? value.atom : undefined;
  if (typeof atom === 'number' && Number.isInteger(atom) && atom > 0) return atom;
  throw failure('SQL_EXECUTION', `${name} takes an integer of at least 1`);
}

/** lag and lead: the value some rows before or behind, whatever the frame is. */
function compileShift(call: WindowCall, compiler: Compiler): PartitionCall {
  const [value, offset, otherwise] = call.args.map((arg) => compiler.evaluator(arg));
  const sign = call.name === 'lag' ? -1 : 1;
  const frame = new Frame();
  return (partition, emit) => {
    const { rows } = partition;
    const values = valuesOf(value as Evaluator, rows);
    const present = call.ignoreNulls ? positionsOf(values) : undefined;
    rows.forEach((row, position) => {
      frame.at(row);
      const distance = offset === undefined ? constant(1) : offset(frame);
      if (isNull(distance)) {
        emit(position, NULL_VALUE);
        return;
      }
      const atom = (distance as Scalar).atom;
      if (!Number.isInteger(atom)) {
        throw failure('SQL_EXECUTION', `the offset of ${call.name} must be an integer`);
      }
      const target = shifted(position, sign * (atom as number), present);
      const found = target === undefined ? undefined : values[target];
      emit(position, found ?? otherwise?.(frame) ?? NULL_VALUE);
    });
  };
}

/** The position that lies so many rows away, counting only those that are present. */
function shifted(
  position: number,
  distance: number,
  present: readonly number[] | undefined,
): number | undefined {
  if (present === undefined || distance === 0) return position + distance;
  const at = lowerBound(present, distance > 0 ? position + 1 : position);
  return present[distance > 0 ? at + distance - 1 : at + distance];
}

function valuesOf(evaluate: Evaluator, rows: readonly ExecRow[]): readonly Value[] {
  const frame = new Frame();
  return rows.map((row) => latestVersions(evaluate(frame.at(row))));
}

function positionsOf(values: readonly Value[]): readonly number[] {
  return values.flatMap((value, position) => (isNull(value) ? [] : position));
}

/** The first index whose position is not below the given one. */
function lowerBound(positions: readonly number[], position: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] as number) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** first_value, last_value and nth_value of the frame. */
function compileNth(call: WindowCall, compiler: Compiler): PartitionCall {
  const [value, ordinal] = call.args.map((arg) => compiler.evaluator(arg));
  const range = compileFrameRange(call.frame, call.orderBy, compiler);
  const frame = new Frame();
  return (partition, emit) => {
    const { rows } = partition;
    const values = valuesOf(value as Evaluator, rows);
    const present = call.ignoreNulls ? positionsOf(values) : undefined;
    rows.forEach((row, position) => {
      const whole = range(partition, position);
      const ranges = remainingRanges(whole, call.frame.exclude, partition, position);
      let wanted = 1;
      if (ordinal !== undefined) {
        const number = ordinal(frame.at(row));
        if (isNull(number)) {
          emit(position, NULL_VALUE);
          return;
        }
        wanted = positiveInteger(number, 'the second argument of nth_value');
      }
      const found =
        call.name === 'last_value' ? lastIn(ranges, present) : nthIn(ranges, wanted, present);
      emit(position, found === undefined ? NULL_VALUE : (values[found] as Value));
    });
  };
}

function nthIn(
  ranges: readonly PositionRange[],
  wanted: number,
  present: readonly number[] | undefined,
): number | undefined {
  let left = wanted;
  for (const [from, to] of ranges) {
    const first = present === undefined ? from : lowerBound(present, from);
    const last = present === undefined ? to : lowerBound(present, to);
    if (left <= last - first) {
      const index = first + left - 1;
      return present === undefined ? index : present[index];
    }
    left -= last - first;
  }
  return undefined;
}

function lastIn(
  ranges: readonly PositionRange[],
  present: readonly number[] | undefined,
): number | undefined {
  for (let i = ranges.length - 1; i >= 0; i--) {
    const [from, to] = ranges[i] as PositionRange;
    if (present === undefined) {
      if (from < to) return to - 1;
      continue;
    }
    const last = present[lowerBound(present, to) - 1];
    if (last !== undefined && last >= from) return last;
  }
  return undefined;
}

/** Aggregates over frames. */
function compileFramed(call: WindowCall, compiler: Compiler): PartitionCall {
  const { modifiers } = call;
  const isPlain = modifiers === undefined || isFilterOnly(modifiers);
  const range = compileFrameRange(call.frame, call.orderBy, compiler);
  const over = isPlain ? compileMerging(call, compiler) : compileRepeating(call, compiler);
  return (partition, emit) => {
    const frames = over(partition);
    let previous: PositionRange = [-1, -1];
    let result: Value = NULL_VALUE;
    const { exclude } = call.frame;
    for (let position = 0; position < partition.rows.length; position++) {
      const whole = range(partition, position);
      const same = whole[0] === previous[0] && whole[1] === previous[1];
      if (!same || exclude !== 'no others') {
        result = frames(remainingRanges(whole, exclude, partition, position));
        previous = whole;
      }
      emit(position, result);
    }
  };
}

function isFilterOnly({ distinct, orderBy }: AggregateModifiers): boolean {
  return !distinct && orderBy.length === 0;
}

type FrameAggregate = (ranges: readonly PositionRange[]) => Value;

/** States of parts are merged, so that a frame costs the logarithm of its size. */
function compileMerging(
  call: WindowCall,
  compiler: Compiler,
): (partition: Partition) => FrameAggregate {
  const declaration: AggregateFunction = aggregateNamed(call.name, compiler);
  const args = call.args.map((arg) => compiler.evaluator(arg));
  const finish = call.orderBy.length > 0 ? inOrder(declaration) : declaration.finish;
  const filter = call.modifiers?.filter;
  const test = filter === undefined ? undefined : compiler.predicate(filter);
  return ({ rows }) => {
    const frame = new Frame();
    const tuples = rows.map((row) => {
      frame.at(row);
      if (test !== undefined && !test(frame)) return undefined;
      return args.map((arg) => latestVersions(arg(frame)));
    });
    const tree = new SegmentTree({ ...declaration, finish }, tuples);
    return (ranges) => tree.aggregate(ranges);
  };
}

/** DISTINCT and ORDER BY inside a call: each frame is aggregated by itself. */
function compileRepeating(
  call: WindowCall,
  compiler: Compiler,
): (partition: Partition) => FrameAggregate {
  const aggregator = compileAggregate(call, compiler);
  return ({ rows }) => {
    const frame = new Frame();
    return (ranges) => {
      const state = aggregator.init();
      for (const [from, to] of ranges) {
        for (let position = from; position < to; position++) {
          aggregator.update(state, frame.at(rows[position] as ExecRow));
        }
      }
      return aggregator.finish(state);
    };
  };
}
