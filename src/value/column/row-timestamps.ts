// Timestamps of rows: one for all while they agree, else one Float64 a row in chunks.

import { MINUS_INFINITY } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { ChunkStarts } from './column-view.ts';
import { GrowableSpan } from './growable-span.ts';
import type { RowTimestamps, Span } from './snapshot.ts';
import { CHUNK_ROW_COUNT_MAX } from './snapshot.ts';
import { float64Of } from './span-view.ts';

/** Collects a timestamp a row, in seconds; one for all rows is kept once. */
export class RowTimestampsBuilder {
  readonly #allocator: ArenaAllocator;
  readonly #chunkRowCount: number;
  #constant = MINUS_INFINITY;
  #isConstant = true;
  #rowCount = 0;
  readonly #chunks: Span[] = [];
  #pending: GrowableSpan | undefined;
  #pendingCount = 0;

  constructor(allocator: ArenaAllocator, chunkRowCount = CHUNK_ROW_COUNT_MAX) {
    this.#allocator = allocator;
    this.#chunkRowCount = chunkRowCount;
  }

  /** @param ts seconds; NaN is not a date */
  add(ts: number): void {
    if (this.#isConstant) {
      if (this.#rowCount === 0) this.#constant = ts;
      if (Object.is(ts, this.#constant) || ts === this.#constant) {
        this.#rowCount++;
        return;
      }
      this.#isConstant = false;
      for (let i = 0; i < this.#rowCount; i++) this.#append(this.#constant);
    }
    this.#append(ts);
    this.#rowCount++;
  }

  seal(): RowTimestamps {
    if (this.#isConstant) return { kind: 'constant', ts: this.#constant };
    if (this.#pendingCount > 0) this.#flush();
    this.#pending?.release();
    return { kind: 'per-row', chunks: this.#chunks };
  }

  release(): void {
    for (const span of this.#chunks) this.#allocator.free(span);
    this.#pending?.release();
  }

  #append(ts: number): void {
    this.#pending ??= new GrowableSpan(this.#allocator);
    this.#pending.reserve((this.#pendingCount + 1) * 8);
    this.#pending.f64[this.#pendingCount++] = ts;
    if (this.#pendingCount === this.#chunkRowCount) this.#flush();
  }

  #flush(): void {
    this.#chunks.push((this.#pending as GrowableSpan).seal(this.#pendingCount * 8));
    this.#pending = undefined;
    this.#pendingCount = 0;
  }
}

/** Reads the timestamps of rows, in seconds since the epoch. */
export class RowTimestampsView {
  readonly #constant: number | undefined;
  readonly #chunks: readonly Float64Array[];
  readonly #starts: ChunkStarts;

  constructor(timestamps: RowTimestamps, arenas: Pick<ArenaAllocator, 'get'>) {
    this.#constant = timestamps.kind === 'constant' ? timestamps.ts : undefined;
    this.#chunks =
      timestamps.kind === 'constant'
        ? []
        : timestamps.chunks.map((span) => float64Of(arenas, span));
    this.#starts = new ChunkStarts(this.#chunks.map((chunk) => chunk.length));
  }

  /** The one timestamp of all rows, when they have one. */
  get constant(): number | undefined {
    return this.#constant;
  }

  at(row: number): number {
    if (this.#constant !== undefined) return this.#constant;
    const chunk = this.#starts.chunkOf(row);
    return (this.#chunks[chunk] as Float64Array)[row - this.#starts.startOf(chunk)] as number;
  }
}
