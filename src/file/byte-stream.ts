// Small tools on streams of bytes.
import type { Duplex } from 'node:stream';
import { pipeline, Readable } from 'node:stream';

export type ByteStream = AsyncIterable<Uint8Array>;

/** Waits for a promise, and throws as soon as the caller is cancelled. */
export type WaitFor = <Result>(promise: Promise<Result>) => Promise<Result>;

/** A stream whose reader need not wait until more of it has come. */
export function interruptible(source: ByteStream, waitFor: WaitFor): ByteStream {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            return await waitFor(iterator.next());
          } catch (thrown) {
            // A source that is still busy ends later; its error has no reader any more.
            iterator.return?.().catch(() => undefined);
            throw thrown;
          }
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** A whole stream as one array. */
export async function collectBytes(source: ByteStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  if (parts.length === 1) return parts[0] as Uint8Array;
  return Buffer.concat(parts);
}

/** A stream sent through one of Node's transforms; an error of either ends both. */
export function throughTransform(source: ByteStream, transform: Duplex): ByteStream {
  pipeline(Readable.from(source, { objectMode: false }), transform, () => {
    // The reader of `transform` sees the error.
  });
  return transform;
}

/** Looks ahead in a stream and takes exact numbers of bytes from it. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);
  #ended = false;

  constructor(source: ByteStream) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next `count` bytes without taking them; fewer only at the end of the stream. */
  async peek(count: number): Promise<Uint8Array> {
    if (this.#rest.length < count && !this.#ended) {
      const parts = [this.#rest];
      let have = this.#rest.length;
      while (have < count) {
        const next = await this.#source.next();
        if (next.done) {
          this.#ended = true;
          break;
        }
        parts.push(next.value);
        have += next.value.length;
      }
      this.#rest = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
    }
    return this.#rest.subarray(0, count);
  }

  /** The next `count` bytes; fewer only at the end of the stream. */
  async read(count: number): Promise<Uint8Array> {
    const out = await this.peek(count);
    this.#rest = this.#rest.subarray(out.length);
    return out;
  }

  /** How far ahead a byte is; -1 when it is not among the next `sizeMax`. */
  async find(byte: number, sizeMax: number): Promise<number> {
    for (let seen = 0; ; ) {
      const found = this.#rest.subarray(0, sizeMax).indexOf(byte, seen);
      if (found !== -1) return found;
      seen = this.#rest.length;
      if (seen >= sizeMax || this.#ended) return -1;
      await this.peek(seen + 1);
    }
  }

  /** @throws Error when the stream ends before `count` bytes */
  async readExactly(count: number): Promise<Uint8Array> {
    const bytes = await this.read(count);
    if (bytes.length < count) throw new Error('unexpected end of data');
    return bytes;
  }

  /** Everything that is left. */
  async *remaining(): AsyncIterable<Uint8Array> {
    if (this.#rest.length > 0) yield this.#rest;
    this.#rest = new Uint8Array(0);
    while (!this.#ended) {
      const next = await this.#source.next();
      if (next.done) return;
      yield next.value;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

/** The first bytes of a stream, and the stream with them still in it, to be read or closed. */
export async function peekBytes(
  source: ByteStream,
  count: number,
): Promise<{ head: Uint8Array; whole: ByteStream; close(): Promise<void> }> {
  const reader = new ByteReader(source);
  const head = Uint8Array.from(await reader.read(count));
  async function* whole(): AsyncIterable<Uint8Array> {
    try {
      if (head.length > 0) yield head;
      yield* reader.remaining();
    } finally {
      await reader.close();
    }
  }
  return { head, whole: whole(), close: () => reader.close() };
}
