// Arenas: shared memories in which columns, models and scratch space live.
// Any thread may allocate and free; the allocator's state is in the arena's second page.
// The allocator is two-level segregated fit (Masmano et al., "TLSF: a new dynamic memory allocator
// for real-time systems", ECRTS 2004): constant time, and free neighbours are always united.
import { threadId } from 'node:worker_threads';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';

const PAGE_SIZE = 65_536;
/** 4 GiB less a page, so that every end of a span still is a Uint32. */
export const ARENA_PAGE_COUNT_MAX = 65_535;
const ARENA_PAGE_COUNT_MIN = 64;
/** Kernels may read this far behind a span. */
const PADDING_SIZE = 64;

// Positions are counted in units of 16 bytes, which makes them small integers for the compiler.
const UNIT_SIZE = 16;
/** Page 0 belongs to the kernels, page 1 to the allocator. */
const FIRST_UNIT = (2 * PAGE_SIZE) / UNIT_SIZE;

// Words of the allocator's state, as indexes into the arena's Int32 view.
/** 0, or the number of the thread that holds the lock. */
const LOCK = PAGE_SIZE / 4;
const USED_UNITS = LOCK + 1;
const BITMAP = LOCK + 16;
const HEADS = LOCK + 32;
/** How many threads are kept out, and their numbers. */
const OUTSIDER_COUNT = LOCK + 256;
const OUTSIDERS = LOCK + 257;
const OUTSIDER_COUNT_MAX = 64;

// Four words stand before each block: its size and tag, the block before it in memory, and the
// neighbours in its free list or, when in use, the size asked for and the count of holders.
const HEADER_UNITS = 1;
const SIZE_AND_TAG = 0;
const BEFORE = 1;
const NEXT_FREE = 2;
const PREVIOUS_FREE = 3;
const ASKED_SIZE = 2;
const HOLDERS = 3;
const TAG_FREE = 1;
const TAG_USED = 5;
const TAG_SHIFT = 3;

/** Size classes a doubling. */
const STEP_BITS = 2;
const CLASS_COUNT = 128;
/** How many blocks of the class of the size itself are tried before a larger class is. */
const TRY_COUNT = 8;
const NONE = 0;
const REST_UNITS_MIN = 8;
const SPIN_COUNT = 2000;
/** A thread that does not leave for so long is not running any more. */
const LEAVE_WAIT_COUNT_MAX = 1000;

/** The number of a thread; that of the main thread is 1. */
const OWN_NUMBER = threadId + 1;

/** What another thread needs to use an arena; can be posted. */
export interface ArenaDescriptor {
  readonly id: number;
  readonly memory: WebAssembly.Memory;
}

/**
 * One shared memory with its allocator. A thread that is terminated inside `allocate` or `free`
 * would leave the arena locked, so it is kept out before.
 */
export class Arena {
  readonly id: number;
  readonly memory: WebAssembly.Memory;
  /** Views of the whole memory. */
  readonly u8: Uint8Array;
  readonly i8: Int8Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
  readonly i64: BigInt64Array;

  readonly #bytes: Buffer;

  private constructor(id: number, memory: WebAssembly.Memory) {
    const { buffer } = memory;
    this.id = id;
    this.memory = memory;
    this.u8 = new Uint8Array(buffer);
    this.i8 = new Int8Array(buffer);
    this.u16 = new Uint16Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.i64 = new BigInt64Array(buffer);
    this.#bytes = Buffer.from(buffer);
  }

  /**
   * Reserves a new memory; pages take no room before they are first written. Where the address
   * space is scarce the size is halved until there is room.
   * @throws OUT_OF_MEMORY when not even 4 MiB can be reserved
   */
  static create(id: number, pageCount = ARENA_PAGE_COUNT_MAX): Arena {
    for (let count = pageCount; ; count >>= 1) {
      const memory = reserve(count);
      if (memory !== undefined) {
        const arena = new Arena(id, memory);
        arena.#format();
        return arena;
      }
      if (count <= ARENA_PAGE_COUNT_MIN) {
        throw failure('OUT_OF_MEMORY', 'Out of memory. no address space is left for columns');
      }
    }
  }

