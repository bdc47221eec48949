// What a file probably holds, and how it would be imported.
import type { Task } from '../../../exec/task.ts';
import { guessImport } from '../../../format/guess/guess.ts';
import { parseJson } from '../../../util/exact-json.ts';
import { atomToPlainJsonText } from '../../../value/json.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

export async function guessTask(
  { url, rows }: EngineTasks['guess']['args'],
  _task: Task,
  { files }: WorkerContext,
): Promise<EngineTasks['guess']['result']> {
  const guess = await guessImport(await files.open(url), rows);
  return {
    ...guess,
    rows: guess.rows.map((row) => row.map((atom) => parseJson(atomToPlainJsonText(atom)))),
  };
}
