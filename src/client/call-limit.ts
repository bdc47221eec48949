// Ends calls early: the caller's signal, a time limit, the closing of the client; and their errors.
import { failure, type RowanError } from '../util/error.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** how long to wait for a reply, and then for each piece of it; default: of the connection */
  readonly timeoutMs?: number | undefined;
}

/** The abort signal of one call, and the error that its early end is told by. */
export class CallLimit {
  readonly #controller = new AbortController();
  readonly #given: AbortSignal | undefined;
  readonly #timeoutMs: number | undefined;
  readonly #onAbort = () => this.cancel(this.#given?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #error: RowanError | undefined;

  constructor({ signal, timeoutMs }: CallOptions) {
    this.#given = signal;
    this.#timeoutMs = timeoutMs;
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.extend();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something has arrived: the clock starts again. */
  extend(): void {
    clearTimeout(this.#timer);
    const timeoutMs = this.#timeoutMs;
    if (timeoutMs === undefined || this.#error !== undefined) return;
    this.#timer = setTimeout(
      () => this.#stop(failure('TIMEOUT', `no answer within ${timeoutMs} ms`, { timeoutMs })),
      timeoutMs,
    );
  }

  /** Waits for a part of the call, no longer than the limit allows. @throws CANCELLED, TIMEOUT */
  async wait<T>(work: Promise<T>): Promise<T> {
    let onStop: () => void = () => {};
    const stopped = new Promise<never>((_, reject) => {
      onStop = () => reject(this.#error);
    });
    this.signal.addEventListener('abort', onStop, { once: true });
    if (this.#error !== undefined) onStop();
    try {
      return await Promise.race([work, stopped]);
    } catch (thrown) {
      throw this.#error ?? thrown;
    } finally {
      this.signal.removeEventListener('abort', onStop);
      work.catch(() => undefined);
    }
  }

  /** The call is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#onAbort);
  }

  /** Nobody waits for the rest. */
  cancel(reason?: unknown): void {
    const error = failure('CANCELLED', 'the call was cancelled by its caller');
    error.cause = reason;
    this.#stop(error);
  }

  #stop(error: RowanError): void {
    clearTimeout(this.#timer);
    this.#error = error;
    this.#controller.abort(error);
  }
}
