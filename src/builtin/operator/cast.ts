// CAST(e AS type).
import type { CastTarget } from '../../plan/expression.ts';
import { failure, RowanError } from '../../util/error.ts';
import { type Atom, isTrue, normalizeInteger } from '../../value/atom.ts';
import { Interval, parseInterval } from '../../value/interval.ts';
import { parseNumber } from '../../value/number-text.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { parseTimestamp, readTimestamp, Timestamp } from '../../value/timestamp.ts';
import { Embedding, effectiveTs, Scalar, type Value } from '../../value/value.ts';
import { numberAtom, structuredError, truthAtom } from '../conversion.ts';

/** What cannot be converted is null; null stays null. */
export function castAtom(atom: Atom, type: CastTarget): Atom {
  return atom === null ? null : CASTS[type](atom);
}

/**
 * Atoms keep their timestamp. Rows and embeddings have no atom form: null, but a vector is a path
 * of its elements.
 * @throws SQL_EXECUTION for a row or embedding as string
 */
export function castValue(value: Value, type: CastTarget): Scalar {
  if (value instanceof Scalar) return new Scalar(castAtom(value.atom, type), value.ts);
  if (type === 'string') throw structuredError(value);
  const isVector = value instanceof Embedding && value.shape.length === 1;
  const path = type === 'path' && isVector ? pathOfAtoms(value.atoms) : null;
  return new Scalar(path, effectiveTs(value));
}

/** One element per atom; null when there is a null among them. */
export function pathOfAtoms(atoms: readonly Atom[]): Path | null {
  const elements: string[] = [];
  for (const atom of atoms) {
    if (atom === null) return null;
    elements.push(pathElement(atomText(atom)));
  }
  return new Path(elements);
}

/** The path that an atom reads as: itself, or one element with its text. */
export function atomToPath(atom: NonNullAtom): Path {
  return atom instanceof Path ? atom : new Path([pathElement(atomText(atom))]);
}

/** Truncates toward zero; null outside of the 64-bit range. */
export function truncateNumber(value: number | bigint): number | bigint | null {
  if (typeof value === 'bigint') return value;
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return numberAtom(whole);
  return whole >= -(2 ** 63) && whole < 2 ** 64 ? normalizeInteger(BigInt(whole)) : null;
}

type NonNullAtom = Exclude<Atom, null>;

const CASTS: Readonly<Record<CastTarget, (atom: NonNullAtom) => Atom>> = {
  string: atomText,
  integer: (atom) => {
    const number = toNumber(atom);
    return number === null ? null : truncateNumber(number);
  },
  number: toNumber,
  boolean: toBoolean,
  timestamp: toTimestamp,
  'readable-timestamp': (atom) => {
    if (typeof atom !== 'string') return toTimestamp(atom);
    const seconds = readTimestamp(atom);
    return seconds === null ? null : new Timestamp(seconds);
  },
  date: toDate,
  interval: (atom) => {
    if (atom instanceof Interval) return atom;
    return typeof atom === 'string' ? readInterval(atom) : null;
  },
  path: atomToPath,
  blob: (atom) => (atom instanceof Uint8Array ? atom : new TextEncoder().encode(atomText(atom))),
};

function toNumber(atom: NonNullAtom): number | bigint | null {
  switch (typeof atom) {
    case 'number':
    case 'bigint':
      return atom;
    case 'string':
      return parseNumber(atom) ?? null;
  }
  return atom instanceof Timestamp ? numberAtom(atom.seconds) : null;
}

function toBoolean(atom: NonNullAtom): Atom {
  if (typeof atom !== 'string') return truthAtom(isTrue(atom));
  switch (atom.toLowerCase()) {
    case 'true':
      return 1;
    case 'false':
      return 0;
  }
  const number = parseNumber(atom);
  return number === undefined ? null : truthAtom(isTrue(number));
}

function toTimestamp(atom: NonNullAtom): Timestamp | null {
  switch (typeof atom) {
    case 'number':
    case 'bigint':
      return new Timestamp(Number(atom));
    case 'string': {
      const seconds = parseTimestamp(atom);
      return seconds === null ? null : new Timestamp(seconds);
    }
  }
  return atom instanceof Timestamp ? atom : null;
}

/** Midnight UTC of the day. */
function toDate(atom: NonNullAtom): Timestamp | null {
  const time = toTimestamp(atom);
  return time === null ? null : new Timestamp(Math.floor(time.seconds / 86_400) * 86_400);
}

/** The interval of a text; null when it is none. */
function readInterval(text: string): Interval | null {
  try {
    return parseInterval(text);
  } catch (error) {
    if (error instanceof RowanError) return null;
    throw error;
  }
}

function pathElement(text: string): string {
  if (!text.includes('\u0000')) return text;
  throw failure('SQL_EXECUTION', 'Special characters must be quoted and nulls are not accepted.');
}
