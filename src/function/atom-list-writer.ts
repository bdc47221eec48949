// Atoms as JSON text, one after the other, in chunks of bytes.
import type { Atom } from '../value/atom.ts';
import { atomToJsonText } from '../value/json.ts';

const CHUNK_SIZE = 1 << 16;
const ZERO = 0x30;
const MINUS = 0x2d;
/** Integers below are taken apart by 32-bit arithmetic. */
const SMALL_INTEGER_END = 1_000_000_000;
const SMALL_SIZE_MAX = 11;

const encoder = new TextEncoder();

export class AtomListWriter {
  /** full chunks, and after `end` all of them */
  readonly chunks: Uint8Array<ArrayBuffer>[] = [];
  #bytes = new Uint8Array(CHUNK_SIZE);
  #size = 0;

  byte(byte: number): void {
    if (this.#size === CHUNK_SIZE) this.#flush();
    this.#bytes[this.#size++] = byte;
  }

  atom(atom: Atom): void {
    if (typeof atom === 'number' && Number.isInteger(atom) && Math.abs(atom) < SMALL_INTEGER_END) {
      this.#smallInteger(atom);
    } else this.text(atomToJsonText(atom));
  }

  text(text: string): void {
    // A UTF-16 unit is at most three bytes.
    if (text.length * 3 > CHUNK_SIZE) {
      this.#flush();
      this.chunks.push(encoder.encode(text));
      return;
    }
    if (this.#size + text.length * 3 > CHUNK_SIZE) this.#flush();
    this.#size += encoder.encodeInto(text, this.#bytes.subarray(this.#size)).written;
  }

  end(): void {
    this.#flush();
  }

  #smallInteger(value: number): void {
    if (this.#size + SMALL_SIZE_MAX > CHUNK_SIZE) this.#flush();
    const bytes = this.#bytes;
    let position = this.#size;
    let left = value;
    if (left < 0) {
      bytes[position++] = MINUS;
      left = -left;
    }
    let end = position + 1;
    for (let power = 10; power <= left; power *= 10) end++;
    this.#size = end;
    left |= 0;
    while (end > position) {
      const rest = (left / 10) | 0;
      bytes[--end] = ZERO + left - rest * 10;
      left = rest;
    }
  }

  #flush(): void {
    if (this.#size === 0) return;
    this.chunks.push(this.#bytes.slice(0, this.#size));
    this.#size = 0;
  }
}
