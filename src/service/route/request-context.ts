// Whose work is being done: follows a request through everything that it causes on this thread.
import { contextValue, runWithContext } from '../../util/async-context.ts';
import { automaticRequestId } from '../id.ts';
import { ROLES, type Role } from './request.ts';

export interface RequestContext {
  /** what the caller may do */
  readonly role: Role;
  /** aborted when nobody waits for the answer any more */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** the sandboxes whose scripts wait for this work, outermost first */
  readonly sandboxes: readonly object[];
}

/** The context of the running work; undefined for work that nobody has asked for. */
export function callContext(): RequestContext | undefined {
  return contextValue() as RequestContext | undefined;
}

export function runInContext<Result>(context: RequestContext, work: () => Result): Result {
  return runWithContext(context, work);
}

/**
 * Runs work for two at once, for instance for the caller of a function and its creator: the
 * lower of both roles counts.
 */
export function runWithAtMost<Result>(role: Role, work: () => Result): Result {
  const context = callContext();
  if (context === undefined || lowerRole(role, context.role) === context.role) return work();
  const { signal, requestId, sandboxes } = context;
  return runInContext({ role, signal, requestId, sandboxes }, work);
}

export function lowerRole(a: Role, b: Role): Role {
  return ROLES.indexOf(a) < ROLES.indexOf(b) ? a : b;
}

/** Runs work of the service itself, which may do everything and is never cancelled. */
export function runForService<Result>(work: () => Result): Result {
  const { signal } = new AbortController();
  return runInContext(
    { role: 'admin', signal, requestId: automaticRequestId(), sandboxes: [] },
    work,
  );
}
