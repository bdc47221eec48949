// IS TRUE and IS FALSE of whole values.
import { isFalse as isFalseAtom, isTrue as isTrueAtom } from '../../value/atom.ts';
import { Row, Scalar, type Value } from '../../value/value.ts';

export function isTrue(value: Value): boolean {
  return value instanceof Scalar ? isTrueAtom(value.atom) : hasMembers(value);
}

export function isFalse(value: Value): boolean {
  return value instanceof Scalar ? isFalseAtom(value.atom) : !hasMembers(value);
}

function hasMembers(value: Exclude<Value, Scalar>): boolean {
  return value instanceof Row ? value.length > 0 : value.atoms.length > 0;
}
