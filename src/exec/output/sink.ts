// Text of results collected into byte chunks of 64 to 256 KiB.

/** Receives the bytes of a result in order; may block while the reader is behind. */
export type Emit = (bytes: Uint8Array) => void;

const CHUNK_SIZE_BYTES = 65_536;
/** Text that surely fits a chunk's worth of bytes is gathered before it is encoded. */
const PENDING_LENGTH_MAX = 16_384;

const encoder = new TextEncoder();

/** Gathers text and bytes, and hands them on in chunks. */
export class ChunkSink {
  readonly #emit: Emit;
  #pending: string[] = [];
  #pendingLength = 0;
  #buffer = new Uint8Array(CHUNK_SIZE_BYTES);
  #size = 0;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  write(text: string): void {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= PENDING_LENGTH_MAX) this.#encodePending();
  }

  writeBytes(bytes: Uint8Array): void {
    this.#encodePending();
    this.#append(bytes);
  }

  /** Hands on what is left. */
  end(): void {
    this.#encodePending();
    this.#flush();
  }

  #encodePending(): void {
    if (this.#pendingLength === 0) return;
    this.#append(encoder.encode(this.#pending.join('')));
    this.#pending = [];
    this.#pendingLength = 0;
  }

  #append(bytes: Uint8Array): void {
    if (this.#size + bytes.length > this.#buffer.length) this.#flush();
    if (bytes.length >= this.#buffer.length) {
      this.#emit(bytes);
      return;
    }
    this.#buffer.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  #flush(): void {
    if (this.#size === 0) return;
    this.#emit(this.#buffer.subarray(0, this.#size));
    this.#buffer = new Uint8Array(CHUNK_SIZE_BYTES);
    this.#size = 0;
  }
}
