// What the vector operators need besides the plan.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { Parallel } from '../parallel.ts';

export interface VectorEngine {
  readonly arenas: ArenaAllocator;
  readonly parallel: Parallel;
  /** what `Task.isFrugal` says; absent: true */
  readonly isFrugal?: boolean;
  /** tables with fewer rows are left to the general operators, which start faster */
  readonly rowCountMin: number;
}

export const VECTOR_ROW_COUNT_MIN = 1024;
