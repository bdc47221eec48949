// Hashes of row names, which break ties in the order of rows.
import { hashPath } from '../../value/path-hash.ts';
import { rowNamesView } from '../../value/row-names.ts';
import type { RowNames } from '../../value/snapshot.ts';
import { threadArenas } from '../thread-memory.ts';
import type { Scratch } from './scratch.ts';

/**
 * Hashes of the names of the rows start + position, as a vector of Uint64. Sixteen spare bytes
 * behind the positions are overwritten.
 */
export type RowHasher = (start: number, positions: number, count: number) => number;

export function rowHasher(rowNames: RowNames, rowCount: number, scratch: Scratch): RowHasher {
  if (rowNames.kind === 'sequence' && rowNames.first + rowCount < 2 ** 32) {
    return (start, positions, count) => {
      const out = scratch.take(count * 8);
      scratch.kernels.hashDecimalNames(rowNames.first + start, positions, count, out);
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
