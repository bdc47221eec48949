// What is known of a value before anything runs, as `GET /v1/functions/<f>/info` and `static_type` say it.
import type { AtomType, ValueType } from './type.ts';

const ATOM_NAMES: Readonly<Record<AtomType, readonly [type: string, scalar: string]>> = {
  null: ['MLDB::AtomValueInfo', 'any'],
  integer: ['MLDB::IntegerValueInfo', 'long'],
  number: ['MLDB::NumericValueInfo', 'float'],
  string: ['MLDB::Utf8StringValueInfo', 'string'],
  timestamp: ['MLDB::TimestampValueInfo', 'timestamp'],
  interval: ['MLDB::AtomValueInfo', 'interval'],
  blob: ['MLDB::BlobValueInfo', 'blob'],
  path: ['MLDB::PathValueInfo', 'path'],
  atom: ['MLDB::AtomValueInfo', 'any'],
};

/** JSON of a type: kind, type, isConstant, and what its kind has. */
export function typeInfo(type: ValueType, isConstant = false): Record<string, unknown> {
  switch (type.kind) {
    case 'atom': {
      const [name, scalar] = ATOM_NAMES[type.atom];
      return { kind: 'scalar', type: name, isConstant, scalar };
    }
    case 'embedding':
      return {
        kind: 'embedding',
        type: type.element === 'number' ? 'FLOAT64' : 'ATOM',
        isConstant,
        shape: type.shape ?? [-1],
      };
    case 'row':
      return {
        kind: 'row',
        type: 'MLDB::RowValueInfo',
        isConstant,
        knownColumns: knownColumns(type),
        hasUnknownColumns: isOpen(type),
        hasUnknownColumnsRecursive: hasUnknown(type),
      };
    case 'any':
      return { type: 'MLDB::AnyValueInfo', isConstant };
  }
}

/** A column that a value is known to have. */
export interface KnownColumn {
  readonly columnName: string;
  readonly valueInfo: Record<string, unknown>;
  readonly sparsity: 'dense' | 'sparse';
}

/** Members of rows, elements of embeddings of known length. */
export function knownColumns(type: ValueType): KnownColumn[] {
  return memberTypes(type).map(([columnName, member]) => ({
    columnName,
    valueInfo: typeInfo(member),
    sparsity: type.kind === 'row' && isOpen(type) ? 'sparse' : 'dense',
  }));
}

function memberTypes(type: ValueType): (readonly [name: string, type: ValueType])[] {
  if (type.kind === 'row') {
    const members = [...type.members, ...(type.listed ?? [])];
    return members.map(({ name, type: member }) => [name, member]);
  }
  const [size, ...inner] = type.kind === 'embedding' ? (type.shape ?? []) : [];
  if (type.kind !== 'embedding' || size === undefined || size < 0) return [];
  const member: ValueType =
    inner.length === 0
      ? { kind: 'atom', atom: type.element }
      : { kind: 'embedding', shape: inner, element: type.element };
  return Array.from({ length: size }, (_, index) => [String(index), member]);
}

function hasUnknown(type: ValueType): boolean {
  if (type.kind === 'any') return true;
  if (type.kind !== 'row') return false;
  const members = [...type.members, ...(type.listed ?? [])];
  return isOpen(type) || members.some((member) => hasUnknown(member.type));
}

function isOpen({ open, listed }: Extract<ValueType, { kind: 'row' }>): boolean {
  return open && listed === undefined;
}
