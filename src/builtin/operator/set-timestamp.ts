// e @ t: the same value, true at another time.
import type { Atom } from '../../value/atom.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { type Value, withTimestamp } from '../../value/value.ts';
import { conversionError, requireAtom } from '../conversion.ts';
import { castAtom } from './cast.ts';

/**
 * Every atom of the value at the time `time`: a timestamp, seconds since the epoch or ISO text.
 * @throws SQL_EXECUTION when `time` is null or of another type
 */
export function setTimestamp(value: Value, time: Value): Value {
  return withTimestamp(value, timestampSeconds(requireAtom(time)));
}

function timestampSeconds(time: Atom): number {
  const timestamp = castAtom(time, 'timestamp');
  if (timestamp instanceof Timestamp) return timestamp.seconds;
  throw conversionError(time, 'timestamp');
}
