// Aggregates as measures, and how their results are read from the cells of groups.
import type { KernelAggregate } from '../../../physical/capability.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall } from '../../../plan/plan.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { Scalar } from '../../../value/value.ts';
import type { Lowering, Timed } from '../program/lower.ts';
import type { Measure } from '../program/measure.ts';
import type { GroupCells } from './group-cells.ts';
import type { KernelColumn } from './group-column.ts';

/** Reads an aggregate of groups from merged cells; `at` gives the address of a measure's cells. */
export type Reader = (cells: GroupCells, at: (measure: number) => number) => KernelColumn;

/** Undefined when kernels do not know the aggregate or its argument. */
export function lowerAggregate(
  { name, args }: AggregateCall,
  lowering: Lowering,
  measure: (measure: Measure) => number,
): Reader | undefined {
  const [arg, ...others] = args;
  const lower = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name as KernelAggregate] : undefined;
  if (lower === undefined || arg === undefined || others.length > 0) return undefined;
  return lower({ arg, lowering, measure });
}

/** Aggregates that give a row over no rows. */
export const COUNTS: ReadonlySet<string> = new Set(['count', 'vertical_count']);

interface AggregateContext {
  readonly arg: BoundExpression;
  readonly lowering: Lowering;
  measure(measure: Measure): number;
}

type LowerAggregate = (context: AggregateContext) => Reader | undefined;

const lowerCount: LowerAggregate = ({ arg, lowering, measure }) => {
  if (arg.kind === 'constant' && arg.value instanceof Scalar && arg.value.atom !== null) {
    return countReader(measure({ kind: 'rows' }), MINUS_INFINITY);
  }
  const scope = lowering.table;
  const column = arg.kind === 'column' ? scope.find(arg.path) : undefined;
  const numbers = lowering.numbers(arg);
  if (numbers === undefined) {
    if (typeof column !== 'number' || lowering.codes(arg) === undefined) return undefined;
  } else if (typeof column !== 'number' || typeof numbers.timed !== 'boolean') {
    const timed = lowerTimed(numbers.timed, measure);
    const values = measure({ kind: 'values', numbers: numbers.program });
    return (cells, at) => {
      const counts = cells.integers(at(values), 8);
      return { ...NUMBERS, ts: numbers.ts, values: counts, timed: timed(cells, at, counts) };
    };
  }
  const counts = scope.hasNulls(column) ? ({ kind: 'count', column } as const) : ROWS;
  return countReader(measure(counts), scope.tsOf(column));
};

const ROWS = { kind: 'rows' } as const;

function countReader(measure: number, ts: number): Reader {
  return (cells, at) => {
    const values = cells.integers(at(measure), 8);
    return { ...NUMBERS, ts, values, timed: whichCounted(values) };
  };
}

const NUMBERS = { kind: 'numbers', nulls: undefined, result: 'number' } as const;

function lowerSum(finish: ((sum: number, count: number) => number) | undefined): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined || numbers.isTimestamp) return undefined;
    const exact = numbers.isInteger;
    const timed = lowerTimed(numbers.timed, measure);
    const sums = measure({ kind: 'sum', numbers: numbers.program, exact });
    return (cells, at) => {
      const start = at(sums);
      const counts = cells.integers(start, 16);
      const values = exact ? cells.integers(start + 8, 16) : cells.doubles(start + 8, 16);
      // The sum of nothing but -0 is 0.
      for (let i = 0; i < values.length; i++) {
        const sum = values[i] as number;
        values[i] = (finish === undefined ? sum : finish(sum, counts[i] as number)) + 0;
      }
      return { ...NUMBERS, ts: numbers.ts, values, timed: timed(cells, at, counts) };
    };
  };
}

