// Short-lived vectors of a job: a stack of bytes in one arena, given back as a whole.

import { OVERRUN_SIZE } from '../../kernel/generated.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import type { Arena } from '../../value/column/arena.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { isInFile, readFileSpan } from '../../value/column/file-span.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { threadArenas, threadKernels } from '../thread-memory.ts';

const BLOCK_SIZE = 4 * 1024 * 1024;

export interface ScratchMark {
  readonly block: number;
  readonly used: number;
}

export class Scratch {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly #arenas: ArenaAllocator;
  readonly #blocks: Span[] = [];
  #block = -1;
  #used = 0;

  /** @param arenaId where the data lies that the vectors are made from */
  constructor(arenaId: number) {
    this.#arenas = threadArenas();
    this.arena = this.#arenas.get(arenaId);
    this.kernels = threadKernels(arenaId);
  }

  /** @returns the address of `sizeBytes` bytes of undefined content, until the next `reset` */
  take(sizeBytes: number): number {
    const size = (sizeBytes + OVERRUN_SIZE + 15) & ~15;
    for (;;) {
      const block = this.#blocks[this.#block];
      if (block !== undefined && this.#used + size <= block.sizeBytes) {
        const address = block.offset + this.#used;
        this.#used += size;
        return address;
      }
      this.#nextBlock(size);
    }
  }

  /** Zeroed bytes that stay until `release`. */
  keep(sizeBytes: number): number {
    const span = this.#allocateHere(sizeBytes + OVERRUN_SIZE);
    this.#kept.push(span);
    this.arena.u8.fill(0, span.offset, span.offset + span.sizeBytes);
    return span.offset;
  }

  readonly #kept: Span[] = [];

  /** Forgets the vectors taken so far; their memory is used again. */
  reset(): void {
    this.#block = this.#blocks.length > 0 ? 0 : -1;
    this.#used = 0;
  }

  /** A place to come back to: what is taken after it can be forgotten by itself. */
  mark(): ScratchMark {
    return { block: this.#block, used: this.#used };
  }

  rewind({ block, used }: ScratchMark): void {
    this.#block = block;
    this.#used = used;
  }

  release(): void {
    for (const span of [...this.#blocks.splice(0), ...this.#kept.splice(0)])
      this.#arenas.free(span);
    this.#block = -1;
  }

  /** The address of a span's bytes in this arena; what lies elsewhere is copied or read. */
  addressOf(span: Span): number {
    if (span.arena === this.arena.id) return span.offset;
    if (isInFile(span)) {
      const address = this.take(span.sizeBytes);
      readFileSpan(span, this.arena.u8.subarray(address, address + span.sizeBytes));
      return address;
    }
    const source = this.#arenas.get(span.arena).u8;
    const address = this.take(span.sizeBytes);
    this.arena.u8.set(source.subarray(span.offset, span.offset + span.sizeBytes), address);
    return address;
  }

  #nextBlock(size: number): void {
    this.#used = 0;
    for (let next = this.#block + 1; next < this.#blocks.length; next++) {
      if ((this.#blocks[next] as Span).sizeBytes >= size) {
        this.#block = next;
        return;
      }
    }
    this.#blocks.push(this.#allocateHere(Math.max(size, BLOCK_SIZE)));
    this.#block = this.#blocks.length - 1;
  }

  #allocateHere(sizeBytes: number): Span {
    return this.#arenas.allocateIn(this.arena.id, sizeBytes);
  }
}