  /** Opens an arena that another thread created. */
  static open(descriptor: ArenaDescriptor): Arena {
    return new Arena(descriptor.id, descriptor.memory);
  }

  descriptor(): ArenaDescriptor {
    return { id: this.id, memory: this.memory };
  }

  /** Decodes UTF-8 between two offsets. */
  text(start: number, end: number): string {
    return this.#bytes.toString('utf8', start, end);
  }

  /** Bytes in use, headers and padding included. */
  get usedBytes(): number {
    return Atomics.load(this.i32, USED_UNITS) * UNIT_SIZE;
  }

  /**
   * @returns the offset of at least `sizeBytes` bytes of undefined content, a multiple of 16;
   *   0 when there is no room
   */
  allocate(sizeBytes: number): number {
    assert(sizeBytes >= 0 && Number.isInteger(sizeBytes), `impossible size ${sizeBytes}`);
    if (sizeBytes > this.u8.length) return 0;
    const units = blockUnits(sizeBytes);
    this.#lock();
    const block = this.#take(units);
    if (block !== NONE) {
      const word = block << 2;
      this.u32[word + ASKED_SIZE] = sizeBytes;
      this.i32[word + HOLDERS] = 1;
      Atomics.add(this.i32, USED_UNITS, this.#unitsOf(block));
    }
    this.#unlock();
    return block === NONE ? 0 : (block + HEADER_UNITS) * UNIT_SIZE;
  }

  /**
   * Gives up one hold; the last one frees the bytes.
   * @returns bytes that became free, headers and padding included
   */
  free(offset: number, sizeBytes: number): number {
    const block = this.#blockAt(offset, sizeBytes);
    this.#lock();
    const word = block << 2;
    let units = 0;
    if ((this.u32[word + SIZE_AND_TAG] as number) % 8 !== TAG_USED) {
      this.#unlock();
      assert(false, `span at ${offset} in arena ${this.id} is freed twice`);
    }
    this.i32[word + HOLDERS] = (this.i32[word + HOLDERS] as number) - 1;
    if (this.i32[word + HOLDERS] === 0) {
      units = this.#unitsOf(block);
      this.#release(block);
      Atomics.sub(this.i32, USED_UNITS, units);
    }
    this.#unlock();
    return units * UNIT_SIZE;
  }

  /**
   * Gives back the end of a span that has one holder.
   * @returns bytes that became free
   */
  shrink(offset: number, sizeBytes: number, newSizeBytes: number): number {
    const block = this.#blockAt(offset, sizeBytes);
    const word = block << 2;
    assert(newSizeBytes <= sizeBytes, `a span of ${sizeBytes} bytes cannot grow`);
    assert(this.i32[word + HOLDERS] === 1, `a shared span at ${offset} cannot shrink`);
    this.#lock();
    this.u32[word + ASKED_SIZE] = newSizeBytes;
    const before = this.#unitsOf(block);
    const rest = this.#cut(block, blockUnits(newSizeBytes));
    if (rest !== NONE) this.#release(rest);
    const units = before - this.#unitsOf(block);
    Atomics.sub(this.i32, USED_UNITS, units);
    this.#unlock();
    return units * UNIT_SIZE;
  }

  /** Adds a hold: the bytes stay until `free` was called once more. */
  retain(offset: number, sizeBytes: number): void {
    const block = this.#blockAt(offset, sizeBytes);
    Atomics.add(this.i32, (block << 2) + HOLDERS, 1);
  }

  /** Bytes that a block at `offset` takes up, headers and padding included. */
  blockSize(offset: number): number {
    return this.#unitsOf(offset / UNIT_SIZE - HEADER_UNITS) * UNIT_SIZE;
  }

  /**
   * Keeps a thread out of the allocator for good: it may be terminated when this returns.
   * @param thread its `threadId`
   */
  keepOut(thread: number): void {
    const number = thread + 1;
    for (let i = 0; i < OUTSIDER_COUNT_MAX; i++) {
      if (Atomics.compareExchange(this.i32, OUTSIDERS + i, 0, number) !== 0) continue;
      Atomics.add(this.i32, OUTSIDER_COUNT, 1);
      break;
    }
    // Either it sees that it is kept out once it has the lock, or the lock is seen here.
    for (let i = 0; i < LEAVE_WAIT_COUNT_MAX; i++) {
      if (Atomics.load(this.i32, LOCK) !== number) return;
      Atomics.wait(this.i32, LOCK, number, 1);
    }
  }

  /** A thread that was kept out has ended. */
  forgetOutsider(thread: number): void {
    // It may have ended between taking the lock and seeing that it is kept out: nothing was written.
    Atomics.compareExchange(this.i32, LOCK, thread + 1, 0);
    for (let i = 0; i < OUTSIDER_COUNT_MAX; i++) {
      const seen = Atomics.compareExchange(this.i32, OUTSIDERS + i, thread + 1, 0);
      if (seen === thread + 1) Atomics.sub(this.i32, OUTSIDER_COUNT, 1);
    }
  }

  #format(): void {
    const end = Math.floor(this.u8.length / UNIT_SIZE) - HEADER_UNITS;
    this.#setBlock(FIRST_UNIT, end - FIRST_UNIT, TAG_USED);
    // A header without a block at the end spares every look at the next block a check.
    this.#setBlock(end, 0, TAG_USED);
    this.u32[(end << 2) + BEFORE] = FIRST_UNIT;
    this.#insert(FIRST_UNIT);
  }

