// Replies whose bytes come from a task. The first part is held back, so that an early failure
// still gets a clean error reply.
import type { EngineTasks } from '../engine/engine-task.ts';
import type { Service } from '../service.ts';
import type { ReplySpool, SpoolFile } from './reply-spool.ts';
import type { Reply } from './request.ts';

const HELD_BACK_SIZE_MAX = 256 * 1024;

export interface StreamOptions {
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** buffers of the arguments that are handed over instead of copied */
  readonly transfer?: readonly ArrayBuffer[];
  /** Headers for what the task said of its progress before its first bytes. */
  headersOf?(document: unknown): Record<string, string>;
  /** Bytes that tell a reader of a broken stream what happened. */
  onBreak?(error: unknown): Uint8Array | undefined;
}

/** @throws the failure of the task when less than 256 KiB were ready */
export async function streamTask<Kind extends 'query' | 'read' | 'apply' | 'batch'>(
  service: Service,
  kind: Kind,
  args: EngineTasks[Kind]['args'],
  { contentType, signal, transfer = [], headersOf, onBreak }: StreamOptions,
): Promise<Reply> {
  const abort = new AbortController();
  const cancel = () => abort.abort();
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  let headers: { headers?: Record<string, string> } = {};
  const onProgress = (document: unknown) => {
    if (headersOf !== undefined) headers = { headers: headersOf(document) };
  };
  const pipe = new BytePipe(service.spool, cancel);
  const work = service
    .compute(kind, args, {
      signal: abort.signal,
      transfer,
      onProgress,
      onChunk: (bytes) => pipe.write(bytes),
    })
    .then(async (result) => {
      if (result !== undefined) service.tally.queryRowCount += result.rowCount;
      await pipe.end();
    })
    .catch((error: unknown) => pipe.fail(error, onBreak?.(error)))
    .finally(() => signal.removeEventListener('abort', cancel));
  await pipe.held;
  if (pipe.isOpen) return { status: 200, contentType, ...headers, stream: pipe.read(), work };
  await work;
  if (pipe.error !== undefined) throw pipe.error.thrown;
  return { status: 200, contentType, ...headers, bytes: pipe.takeAll() };
}

/** How long the worker of one reply waits for its reader in all. */
const PATIENCE_MS = 250;

/**
 * Bytes between a task and a reader. The task waits a little when the reader is behind; from then
 * on what the reader has not taken goes to disk.
 */
class BytePipe {
  /** settles when enough bytes are there to answer, or when there will be no more */
  readonly held: Promise<void>;
  error: { readonly thrown: unknown } | undefined;
  readonly #spool: ReplySpool;
  readonly #cancel: () => void;
  #isHeld = true;
  #releaseHeld: () => void = () => {};
  #ended = false;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #patienceMs = PATIENCE_MS;
  /** holds what comes after the chunks, while it is not empty */
  #file: SpoolFile | undefined;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  constructor(spool: ReplySpool, cancel: () => void) {
    this.#spool = spool;
    this.#cancel = cancel;
    this.held = new Promise((resolve) => {
      this.#releaseHeld = resolve;
    });
  }

  /** true: the reply began before the task had ended */
  get isOpen(): boolean {
    return !this.#ended;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.error !== undefined) throw this.error.thrown;
    if (this.#file?.isEmpty === false || (this.#isFull && this.#patienceMs <= 0)) {
      this.#file ??= await this.#spool.createFile((error) => this.#break(error));
      await this.#file.write(bytes);
      this.#wakeReader();
      return;
    }
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    this.#wakeReader();
    if (!this.#isFull) return;
    if (this.#isHeld) this.#release();
    await this.#waitForReader();
  }

  get #isFull(): boolean {
    return this.#size >= HELD_BACK_SIZE_MAX;
  }

  async #waitForReader(): Promise<void> {
    if (this.#patienceMs <= 0) return;
    const started = performance.now();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#patienceMs);
      this.#wakeWriter = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#patienceMs -= performance.now() - started;
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#release();
    this.#wakeReader();
  }

  async fail(thrown: unknown, lastBytes: Uint8Array | undefined): Promise<void> {
    if (this.error === undefined && !this.#isHeld && lastBytes !== undefined) {
      if (this.#file?.isEmpty === false) await this.#file.write(lastBytes).catch(() => undefined);
      else this.#chunks.push(lastBytes);
    }
    this.error ??= { thrown };
    await this.end();
  }

  /** The bytes on disk are lost: the reader gets no further, and the task is of no use. */
  #break(thrown: unknown): void {
    this.error = { thrown };
    this.#ended = true;
    this.#wakeReader();
    this.#cancel();
  }

  takeAll(): Uint8Array {
    return this.#chunks.length === 1
      ? (this.#chunks[0] as Uint8Array)
      : Buffer.concat(this.#chunks);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#size -= chunk.length;
          if (!this.#isFull) this.#wakeWriter();
          yield chunk;
        } else if (this.#file?.isEmpty === false) yield await this.#file.read();
        else if (this.#ended) break;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
      if (this.error !== undefined) throw this.error.thrown;
    } finally {
      this.#wakeWriter();
      this.#file?.close();
      if (!this.#ended) this.#cancel();
    }
  }

  #release(): void {
    this.#isHeld = false;
    this.#releaseHeld();
  }
}
