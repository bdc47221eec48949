import { loadFormat } from '../../../exec/output/format.ts';
import type { Task } from '../../../exec/task.ts';
import { writeQuery } from '../../../exec/write-query.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

export async function queryTask(
  { text, format, output, columnOrder, strict, seed }: EngineTasks['query']['args'],
  task: Task,
  { mirror, callScope, executor, queries }: WorkerContext,
): Promise<EngineTasks['query']['result']> {
  await loadFormat(format);
  queries.keepFor(mirror.generation);
  // One piece is held back, so that the last of them travels with the end of the task.
  let last: Uint8Array | undefined;
  const handOn = (send: (bytes: Uint8Array) => void) => {
    if (last !== undefined) send(last);
  };
  let rowCount: number;
  try {
    rowCount = writeQuery(text, {
      namespace: mirror,
      scope: callScope,
      executor,
      format,
      output,
      columnOrder,
      strict,
      seed,
      warn: (warnings) => task.progress(warnings),
      cache: queries,
      emit(piece) {
        handOn((bytes) => task.emit(bytes));
        last = piece;
      },
    });
  } catch (thrown) {
    handOn((bytes) => task.emit(bytes));
    throw thrown;
  }
  handOn((bytes) => task.emitLast(bytes));
  return { rowCount };
}
