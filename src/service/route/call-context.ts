// Whose work is being done: follows a request through everything that it causes on this thread.
import { contextValue, runWithContext } from '../../util/async-context.ts';
import { automaticRequestId } from '../id.ts';
import type { Role } from './request.ts';

export interface CallContext {
  /** what the caller may do */
  readonly role: Role;
  /** aborted when nobody waits for the answer any more */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** the sandboxes whose scripts wait for this work, outermost first */
  readonly sandboxes: readonly object[];
}

/** The context of the running work; undefined for work that nobody has asked for. */
export function callContext(): CallContext | undefined {
  return contextValue() as CallContext | undefined;
}

export function runInContext<Result>(context: CallContext, work: () => Result): Result {
  return runWithContext(context, work);
}

/** Runs work of the service itself, which may do everything and is never cancelled. */
export function runForService<Result>(work: () => Result): Result {
  const { signal } = new AbortController();
  return runInContext(
    { role: 'admin', signal, requestId: automaticRequestId(), sandboxes: [] },
    work,
  );
}
