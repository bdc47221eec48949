// Gives chunks of codes other codes and another width; runs on any thread.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { bytesOf } from '../../value/column/span-view.ts';
import { threadScratch } from './scratch.ts';

export interface RecodeWork {
  /** which of the job's maps holds the new codes */
  readonly mapIndex: number;
  readonly source: Span;
  readonly sourceWidth: 1 | 2 | 4;
  readonly rowCount: number;
  /** may be the source itself when the width stays */
  readonly target: Span;
}

export interface RecodeJob {
  /** in shared memory */
  readonly maps: readonly Uint32Array[];
  readonly work: readonly RecodeWork[];
  readonly width: 1 | 2 | 4;
  /** chunks of a unit */
  readonly batchCount: number;
}

/** Recodes one unit: some chunks of the job. */
export function recodeUnit(job: RecodeJob, unitIndex: number, arenas: ArenaAllocator): void {
  const first = unitIndex * job.batchCount;
  const batch = job.work.slice(first, first + job.batchCount);
  const scratch = threadScratch();
  const { arena, kernels } = scratch;
  const size = Math.max(...batch.map(({ rowCount }) => rowCount)) * 4;
  const codes = scratch.allocate(size);
  let map = 0;
  let mapSize = 0;
  let mapIndex = -1;
  for (const work of batch) {
    if (work.mapIndex !== mapIndex) {
      const entries = job.maps[work.mapIndex] as Uint32Array;
      if (map !== 0) scratch.free(map, mapSize);
      mapIndex = work.mapIndex;
      mapSize = entries.byteLength;
      map = scratch.allocate(mapSize);
      arena.u32.set(entries, map >> 2);
    }
    const { sourceWidth, rowCount } = work;
    arena.u8.set(bytesOf(arenas, work.source), codes);
    // Widening in place would overwrite what is still to be read.
    const wider = job.width > sourceWidth ? scratch.allocate(rowCount * job.width) : codes;
    kernels.csvRecode(codes, sourceWidth, rowCount, map, wider, job.width);
    bytesOf(arenas, work.target).set(arena.u8.subarray(wider, wider + rowCount * job.width));
    if (wider !== codes) scratch.free(wider, rowCount * job.width);
  }
  scratch.free(codes, size);
  if (map !== 0) scratch.free(map, mapSize);
}
