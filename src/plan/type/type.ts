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

export interface RowMember {
  readonly name: string;
  readonly type: ValueType;
}

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
      /** what an open row has beside them as things stand, where that is all */
      readonly listed?: readonly RowMember[];
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

/** True when a value of this type is certainly a row or an embedding. */
export function isStructuredType(type: ValueType): boolean {
  return type.kind === 'row' || type.kind === 'embedding';
}

/**
 * The type of a member; undefined when there certainly is none. Index names of an embedding of
 * known shape are checked against it.
 */
export function memberType(type: ValueType, name: string): ValueType | undefined {
  switch (type.kind) {
    case 'any':
      return ANY_TYPE;
    case 'atom':
      return type.atom === 'null' ? ANY_TYPE : undefined;
    case 'row': {
      const isIt = (candidate: RowMember) => candidate.name === name;
      const member = type.members.find(isIt) ?? type.listed?.find(isIt);
      if (member !== undefined) return member.type;
      return type.open ? ANY_TYPE : undefined;
    }
    case 'embedding': {
      if (type.shape === undefined) return ANY_TYPE;
      const [size = -1, ...inner] = type.shape;
      const index = Number(name);
      const inside = String(index) === name && index >= 0 && (size === -1 || index < size);
      if (!inside) return undefined;
      if (inner.length === 0) return atomType(type.element);
      return { kind: 'embedding', shape: inner, element: type.element };
    }
  }
}

/** The type of the value at a path below a value. */
export function typeAtPath(type: ValueType, path: readonly string[]): ValueType | undefined {
  let current: ValueType | undefined = type;
  for (const name of path) {
    if (current === undefined) return undefined;
    current = memberType(current, name);
  }
  return current;
}

/** The type that covers both: the same, or less known. */
export function commonType(a: ValueType, b: ValueType): ValueType {
  if (a === b) return a;
  if (a.kind === 'atom' && b.kind === 'atom') {
    if (a.atom === 'null' || a.atom === b.atom) return b;
    if (b.atom === 'null') return a;
    const numeric = isNumericType(a) && isNumericType(b);
    return atomType(numeric ? 'number' : 'atom');
  }
  if (a.kind === 'row' && b.kind === 'row') return OPEN_ROW_TYPE;
  return ANY_TYPE;
}

/** True when every value of the type is a number (or null). */
export function isNumericType(type: ValueType): boolean {
  return type.kind === 'atom' && (type.atom === 'integer' || type.atom === 'number');
}

/** A short name for messages and EXPLAIN. */
export function typeName(type: ValueType): string {
  if (type.kind === 'atom') return type.atom;
  if (type.kind === 'embedding' && type.shape !== undefined) {
    return `embedding[${type.shape.map((size) => (size === -1 ? '?' : size)).join(',')}]`;
  }
  return type.kind;
}
