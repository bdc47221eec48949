// Rows of a window in their order: partitions lie one behind the other, peers stand together.
import type { SameRows } from '../row-order.ts';

export interface Arrangement {
  /** row numbers by position */
  readonly order: Uint32Array;
  /** where each partition begins, and the number of rows */
  readonly partitionStarts: Uint32Array;
  /** where each run of peers begins, and the number of rows */
  readonly groupStarts: Uint32Array;
  /** the number of the run of peers at each position */
  readonly groupOf: Uint32Array;
}

export function arrange(
  order: Uint32Array,
  inSamePartition: SameRows,
  arePeers: SameRows,
): Arrangement {
  const count = order.length;
  const partitionStarts: number[] = [];
  const groupStarts: number[] = [];
  const groupOf = new Uint32Array(count);
  for (let position = 0; position < count; position++) {
    const row = order[position] as number;
    const before = order[position - 1] as number;
    const isFirst = position === 0;
    if (isFirst || !arePeers(before, row)) {
      groupStarts.push(position);
      if (isFirst || !inSamePartition(before, row)) partitionStarts.push(position);
    }
    groupOf[position] = groupStarts.length - 1;
  }
  partitionStarts.push(count);
  groupStarts.push(count);
  return {
    order,
    partitionStarts: Uint32Array.from(partitionStarts),
    groupStarts: Uint32Array.from(groupStarts),
    groupOf,
  };
}

/** Calls `visit` with where each partition begins and ends. */
export function forEachPartition(
  { partitionStarts }: Arrangement,
  visit: (from: number, to: number) => void,
): void {
  for (let i = 0; i + 1 < partitionStarts.length; i++) {
    visit(partitionStarts[i] as number, partitionStarts[i + 1] as number);
  }
}
