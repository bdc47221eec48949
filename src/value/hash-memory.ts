// The memory of this thread where kernels hash bytes.
import { instantiateKernels, type Kernels } from '../kernel/kernels.ts';

const PAGE_SIZE = 65_536;
/** 2 GiB of address space; pages take no room before they are used. */
const PAGE_COUNT_MAX = 32_768;

/** Where bytes may be put; the first page is the kernels' own. */
export const HASH_BASE = PAGE_SIZE;

/** Short ASCII texts, nearly all there are, need no encoder. */
const SHORT_TEXT_LENGTH = 64;

/** A memory of this thread alone, of which two pages are used until a long text comes. */
export class HashMemory {
  readonly kernels: Kernels;
  readonly #memory: WebAssembly.Memory;
  bytes: Buffer;

  constructor() {
    this.#memory = new WebAssembly.Memory({ initial: 2, maximum: PAGE_COUNT_MAX, shared: true });
    this.bytes = Buffer.from(this.#memory.buffer);
    this.kernels = instantiateKernels(this.#memory);
  }

  /** Makes room for `size` bytes from HASH_BASE on; what was there stays. */
  reserve(size: number): void {
    const missing = HASH_BASE + size - this.bytes.length;
    if (missing <= 0) return;
    this.#memory.grow(Math.ceil(missing / PAGE_SIZE));
    this.bytes = Buffer.from(this.#memory.buffer);
  }

  /** Writes UTF-8, for which there must be room. @returns the address behind it */
  writeText(text: string, address: number): number {
    const { length } = text;
    const { bytes } = this;
    if (length > SHORT_TEXT_LENGTH) return address + bytes.write(text, address);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return address + bytes.write(text, address);
      bytes[address + i] = code;
    }
    return address + length;
  }
}

let current: HashMemory | undefined;

/** The memory of this thread, made on first use. */
export function hashMemory(): HashMemory {
  current ??= new HashMemory();
  return current;
}
