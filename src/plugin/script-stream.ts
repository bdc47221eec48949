// A file that a script reads: exact reads from chunks that are fetched when they are needed.
import { failure } from '../util/error.ts';
import { blobToJson } from '../value/json.ts';

export interface StreamRead {
  readonly what: 'line' | 'bytes' | 'json' | 'blob' | 'number' | 'eof';
  readonly count?: number;
  readonly allowShort?: boolean;
  readonly sizeBytes?: 1 | 2 | 4;
  readonly isSigned?: boolean;
  readonly isLittleEndian?: boolean;
}

const NEWLINE = 0x0a;

export class ScriptStream {
  readonly #fetch: () => Uint8Array | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  /** all chunks were fetched */
  #isDrained = false;
  /** a read has met the end */
  #hasHitEnd = false;

  /** @param fetch gives the next chunk, undefined after the last */
  constructor(fetch: () => Uint8Array | undefined) {
    this.#fetch = fetch;
  }

  /** @throws DATA_ERROR `End of file` */
  read(read: StreamRead): unknown {
    switch (read.what) {
      case 'line':
        return this.#line();
      case 'bytes':
        return [...this.#take(read.count ?? 0)];
      case 'blob':
        return { blob: blobToJson(this.#blob(read.count ?? -1, read.allowShort === true)) };
      case 'json':
        return this.#json();
      case 'number':
        return this.#number(read.sizeBytes ?? 1, read);
      case 'eof':
        return this.#hasHitEnd;
    }
  }

  #line(): string {
    let searched = 0;
    for (;;) {
      const end = this.#rest.indexOf(NEWLINE, searched);
      if (end !== -1) {
        const line = this.#rest.subarray(0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return textOf(line).replace(/\r$/, '');
      }
      searched = this.#rest.length;
      if (!this.#more()) break;
    }
    this.#hasHitEnd = true;
    if (this.#rest.length === 0) throw endOfFile();
    return textOf(this.#take(this.#rest.length)).replace(/\r$/, '');
  }

  /** Up to `count` bytes; fewer at the end only. */
  #take(count: number): Uint8Array {
    while (this.#rest.length < count && this.#more());
    if (this.#rest.length < count) this.#hasHitEnd = true;
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  #blob(count: number, allowShort: boolean): Uint8Array {
    if (count < 0) {
      while (this.#more());
      this.#hasHitEnd = true;
      return this.#take(this.#rest.length);
    }
    const bytes = this.#take(count);
    if (bytes.length < count && !allowShort) throw endOfFile();
    return bytes;
  }

  #number(sizeBytes: 1 | 2 | 4, { isSigned, isLittleEndian }: StreamRead): number {
    const bytes = this.#take(sizeBytes);
    if (bytes.length < sizeBytes) throw endOfFile();
    const ordered = isLittleEndian === true ? [...bytes].reverse() : [...bytes];
    const unsigned = ordered.reduce((value, byte) => value * 256 + byte, 0);
    const range = 256 ** sizeBytes;
    return isSigned === true && unsigned >= range / 2 ? unsigned - range : unsigned;
  }

  /** The text of one JSON value. */
  #json(): string {
    const scanner = new JsonScanner();
    const parts: number[] = [];
    for (;;) {
      if (this.#rest.length === 0 && !this.#more()) {
        this.#hasHitEnd = true;
        if (scanner.isAtEndOfScalar) return textOf(Uint8Array.from(parts));
        throw endOfFile();
      }
      const byte = this.#rest[0] as number;
      const step = scanner.next(byte);
      if (step === 'before') return textOf(Uint8Array.from(parts));
      this.#rest = this.#rest.subarray(1);
      if (step !== 'skip') parts.push(byte);
      if (step === 'after') return textOf(Uint8Array.from(parts));
    }
  }

  #more(): boolean {
    if (this.#isDrained) return false;
    const chunk = this.#fetch();
    if (chunk === undefined) {
      this.#isDrained = true;
      return false;
    }
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    return true;
  }
}

/** Finds the end of a JSON value byte by byte. */
class JsonScanner {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isInScalar = false;

  get isAtEndOfScalar(): boolean {
    return this.#isInScalar && this.#depth === 0;
  }

  /** Where the value ends: before this byte, after it, or later. */
  next(byte: number): 'skip' | 'before' | 'after' | 'inside' {
    const char = String.fromCharCode(byte);
    if (this.#isInText) return this.#inText(char);
    const isBlank = char === ' ' || char === '\t' || char === '\n' || char === '\r';
    if (this.#depth === 0 && this.#isInScalar && (isBlank || ',]}'.includes(char))) return 'before';
    if (isBlank) return this.#depth === 0 ? 'skip' : 'inside';
    if (char === '"') this.#isInText = true;
    else if (char === '{' || char === '[') this.#depth++;
    else if (char === '}' || char === ']') return --this.#depth <= 0 ? 'after' : 'inside';
    else this.#isInScalar ||= this.#depth === 0;
    return 'inside';
  }

  #inText(char: string): 'after' | 'inside' {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === '\\') this.#isEscaped = true;
    else if (char === '"') {
      this.#isInText = false;
      if (this.#depth === 0) return 'after';
    }
    return 'inside';
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function endOfFile(): Error {
  return failure('DATA_ERROR', 'End of file');
}
