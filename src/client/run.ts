// One run of a procedure, followed from its start to its end.

import { failure, RowanError } from '../util/error.ts';
import { encodePathElement } from '../util/path-element.ts';
import type { Caller } from './caller.ts';
import { serverEvents } from './event-stream.ts';
import { isErrorBody } from './reply.ts';

export type RunState = 'initializing' | 'executing' | 'finished' | 'error' | 'cancelled';

export interface ProgressStep {
  readonly name: string;
  /** the unit of `value`: a fraction, lines, a count, or 0 and 1 */
  readonly type: 'percentile' | 'lines' | 'counter' | 'done';
  readonly value: number;
  readonly started?: string;
  readonly ended?: string;
}

export interface Progress {
  readonly steps?: readonly ProgressStep[];
  readonly [more: string]: unknown;
}

export interface RunDocument<Results = unknown> {
  readonly id: string;
  readonly state: RunState;
  readonly runStarted?: string;
  readonly runFinished?: string;
  /** what a finished run has to say */
  readonly status?: Results;
  readonly progress?: Progress;
}

export type RunEvent =
  | { readonly event: 'state'; readonly data: { readonly id: string; readonly state: RunState } }
  | { readonly event: 'progress'; readonly data: Progress }
  | {
      readonly event: 'log';
      readonly data: { readonly ts: string; readonly level: string; readonly message: string };
    }
  | { readonly event: 'result'; readonly data: RunDocument };

/** Members that a procedure has nothing to say for are left out. */
export interface RunOutcome<Results = unknown> {
  readonly results?: Results;
  readonly details?: unknown;
}

export interface RunConfig {
  /** the run stays listed under it; without one it is forgotten when it has been awaited */
  readonly id?: string;
  /** merged over those of the procedure */
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface RunOptions {
  /** cancels the run, for instance `AbortSignal.timeout(60_000)` */
  readonly signal?: AbortSignal;
}

/** A comment comes every 15 seconds when nothing else does. */
const SILENCE_MS_MAX = 60_000;
const RECONNECTION_COUNT_MAX = 5;
const RECONNECTION_DELAY_MS = 200;

/** Works from the moment it is made. Await it, or iterate over what it reports; or both. */
export class RunObject<Results = unknown> implements Promise<RunOutcome<Results>> {
  readonly #caller: Caller;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  readonly #isListed: boolean;
  readonly #started: Promise<string>;
  #outcome: Promise<RunOutcome<Results>> | undefined;
  readonly [Symbol.toStringTag] = 'RunObject';

  /** @param path of the runs of the procedure */
  constructor(caller: Caller, path: string, config: RunConfig, { signal }: RunOptions) {
    this.#caller = caller;
    this.#path = path;
    this.#signal = signal;
    this.#isListed = config.id !== undefined;
    this.#started = this.#start(config);
    this.#started.catch(() => undefined); // a caller that awaits the run gets the failure
  }

  /** Its id, once it has started. */
  id(): Promise<string> {
    return this.#started;
  }

  /** The latest that is known of it. */
  async document(): Promise<RunDocument<Results>> {
    return this.#caller.request('GET', await this.#runPath());
  }

  /** Asks it to stop; awaiting it then fails with CANCELLED. */
  async cancel(): Promise<void> {
    const body = { state: 'cancelled' };
    await this.#caller.request('PUT', `${await this.#runPath()}/state`, { body });
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a run waits for its end
  then<A = RunOutcome<Results>, B = never>(
    onOutcome?: ((outcome: RunOutcome<Results>) => A | PromiseLike<A>) | null,
    onFailure?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#outcome ??= this.#finish();
    return this.#outcome.then(onOutcome, onFailure);
  }

  catch<B = never>(
    onFailure?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<RunOutcome<Results> | B> {
    return this.then(undefined, onFailure);
  }

  finally(onEnd?: (() => void) | null): Promise<RunOutcome<Results>> {
    return this.then().finally(onEnd);
  }

  /** What it reports, up to its result; who stops reading leaves it to itself. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    try {
      yield* this.#events();
    } catch (thrown) {
      if (this.#signal?.aborted === true) await this.cancel().catch(() => undefined);
      throw thrown;
    }
  }

  async #start({ id, params = {} }: RunConfig): Promise<string> {
    const signal = this.#signal;
    const body = { ...(id === undefined ? {} : { id }), params };
    const call = { body, headers: { async: 'true' }, signal };
    return (await this.#caller.request<RunDocument>('POST', this.#path, call)).id;
  }

  async #runPath(): Promise<string> {
    return `${this.#path}/${encodePathElement(await this.#started)}`;
  }

  async #finish(): Promise<RunOutcome<Results>> {
    await this.#started;
    try {
      for await (const { event, data } of this) {
        if (event === 'result') return await this.#outcomeOf(data as RunDocument<Results>);
      }
      throw failure('INTERNAL', 'the events of the run ended before it did');
    } finally {
      if (!this.#isListed) {
        await this.#caller.perform('DELETE', await this.#runPath()).catch(() => undefined);
      }
    }
  }

  async #outcomeOf({
    id,
    state,
    status,
    progress,
  }: RunDocument<Results>): Promise<RunOutcome<Results>> {
    if (state === 'error') {
      const exception = progress?.exception;
      if (isErrorBody(exception)) throw RowanError.fromBody(exception);
      throw failure('RUN_FAILED', `run '${id}' failed`);
    }
    if (state === 'cancelled') throw failure('CANCELLED', `run '${id}' was cancelled`);
    const details = await this.#caller.request('GET', `${await this.#runPath()}/details`);
    return {
      ...(status === undefined ? {} : { results: status }),
      ...(details === undefined || details === null ? {} : { details }),
    };
  }

  /** Events of the service, over as many connections as it takes. */
  async *#events(): AsyncGenerator<RunEvent, void, undefined> {
    const path = `${await this.#runPath()}/events`;
    let after = 0;
    let failureCount = 0;
    for (;;) {
      const call = { query: { after }, signal: this.#signal, timeoutMs: SILENCE_MS_MAX };
      try {
        for await (const { id, event, data } of serverEvents(
          this.#caller.stream('GET', path, call),
        )) {
          if (event === 'shutdown') {
            throw failure('SHUTTING_DOWN', { form: 'run' });
          }
          after = id;
          failureCount = 0;
          yield { event, data } as RunEvent;
          if (event === 'result') return;
        }
        return;
      } catch (thrown) {
        failureCount++;
        if (!isBroken(thrown) || failureCount > RECONNECTION_COUNT_MAX) throw thrown;
      }
      await new Promise((resolve) => setTimeout(resolve, failureCount * RECONNECTION_DELAY_MS));
    }
  }
}

function isBroken(thrown: unknown): boolean {
  return thrown instanceof RowanError && ['UNREACHABLE', 'TIMEOUT'].includes(thrown.code);
}
