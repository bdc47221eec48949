// Numbers or timestamps from one to another by equal steps.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { requireDouble } from '../conversion.ts';
import { addAtoms } from './arithmetic.ts';

/**
 * The members in order; none when a bound is null or the step leads away from the end.
 * @param step default 1; an interval for timestamps
 * @throws SQL_EXECUTION for a step of 0 and bounds that are neither numbers nor timestamps
 */
export function* seriesOf(
  start: Atom,
  stop: Atom,
  step: Atom | undefined,
  inclusive: boolean,
): Iterable<Atom> {
  if (start === null || stop === null || step === null) return;
  if (start instanceof Timestamp || stop instanceof Timestamp) {
    yield* timeSeries(start, stop, step, inclusive);
    return;
  }
  const from = requireDouble(start);
  const to = requireDouble(stop);
  const by = step === undefined ? 1 : requireDouble(step);
  if (by === 0 || Number.isNaN(by)) throw zeroStep();
  // Multiplying keeps fractions from adding up their errors.
  for (let index = 0; ; index++) {
    const value = from + index * by;
    const isPast = by > 0 ? value > to : value < to;
    if (isPast || (!inclusive && value === to) || Number.isNaN(value)) return;
    yield value;
  }
}

/**
 * About how many numbers a series has, before it is made.
 * @returns Infinity where the end is never reached; undefined for what is no series of numbers
 */
export function seriesLength(start: Atom, stop: Atom, step: Atom | undefined): number | undefined {
  if (![start, stop, step ?? 1].every(isNumber)) return undefined;
  const [from, to, by] = [start, stop, step ?? 1].map(Number) as [number, number, number];
  if (by === 0 || [from, to, by].some(Number.isNaN)) return undefined;
  if (by > 0 ? from > to : from < to) return 0;
  return Number.isFinite(from) && Number.isFinite(to) ? (to - from) / by + 1 : Infinity;
}

function isNumber(atom: Atom): boolean {
  return typeof atom === 'number' || typeof atom === 'bigint';
}

function zeroStep(): Error {
  return failure('SQL_EXECUTION', 'the step of a series must not be 0');
}

function* timeSeries(
  start: Atom,
  stop: Atom,
  step: Atom | undefined,
  inclusive: boolean,
): Iterable<Atom> {
  if (!(start instanceof Timestamp && stop instanceof Timestamp && step instanceof Interval)) {
    throw failure(
      'SQL_EXECUTION',
      'a series of timestamps needs two timestamps and an INTERVAL as its step',
    );
  }
  if (step.isZero()) throw zeroStep();
  const end = stop.seconds;
  if (Number.isNaN(start.seconds) || Number.isNaN(end)) return;
  for (let time: Timestamp = start; ; time = addAtoms(time, step) as Timestamp) {
    const { seconds } = time;
    const isPast = step.negative ? seconds < end : seconds > end;
    if (isPast || (!inclusive && seconds === end)) return;
    yield time;
  }
}
