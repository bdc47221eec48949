// Atoms: the scalar values of cells and expressions, their kinds, truth and total order.
import { compareIntervals, Interval } from './interval.ts';
import { compareText } from './natural-order.ts';
import { comparePathValues, Path } from './path.ts';
import { compareTimestamps, Timestamp } from './timestamp.ts';

/**
 * One scalar value. A finite number that is integral IS an integer; integers that a double does
 * not hold exactly are `bigint` (-2^63 to 2^64-1), and only those. There is no boolean: 1 and 0.
 */
export type Atom = null | number | bigint | string | Timestamp | Interval | Uint8Array | Path;

/**
 * The position of an atom's kind in the total order: null, number, string, timestamp, interval,
 * blob, path.
 */
export function atomRank(atom: Atom): number {
  if (atom === null) return 0;
  switch (typeof atom) {
    case 'number':
    case 'bigint':
      return 1;
    case 'string':
      return 2;
  }
  if (atom instanceof Timestamp) return 3;
  if (atom instanceof Interval) return 4;
  if (atom instanceof Path) return 6;
  return 5;
}

/** A bigint that a double holds exactly becomes that number, so that equal integers look equal. */
export function normalizeInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Total order: null < numbers < strings < timestamps < intervals < blobs < paths; NaN first. */
export function compareAtoms(a: Atom, b: Atom): number {
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const rank = atomRank(a);
  const difference = rank - atomRank(b);
  if (difference !== 0) return difference;
  switch (rank) {
    case 0:
      return 0;
    case 1:
      return compareNumeric(a as number | bigint, b as number | bigint);
    case 3:
      return compareTimestamps(a as Timestamp, b as Timestamp);
    case 4:
      return compareIntervals(a as Interval, b as Interval);
    case 5:
      return compareBytes(a as Uint8Array, b as Uint8Array);
    default:
      return comparePathValues(a as Path, b as Path);
  }
}

/** Whether atoms are one value: NaN equals itself, 0 equals -0. */
export function atomsEqual(a: Atom, b: Atom): boolean {
  return a === b || compareAtoms(a, b) === 0;
}

/** NaN equals itself and comes before every other number. */
export function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}

/** Exact order of doubles and big integers mixed; JavaScript compares the two kinds exactly. */
export function compareNumeric(a: number | bigint, b: number | bigint): number {
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b);
  if (Number.isNaN(a as number)) return -1;
  if (Number.isNaN(b as number)) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Byte by byte; of two that begin alike the shorter one is first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** IS TRUE of an atom. */
export function isTrue(atom: Atom): boolean {
  if (atom === null) return false;
  if (typeof atom === 'number') return atom !== 0;
  if (typeof atom === 'bigint') return atom !== 0n;
  if (typeof atom === 'string') return atom.length > 0;
  if (atom instanceof Timestamp) return Number.isFinite(atom.seconds);
  if (atom instanceof Interval) return !atom.isZero();
  return atom.length > 0;
}

/** IS FALSE of an atom; neither holds for null, and a timestamp is never false. */
export function isFalse(atom: Atom): boolean {
  return atom !== null && !(atom instanceof Timestamp) && !isTrue(atom);
}

/** True for 2, 2.0 and 2n. */
export function isInteger(atom: Atom): atom is number | bigint {
  return typeof atom === 'bigint' || (typeof atom === 'number' && isIntegral(atom));
}

/** An integral double in the signed 64-bit range is an integer. */
export function isIntegral(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

/** The type name used in conversion errors. */
export function atomTypeName(atom: Atom): string {
  if (atom === null) return 'EMPTY';
  switch (typeof atom) {
    case 'bigint':
      return 'INTEGER';
    case 'number':
      return isIntegral(atom) ? 'INTEGER' : 'FLOAT';
    case 'string':
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
      return /^[\u0000-\u007f]*$/.test(atom) ? 'ASCII_STRING' : 'UTF8_STRING';
  }
  if (atom instanceof Timestamp) return 'TIMESTAMP';
  if (atom instanceof Interval) return 'TIMEINTERVAL';
  return atom instanceof Path ? 'PATH' : 'BLOB';
}
