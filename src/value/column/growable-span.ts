// A span that grows while it is filled: the working form of every variable-length part of a snapshot.
import type { ArenaAllocator } from './arena-set.ts';
import type { Span } from './snapshot.ts';

const INITIAL_SIZE = 1024;

/** Views start at the span, so that positions in them stay small integers. */
export class GrowableSpan {
  readonly #allocator: ArenaAllocator;
  #span: Span;
  u8!: Uint8Array;
  u32!: Uint32Array;
  f64!: Float64Array;

  constructor(allocator: ArenaAllocator, sizeBytes = INITIAL_SIZE) {
    this.#allocator = allocator;
    this.#span = allocator.allocate(roundUp(sizeBytes));
    this.#makeViews();
  }

  get sizeBytes(): number {
    return this.#span.sizeBytes;
  }

  /** Makes room for `sizeBytes` in all; what was written stays, the views are new ones. */
  reserve(sizeBytes: number): void {
    if (sizeBytes <= this.#span.sizeBytes) return;
    const old = this.#span;
    const oldBytes = this.u8;
    this.#span = this.#allocator.allocate(roundUp(Math.max(sizeBytes, old.sizeBytes * 2)));
    this.#makeViews();
    this.u8.set(oldBytes);
    this.#allocator.free(old);
  }

  /** Ends the growth: the span is cut to its content and belongs to the caller. */
  seal(sizeBytes: number): Span {
    return this.#allocator.shrink(this.#span, sizeBytes);
  }

  /** Frees the span of a builder that is given up. */
  release(): void {
    this.#allocator.free(this.#span);
  }

  #makeViews(): void {
    const { arena, offset, sizeBytes } = this.#span;
    const { u8, u32, f64 } = this.#allocator.get(arena);
    this.u8 = u8.subarray(offset, offset + sizeBytes);
    this.u32 = u32.subarray(offset / 4, (offset + sizeBytes) / 4);
    this.f64 = f64.subarray(offset / 8, (offset + sizeBytes) / 8);
  }
}

function roundUp(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 16) * 16;
}
