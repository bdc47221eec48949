// Static types of expressions, as far as they are known before anything runs.

export type AtomType =
  | 'null'
  | 'integer'
  /** any number: integers, doubles, NaN */
  | 'number'
  | 'string'
  | 'timestamp'
  | 'interval'
  | 'blob'
  | 'path'
  /** an atom of unknown kind */
  | 'atom';

export type ValueType =
  | { readonly kind: 'atom'; readonly atom: AtomType }
  | {
      readonly kind: 'embedding';
      /** absent: unknown; -1: this size is unknown */
      readonly shape?: readonly number[];
      readonly element: AtomType;
    }
  | {
      readonly kind: 'row';
      /** members that are known; names are single path elements, in natural order */
      readonly members: readonly { readonly name: string; readonly type: ValueType }[];
      /** true: the row may have more members than these */
      readonly open: boolean;
    }
  | { readonly kind: 'any' };

export const ANY_TYPE: ValueType = { kind: 'any' };
export const OPEN_ROW_TYPE: ValueType = { kind: 'row', members: [], open: true };

export function atomType(atom: AtomType): ValueType {
  return ATOM_TYPES[atom];
}

const ATOM_TYPES: Readonly<Record<AtomType, ValueType>> = {
  null: { kind: 'atom', atom: 'null' },
  integer: { kind: 'atom', atom: 'integer' },
  number: { kind: 'atom', atom: 'number' },
  string: { kind: 'atom', atom: 'string' },
  timestamp: { kind: 'atom', atom: 'timestamp' },
  interval: { kind: 'atom', atom: 'interval' },
  blob: { kind: 'atom', atom: 'blob' },
  path: { kind: 'atom', atom: 'path' },
  atom: { kind: 'atom', atom: 'atom' },
};

/** True when a value of this type is certainly one atom. */
export function isAtomType(type: ValueType): boolean {
  return type.kind === 'atom';
}
