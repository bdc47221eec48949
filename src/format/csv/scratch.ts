// The private working memory of a thread that parses text, and growing dictionaries in it.
import type { Kernels } from '../../kernel/kernels.ts';
import { instantiateKernels } from '../../kernel/kernels.ts';
import { failure } from '../../util/error.ts';
import { Arena } from '../../value/column/arena.ts';

/** 2 GiB of address space; pages take no room before they are used. */
const PAGE_COUNT_MAX = 32_768;

export class Scratch {
  readonly arena: Arena;
  readonly kernels: Kernels;

  constructor() {
    this.arena = Arena.create(0, PAGE_COUNT_MAX);
    this.kernels = instantiateKernels(this.arena.memory);
  }

  /** @returns the address of `size` bytes of undefined content; 64 more may be read behind them */
  allocate(size: number): number {
    const address = this.arena.allocate(size);
    if (address === 0) {
      throw failure('OUT_OF_MEMORY', `Out of memory. no room to read ${size} bytes of text`);
    }
    return address;
  }

  free(address: number, size: number): void {
    this.arena.free(address, size);
  }
}

let current: Scratch | undefined;

/** The scratch memory of this thread, made on first use. */
export function threadScratch(): Scratch {
  current ??= new Scratch();
  return current;
}

// Words of a dictionary; see kernel/assembly/csv-code.ts.
const TABLE = 0;
const MASK = 1;
const COUNT = 2;
const HEAP = 3;
const HEAP_SIZE = 4;
const HEAP_CAPACITY = 5;
const OFFSETS = 6;
const OFFSETS_CAPACITY = 7;
const WORD_COUNT = 8;

const SLOT_SIZE = 16;
const SLOT_COUNT_MIN = 64;
const HEAP_CAPACITY_MIN = 1024;
const OFFSETS_CAPACITY_MIN = 64;

/** Distinct texts with codes from 1 on, in the order of their first appearance. */
export class ScratchDictionary {
  readonly address: number;
  readonly #scratch: Scratch;
  readonly #word: number;

  constructor(scratch: Scratch) {
    this.#scratch = scratch;
    this.address = scratch.allocate(WORD_COUNT * 4);
    this.#word = this.address >> 2;
    const words = this.#words();
    words.fill(0);
    this.#makeTable(SLOT_COUNT_MIN);
    words[HEAP] = scratch.allocate(HEAP_CAPACITY_MIN);
    words[HEAP_CAPACITY] = HEAP_CAPACITY_MIN;
    words[OFFSETS] = scratch.allocate((OFFSETS_CAPACITY_MIN + 2) * 4);
    words[OFFSETS_CAPACITY] = OFFSETS_CAPACITY_MIN;
    this.offsets().fill(0, 0, 2);
  }

  get count(): number {
    return this.#get(COUNT);
  }

  get sizeBytes(): number {
    return this.#get(HEAP_SIZE);
  }

  /** Address of the bytes of all entries. */
  get heapAddress(): number {
    return this.#get(HEAP);
  }

  /** Entry k lies in [offsets[k], offsets[k + 1]) of the heap; count + 2 values are used. */
  offsets(): Uint32Array {
    const start = this.#get(OFFSETS) >> 2;
    return this.#scratch.arena.u32.subarray(start, start + this.#get(OFFSETS_CAPACITY) + 2);
  }

  bytes(): Uint8Array {
    return this.#scratch.arena.u8.subarray(this.heapAddress, this.heapAddress + this.sizeBytes);
  }

  text(code: number): string {
    const offsets = this.offsets();
    const { u8 } = this.#scratch.arena;
    const start = this.heapAddress + (offsets[code] as number);
    const end = this.heapAddress + (offsets[code + 1] as number);
    return Buffer.from(u8.buffer, start, end - start).toString('utf8');
  }

  /** Makes room for at least one more entry of `entrySize` bytes. */
  grow(entrySize: number): void {
    const words = this.#words();
    const { arena } = this.#scratch;
    const count = words[COUNT] as number;
    const size = words[HEAP_SIZE] as number;
    if (count >= (words[MASK] as number) >>> 1) {
      const slotCount = (words[MASK] as number) + 1;
      this.#scratch.free(words[TABLE] as number, slotCount * SLOT_SIZE);
      this.#makeTable(slotCount * 4);
      this.#scratch.kernels.csvRehash(this.address);
    }
    const heapCapacity = words[HEAP_CAPACITY] as number;
    if (size + entrySize > heapCapacity) {
      const capacity = Math.max(heapCapacity * 2, size + entrySize);
      const heap = this.#scratch.allocate(capacity);
      arena.u8.copyWithin(heap, words[HEAP] as number, (words[HEAP] as number) + size);
      this.#scratch.free(words[HEAP] as number, heapCapacity);
      words[HEAP] = heap;
      words[HEAP_CAPACITY] = capacity;
    }
    const offsetsCapacity = words[OFFSETS_CAPACITY] as number;
    if (count + 1 >= offsetsCapacity) {
      const capacity = offsetsCapacity * 2;
      const offsets = this.#scratch.allocate((capacity + 2) * 4);
      const old = words[OFFSETS] as number;
      arena.u8.copyWithin(offsets, old, old + (count + 2) * 4);
      this.#scratch.free(old, (offsetsCapacity + 2) * 4);
      words[OFFSETS] = offsets;
      words[OFFSETS_CAPACITY] = capacity;
    }
  }

  release(): void {
    const words = this.#words();
    this.#scratch.free(words[TABLE] as number, ((words[MASK] as number) + 1) * SLOT_SIZE);
    this.#scratch.free(words[HEAP] as number, words[HEAP_CAPACITY] as number);
    this.#scratch.free(words[OFFSETS] as number, ((words[OFFSETS_CAPACITY] as number) + 2) * 4);
    this.#scratch.free(this.address, WORD_COUNT * 4);
  }

  #get(word: number): number {
    return this.#scratch.arena.u32[this.#word + word] as number;
  }

  #words(): Uint32Array {
    return this.#scratch.arena.u32.subarray(this.#word, this.#word + WORD_COUNT);
  }

  #makeTable(slotCount: number): void {
    const words = this.#words();
    const table = this.#scratch.allocate(slotCount * SLOT_SIZE);
    this.#scratch.arena.u8.fill(0, table, table + slotCount * SLOT_SIZE);
    words[TABLE] = table;
    words[MASK] = slotCount - 1;
  }
}
