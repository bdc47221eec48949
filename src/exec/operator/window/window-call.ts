// The results of one window function over rows that were arranged.
import type { WindowCall } from '../../../plan/plan.ts';
import { Scalar } from '../../../value/value.ts';
import { NotSuited } from '../not-suited.ts';
import { type Arrangement, forEachPartition } from './arrangement.ts';
import { type FrameRanges, frameRanges } from './frame-range.ts';
import { extremesOfFrames, type PositionedNumbers, sumFrames } from './frame-sum.ts';
import { bucketRows, rankRows } from './ranking.ts';

/** What a function gives for each row. */
export type WindowResult =
  | {
      readonly kind: 'numbers';
      readonly values: Float64Array;
      /** 1: null */
      readonly nulls: Uint8Array | undefined;
      /** 1: the value has the timestamp of the argument; absent: none has */
      readonly timed: Uint8Array | undefined;
    }
  /** the value that the argument has in another row; the number of rows: null */
  | { readonly kind: 'rows'; readonly rows: Uint32Array };

/** What the argument of a call is for the rows of the table, as far as a function asks. */
export interface WindowArgument {
  /** numbers or timestamps by row; undefined: it is something else */
  numbers(): PositionedNumbers | undefined;
  /** 0 where it is null, by row; undefined: nowhere */
  valid(): Uint8Array | undefined;
  readonly isTimestamp: boolean;
  /** it stands for every row alike and is not null: count(*) */
  readonly isConstant: boolean;
}

/** Functions whose results depend on where a row stands, or on rows at a distance, alone. */
const BY_POSITION: ReadonlySet<string> = new Set(['row_number', 'ntile', 'lag', 'lead']);
const BY_PEERS: ReadonlySet<string> = new Set(['rank', 'dense_rank', 'percent_rank', 'cume_dist']);

/** Whether a call asks which rows have equal keys. */
export function asksForPeers({ name, frame }: WindowCall): boolean {
  if (BY_POSITION.has(name)) return false;
  const { unit, exclude } = frame;
  return BY_PEERS.has(name) || unit !== 'rows' || exclude === 'group' || exclude === 'ties';
}

/** @throws NotSuited for a function that kernels do not know */
export function windowResult(
  call: WindowCall,
  arg: WindowArgument | undefined,
  arrangement: Arrangement,
): WindowResult {
  const { name } = call;
  const ranks = rankRows(name, arrangement);
  if (ranks !== undefined) return numbersOf(ranks);
  switch (name) {
    case 'ntile': {
      const count = constantOf(call.args[0]);
      if (!Number.isInteger(count) || (count as number) < 1) throw new NotSuited();
      return numbersOf(bucketRows(count as number, arrangement));
    }
    case 'lag':
    case 'lead':
      return shiftRows(call, arrangement);
    case 'first_value':
    case 'last_value':
    case 'nth_value':
      return nthOfFrames(call, arrangement);
    default:
      if (arg === undefined) throw new NotSuited();
      return aggregateFrames(call, arg, arrangement);
  }
}

function numbersOf(values: Float64Array): WindowResult {
  return { kind: 'numbers', values, nulls: undefined, timed: undefined };
}

function constantOf(arg: WindowCall['args'][number] | undefined): unknown {
  const value = arg?.kind === 'constant' ? arg.value : undefined;
  return value instanceof Scalar ? value.atom : undefined;
}

function shiftRows(call: WindowCall, arrangement: Arrangement): WindowResult {
  const [, distance, otherwise] = call.args;
  if (otherwise !== undefined && constantOf(otherwise) !== null) throw new NotSuited();
  const offset = distance === undefined ? 1 : constantOf(distance);
  if (call.ignoreNulls || !Number.isInteger(offset)) throw new NotSuited();
  const shift = call.name === 'lag' ? -(offset as number) : (offset as number);
  const { order } = arrangement;
  const rows = new Uint32Array(order.length);
  forEachPartition(arrangement, (from, to) => {
    for (let position = from; position < to; position++) {
      const target = position + shift;
      rows[order[position] as number] =
        target >= from && target < to ? (order[target] as number) : order.length;
    }
  });
  return { kind: 'rows', rows };
}

