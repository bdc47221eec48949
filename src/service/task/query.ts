import { loadFormat } from '../../exec/output/format.ts';
import { writeQuery } from '../../exec/query.ts';
import type { Task } from '../../exec/task.ts';
import { isVectorNode } from '../../exec/vector/accelerate.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

export async function queryTask(
  { text, format, output }: EngineTasks['query']['args'],
  task: Task,
  { mirror, callScope, accelerate }: WorkerContext,
): Promise<undefined> {
  await loadFormat(format);
  writeQuery(text, {
    catalog: mirror,
    scope: callScope,
    accelerate,
    pathOf: (node) => (isVectorNode(node) ? 'vector' : undefined),
    format,
    output,
    emit: (bytes) => task.emit(bytes),
  });
}