  #blockAt(offset: number, sizeBytes: number): number {
    const block = offset / UNIT_SIZE - HEADER_UNITS;
    const word = block << 2;
    const valid =
      Number.isInteger(block) &&
      block >= FIRST_UNIT &&
      (this.u32[word + SIZE_AND_TAG] as number) % 8 === TAG_USED &&
      this.u32[word + ASKED_SIZE] === sizeBytes;
    assert(valid, `no span of ${sizeBytes} bytes is in use at ${offset} in arena ${this.id}`);
    return block;
  }

  #unitsOf(block: number): number {
    return (this.u32[(block << 2) + SIZE_AND_TAG] as number) >>> TAG_SHIFT;
  }

  #setBlock(block: number, units: number, tag: number): void {
    this.u32[(block << 2) + SIZE_AND_TAG] = units * 8 + tag;
  }

  /** Finds, cuts and marks a block of at least `units`. */
  #take(units: number): number {
    let block = this.#findInClass(classOf(units), units);
    if (block === NONE) block = this.#firstOfLargerClass(classOf(units) + 1);
    if (block === NONE) return NONE;
    this.#remove(block);
    this.#setBlock(block, this.#unitsOf(block), TAG_USED);
    const rest = this.#cut(block, units);
    if (rest !== NONE) this.#insert(rest);
    return block;
  }

  /** Cuts a block behind its first `units`. @returns the rest, unless it is too small to be of use */
  #cut(block: number, units: number): number {
    const have = this.#unitsOf(block);
    const restUnits = have - units;
    if (restUnits < REST_UNITS_MIN) return NONE;
    const rest = block + units;
    this.#setBlock(block, units, TAG_USED);
    this.#setBlock(rest, restUnits, TAG_USED);
    this.u32[(rest << 2) + BEFORE] = block;
    this.u32[((block + have) << 2) + BEFORE] = rest;
    return rest;
  }

  #findInClass(sizeClass: number, units: number): number {
    let block = this.u32[HEADS + sizeClass] as number;
    for (let i = 0; i < TRY_COUNT && block !== NONE; i++) {
      if (this.#unitsOf(block) >= units) return block;
      block = this.u32[(block << 2) + NEXT_FREE] as number;
    }
    return NONE;
  }

  #firstOfLargerClass(from: number): number {
    for (let word = from >> 5; word < CLASS_COUNT >> 5; word++) {
      let bits = this.i32[BITMAP + word] as number;
      if (word === from >> 5) bits &= -1 << (from & 31);
      if (bits !== 0) {
        const bit = 31 - Math.clz32(bits & -bits);
        return this.u32[HEADS + word * 32 + bit] as number;
      }
    }
    return NONE;
  }

  /** Unites a block with its free neighbours and puts it on its list. */
  #release(block: number): void {
    let units = this.#unitsOf(block);
    const next = block + units;
    if (this.#isFree(next)) {
      this.#remove(next);
      units += this.#unitsOf(next);
    }
    let first = block;
    const before = this.u32[(block << 2) + BEFORE] as number;
    if (before !== NONE && this.#isFree(before)) {
      this.#remove(before);
      units += this.#unitsOf(before);
      this.#setBlock(block, 0, TAG_FREE);
      first = before;
    }
    this.#setBlock(first, units, TAG_USED);
    this.u32[((first + units) << 2) + BEFORE] = first;
    this.#insert(first);
  }

  #isFree(block: number): boolean {
    return (this.u32[(block << 2) + SIZE_AND_TAG] as number) % 8 === TAG_FREE;
  }

  #insert(block: number): void {
    const units = this.#unitsOf(block);
    const sizeClass = classOf(units);
    const head = this.u32[HEADS + sizeClass] as number;
    this.#setBlock(block, units, TAG_FREE);
    this.u32[(block << 2) + NEXT_FREE] = head;
    this.u32[(block << 2) + PREVIOUS_FREE] = NONE;
    if (head !== NONE) this.u32[(head << 2) + PREVIOUS_FREE] = block;
    this.u32[HEADS + sizeClass] = block;
    const word = BITMAP + (sizeClass >> 5);
    this.i32[word] = (this.i32[word] as number) | (1 << (sizeClass & 31));
  }

  #remove(block: number): void {
    const next = this.u32[(block << 2) + NEXT_FREE] as number;
    const previous = this.u32[(block << 2) + PREVIOUS_FREE] as number;
    if (next !== NONE) this.u32[(next << 2) + PREVIOUS_FREE] = previous;
    if (previous !== NONE) {
      this.u32[(previous << 2) + NEXT_FREE] = next;
      return;
    }
    const sizeClass = classOf(this.#unitsOf(block));
    this.u32[HEADS + sizeClass] = next;
    if (next === NONE) {
      const word = BITMAP + (sizeClass >> 5);
      this.i32[word] = (this.i32[word] as number) & ~(1 << (sizeClass & 31));
    }
  }

  #lock(): void {
    for (let i = 0; ; i++) {
      const holder = Atomics.compareExchange(this.i32, LOCK, 0, OWN_NUMBER);
      if (holder === 0) break;
      // The holder needs well under a microsecond, unless the system took the processor from it.
      if (i >= SPIN_COUNT) Atomics.wait(this.i32, LOCK, holder, 1);
    }
    if (Atomics.load(this.i32, OUTSIDER_COUNT) !== 0) this.#stayOutside();
  }

  /** A thread that is kept out waits for its end here. */
  #stayOutside(): void {
    for (let i = 0; i < OUTSIDER_COUNT_MAX; i++) {
      if (Atomics.load(this.i32, OUTSIDERS + i) !== OWN_NUMBER) continue;
      this.#unlock();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
  }

  #unlock(): void {
    Atomics.store(this.i32, LOCK, 0);
  }
}

function reserve(pageCount: number): WebAssembly.Memory | undefined {
  try {
    return new WebAssembly.Memory({ initial: pageCount, maximum: pageCount, shared: true });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function blockUnits(sizeBytes: number): number {
  return HEADER_UNITS + Math.ceil((sizeBytes + PADDING_SIZE) / UNIT_SIZE);
}

/** The class of blocks of at least its lower bound: four to each doubling. */
function classOf(units: number): number {
  const level = 31 - Math.clz32(units);
  const step = level >= STEP_BITS ? (units >>> (level - STEP_BITS)) & ((1 << STEP_BITS) - 1) : 0;
  return (level << STEP_BITS) + step;
}
