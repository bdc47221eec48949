// Pieces on their way to a file.

/** Writes one piece while the next one is made. */
export class WriteQueue {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #pending: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Waits for the piece before. @throws what writing that one threw */
  async add(bytes: Uint8Array): Promise<void> {
    await this.#pending;
    if (bytes.length === 0) return;
    this.#pending = this.#write(bytes);
    // A failure is thrown by the next call.
    this.#pending.catch(() => undefined);
  }

  /** Waits for the last piece. */
  async end(): Promise<void> {
    await this.#pending;
  }
}
