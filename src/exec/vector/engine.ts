// What the vector operators need besides the plan.

import type { ScratchFile } from '../../store/scratch-file.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { Parallel } from '../parallel.ts';

/** Where what memory has no room for goes. */
export interface ScratchRoom {
  /** bytes of memory for the rows that are worked on at a time */
  readonly shareBytes: number;
  /** The file of the running task, which is removed at its end. @throws DISK_FULL */
  file(): ScratchFile;
  /** Called at the end of the running task. */
  atEnd(action: () => void): void;
}

export interface VectorEngine {
  readonly arenas: ArenaAllocator;
  readonly parallel: Parallel;
  /** what `Task.isFrugal` says; absent: true */
  readonly isFrugal?: boolean;
  /** absent: nothing is written */
  readonly scratch?: ScratchRoom | undefined;
  /** tables with fewer rows are left to the general operators, which start faster */
  readonly rowCountMin: number;
}

export const VECTOR_ROW_COUNT_MIN = 1024;
