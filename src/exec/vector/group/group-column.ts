// Columns of groups: keys and aggregates, one value a group.
import type { Atom } from '../../../value/atom.ts';
import { MINUS_INFINITY, Timestamp } from '../../../value/timestamp.ts';
import type { ColumnValues } from '../../column-rows.ts';

export type GroupColumn = CodeColumn | NumberColumn;

/** Codes and what they stand for; code 0 is NULL. */
export interface CodeColumn {
  readonly kind: 'codes';
  readonly codes: Int32Array;
  atom(code: number): Atom;
  /** codes in ascending order of their atoms, NULL first */
  order(): Uint32Array;
  /** the timestamp of its values, in seconds; NULL has -Inf */
  readonly ts: number;
}

export interface NumberColumn {
  readonly kind: 'numbers';
  readonly values: Float64Array;
  /** 1: NULL instead of the number; absent: nowhere */
  readonly nulls: Uint8Array | undefined;
  readonly result: 'number' | 'timestamp';
  /** 0: the value has the timestamp -Inf; absent: all that are not NULL have `ts`, in seconds */
  readonly timed: Uint8Array | undefined;
  readonly ts: number;
}

export function atomOfGroup(column: GroupColumn, position: number): Atom {
  if (column.kind === 'codes') return column.atom(column.codes[position] as number);
  if (column.nulls?.[position] === 1) return null;
  const value = column.values[position] as number;
  return column.result === 'timestamp' ? new Timestamp(value) : value;
}

export function tsOfGroup(column: GroupColumn, position: number): number {
  return isTimed(column, position) ? column.ts : MINUS_INFINITY;
}

function isTimed(column: GroupColumn, position: number): boolean {
  if (column.kind === 'codes') return column.codes[position] !== 0;
  return column.timed === undefined ? column.nulls?.[position] !== 1 : column.timed[position] === 1;
}

export function valuesOfGroups(column: GroupColumn): ColumnValues {
  if (column.kind === 'codes') {
    const { codes, atom } = column;
    return { kind: 'codes', codeAt: (index) => codes[index] as number, atom };
  }
  if (column.result === 'number') {
    const { values, nulls } = column;
    return {
      kind: 'numbers',
      numberAt: (index) => values[index] as number,
      isNull: (index) => nulls?.[index] === 1,
    };
  }
  return { kind: 'atoms', atomAt: (index) => atomOfGroup(column, index) };
}

export function sliceOfGroups(column: GroupColumn, from: number, to: number): GroupColumn {
  if (column.kind === 'codes') return { ...column, codes: column.codes.subarray(from, to) };
  return {
    ...column,
    values: column.values.subarray(from, to),
    nulls: column.nulls?.subarray(from, to),
    timed: column.timed?.subarray(from, to),
  };
}

/** A copy whose atoms were read from wherever they lay. */
export function detachColumn(column: GroupColumn): GroupColumn {
  if (column.kind !== 'codes') return column;
  const atoms = new Map<number, Atom>();
  for (const code of column.codes) if (!atoms.has(code)) atoms.set(code, column.atom(code));
  return { ...column, atom: (code) => atoms.get(code) ?? null };
}
