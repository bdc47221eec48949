// Reads a stream of bytes line by line. Characters of a line stand for its bytes.
import type { ByteStream } from '../../file/byte-stream.ts';
import { lineTooLong, wideText } from './line-error.ts';

const NEWLINE = 10;
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The byte order mark of UTF-16, in either order: what programs of Windows call Unicode text. */
function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** A line and where it lies in the stream. */
export interface ReadLine {
  readonly text: string;
  readonly start: number;
  /** behind its line end */
  readonly end: number;
}

/** Longer lines are refused unless more is asked for. */
export const LINE_BYTES_MAX = 64 * 2 ** 20;

/** What of a text is too long to be a line of it. */
export interface LineLimit {
  readonly url: string;
  readonly lineBytesMax: number;
}

/** Gives the lines of a stream one by one. */
export class LineReader {
  readonly #limit: LineLimit;
  readonly #source: AsyncIterator<Uint8Array>;
  /** bytes received and not yet given out; complete lines first */
  #buffer: Buffer = Buffer.alloc(0);
  #position = 0;
  /** bytes received behind the buffer; no line ends in them */
  readonly #parts: Buffer[] = [];
  #partsSize = 0;
  #isStart = true;
  #isEnded = false;
  #offset = 0;
  #lineNumber = 0;
  /** lines to give out again, the next one last */
  readonly #unread: ReadLine[] = [];

  constructor(source: ByteStream, limit: LineLimit) {
    this.#limit = limit;
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Position in the stream behind the last line that was given out. */
  get offset(): number {
    return this.#offset;
  }

  /** Number of the last line that was given out, counted from 1; 0 before the first. */
  get lineNumber(): number {
    return this.#lineNumber;
  }

  /**
   * The next line without its line end, as far as it has been received.
   * @returns undefined when `fill` must be called first, or there are no more lines
   * @throws DATA_ERROR for a line that is too long
   */
  tryNext(): string | undefined {
    if (this.#isStart) return undefined;
    const again = this.#unread.pop();
    if (again !== undefined) {
      this.#lineNumber++;
      this.#offset = again.end;
      return again.text;
    }
    if (this.#partsSize > 0) return undefined;
    let end = this.#buffer.indexOf(NEWLINE, this.#position);
    let next = end + 1;
    if (end === -1) {
      if (!this.#isEnded || this.#position === this.#buffer.length) return undefined;
      end = this.#buffer.length;
      next = end;
    }
    this.#checkLength(end - this.#position);
    this.#offset += next - this.#position;
    this.#lineNumber++;
    const start = this.#position;
    this.#position = next;
    if (end > start && this.#buffer[end - 1] === 13) end--;
    return this.#buffer.toString('latin1', start, end);
  }

  /** Receives more bytes. @returns false when there are no more lines */
  async fill(): Promise<boolean> {
    if (!this.#isEnded) {
      const next = await this.#source.next();
      if (next.done) {
        this.#isEnded = true;
        this.#join();
      } else this.#append(next.value);
      if (this.#isStart && (this.#isEnded || this.#buffer.length >= BYTE_ORDER_MARK.length)) {
        this.#isStart = false;
        if (Buffer.compare(this.#buffer.subarray(0, 3), BYTE_ORDER_MARK) === 0) {
          this.#position = 3;
          this.#offset = 3;
        } else if (isUtf16(this.#buffer)) throw wideText(this.#limit.url);
      }
      return true;
    }
    return this.#position < this.#buffer.length;
  }

  /** The next line, waiting for it; undefined at the end. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const line = this.tryNext();
      if (line !== undefined) return line;
      if (!(await this.fill())) return undefined;
    }
  }

  /** Takes back lines that were the last ones given out. */
  unread(lines: readonly ReadLine[]): void {
    for (const line of [...lines].reverse()) {
      this.#unread.push(line);
      this.#lineNumber--;
      this.#offset = line.start;
    }
  }

  /** The bytes behind the lines that were given out. */
  async *remaining(): AsyncIterable<Uint8Array> {
    for (const line of this.#unread.splice(0).reverse()) {
      yield Buffer.from(`${line.text}\n`, 'latin1');
    }
    this.#join();
    if (this.#position < this.#buffer.length) yield this.#buffer.subarray(this.#position);
    this.#position = this.#buffer.length;
    while (!this.#isEnded) {
      const next = await this.#source.next();
      if (next.done) this.#isEnded = true;
      else yield next.value;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  #append(bytes: Uint8Array): void {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#parts.push(part);
    this.#partsSize += part.length;
    // A long line comes in many parts, which are joined once.
    if (part.includes(NEWLINE) || this.#isStart) this.#join();
    else this.#checkLength(this.#partsSize);
  }

  #join(): void {
    if (this.#partsSize === 0) return;
    const rest = this.#buffer.subarray(this.#position);
    const parts = this.#parts.splice(0);
    if (rest.length > 0) parts.unshift(rest);
    this.#buffer = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    this.#position = 0;
    this.#partsSize = 0;
  }

  #checkLength(size: number): void {
    const { url, lineBytesMax } = this.#limit;
    if (size > lineBytesMax) throw lineTooLong(this.#lineNumber + 1, url, lineBytesMax);
  }
}
