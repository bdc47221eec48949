// Values as map keys: two values have the same key exactly when they compare equal.
import type { Atom } from './atom.ts';
import { Interval } from './interval.ts';
import { Path } from './path.ts';
import { Timestamp } from './timestamp.ts';
import { Row, Scalar, type Value } from './value.ts';

/** null, numbers, bigints and strings as they are; everything else as text behind a NUL. */
export type CanonicalKey = null | number | bigint | string;

/** The key of a value: equal for values that SQL takes for equal. */
export function keyOfValue(value: Value): CanonicalKey {
  if (value instanceof Scalar) return keyOfAtom(value.atom);
  if (value instanceof Row) {
    const members = value.names.map(
      (name, index) => encode(name) + encode(keyOfValue(value.values[index] as Value)),
    );
    return `\0r${members.join('')}`;
  }
  return `\0e${value.shape.join(',')}:${value.atoms.map((atom) => encode(keyOfAtom(atom))).join('')}`;
}

/** The key of an atom; most numbers and texts are their own. */
export function keyOfAtom(atom: Atom): CanonicalKey {
  switch (typeof atom) {
    case 'number':
      return atom;
    case 'string':
      return atom.charCodeAt(0) === 0 ? `\0s${atom}` : atom;
    case 'bigint': {
      // A double beyond 2^53 may be the same integer.
      const double = Number(atom);
      return BigInt(double) === atom ? double : atom;
    }
  }
  if (atom === null) return null;
  if (atom instanceof Timestamp) return `\0t${atom.seconds}`;
  if (atom instanceof Interval) {
    return `\0i${atom.negative ? '-' : ''}${atom.months},${atom.days},${atom.seconds}`;
  }
  return atom instanceof Path ? `\0p${atom.length === 0}${atom.toText()}` : `\0b${atom.join()}`;
}

/** The key of a tuple of values. */
export function keyOfTuple(values: readonly Value[]): CanonicalKey {
  const [first] = values;
  if (first === undefined) return '';
  if (values.length === 1) return keyOfValue(first);
  let text = '';
  for (const value of values) text += encode(keyOfValue(value));
  return text;
}

/** Self-delimiting text of a key. */
function encode(key: CanonicalKey): string {
  if (typeof key === 'string') return `s${key.length}:${key}`;
  return key === null ? 'z' : `n${key};`;
}
