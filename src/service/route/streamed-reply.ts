// Replies whose bytes come from a task. The first part is held back, so that an early failure
// still gets a clean error reply.
import type { EngineTasks } from '../engine/engine-task.ts';
import type { Service } from '../service.ts';
import type { Reply } from './request.ts';

const HELD_BACK_SIZE_MAX = 256 * 1024;

export interface StreamOptions {
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** buffers of the arguments that are handed over instead of copied */
  readonly transfer?: readonly ArrayBuffer[];
  /** Bytes that tell a reader of a broken stream what happened. */
  onBreak?(error: unknown): Uint8Array | undefined;
}

/** @throws the failure of the task when less than 256 KiB were ready */
export async function streamTask<Kind extends 'query' | 'read' | 'apply' | 'batch'>(
  service: Service,
  kind: Kind,
  args: EngineTasks[Kind]['args'],
  { contentType, signal, transfer = [], onBreak }: StreamOptions,
): Promise<Reply> {
  const pipe = new BytePipe();
  const abort = new AbortController();
  const cancel = () => abort.abort();
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const work = service
    .compute(kind, args, { signal: abort.signal, transfer, onChunk: (bytes) => pipe.write(bytes) })
    .then((result) => {
      if (result !== undefined) service.tally.queryRowCount += result.rowCount;
      pipe.end();
    })
    .catch((error: unknown) => pipe.fail(error, onBreak?.(error)))
    .finally(() => signal.removeEventListener('abort', cancel));
  await pipe.held;
  if (pipe.isOpen) {
    return { status: 200, contentType, stream: pipe.read(cancel) };
  }
  await work;
  if (pipe.error !== undefined) throw pipe.error.thrown;
  return { status: 200, contentType, bytes: pipe.takeAll() };
}

/** Bytes between a task and a reader; the task waits when the reader is behind. */
class BytePipe {
  /** settles when enough bytes are there to answer, or when there will be no more */
  readonly held: Promise<void>;
  error: { readonly thrown: unknown } | undefined;
  #isHeld = true;
  #releaseHeld: () => void = () => {};
  #ended = false;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  constructor() {
    this.held = new Promise((resolve) => {
      this.#releaseHeld = resolve;
    });
  }

  /** true: the reply began before the task had ended */
  get isOpen(): boolean {
    return !this.#ended;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    this.#wakeReader();
    if (this.#size < HELD_BACK_SIZE_MAX) return;
    if (this.#isHeld) this.#release();
    await new Promise<void>((resolve) => {
      this.#wakeWriter = resolve;
    });
  }

  end(): void {
    this.#ended = true;
    this.#release();
    this.#wakeReader();
  }

  fail(thrown: unknown, lastBytes: Uint8Array | undefined): void {
    this.error = { thrown };
    if (!this.#isHeld && lastBytes !== undefined) this.#chunks.push(lastBytes);
    this.end();
  }

  takeAll(): Uint8Array {
    return this.#chunks.length === 1
      ? (this.#chunks[0] as Uint8Array)
      : Buffer.concat(this.#chunks);
  }

  async *read(cancel: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#size -= chunk.length;
          if (this.#size < HELD_BACK_SIZE_MAX) this.#wakeWriter();
          yield chunk;
        } else if (this.#ended) break;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
      if (this.error !== undefined) throw this.error.thrown;
    } finally {
      this.#wakeWriter();
      if (!this.#ended) cancel();
    }
  }

  #release(): void {
    this.#isHeld = false;
    this.#releaseHeld();
  }
}
