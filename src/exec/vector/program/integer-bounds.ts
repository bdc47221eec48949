// The range of the values of integer columns, from the statistics of their chunks.
import type { ChunkSnapshot, ColumnSnapshot } from '../../../value/column/snapshot.ts';

/** An integer column without any value has the bounds 0 and 0. */
export function integerBounds(
  snapshot: ColumnSnapshot,
): { readonly least: number; readonly greatest: number } | undefined {
  if (snapshot.type !== 'integer' || snapshot.dictionary !== undefined) return undefined;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (const chunk of snapshot.chunks) {
    if (chunk.kind === 'constant' && chunk.atom === null) continue;
    const bounds = chunkBounds(chunk);
    if (bounds === undefined) return undefined;
    least = Math.min(least, bounds[0]);
    greatest = Math.max(greatest, bounds[1]);
  }
  return least <= greatest ? { least, greatest } : { least: 0, greatest: 0 };
}

function chunkBounds(chunk: ChunkSnapshot): readonly [number, number] | undefined {
  if (chunk.kind === 'int32') return [chunk.min ?? 0, chunk.max ?? 0];
  if (chunk.kind !== 'constant' || typeof chunk.atom !== 'number') return undefined;
  return (chunk.atom | 0) === chunk.atom ? [chunk.atom, chunk.atom] : undefined;
}
