// The tasks of an engine worker by kind.
import type { Task } from '../../exec/task.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';
import { commitTask, readTask, recordTask, viewTask } from './dataset.ts';
import { applyTask, batchTask, bindTask, detailsTask } from './function.ts';
import { procedureTask } from './procedure.ts';
import { queryTask } from './query.ts';

export const TASKS: {
  readonly [Kind in keyof EngineTasks]: (
    args: EngineTasks[Kind]['args'],
    task: Task,
    context: WorkerContext,
  ) => EngineTasks[Kind]['result'] | Promise<EngineTasks[Kind]['result']>;
} = {
  query: queryTask,
  record: recordTask,
  commit: commitTask,
  view: viewTask,
  read: readTask,
  procedure: procedureTask,
  bind: bindTask,
  apply: applyTask,
  details: detailsTask,
  batch: batchTask,
};
