// Columns are summarized by all threads, each column by one.
import { type ParallelJob, registerParallelJob } from '../../exec/parallel.ts';
import { threadArenas } from '../../exec/thread-memory.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { type ColumnSummary, type SummaryOptions, summarizeColumn } from './column-summary.ts';

export interface SummaryJob {
  readonly columns: readonly ColumnSnapshot[];
  readonly options: SummaryOptions;
}

export const summaryJob: ParallelJob<SummaryJob, ColumnSummary> = registerParallelJob({
  name: 'summary/column',
  execute: ({ columns, options }, index, scope) =>
    summarizeColumn(columns[index] as ColumnSnapshot, threadArenas(), options, () =>
      scope.checkCancelled(),
    ),
});
