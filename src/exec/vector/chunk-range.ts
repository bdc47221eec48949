// Cutting a table into units of work. The cut depends on the data alone, so that sums of doubles
// are added up in the same order whatever the number of threads.
import type { ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import { chunkSpans } from '../../value/column/snapshot-memory.ts';

export interface ChunkRange {
  readonly from: number;
  readonly to: number;
}

export function cutChunks(chunkCount: number, unitCountMax: number): ChunkRange[] {
  const unitCount = Math.min(chunkCount, unitCountMax);
  return Array.from({ length: unitCount }, (_, unit) => rangeOfUnit(chunkCount, unitCount, unit));
}

/** The chunks of one of `unitCount` units. */
export function rangeOfUnit(chunkCount: number, unitCount: number, unit: number): ChunkRange {
  return {
    from: Math.floor((unit * chunkCount) / unitCount),
    to: Math.floor(((unit + 1) * chunkCount) / unitCount),
  };
}

/** The number of the first row of a range. */
export function firstRowOf(chunkRowCounts: readonly number[], { from }: ChunkRange): number {
  let row = 0;
  for (let chunk = 0; chunk < from; chunk++) row += chunkRowCounts[chunk] as number;
  return row;
}

/** The arena that holds most of what a job reads; other chunks are copied into its scratch. */
export function homeArena(columns: readonly ColumnSnapshot[]): number {
  const sizes = new Map<number, number>();
  for (const column of columns) {
    for (const span of column.chunks.flatMap(chunkSpans)) addSize(sizes, span);
  }
  let home = 0;
  let most = -1;
  for (const [arena, size] of sizes) {
    if (size > most) [home, most] = [arena, size];
  }
  return home;
}

function addSize(sizes: Map<number, number>, span: Span): void {
  sizes.set(span.arena, (sizes.get(span.arena) ?? 0) + span.sizeBytes);
}
