// Gives chunks of codes other codes and another width; runs on any thread.
import type { ArenaAllocator } from '../../value/arena-set.ts';
import { codesOf } from '../../value/chunk-encoder.ts';
import type { Span } from '../../value/snapshot.ts';

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

export function recodeUnit(job: RecodeJob, unitIndex: number, arenas: ArenaAllocator): void {
  const first = unitIndex * job.batchCount;
  for (const work of job.work.slice(first, first + job.batchCount)) {
    const source = codesOf(arenas, work.source, work.sourceWidth);
    const target = codesOf(arenas, work.target, job.width);
    const map = job.maps[work.mapIndex] as Uint32Array;
    // Each pair of array kinds gets a loop of its own from the compiler only in separate functions.
    if (source instanceof Uint8Array && target instanceof Uint8Array) recode8(source, map, target);
    else if (source instanceof Uint8Array) recode8To16(source, map, target);
    else if (source instanceof Uint16Array) recode16(source, map, target);
    else recode32(source, map, target);
  }
}

function recode8(source: Uint8Array, map: Uint32Array, target: Uint8Array): void {
  const small = Uint8Array.from({ length: 256 }, (_, code) => map[code] ?? 0);
  for (let i = 0; i < target.length; i++) target[i] = small[source[i] as number] as number;
}

type Codes = Uint8Array | Uint16Array | Uint32Array;

function recode8To16(source: Uint8Array, map: Uint32Array, target: Codes): void {
  for (let i = 0; i < target.length; i++) target[i] = map[source[i] as number] as number;
}

function recode16(source: Uint16Array, map: Uint32Array, target: Codes): void {
  for (let i = 0; i < target.length; i++) target[i] = map[source[i] as number] as number;
}

function recode32(source: Uint32Array, map: Uint32Array, target: Codes): void {
  for (let i = 0; i < target.length; i++) target[i] = map[source[i] as number] as number;
}
