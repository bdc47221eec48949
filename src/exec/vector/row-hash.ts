// Hashes of row names, which break ties in the order of rows.

import { rowNamesView } from '../../value/column/row-names.ts';
import type { RowNames } from '../../value/column/snapshot.ts';
import { hashPath } from '../../value/path-hash.ts';
import { threadArenas } from '../thread-memory.ts';
import type { Scratch } from './scratch.ts';

/** The name of row 0 when names are consecutive numbers that kernels can print, else undefined. */
export function firstDecimalName(rowNames: RowNames, rowCount: number): number | undefined {
  if (rowNames.kind !== 'sequence' || rowNames.first < 0) return undefined;
  return rowNames.first + rowCount < 2 ** 32 ? rowNames.first : undefined;
}

/**
 * Hashes of the names of the rows start + position, as a vector of Uint64. Sixteen spare bytes
 * behind the positions are overwritten.
 */
export type RowHasher = (start: number, positions: number, count: number) => number;

export function rowHasher(rowNames: RowNames, rowCount: number, scratch: Scratch): RowHasher {
  const first = firstDecimalName(rowNames, rowCount);
  if (first !== undefined) {
    return (start, positions, count) => {
      const out = scratch.take(count * 8);
      scratch.kernels.hashDecimalNames(first + start, positions, count, out);
      return out;
    };
  }
  const names = rowNamesView(rowNames, rowCount, threadArenas());
  return (start, positions, count) => {
    const out = scratch.take(count * 8);
    const { u32, i64 } = scratch.arena;
    for (let i = 0; i < count; i++) {
      const row = start + (u32[positions / 4 + i] as number);
      i64[out / 8 + i] = BigInt.asIntN(64, hashPath(names.pathAt(row)));
    }
    return out;
  };
}
