// Text of results collected into byte chunks: two small ones, so that a reader has something to begin
// with, then of 64 to 256 KiB.

/** Receives the bytes of a result in order; may block while the reader is behind. */
export type Emit = (bytes: Uint8Array) => void;

const CHUNK_SIZE_BYTES = 65_536;
/** One piece is held back until the next is there, so two have to be small. */
const SMALL_CHUNK_COUNT = 2;
/** Text that surely fits a chunk's worth of bytes is gathered before it is encoded. */
const PENDING_LENGTH_MAX = 16_384;

const encoder = new TextEncoder();

/** Gathers text and bytes, and hands them on in chunks. */
export class ChunkSink {
  readonly #emit: Emit;
  #pending: string[] = [];
  #pendingLength = 0;
  /** absent while nothing is gathered: most results are one short text and never need it */
  #buffer: Uint8Array | undefined;
  #size = 0;
  #emittedCount = 0;

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
    if (this.#size > 0) {
      this.#encodePending();
      this.#flush();
    } else if (this.#pendingLength > 0) {
      this.#emit(this.#takePending());
    }
  }

  #encodePending(): void {
    if (this.#pendingLength === 0) return;
    this.#append(this.#takePending());
    if (this.#emittedCount < SMALL_CHUNK_COUNT) this.#flush();
  }

  #takePending(): Uint8Array {
    const bytes = encoder.encode(this.#pending.join(''));
    this.#pending = [];
    this.#pendingLength = 0;
    return bytes;
  }

  #append(bytes: Uint8Array): void {
    if (this.#size + bytes.length > CHUNK_SIZE_BYTES) this.#flush();
    if (bytes.length >= CHUNK_SIZE_BYTES) {
      this.#emit(bytes);
      return;
    }
    this.#buffer ??= new Uint8Array(CHUNK_SIZE_BYTES);
    this.#buffer.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  #flush(): void {
    if (this.#buffer === undefined) return;
    this.#emittedCount++;
    this.#emit(this.#buffer.subarray(0, this.#size));
    this.#buffer = undefined;
    this.#size = 0;
  }
}
