// The keys of groups: what numbers the groups of rows, and how keys are read back from the numbers.
import type { Span } from '../../../value/column/snapshot.ts';
import type { LoweredCodes } from '../program/lower.ts';
import type { CodeProgram } from '../program/program.ts';
import type { GroupCells } from './group-cells.ts';
import type { CodeColumn, KernelColumn, NumberColumn } from './group-column.ts';

/** Numbered groups of rows. */
export interface GroupKeys {
  /** codes of rows whose digits make the number of a group's cell; the last varies fastest */
  readonly programs: readonly CodeProgram[];
  readonly cellCount: number;
  /**
   * Address of the Int32 numbers of the cells of groups.
   * @param counts address of Int64 row counts
   * @param isOrdered false: they may come in any order
   */
  cells(counts: number, isOrdered: boolean): { readonly address: number; readonly count: number };
  columns(cells: GroupCells): KernelColumn[];
  /** What orders groups by their keys; empty when they lie in that order. */
  words(cells: GroupCells): readonly Span[];
}

export function columnOfCodes(lowered: LoweredCodes, codes: Int32Array): KernelColumn {
  const { program, ts, atom, order } = lowered;
  if (program.op === 'range') return numbersOfFields(codes, program.least, ts);
  return { kind: 'codes', codes, atom, order, ts } satisfies CodeColumn;
}

/** Integers of fields that are 0 for NULL and else count from `least` on. */
export function numbersOfFields(
  fields: ArrayLike<number>,
  least: number,
  ts: number,
): NumberColumn {
  const values = new Float64Array(fields.length);
  let nulls: Uint8Array | undefined;
  for (let i = 0; i < values.length; i++) {
    const field = fields[i] as number;
    values[i] = field - 1 + least;
    if (field !== 0) continue;
    nulls ??= new Uint8Array(values.length);
    nulls[i] = 1;
  }
  return { kind: 'numbers', values, nulls, result: 'number', timed: undefined, ts };
}
