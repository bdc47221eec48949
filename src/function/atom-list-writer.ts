// Atoms as JSON text, one after the other, in chunks of bytes.
import type { Atom } from '../value/atom.ts';
import { atomToJsonText } from '../value/json.ts';

/** Of the first chunk; each further one is twice as large, as far as this goes. */
const CHUNK_SIZE_MIN = 1 << 16;
const CHUNK_SIZE_MAX = 1 << 20;
const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;
/** Integers below are taken apart by 32-bit arithmetic. */
const SMALL_INTEGER_END = 1_000_000_000;
const FRACTION_DIGIT_COUNT = 4;
const FRACTION_SCALE = 10 ** FRACTION_DIGIT_COUNT;
const SMALL_SIZE_MAX = 16;

const encoder = new TextEncoder();

/** Collects atoms as the elements of a JSON array, without making a text of all of them. */
export class AtomListWriter {
  /** full chunks, and after `end` all of them */
  readonly chunks: Uint8Array<ArrayBuffer>[] = [];
  #bytes = new Uint8Array(CHUNK_SIZE_MIN);
  #size = 0;

  byte(byte: number): void {
    if (this.#size === this.#bytes.length) this.#flush();
    this.#bytes[this.#size++] = byte;
  }

  atom(atom: Atom): void {
    if (typeof atom === 'number' && atom < SMALL_INTEGER_END && atom > -SMALL_INTEGER_END) {
      this.#smallNumber(atom);
    } else this.text(atomToJsonText(atom));
  }

  text(text: string): void {
    // A UTF-16 unit is at most three bytes.
    if (text.length * 3 > this.#bytes.length) {
      this.#flush();
      this.chunks.push(encoder.encode(text));
      return;
    }
    if (this.#size + text.length * 3 > this.#bytes.length) this.#flush();
    this.#size += encoder.encodeInto(text, this.#bytes.subarray(this.#size)).written;
  }

  end(): void {
    if (this.#size > 0) this.chunks.push(this.#bytes.slice(0, this.#size));
    this.#size = 0;
  }

  /**
   * Decimals of at most 15 digits and doubles correspond one to one, so a number that a few
   * decimals give exactly has no shorter text than theirs.
   */
  #smallNumber(value: number): void {
    const size = value < 0 ? -value : value;
    const integer = size | 0;
    const fraction = size === integer ? 0 : Math.round((size - integer) * FRACTION_SCALE);
    if (size !== integer) {
      const isExact =
        fraction > 0 &&
        fraction < FRACTION_SCALE &&
        (integer * FRACTION_SCALE + fraction) / FRACTION_SCALE === size;
      if (!isExact) {
        this.text(atomToJsonText(value));
        return;
      }
    }
    if (this.#size + SMALL_SIZE_MAX > this.#bytes.length) this.#flush();
    if (value < 0) this.#bytes[this.#size++] = MINUS;
    let digitCount = 1;
    for (let power = 10; power <= integer; power *= 10) digitCount++;
    this.#digits(integer, digitCount);
    if (fraction === 0) return;
    this.#bytes[this.#size++] = POINT;
    let shown = fraction;
    let shownCount = FRACTION_DIGIT_COUNT;
    for (; shown % 10 === 0; shownCount--) shown /= 10;
    this.#digits(shown, shownCount);
  }

  /** Exactly so many digits of an integer of 32 bits. */
  #digits(value: number, count: number): void {
    const bytes = this.#bytes;
    const start = this.#size;
    let left = value | 0;
    for (let position = start + count - 1; position >= start; position--) {
      const rest = (left / 10) | 0;
      bytes[position] = ZERO + left - rest * 10;
      left = rest;
    }
    this.#size = start + count;
  }

  #flush(): void {
    if (this.#size === 0) return;
    this.chunks.push(this.#bytes.slice(0, this.#size));
    this.#size = 0;
    // What is long is handed on in few pieces.
    const size = Math.min(this.#bytes.length * 2, CHUNK_SIZE_MAX);
    if (size > this.#bytes.length) this.#bytes = new Uint8Array(size);
  }
}