function framesOf(call: WindowCall, arrangement: Arrangement): FrameRanges {
  const ranges = frameRanges(call.frame, arrangement);
  if (ranges === undefined) throw new NotSuited();
  return ranges;
}

function nthOfFrames(call: WindowCall, arrangement: Arrangement): WindowResult {
  const wanted = call.args.length > 1 ? constantOf(call.args[1]) : 1;
  if (call.ignoreNulls || !Number.isInteger(wanted) || (wanted as number) < 1) {
    throw new NotSuited();
  }
  const { from, to } = framesOf(call, arrangement);
  const { order } = arrangement;
  const rows = new Uint32Array(order.length);
  const isLast = call.name === 'last_value';
  for (let position = 0; position < order.length; position++) {
    const first = from[position] as number;
    const end = to[position] as number;
    const target = isLast ? end - 1 : first + (wanted as number) - 1;
    rows[order[position] as number] =
      target >= first && target < end ? (order[target] as number) : order.length;
  }
  return { kind: 'rows', rows };
}

function aggregateFrames(
  call: WindowCall,
  arg: WindowArgument,
  arrangement: Arrangement,
): WindowResult {
  const { name } = call;
  if (call.args.length !== 1) throw new NotSuited();
  const { order } = arrangement;
  if (name === 'count') {
    const ranges = framesOf(call, arrangement);
    const valid = arg.isConstant ? undefined : inOrder(arg.valid(), order);
    const counts = countFrames(valid, ranges);
    return {
      kind: 'numbers',
      values: byRow(counts, order),
      nulls: undefined,
      timed: arg.isConstant ? undefined : byRow(whichPositive(counts), order),
    };
  }
  const numbers = arg.numbers();
  if (numbers === undefined) throw new NotSuited();
  const positioned = {
    values: inOrder(numbers.values, order),
    valid: inOrder(numbers.valid, order),
  };
  const ranges = framesOf(call, arrangement);
  if (name === 'min' || name === 'max') {
    const found = extremesOfFrames(positioned, ranges, name === 'min' ? 1 : -1);
    const rows = new Uint32Array(order.length);
    for (let position = 0; position < order.length; position++) {
      const at = found[position] as number;
      rows[order[position] as number] = at === -1 ? order.length : (order[at] as number);
    }
    return { kind: 'rows', rows };
  }
  if ((name !== 'sum' && name !== 'avg') || arg.isTimestamp) throw new NotSuited();
  const { sums, counts } = sumFrames(positioned, ranges);
  if (name === 'avg') {
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) / (counts[i] as number);
  }
  return {
    kind: 'numbers',
    values: byRow(sums, order),
    nulls: undefined,
    timed: byRow(whichPositive(counts), order),
  };
}

function countFrames(valid: Uint8Array | undefined, { from, to }: FrameRanges): Float64Array {
  const count = from.length;
  const counts = new Float64Array(count);
  if (valid === undefined) {
    for (let i = 0; i < count; i++) counts[i] = (to[i] as number) - (from[i] as number);
    return counts;
  }
  const before = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) before[i + 1] = (before[i] as number) + (valid[i] as number);
  for (let i = 0; i < count; i++) {
    counts[i] = (before[to[i] as number] as number) - (before[from[i] as number] as number);
  }
  return counts;
}

function whichPositive(counts: Float64Array): Uint8Array {
  const bytes = new Uint8Array(counts.length);
  for (let i = 0; i < counts.length; i++) bytes[i] = (counts[i] as number) > 0 ? 1 : 0;
  return bytes;
}

function inOrder<Numbers extends Float64Array | Uint8Array | undefined>(
  numbers: Numbers,
  order: Uint32Array,
): Numbers {
  if (numbers === undefined) return numbers;
  const made = numbers.slice();
  for (let position = 0; position < order.length; position++) {
    made[position] = numbers[order[position] as number] as number;
  }
  return made as Numbers;
}

function byRow<Numbers extends Float64Array | Uint8Array>(
  numbers: Numbers,
  order: Uint32Array,
): Numbers {
  const made = numbers.slice();
  for (let position = 0; position < order.length; position++) {
    made[order[position] as number] = numbers[position] as number;
  }
  return made as Numbers;
}
