// Values as plain data that can be posted to another thread.
import type { Atom } from './atom.ts';
import { Interval } from './interval.ts';
import { Path } from './path.ts';
import { Timestamp } from './timestamp.ts';
import { Embedding, Row, Scalar, type Value } from './value.ts';

export type WireAtom =
  | null
  | number
  | bigint
  | string
  | Uint8Array
  | { readonly seconds: number }
  | { readonly path: readonly string[] }
  | {
      readonly months: number;
      readonly days: number;
      readonly seconds: number;
      readonly negative: boolean;
    };

export type WireValue =
  | { readonly kind: 'scalar'; readonly atom: WireAtom; readonly ts: number }
  | {
      readonly kind: 'row';
      readonly names: readonly string[];
      readonly values: readonly WireValue[];
    }
  | {
      readonly kind: 'embedding';
      readonly shape: readonly number[];
      readonly atoms: readonly WireAtom[];
      readonly ts: number;
    };

/** A value as plain data; `valueFromWire` reads it back. */
export function valueToWire(value: Value): WireValue {
  if (value instanceof Scalar)
    return { kind: 'scalar', atom: atomToWire(value.atom), ts: value.ts };
  if (value instanceof Row) {
    return { kind: 'row', names: value.names, values: value.values.map(valueToWire) };
  }
  const { shape, atoms, ts } = value;
  return { kind: 'embedding', shape, atoms: atoms.map(atomToWire), ts };
}

/** The value that `valueToWire` wrote. */
export function valueFromWire(wire: WireValue): Value {
  switch (wire.kind) {
    case 'scalar':
      return new Scalar(atomFromWire(wire.atom), wire.ts);
    case 'row':
      return new Row(wire.names, wire.values.map(valueFromWire));
    case 'embedding':
      return new Embedding(wire.shape, wire.atoms.map(atomFromWire), wire.ts);
  }
}

/** An atom as plain data; `atomFromWire` reads it back. */
export function atomToWire(atom: Atom): WireAtom {
  if (atom instanceof Timestamp) return { seconds: atom.seconds };
  if (atom instanceof Path) return { path: atom.elements };
  if (atom instanceof Interval) {
    const { months, days, seconds, negative } = atom;
    return { months, days, seconds, negative };
  }
  return atom;
}

/** The atom that `atomToWire` wrote. */
export function atomFromWire(wire: WireAtom): Atom {
  if (typeof wire !== 'object' || wire === null || wire instanceof Uint8Array) return wire;
  if ('path' in wire) return new Path(wire.path);
  if ('months' in wire) return new Interval(wire.months, wire.days, wire.seconds, wire.negative);
  return new Timestamp(wire.seconds);
}
