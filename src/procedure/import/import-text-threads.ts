// The parallel jobs of import.text.
import type { ParallelJob } from '../../exec/parallel.ts';
import { registerParallelJob } from '../../exec/parallel.ts';
import { threadArenas } from '../../exec/thread-memory.ts';
import type { CsvJob, CsvUnitResult } from '../../format/csv/csv-job.ts';
import { parseCsvUnit } from '../../format/csv/csv-unit.ts';
import type { CsvThreads } from '../../format/csv/fast-import.ts';
import type { RecodeJob } from '../../format/csv/recode.ts';
import { recodeUnit } from '../../format/csv/recode.ts';
import type { ProcedureContext } from '../procedure-type.ts';

/** Called after each unit that this thread has parsed, while it waits for the others. */
let afterUnit: (() => void) | undefined;

const parseJob: ParallelJob<CsvJob, CsvUnitResult> = registerParallelJob({
  name: 'import.text/parse',
  execute(job, unitIndex, scope) {
    const result = parseCsvUnit(job, unitIndex, scope, threadArenas());
    afterUnit?.();
    return result;
  },
});

const recodeJob: ParallelJob<RecodeJob, undefined> = registerParallelJob({
  name: 'import.text/recode',
  execute(job, unitIndex) {
    recodeUnit(job, unitIndex, threadArenas());
    return undefined;
  },
});

/** @param onUnit may look at the progress and report it; must not throw */
export function importThreads(
  context: Pick<ProcedureContext, 'parallel' | 'checkCancelled'>,
  onUnit: () => void,
  onProgress: (lineCount: number) => void,
): CsvThreads {
  const { parallel } = context;
  return {
    threadCount: parallel.threadCount,
    parse(job, unitCount) {
      afterUnit = onUnit;
      try {
        return parallel.run(parseJob, job, unitCount);
      } finally {
        afterUnit = undefined;
      }
    },
    recode(job, unitCount) {
      parallel.run(recodeJob, job, unitCount);
    },
    checkCancelled: () => context.checkCancelled(),
    progress: onProgress,
  };
}