function lowerExtreme(kind: 'min' | 'max'): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined) return lowerExtremeRank(kind, { arg, lowering, measure });
    const extremes = measure({ kind, numbers: numbers.program });
    // The timestamp is that of the extreme value itself, wherever it was.
    if (typeof numbers.timed !== 'boolean' && lowering.exactTimestamps) return undefined;
    const timed = lowerTimed(typeof numbers.timed === 'boolean' ? numbers.timed : true, measure);
    return (cells, at) => {
      const start = at(extremes);
      const counts = cells.integers(start, 16);
      const values = cells.doubles(start + 8, 16);
      let nulls: Uint8Array | undefined;
      for (let i = 0; i < values.length; i++) {
        values[i] = (values[i] as number) + 0;
        if (counts[i] !== 0) continue;
        nulls ??= new Uint8Array(values.length);
        nulls[i] = 1;
      }
      return {
        kind: 'numbers',
        result: numbers.isTimestamp ? 'timestamp' : 'number',
        ts: numbers.ts,
        values,
        nulls,
        timed: timed(cells, at, counts),
      };
    };
  };
}

/** The least or greatest of texts and mixed atoms is that of their ranks. */
function lowerExtremeRank(
  kind: 'min' | 'max',
  { arg, lowering, measure }: AggregateContext,
): Reader | undefined {
  const codes = lowering.codes(arg);
  if (codes === undefined) return undefined;
  const { numbers, codeOf } = lowering.ranks(codes);
  const extremes = measure({ kind, numbers });
  const { atom, order, ts } = codes;
  return (cells, at) => {
    const start = at(extremes);
    const counts = cells.integers(start, 16);
    const ranks = cells.doubles(start + 8, 16);
    const found = Int32Array.from(ranks, (rank, i) =>
      counts[i] === 0 ? 0 : (codeOf[rank] as number),
    );
    return { kind: 'codes', codes: found, atom, order, ts };
  };
}

function lowerMoments(finish: (variance: number) => number): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined || numbers.isTimestamp) return undefined;
    const moments = measure({ kind: 'moments', numbers: numbers.program });
    const timed = lowerTimed(numbers.timed, measure);
    return (cells, at) => {
      const start = at(moments);
      const counts = cells.doubles(start, 32);
      const values = cells.doubles(start + 16, 32);
      for (let i = 0; i < values.length; i++) {
        const count = counts[i] as number;
        values[i] = finish(count < 2 ? Number.NaN : (values[i] as number) / (count - 1));
      }
      return { ...NUMBERS, ts: numbers.ts, values, timed: timed(cells, at, counts) };
    };
  };
}

const lowerDistinct: LowerAggregate = ({ arg, lowering, measure }) => {
  const codes = lowering.codes(arg);
  if (codes === undefined) return undefined;
  const { cardinality } = codes.program;
  const presence = measure({ kind: 'distinct', codes: codes.program });
  return (cells, at) => {
    const start = at(presence);
    // Code 0 is NULL, which is not counted.
    const values = cells.each((cell) =>
      cells.kernels.countBytes(start + cell * cardinality + 1, cardinality - 1),
    );
    return { ...NUMBERS, ts: codes.ts, values, timed: whichCounted(values) };
  };
};

/** Which groups counted a value that has a timestamp, given how many values they counted. */
type TimedReader = (
  cells: GroupCells,
  at: (measure: number) => number,
  counts: Float64Array,
) => Uint8Array;

function lowerTimed(timed: Timed, measure: AggregateContext['measure']): TimedReader {
  if (timed === false) return (cells) => new Uint8Array(cells.count);
  if (timed === true) return (_cells, _at, counts) => whichCounted(counts);
  const values = measure({ kind: 'values', numbers: timed });
  return (cells, at) => whichCounted(cells.integers(at(values), 8));
}

function whichCounted(counts: Float64Array): Uint8Array {
  const counted = new Uint8Array(counts.length);
  for (let i = 0; i < counts.length; i++) counted[i] = (counts[i] as number) > 0 ? 1 : 0;
  return counted;
}

const sum = lowerSum(undefined);
const average = lowerSum((total, count) => total / count);
const variance = lowerMoments((value) => value);
const deviation = lowerMoments(Math.sqrt);

const AGGREGATES: Readonly<Record<KernelAggregate, LowerAggregate>> = {
  count: lowerCount,
  vertical_count: lowerCount,
  sum,
  vertical_sum: sum,
  avg: average,
  vertical_avg: average,
  min: lowerExtreme('min'),
  vertical_min: lowerExtreme('min'),
  max: lowerExtreme('max'),
  vertical_max: lowerExtreme('max'),
  variance,
  vertical_variance: variance,
  stddev: deviation,
  vertical_stddev: deviation,
  count_distinct: lowerDistinct,
};
