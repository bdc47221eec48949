// The arenas of this process and their common budget.
import { totalmem } from 'node:os';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';
import { ARENA_PAGE_COUNT_MAX, Arena, type ArenaDescriptor } from './arena.ts';
import type { Span } from './snapshot.ts';

/** Share of the machine's memory that columns may take when nothing else is said. */
const BUDGET_SHARE = 0.7;
const PAGE_SIZE = 65_536;
const ARENA_SIZE_MAX = ARENA_PAGE_COUNT_MAX * PAGE_SIZE;

// Cells of the shared counters.
const BUDGET = 0;
const USED = 1;
const PEAK = 2;
const LAST_ID = 3;

/** Where spans come from: the arenas themselves, or a scope that remembers what it handed out. */
export interface ArenaAllocator {
  get(arenaId: number): Arena;
  /** @throws OUT_OF_MEMORY */
  allocate(sizeBytes: number): Span;
  /** In one arena only, for what a kernel must reach together. @throws OUT_OF_MEMORY */
  allocateIn(arenaId: number, sizeBytes: number): Span;
  free(span: Span): void;
  /** One more hold on a span that is shared by several snapshots. */
  retain(span: Span): void;
  /** Gives back the end of a span that has one holder. @returns the span that is left */
  shrink(span: Span, sizeBytes: number): Span;
  /** A number that no dictionary and no snapshot of this process has yet. */
  nextId(): number;
}

/** Everything another thread needs; can be posted. */
export interface ArenaSetDescriptor {
  readonly arenas: readonly ArenaDescriptor[];
  readonly counters: SharedArrayBuffer;
}

export interface ArenaSetOptions {
  /** bytes that all arenas together may hold; default 70 % of the memory of machine or container */
  readonly budgetBytes?: number;
  /** size of each arena in pages of 64 KiB, for tests */
  readonly arenaPageCount?: number;
}

/** The arenas of a process, seen from one thread; their counters are shared by all. */
export class ArenaSet implements ArenaAllocator {
  readonly #arenas: Arena[] = [];
  readonly #counters: BigInt64Array;

  private constructor(counters: SharedArrayBuffer) {
    this.#counters = new BigInt64Array(counters);
  }

  /**
   * Reserves as many arenas as the budget may fill, and one more because no span lies in two.
   * Only address space is taken until the memory is used.
   */
  static create(options: ArenaSetOptions = {}): ArenaSet {
    const budgetBytes = options.budgetBytes ?? defaultBudgetBytes();
    const set = new ArenaSet(new SharedArrayBuffer(64));
    set.#counters[BUDGET] = BigInt(Math.floor(budgetBytes));
    const pageCount = options.arenaPageCount ?? ARENA_PAGE_COUNT_MAX;
    const count = Math.ceil(budgetBytes / Math.min(pageCount * PAGE_SIZE, ARENA_SIZE_MAX)) + 1;
    for (let id = 0; id < count; id++) set.#arenas.push(Arena.create(id, pageCount));
    return set;
  }

  static open(descriptor: ArenaSetDescriptor): ArenaSet {
    const set = new ArenaSet(descriptor.counters);
    for (const arena of descriptor.arenas) set.add(arena);
    return set;
  }

  descriptor(): ArenaSetDescriptor {
    return {
      arenas: this.#arenas.map((arena) => arena.descriptor()),
      counters: this.#counters.buffer as SharedArrayBuffer,
    };
  }

  /** Takes up an arena that was created later, by this or by another thread. */
  add(descriptor: ArenaDescriptor): Arena {
    const known = this.#arenas[descriptor.id];
    if (known !== undefined) return known;
    const arena = Arena.open(descriptor);
    this.#arenas[descriptor.id] = arena;
    return arena;
  }

