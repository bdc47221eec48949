// + - * / % and prefix - on atoms. A null operand gives null.
import type { ArithmeticOperator } from '../../sql/node.ts';
import { failure } from '../../util/error.ts';
import { type Atom, isInteger, normalizeInteger } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { conversionError, numberAtom, requireDouble, toBigint } from '../conversion.ts';
import {
  addIntervals,
  intervalPlusDays,
  negateInterval,
  scaleInterval,
  timestampDifference,
  timestampPlusDays,
  timestampPlusInterval,
} from './interval.ts';

export type AtomOperator = (a: Atom, b: Atom) => Atom;

/** Numbers add, texts join as soon as one operand is a string, times move. */
export function addAtoms(a: Atom, b: Atom): Atom {
  if (typeof a === 'number' && typeof b === 'number') return numberAtom(a + b);
  if (a === null || b === null) return null;
  if (typeof a === 'string' || typeof b === 'string') return atomText(a) + atomText(b);
  if (isTime(a)) return addToTime(a, b);
  if (isTime(b)) return addToTime(b, a);
  return numberAtom(requireDouble(a) + requireDouble(b));
}

export function subtractAtoms(a: Atom, b: Atom): Atom {
  if (typeof a === 'number' && typeof b === 'number') return numberAtom(a - b);
  if (a === null || b === null) return null;
  if (a instanceof Timestamp && b instanceof Timestamp) return timestampDifference(a, b);
  if (isTime(a)) return addToTime(a, b instanceof Interval ? negateInterval(b) : -requireDouble(b));
  return numberAtom(requireDouble(a) - requireDouble(b));
}

export function multiplyAtoms(a: Atom, b: Atom): Atom {
  if (typeof a === 'number' && typeof b === 'number') return numberAtom(a * b);
  if (a === null || b === null) return null;
  if (a instanceof Interval) return scaleInterval(a, requireDouble(b));
  if (b instanceof Interval) return scaleInterval(b, requireDouble(a));
  return numberAtom(requireDouble(a) * requireDouble(b));
}

export function divideAtoms(a: Atom, b: Atom): Atom {
  if (typeof a === 'number' && typeof b === 'number') return numberAtom(a / b);
  if (a === null || b === null) return null;
  if (a instanceof Interval) return scaleInterval(a, 1 / requireDouble(b));
  return numberAtom(requireDouble(a) / requireDouble(b));
}

/** The remainder has the sign of the dividend; of two integers it is exact. */
export function moduloAtoms(a: Atom, b: Atom): Atom {
  if (a === null || b === null) return null;
  if (!(isInteger(a) && isInteger(b))) return numberAtom(requireDouble(a) % requireDouble(b));
  if (b === 0) throw failure('SQL_EXECUTION', 'Integer Modulus by a zero dividend');
  if (typeof a === 'number' && typeof b === 'number') return numberAtom(a % b);
  return normalizeInteger(toBigint(a) % toBigint(b));
}

export function negateAtom(a: Atom): Atom {
  if (typeof a === 'number') return numberAtom(-a);
  if (a === null) return null;
  if (typeof a === 'bigint') return a > 2n ** 63n ? -Number(a) : normalizeInteger(-a);
  if (a instanceof Interval) return negateInterval(a);
  throw conversionError(a, 'double');
}

export const ARITHMETIC: Readonly<Record<ArithmeticOperator, AtomOperator>> = {
  '+': addAtoms,
  '-': subtractAtoms,
  '*': multiplyAtoms,
  '/': divideAtoms,
  '%': moduloAtoms,
};

function isTime(atom: Atom): atom is Timestamp | Interval {
  return atom instanceof Timestamp || atom instanceof Interval;
}

/** Numbers are days. @throws SQL_EXECUTION for two timestamps and operands of other types */
function addToTime(time: Timestamp | Interval, other: Atom): Atom {
  if (time instanceof Timestamp) {
    if (other instanceof Interval) return timestampPlusInterval(time, other);
    return timestampPlusDays(time, requireDouble(other));
  }
  if (other instanceof Timestamp) return timestampPlusInterval(other, time);
  if (other instanceof Interval) return addIntervals(time, other);
  return intervalPlusDays(time, requireDouble(other));
}
