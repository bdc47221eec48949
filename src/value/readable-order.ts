// Comparison of atoms where a text beside a timestamp is read as one.
import { type Atom, compareAtoms } from './atom.ts';
import { compareSeconds, readTimestamp, Timestamp } from './timestamp.ts';

/** The order of two atoms; NaN when one is a timestamp and the other a text that is none. */
export function compareReadable(a: Atom, b: Atom): number {
  if (typeof a === 'string' && b instanceof Timestamp) return compareRead(a, b);
  if (typeof b === 'string' && a instanceof Timestamp) return -compareRead(b, a);
  return compareAtoms(a, b);
}

function compareRead(text: string, time: Timestamp): number {
  const seconds = readTimestamp(text);
  return seconds === null ? Number.NaN : compareSeconds(seconds, time.seconds);
}
