// The static type of a value that is known: constants and folded expressions.
import type { Atom } from '../../value/atom.ts';
import { isInteger } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { Path } from '../../value/path.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { Row, Scalar, type Value } from '../../value/value.ts';
import { type AtomType, atomType, commonType, type ValueType } from './type.ts';

export function typeOfValue(value: Value): ValueType {
  if (value instanceof Scalar) return atomType(atomTypeOf(value.atom));
  if (value instanceof Row) {
    const members = new Map<string, ValueType>();
    value.names.forEach((name, index) => {
      const type = typeOfValue(value.values[index] as Value);
      const known = members.get(name);
      members.set(name, known === undefined ? type : commonType(known, type));
    });
    return {
      kind: 'row',
      members: Array.from(members, ([name, type]) => ({ name, type })),
      open: false,
    };
  }
  let element: ValueType = atomType('null');
  for (const atom of value.atoms) element = commonType(element, atomType(atomTypeOf(atom)));
  return {
    kind: 'embedding',
    shape: value.shape,
    element: element.kind === 'atom' ? element.atom : 'atom',
  };
}

export function atomTypeOf(atom: Atom): AtomType {
  if (atom === null) return 'null';
  if (typeof atom === 'string') return 'string';
  if (typeof atom === 'number' || typeof atom === 'bigint') {
    return isInteger(atom) ? 'integer' : 'number';
  }
  if (atom instanceof Timestamp) return 'timestamp';
  if (atom instanceof Interval) return 'interval';
  return atom instanceof Path ? 'path' : 'blob';
}
