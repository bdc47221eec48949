// A task as the code that runs in an engine worker sees it.
import { failure } from '../util/error.ts';
import type { JobContext, Parallel } from './parallel.ts';

export interface Task extends JobContext {
  readonly parallel: Parallel;
  /**
   * true: where memory is short, slower ways that need less are taken; false: the task fails, and
   * begins anew with more
   */
  readonly isFrugal: boolean;
  /** Tells the service how far the task is; plain data, the latest wins. */
  progress(document: unknown): void;
  /** Sends a piece of the result; blocks while the receiver is too far behind. */
  emit(bytes: Uint8Array): void;
  /** Sends the last piece together with the end of the task, which saves a message. */
  emitLast(bytes: Uint8Array): void;
  /** Asks the service something and blocks until it answers. @throws RowanError of the answer */
  callHost(request: unknown): unknown;
}

export function cancelled(): Error {
  return failure('CANCELLED', 'the task was cancelled');
}
