// The tasks of an engine worker by kind.
import type { Task } from '../../exec/task.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';
import { batchTask } from './batch.ts';
import { commitTask, openTask, readTask, recordTask, saveTask, viewTask } from './dataset.ts';
import { loadUrlTask, saveUrlTask } from './dataset-file.ts';
import { applyTask, bindTask, detailsTask, linesTask } from './function.ts';
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
  save: saveTask,
  open: openTask,
  saveUrl: saveUrlTask,
  loadUrl: loadUrlTask,
  view: viewTask,
  read: readTask,
  procedure: procedureTask,
  bind: bindTask,
  apply: applyTask,
  lines: linesTask,
  details: detailsTask,
  batch: batchTask,
};
