// The private working memory of a thread that parses text, and growing dictionaries in it.
import { CSV_DICTIONARY, CSV_DICTIONARY_SIZE, CSV_SLOT_SIZE } from '../../kernel/generated.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import { instantiateKernels } from '../../kernel/kernels.ts';
import { failure } from '../../util/error.ts';
import { Arena } from '../../value/column/arena.ts';

/** 2 GiB of address space; pages take no room before they are used. */
const PAGE_COUNT_MAX = 32_768;

/** Memory that one thread parses in, and the kernels bound to it. */
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

const SLOT_COUNT_MIN = 64;
const HEAP_CAPACITY_MIN = 1024;
const OFFSETS_CAPACITY_MIN = 64;

type Field = keyof typeof CSV_DICTIONARY;

/** Distinct texts with codes from 1 on, in the order of their first appearance. */
export class ScratchDictionary {
  readonly address: number;
  readonly #scratch: Scratch;

  constructor(scratch: Scratch) {
    this.#scratch = scratch;
    this.address = scratch.allocate(CSV_DICTIONARY_SIZE);
    for (const field of Object.keys(CSV_DICTIONARY)) this.#set(field as Field, 0);
    this.#makeTable(SLOT_COUNT_MIN);
    this.#set('heap', scratch.allocate(HEAP_CAPACITY_MIN));
    this.#set('heapCapacity', HEAP_CAPACITY_MIN);
    this.#set('offsets', scratch.allocate((OFFSETS_CAPACITY_MIN + 2) * 4));
    this.#set('offsetsCapacity', OFFSETS_CAPACITY_MIN);
    this.offsets().fill(0, 0, 2);
  }

  get count(): number {
    return this.#get('count');
  }

  get sizeBytes(): number {
    return this.#get('heapSize');
  }

  /** Address of the bytes of all entries. */
  get heapAddress(): number {
    return this.#get('heap');
  }

  /** Entry k lies in [offsets[k], offsets[k + 1]) of the heap; count + 2 values are used. */
  offsets(): Uint32Array {
    const start = this.#get('offsets') >> 2;
    return this.#scratch.arena.u32.subarray(start, start + this.#get('offsetsCapacity') + 2);
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
    const { arena } = this.#scratch;
    const count = this.#get('count');
    const size = this.#get('heapSize');
    if (count >= this.#get('mask') >>> 1) {
      const slotCount = this.#get('mask') + 1;
      this.#scratch.free(this.#get('table'), slotCount * CSV_SLOT_SIZE);
      this.#makeTable(slotCount * 4);
      this.#scratch.kernels.csvRehash(this.address);
    }
    const heapCapacity = this.#get('heapCapacity');
    if (size + entrySize > heapCapacity) {
      const capacity = Math.max(heapCapacity * 2, size + entrySize);
      const heap = this.#scratch.allocate(capacity);
      arena.u8.copyWithin(heap, this.#get('heap'), this.#get('heap') + size);
      this.#scratch.free(this.#get('heap'), heapCapacity);
      this.#set('heap', heap);
      this.#set('heapCapacity', capacity);
    }
    const offsetsCapacity = this.#get('offsetsCapacity');
    if (count + 1 >= offsetsCapacity) {
      const capacity = offsetsCapacity * 2;
      const offsets = this.#scratch.allocate((capacity + 2) * 4);
      const old = this.#get('offsets');
      arena.u8.copyWithin(offsets, old, old + (count + 2) * 4);
      this.#scratch.free(old, (offsetsCapacity + 2) * 4);
      this.#set('offsets', offsets);
      this.#set('offsetsCapacity', capacity);
    }
  }

  release(): void {
    this.#scratch.free(this.#get('table'), (this.#get('mask') + 1) * CSV_SLOT_SIZE);
    this.#scratch.free(this.#get('heap'), this.#get('heapCapacity'));
    this.#scratch.free(this.#get('offsets'), (this.#get('offsetsCapacity') + 2) * 4);
    this.#scratch.free(this.address, CSV_DICTIONARY_SIZE);
  }

  #get(field: Field): number {
    return this.#scratch.arena.u32[(this.address + CSV_DICTIONARY[field]) >>> 2] as number;
  }

  #set(field: Field, value: number): void {
    this.#scratch.arena.u32[(this.address + CSV_DICTIONARY[field]) >>> 2] = value;
  }

  #makeTable(slotCount: number): void {
    const table = this.#scratch.allocate(slotCount * CSV_SLOT_SIZE);
    this.#scratch.arena.u8.fill(0, table, table + slotCount * CSV_SLOT_SIZE);
    this.#set('table', table);
    this.#set('mask', slotCount - 1);
  }
}
