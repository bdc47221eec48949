// What generated code calls for the cases that it does not spell out: the operators themselves.
import { ARITHMETIC, negateAtom } from '../../builtin/operator/arithmetic.ts';
import { BITWISE, complementAtom } from '../../builtin/operator/bitwise.ts';
import { castAtom } from '../../builtin/operator/cast.ts';
import { likeAtoms } from '../../builtin/operator/like.ts';
import { type Atom, isFalse, isInteger, isTrue } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import { Interval } from '../../value/interval.ts';
import { compareReadable } from '../../value/readable-order.ts';
import { Timestamp } from '../../value/timestamp.ts';

/** The `h` of generated code. */
export const SCALAR_HELPERS = Object.freeze({
  arithmetic: { ...ARITHMETIC, ...BITWISE },
  prefix: { '-': negateAtom, '~': complementAtom },
  equal: (a: Atom, b: Atom) => {
    const order = compareReadable(a, b);
    return Number.isNaN(order) ? null : Number(order === 0);
  },
  unequal: (a: Atom, b: Atom) => {
    const order = compareReadable(a, b);
    return Number.isNaN(order) ? null : Number(order !== 0);
  },
  /** the order, or null as a condition that no order is */
  order: compareReadable,
  isTrue,
  isFalse,
  isInteger,
  isTimestamp: (atom: Atom) => atom instanceof Timestamp,
  isInterval: (atom: Atom) => atom instanceof Interval,
  cast: castAtom,
  like: likeAtoms,
  key: keyOfAtom,
  and: (a: Atom, b: Atom) => (isFalse(a) || isFalse(b) ? 0 : a === null || b === null ? null : 1),
  or: (a: Atom, b: Atom) => (isTrue(a) || isTrue(b) ? 1 : a === null || b === null ? null : 0),
  between,
});

function between(value: Atom, low: Atom, high: Atom): Atom {
  if (value === null || low === null) return null;
  const fromLow = compareReadable(value, low);
  if (Number.isNaN(fromLow)) return null;
  if (fromLow < 0) return 0;
  if (high === null) return null;
  const fromHigh = compareReadable(value, high);
  if (Number.isNaN(fromHigh)) return null;
  return fromHigh > 0 ? 0 : 1;
}
