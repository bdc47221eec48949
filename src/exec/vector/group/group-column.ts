// Columns of groups: keys and aggregates, one value a group.
import { assert } from '../../../util/assert.ts';
import type { Atom } from '../../../value/atom.ts';
import { MINUS_INFINITY, Timestamp } from '../../../value/timestamp.ts';
import { effectiveTs, Scalar, type Value } from '../../../value/value.ts';
import type { ColumnValues } from '../../column-rows.ts';

export type GroupColumn = KernelColumn | ValueColumn;

/** What kernels make. */
export type KernelColumn = CodeColumn | NumberColumn;

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

/** Values of any kind, each with timestamps of its own. */
export interface ValueColumn {
  readonly kind: 'values';
  readonly values: readonly Value[];
}

export function valueOfGroup(column: GroupColumn, position: number): Value {
  if (column.kind === 'values') return column.values[position] as Value;
  return new Scalar(atomOfGroup(column, position), tsOfGroup(column, position));
}

/** Whether all values of a column are atoms. */
export function isOfAtoms(column: GroupColumn): boolean {
  return column.kind !== 'values' || column.values.every((value) => value instanceof Scalar);
}

/** @param column of atoms */
export function atomOfGroup(column: GroupColumn, position: number): Atom {
  if (column.kind === 'codes') return column.atom(column.codes[position] as number);
  if (column.kind === 'values') {
    const value = column.values[position];
    assert(value instanceof Scalar, 'the values of the column are atoms');
    return value.atom;
  }
  if (column.nulls?.[position] === 1) return null;
  const value = column.values[position] as number;
  return column.result === 'timestamp' ? new Timestamp(value) : value;
}

export function tsOfGroup(column: GroupColumn, position: number): number {
  if (column.kind === 'values') return effectiveTs(column.values[position] as Value);
  return isTimed(column, position) ? column.ts : MINUS_INFINITY;
}

function isTimed(column: KernelColumn, position: number): boolean {
  if (column.kind === 'codes') return column.codes[position] !== 0;
  return column.timed === undefined ? column.nulls?.[position] !== 1 : column.timed[position] === 1;
}

export function valuesOfGroups(column: GroupColumn): ColumnValues {
  if (column.kind === 'codes') {
    const { codes, atom } = column;
    return { kind: 'codes', codeAt: (index) => codes[index] as number, atom };
  }
  if (column.kind === 'numbers' && column.result === 'number') {
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
  if (column.kind === 'values') return { ...column, values: column.values.slice(from, to) };
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
