// Sandboxes for work that leaves nothing behind: script runs and functions of queries.
import { callContext } from '../service/route/request-context.ts';
import { failure } from '../util/error.ts';
import type { SandboxTaskKind, SandboxTasks } from './message.ts';
import { type CallOptions, Sandbox, type SandboxOptions } from './sandbox.ts';

export interface SandboxPoolOptions extends SandboxOptions {
  /** scripts that compute at the same time; those that wait for the service do not count */
  readonly computingCountMax: number;
}

/** Scripts that wait for one another more deeply than this are taken for endless recursion. */
const SANDBOX_COUNT_MAX = 48;

export class SandboxPool {
  readonly #options: SandboxPoolOptions;
  readonly #sandboxes = new Set<Sandbox>();
  readonly #queue: { start(sandbox: Sandbox): void; reject(error: unknown): void }[] = [];
  #isClosed = false;

  constructor(options: SandboxPoolOptions) {
    this.#options = options;
  }

  /** @throws what the sandbox throws; OVERLOADED when scripts wait for one another without end */
  call<Kind extends SandboxTaskKind>(
    kind: Kind,
    args: SandboxTasks[Kind]['args'],
    options: CallOptions,
  ): Promise<SandboxTasks[Kind]['result']> {
    if (this.#isClosed) return Promise.reject(failure('SHUTTING_DOWN', { form: 'closed' }));
    // It may begin when another call ends, which has a context of its own.
    const inContext = { ...options, context: options.context ?? callContext() };
    return new Promise((resolve, reject) => {
      this.#queue.push({
        start: (sandbox) => resolve(sandbox.call(kind, args, inContext)),
        reject,
      });
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#queue.splice(0)) {
      reject(failure('SHUTTING_DOWN', { form: 'closed' }));
    }
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.close()));
    this.#sandboxes.clear();
  }

  /**
   * A script that waits may wait for one that is queued, so only computing ones fill the pool.
   */
  #dispatch(): void {
    this.#retire();
    while (this.#queue.length > 0) {
      const computing = [...this.#sandboxes].filter(
        (sandbox) => !sandbox.isIdle && !sandbox.isBlocked,
      );
      if (computing.length >= this.#options.computingCountMax) return;
      const idle = [...this.#sandboxes].find((sandbox) => sandbox.isIdle);
      if (idle === undefined && this.#sandboxes.size >= SANDBOX_COUNT_MAX) {
        this.#queue
          .shift()
          ?.reject(failure('OVERLOADED', 'scripts wait for one another too deeply'));
        continue;
      }
      this.#queue.shift()?.start(idle ?? this.#add());
    }
  }

  #add(): Sandbox {
    const sandbox = new Sandbox(this.#options);
    sandbox.onChange = () => this.#dispatch();
    this.#sandboxes.add(sandbox);
    return sandbox;
  }

  /** Drops what ended, what has grown too large, and idle ones that deep recursion left. */
  #retire(): void {
    let idleCount = 0;
    for (const sandbox of this.#sandboxes) {
      const isIdle = sandbox.isAlive && sandbox.isIdle;
      if (isIdle) idleCount++;
      const isSurplus = isIdle && idleCount > this.#options.computingCountMax;
      if (sandbox.isAlive && !(isIdle && sandbox.isSpent) && !isSurplus) continue;
      this.#sandboxes.delete(sandbox);
      sandbox.onChange = () => {};
      if (sandbox.isAlive) void sandbox.close();
    }
  }
}
