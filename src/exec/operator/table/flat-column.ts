// All rows of a column in one piece, with one more row that has no value.
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import type { FlatColumn } from '../../vector/built-column.ts';
import type { ChunkVectors } from '../../vector/chunk.ts';
import { integerBounds } from '../../vector/program/integer-bounds.ts';
import type { Scratch } from '../../vector/scratch.ts';

/** @param allocate zeroed bytes of the arena that `fillFlat` works in */
export function flatColumn(
  column: ColumnSnapshot,
  rowCount: number,
  allocate: (sizeBytes: number) => Span,
): FlatColumn {
  const count = rowCount + 1;
  if (column.dictionary !== undefined) return { kind: 'codes', data: allocate(count * 4) };
  const isInteger = integerBounds(column) !== undefined;
  return {
    kind: isInteger ? 'int32' : 'float64',
    data: allocate(count * (isInteger ? 4 : 8)),
    valid: allocate(count),
  };
}

/** Puts the rows of the chunk at hand where `start` is the number of the first. */
export function fillFlat(
  flat: FlatColumn,
  column: number,
  chunk: ChunkVectors,
  scratch: Scratch,
  start: number,
): void {
  const { u8 } = scratch.arena;
  const { rowCount } = chunk;
  if (flat.kind === 'codes') {
    const { data, width } = chunk.storedCodes(column);
    scratch.kernels.widenCodes(data, width, rowCount, flat.data.offset + start * 4);
    return;
  }
  const program = { op: 'column', column } as const;
  const size = flat.kind === 'int32' ? 4 : 8;
  const { data, valid } = flat.kind === 'int32' ? chunk.integers(program) : chunk.doubles(program);
  u8.copyWithin(flat.data.offset + start * size, data, data + rowCount * size);
  const target = (flat.valid as Span).offset + start;
  if (valid === 0) u8.fill(1, target, target + rowCount);
  else u8.copyWithin(target, valid, valid + rowCount);
}
