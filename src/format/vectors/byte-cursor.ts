// Looks ahead in a stream of bytes and takes what it has seen.
import type { ByteStream } from '../../file/byte-stream.ts';

export class ByteCursor {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffer: Uint8Array = new Uint8Array(0);
  /** bytes of the buffer that were taken */
  #start = 0;
  #hasEnded = false;

  constructor(source: ByteStream) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next bytes without taking them; fewer only at the end. */
  async peek(count: number): Promise<Uint8Array> {
    await this.#fill(count);
    return this.#buffer.subarray(this.#start, this.#start + count);
  }

  /** The next bytes; fewer only at the end. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count);
    this.#start += bytes.length;
    return bytes;
  }

  async takeRest(): Promise<Uint8Array> {
    return this.take(Number.POSITIVE_INFINITY);
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.peek(1)).length === 0;
  }

  /** How far ahead a byte is, -1 when it is not among the next `sizeMax`. */
  async find(byte: number, sizeMax: number): Promise<number> {
    for (let seen = 0; ; ) {
      const ahead = this.#buffer.subarray(this.#start);
      const found = ahead.subarray(0, sizeMax).indexOf(byte, seen);
      if (found !== -1) return found;
      seen = ahead.length;
      if (seen >= sizeMax || this.#hasEnded) return -1;
      await this.#fill(seen + 1);
    }
  }

  close(): Promise<unknown> {
    return this.#source.return?.() ?? Promise.resolve();
  }

  async #fill(count: number): Promise<void> {
    let have = this.#buffer.length - this.#start;
    if (have >= count || this.#hasEnded) return;
    const parts: Uint8Array[] = [this.#buffer.subarray(this.#start)];
    while (have < count) {
      const next = await this.#source.next();
      if (next.done === true) {
        this.#hasEnded = true;
        break;
      }
      parts.push(next.value);
      have += next.value.length;
    }
    this.#buffer = Buffer.concat(parts);
    this.#start = 0;
  }
}
