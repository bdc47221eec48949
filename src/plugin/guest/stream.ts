// Files as scripts read them.
import { fromCell } from './atom.ts';
import type { Host } from './host.ts';
import { parseJson } from './json.ts';

export class InputStream {
  readonly #host: Host;
  readonly #id: number;

  constructor(host: Host, url: string) {
    this.#host = host;
    this.#id = host.call('stream-open', { url }) as number;
  }

  #read(what: string, options: Readonly<Record<string, unknown>> = {}): unknown {
    return this.#host.call('stream-read', { id: this.#id, what, ...options });
  }

  #number(sizeBytes: number, isSigned: boolean, isLittleEndian = true): number {
    return this.#read('number', { sizeBytes, isSigned, isLittleEndian }) as number;
  }

  readLine(): string {
    return this.#read('line') as string;
  }

  readBytes(count: number): number[] {
    return this.#read('bytes', { count: byteCount(count, 0) }) as number[];
  }

  readJson(): unknown {
    return parseJson(this.#read('json') as string);
  }

  /** @param count -1: everything that is left */
  readBlob(count = -1, allowShort = false): unknown {
    return fromCell(this.#read('blob', { count: byteCount(count, -1), allowShort }));
  }

  readU8(): number {
    return this.#number(1, false);
  }

  readI8(): number {
    return this.#number(1, true);
  }

  readU16LE(): number {
    return this.#number(2, false);
  }

  readU16BE(): number {
    return this.#number(2, false, false);
  }

  readI16LE(): number {
    return this.#number(2, true);
  }

  readI16BE(): number {
    return this.#number(2, true, false);
  }

  readU32LE(): number {
    return this.#number(4, false);
  }

  readU32BE(): number {
    return this.#number(4, false, false);
  }

  readI32LE(): number {
    return this.#number(4, true);
  }

  readI32BE(): number {
    return this.#number(4, true, false);
  }

  /** true once a read has hit the end */
  eof(): boolean {
    return this.#read('eof') as boolean;
  }
}

/** @throws TypeError: programs may ask for anything */
function byteCount(count: number, least: number): number {
  if (Number.isInteger(count) && count >= least) return count;
  throw new TypeError(`a count of bytes is a whole number from ${least} on; got ${count}`);
}
