// What SQL functions may reach while a task runs in this thread: its cancel flag, and the service.
import { type Parallel, serialParallel } from '../../exec/parallel.ts';
import type { Task } from '../../exec/task.ts';
import type { CallContext, CallHost } from '../../plan/function.ts';
import { assert } from '../../util/assert.ts';
import type { Value } from '../../value/value.ts';
import { valueFromWire, valueToWire } from '../../value/wire-value.ts';
import type { Role } from '../route/request.ts';
import { lowerRole } from '../route/request-context.ts';
import type { HostReplies, HostRequest } from './host-call.ts';

/** How often a task that waits looks at its cancel flag. */
const CANCEL_CHECK_INTERVAL_MS = 20;

export class TaskContext implements CallContext {
  #task: Task | undefined;
  /** what is done at the end of the task, the last first */
  #endings: (() => void)[] = [];
  /** of whoever made what is being evaluated; undefined: nobody limits it */
  #roleMax: Role | undefined;

  /** The scope belongs to the task until the work is done. */
  async during<Result>(task: Task, work: () => Result | Promise<Result>): Promise<Result> {
    this.#task = task;
    this.#roleMax = undefined;
    try {
      return await work();
    } finally {
      this.#task = undefined;
      for (const end of this.#endings.splice(0).reverse()) end();
    }
  }

  /** Called once the running task is done, however it ends. */
  atEnd(action: () => void): void {
    assert(this.#task !== undefined, 'a task is running');
    this.#endings.push(action);
  }

  /** What is asked of the service meanwhile is asked for the lower of two roles at most. */
  withAtMost<Result>(role: Role, work: () => Result): Result {
    const before = this.#roleMax;
    this.#roleMax = before === undefined ? role : lowerRole(before, role);
    try {
      return work();
    } finally {
      this.#roleMax = before;
    }
  }

  checkCancelled(): void {
    this.#task?.checkCancelled();
  }

  /** Waits for something that comes from outside this thread, but not beyond a cancel. */
  async waitFor<Result>(promise: Promise<Result>): Promise<Result> {
    const task = this.#task;
    if (task === undefined) return promise;
    let timer: NodeJS.Timeout | undefined;
    const cancelled = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        try {
          task.checkCancelled();
        } catch (thrown) {
          reject(thrown);
        }
      }, CANCEL_CHECK_INTERVAL_MS);
    });
    try {
      return await Promise.race([promise, cancelled]);
    } finally {
      clearInterval(timer);
    }
  }

  /** The threads that the running task may use. */
  get parallel(): Parallel {
    return this.#task?.parallel ?? serialParallel(this);
  }

  /** What `Task.isFrugal` says of the running task. */
  get isFrugal(): boolean {
    return this.#task?.isFrugal ?? true;
  }

  /** Asks the service and waits. */
  call<Kind extends HostRequest['kind']>(
    request: Extract<HostRequest, { kind: Kind }>,
  ): HostReplies[Kind] {
    assert(this.#task !== undefined, 'only a task asks the service');
    const roleMax = this.#roleMax;
    const limited = roleMax === undefined ? request : { ...request, roleMax };
    return this.#task.callHost(limited) as HostReplies[Kind];
  }

  get host(): CallHost | undefined {
    if (this.#task === undefined) return undefined;
    return {
      fetchUrl: (url) => this.call({ kind: 'fetch', url }),
      callScript: (source, parameters, calls): Value[] =>
        this.call({
          kind: 'script',
          source,
          parameters,
          calls: calls.map((args) => args.map(valueToWire)),
        }).map(valueFromWire),
      runScript: (script, args) => this.call({ kind: 'run-script', script, args }),
    };
  }
}
