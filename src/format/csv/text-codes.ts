// Codes of texts that lie in scratch memory, in a column that is being built.
import type { ColumnBuilder } from '../../value/column/column-builder.ts';
import { type Scratch, ScratchDictionary } from './scratch.ts';

/** Finds the codes of texts by a kernel; only texts that are new go to the column. */
export class TextCodes {
  readonly #scratch: Scratch;
  readonly #dictionary: ScratchDictionary;
  /** codes of the entries of the dictionary in the column; the first is that of the empty text */
  #codes = new Uint32Array(256);
  #knownCount = 0;

  constructor(scratch: Scratch) {
    this.#scratch = scratch;
    this.#dictionary = new ScratchDictionary(scratch);
  }

  /**
   * @param pairs two Uint32 a text, where it begins and ends; 4 bytes before them can be read
   * @param out room for a Uint32 each
   * @returns the codes, which lie at `out`
   */
  find(pairs: number, count: number, out: number, column: ColumnBuilder): Uint32Array {
    const { arena, kernels } = this.#scratch;
    const dictionary = this.#dictionary;
    for (let done = 0; done < count; ) {
      const cell = pairs + done * 8 + 4;
      done += kernels.csvCodes(cell, 8, count - done, out + done * 4, dictionary.address);
      if (done === count) break;
      const at = (pairs >> 2) + done * 2;
      dictionary.grow((arena.u32[at + 1] as number) - (arena.u32[at] as number));
    }
    this.#learn(column);
    const codes = this.#codes;
    // The dictionary has no empty text.
    if (codes[0] === 0 && kernels.csvZeros(out, count) > 0) {
      codes[0] = column.textCode(arena.u8, 0, 0);
    }
    const found = arena.u32.subarray(out >> 2, (out >> 2) + count);
    for (let i = 0; i < count; i++) found[i] = codes[found[i] as number] as number;
    return found;
  }

  release(): void {
    this.#dictionary.release();
  }

  #learn(column: ColumnBuilder): void {
    const { count } = this.#dictionary;
    if (count >= this.#codes.length) {
      const codes = new Uint32Array((count + 1) * 2);
      codes.set(this.#codes);
      this.#codes = codes;
    }
    const offsets = this.#dictionary.offsets();
    const bytes = this.#dictionary.bytes();
    for (let code = this.#knownCount + 1; code <= count; code++) {
      this.#codes[code] = column.textCode(
        bytes,
        offsets[code] as number,
        offsets[code + 1] as number,
      );
    }
    this.#knownCount = count;
  }
}
