// Aggregates as measures, and how their results are read from the cells of groups.
import type { BoundExpression } from '../../plan/expression.ts';
import type { AggregateCall } from '../../plan/plan.ts';
import type { Arena } from '../../value/arena.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Scalar } from '../../value/value.ts';
import { threadKernels } from '../thread-memory.ts';
import type { GroupAggregate } from './group-table.ts';
import type { Lowering, Timed } from './lower.ts';
import type { Measure } from './measure.ts';

/** How an aggregate is read from the cells of a group. */
export interface Output {
  /** the number that it is, or that is in it */
  read(cell: number): number;
  /** whether a value was counted that has the timestamp of a column */
  isTimed(cell: number): boolean;
  /** that timestamp, in seconds */
  readonly ts: number;
  /** present: whether the group has no value, which gives null instead of the number */
  isNull?(cell: number): boolean;
  readonly result: 'number' | 'timestamp';
}

/** Reads one group's cells once they are merged; `at` gives the address of a measure's cells. */
export type Reader = (memory: Arena, at: (measure: number) => number) => Output;

/** Undefined when kernels do not know the aggregate or its argument. */
export function lowerAggregate(
  { name, args }: AggregateCall,
  lowering: Lowering,
  measure: (measure: Measure) => number,
): Reader | undefined {
  const [arg, ...others] = args;
  const lower = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined;
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
  if (typeof column !== 'number') return undefined;
  if (lowering.numbers(arg) === undefined && lowering.codes(arg) === undefined) return undefined;
  const counts = scope.hasNulls(column) ? ({ kind: 'count', column } as const) : ROWS;
  return countReader(measure(counts), scope.tsOf(column));
};

const ROWS = { kind: 'rows' } as const;

function countReader(measure: number, ts: number): Reader {
  return (memory, at) => {
    const counts = at(measure);
    const read = (cell: number) => readInt64(memory, counts + cell * 8);
    return { result: 'number', ts, read, isTimed: (cell) => read(cell) > 0 };
  };
}

function lowerSum(finish: (sum: number, count: number) => number): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined || numbers.isTimestamp) return undefined;
    const exact = numbers.isInteger;
    const timed = lowerTimed(numbers.timed, measure);
    const sums = measure({ kind: 'sum', numbers: numbers.program, exact });
    return (memory, at) => {
      const start = at(sums);
      return {
        result: 'number',
        ts: numbers.ts,
        isTimed: timed(memory, at, (cell) => readInt64(memory, start + cell * 16)),
        read(cell) {
          const address = start + cell * 16;
          const count = readInt64(memory, address);
          const sum = exact
            ? readInt64(memory, address + 8)
            : (memory.f64[address / 8 + 1] as number);
          return finish(sum, count) + 0;
        },
      };
    };
  };
}

function lowerExtreme(kind: 'min' | 'max'): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined) return undefined;
    const extremes = measure({ kind, numbers: numbers.program });
    // The timestamp is that of the extreme value itself, wherever it was.
    if (typeof numbers.timed !== 'boolean') return undefined;
    const timed = lowerTimed(numbers.timed, measure);
    return (memory, at) => {
      const start = at(extremes);
      const count = (cell: number) => readInt64(memory, start + cell * 16);
      return {
        result: numbers.isTimestamp ? 'timestamp' : 'number',
        ts: numbers.ts,
        isNull: (cell) => count(cell) === 0,
        isTimed: timed(memory, at, count),
        read: (cell) => (memory.f64[start / 8 + cell * 2 + 1] as number) + 0,
      };
    };
  };
}

function lowerMoments(finish: (variance: number) => number): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined || numbers.isTimestamp) return undefined;
    const moments = measure({ kind: 'moments', numbers: numbers.program });
    const timed = lowerTimed(numbers.timed, measure);
    return (memory, at) => {
      const start = at(moments) / 8;
      return {
        result: 'number',
        ts: numbers.ts,
        isTimed: timed(memory, at, (cell) => memory.f64[start + cell * 4] as number),
        read(cell) {
          const word = start + cell * 4;
          const count = memory.f64[word] as number;
          return finish(count < 2 ? Number.NaN : (memory.f64[word + 2] as number) / (count - 1));
        },
      };
    };
  };
}

const lowerDistinct: LowerAggregate = ({ arg, lowering, measure }) => {
  const codes = lowering.codes(arg);
  if (codes === undefined) return undefined;
  const { cardinality } = codes.program;
  const presence = measure({ kind: 'distinct', codes: codes.program });
  return (memory, at) => {
    const start = at(presence);
    const kernels = threadKernels(memory.id);
    // Code 0 is NULL, which is not counted.
    const read = (cell: number) =>
      kernels.countBytes(start + cell * cardinality + 1, cardinality - 1);
    return { result: 'number', ts: codes.ts, read, isTimed: (cell) => read(cell) > 0 };
  };
};

/** Whether a group counted a value that has a timestamp, given how many values it counted. */
type TimedReader = (
  memory: Arena,
  at: (measure: number) => number,
  count: (cell: number) => number,
) => (cell: number) => boolean;

function lowerTimed(timed: Timed, measure: AggregateContext['measure']): TimedReader {
  if (timed === false) return () => () => false;
  if (timed === true) return (_memory, _at, count) => (cell) => count(cell) > 0;
  const values = measure({ kind: 'values', numbers: timed });
  return (memory, at) => {
    const start = at(values);
    return (cell) => readInt64(memory, start + cell * 8) > 0;
  };
}

const sum = lowerSum((total) => total);
const average = lowerSum((total, count) => total / count);
const variance = lowerMoments((value) => value);
const deviation = lowerMoments(Math.sqrt);

const AGGREGATES: Readonly<Record<string, LowerAggregate>> = {
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

/** The results of groups, taken out of cells that are about to be freed. */
export function readOutput(output: Output, cells: Int32Array): GroupAggregate {
  const values = new Float64Array(cells.length);
  const timed = new Uint8Array(cells.length);
  const nulls = output.isNull === undefined ? undefined : new Uint8Array(cells.length);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] as number;
    values[i] = output.read(cell);
    timed[i] = output.isTimed(cell) ? 1 : 0;
    if (nulls !== undefined) nulls[i] = output.isNull?.(cell) === true ? 1 : 0;
  }
  return {
    values,
    timed,
    ts: output.ts,
    result: output.result,
    nulls: nulls?.includes(1) ? nulls : undefined,
  };
}

/** A 64-bit integer as the nearest double. */
function readInt64(memory: Arena, address: number): number {
  const word = address / 4;
  return (memory.i32[word + 1] as number) * 2 ** 32 + (memory.u32[word] as number);
}
