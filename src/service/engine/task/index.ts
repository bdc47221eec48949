// The tasks of an engine worker by kind.
import type { Task } from '../../../exec/task.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';
import { batchTask } from './batch.ts';
import {
  appendExternalTask,
  commitTask,
  loadExternalTask,
  readTask,
  recordTask,
  viewTask,
} from './dataset.ts';
import { applyTask, bindTask, detailsTask, functionRouteTask, linesTask } from './function.ts';
import { guessTask } from './guess.ts';
import { procedureTask } from './procedure.ts';
import { profileTask } from './profile.ts';
import { queryTask } from './query.ts';

/** The library that knows the format of files is large: it is loaded with the first of them. */
const loadFileTasks = ({ callScope }: WorkerContext) =>
  callScope.waitFor(import('./dataset-file.ts'));

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
  appendExternal: appendExternalTask,
  loadExternal: loadExternalTask,
  save: async (args, task, context) => (await loadFileTasks(context)).saveTask(args, task, context),
  open: async (args, task, context) => (await loadFileTasks(context)).openTask(args, task, context),
  columns: async (args, task, context) =>
    (await loadFileTasks(context)).columnsTask(args, task, context),
  saveUrl: async (args, task, context) =>
    (await loadFileTasks(context)).saveUrlTask(args, task, context),
  loadUrl: async (args, task, context) =>
    (await loadFileTasks(context)).loadUrlTask(args, task, context),
  view: viewTask,
  read: readTask,
  guess: guessTask,
  profile: profileTask,
  procedure: procedureTask,
  bind: bindTask,
  apply: applyTask,
  lines: linesTask,
  functionRoute: functionRouteTask,
  details: detailsTask,
  batch: batchTask,
};