  /** Creates one more arena; other threads take it up by `add`. */
  grow(): ArenaDescriptor {
    const arena = Arena.create(this.#arenas.length);
    this.#arenas.push(arena);
    return arena.descriptor();
  }

  get arenas(): readonly Arena[] {
    return this.#arenas;
  }

  get(arenaId: number): Arena {
    const arena = this.#arenas[arenaId];
    assert(arena !== undefined, `no arena ${arenaId}`);
    return arena;
  }

  allocate(sizeBytes: number): Span {
    return this.#allocateAmong(this.#arenas, sizeBytes);
  }

  allocateIn(arenaId: number, sizeBytes: number): Span {
    return this.#allocateAmong([this.get(arenaId)], sizeBytes);
  }

  #allocateAmong(arenas: readonly Arena[], sizeBytes: number): Span {
    for (const arena of arenas) {
      const offset = arena.allocate(sizeBytes);
      if (offset === 0) continue;
      const span = { arena: arena.id, offset, sizeBytes };
      if (this.#charge(arena.blockSize(offset))) return span;
      arena.free(offset, sizeBytes);
      break;
    }
    throw failure(
      'OUT_OF_MEMORY',
      `Out of memory. ${megabytes(sizeBytes)} more are needed, ${megabytes(this.usedBytes)} of the budget of ${megabytes(this.budgetBytes)} (--memory) are in use`,
      { sizeBytes, usedBytes: this.usedBytes, budgetBytes: this.budgetBytes },
    );
  }

  free(span: Span): void {
    const freed = this.get(span.arena).free(span.offset, span.sizeBytes);
    if (freed > 0) Atomics.sub(this.#counters, USED, BigInt(freed));
  }

  retain(span: Span): void {
    this.get(span.arena).retain(span.offset, span.sizeBytes);
  }

  shrink(span: Span, sizeBytes: number): Span {
    if (sizeBytes === span.sizeBytes) return span;
    const freed = this.get(span.arena).shrink(span.offset, span.sizeBytes, sizeBytes);
    Atomics.sub(this.#counters, USED, BigInt(freed));
    return { ...span, sizeBytes };
  }

  nextId(): number {
    return Number(Atomics.add(this.#counters, LAST_ID, 1n)) + 1;
  }

  get budgetBytes(): number {
    return Number(Atomics.load(this.#counters, BUDGET));
  }

  get usedBytes(): number {
    return Number(Atomics.load(this.#counters, USED));
  }

  get peakBytes(): number {
    return Number(Atomics.load(this.#counters, PEAK));
  }

  /** Keeps a thread out of all arenas; see `Arena.keepOut`. */
  keepOut(thread: number): void {
    for (const arena of this.#arenas) arena.keepOut(thread);
  }

  /** A thread that was kept out has ended. */
  forgetOutsider(thread: number): void {
    for (const arena of this.#arenas) arena.forgetOutsider(thread);
  }

  #charge(sizeBytes: number): boolean {
    const size = BigInt(sizeBytes);
    const used = Atomics.add(this.#counters, USED, size) + size;
    if (used > Atomics.load(this.#counters, BUDGET)) {
      Atomics.sub(this.#counters, USED, size);
      return false;
    }
    for (let peak = Atomics.load(this.#counters, PEAK); used > peak; ) {
      const seen = Atomics.compareExchange(this.#counters, PEAK, peak, used);
      if (seen === peak) break;
      peak = seen;
    }
    return true;
  }
}

/**
 * Remembers the spans of one piece of work, so that a failure can give them all back. Builders that
 * fail half-way do not clean up; a scope around them does.
 */
export class ArenaLease implements ArenaAllocator {
  readonly #owner: ArenaAllocator;
  readonly #holds = new Map<string, { span: Span; count: number }>();

  constructor(owner: ArenaAllocator) {
    this.#owner = owner;
  }

  get(arenaId: number): Arena {
    return this.#owner.get(arenaId);
  }

  allocate(sizeBytes: number): Span {
    return this.#remember(this.#owner.allocate(sizeBytes));
  }

  allocateIn(arenaId: number, sizeBytes: number): Span {
    return this.#remember(this.#owner.allocateIn(arenaId, sizeBytes));
  }

  free(span: Span): void {
    this.#forget(span);
    this.#owner.free(span);
  }

  retain(span: Span): void {
    this.#owner.retain(span);
    const hold = this.#holds.get(spanKey(span));
    if (hold === undefined) this.#holds.set(spanKey(span), { span, count: 1 });
    else hold.count++;
  }

  shrink(span: Span, sizeBytes: number): Span {
    const shrunk = this.#owner.shrink(span, sizeBytes);
    const hold = this.#holds.get(spanKey(span));
    if (hold !== undefined) hold.span = shrunk;
    return shrunk;
  }

  nextId(): number {
    return this.#owner.nextId();
  }

  /** From now on these holds are the caller's. */
  keep(spans: Iterable<Span>): void {
    for (const span of spans) this.#forget(span);
  }

  /** Frees everything that was neither freed nor kept. */
  release(): void {
    for (const { span, count } of this.#holds.values()) {
      for (let i = 0; i < count; i++) this.#owner.free(span);
    }
    this.#holds.clear();
  }

  #remember(span: Span): Span {
    this.#holds.set(spanKey(span), { span, count: 1 });
    return span;
  }

  #forget(span: Span): void {
    const hold = this.#holds.get(spanKey(span));
    if (hold === undefined) return;
    hold.count--;
    if (hold.count === 0) this.#holds.delete(spanKey(span));
  }
}

function spanKey(span: Span): string {
  return `${span.arena}:${span.offset}`;
}

/** 70 % of the memory that this process may use, in bytes; limits of containers count. */
export function defaultBudgetBytes(): number {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return Math.floor(BUDGET_SHARE * (limit > 0 ? Math.min(limit, total) : total));
}

function megabytes(sizeBytes: number): string {
  return `${(sizeBytes / 1e6).toFixed(1)} MB`;
}
