// The tasks of an engine worker by kind.
import type { Task } from '../../exec/task.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';
import { batchTask } from './batch.ts';
import { commitTask, readTask, recordTask, viewTask } from './dataset.ts';
import { applyTask, bindTask, detailsTask, linesTask } from './function.ts';
import { procedureTask } from './procedure.ts';
import { queryTask } from './query.ts';

/** The library that knows the format of files is large: it is loaded with the first of them. */
const loadFileTasks = () => import('./dataset-file.ts');

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
  save: async (...all) => (await loadFileTasks()).saveTask(...all),
  open: async (...all) => (await loadFileTasks()).openTask(...all),
  saveUrl: async (...all) => (await loadFileTasks()).saveUrlTask(...all),
  loadUrl: async (...all) => (await loadFileTasks()).loadUrlTask(...all),
  view: viewTask,
  read: readTask,
  procedure: procedureTask,
  bind: bindTask,
  apply: applyTask,
  lines: linesTask,
  details: detailsTask,
  batch: batchTask,
};
