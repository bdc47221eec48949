// Points as they are recorded, in segments, so that their growth copies nothing.
import type { ArenaAllocator } from './arena-set.ts';
import type { Span } from './snapshot.ts';
import { bytesOf, float64Of, uint32Of } from './span-view.ts';

const SEGMENT_BITS = 16;
const SEGMENT_POINT_COUNT = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_POINT_COUNT - 1;

interface Segment {
  readonly span: Span;
  readonly columns: Uint32Array;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly kinds: Uint8Array;
}

/** A payload is moved as two words: as a double its bits could change where they look like NaN. */
export class PointSegments {
  readonly #allocator: ArenaAllocator;
  readonly #segments: Segment[] = [];
  /** none as long as all timestamps are the same */
  readonly #timestamps: { readonly span: Span; readonly values: Float64Array }[] = [];
  #constant = 0;
  #isConstant = true;
  #count = 0;

  constructor(allocator: ArenaAllocator) {
    this.#allocator = allocator;
  }

  get count(): number {
    return this.#count;
  }

  /** The timestamp of all points, as long as they have but one. */
  get constantTs(): number | undefined {
    return this.#isConstant ? this.#constant : undefined;
  }

  add(column: number, kind: number, low: number, high: number, ts: number): void {
    const index = this.#count & SEGMENT_MASK;
    if (index === 0) this.#segments.push(this.#makeSegment());
    const segment = this.#segments[this.#count >>> SEGMENT_BITS] as Segment;
    segment.columns[index] = column;
    segment.low[index] = low;
    segment.high[index] = high;
    segment.kinds[index] = kind;
    if (this.#isConstant) {
      if (this.#count === 0) this.#constant = ts;
      if (ts !== this.#constant && !(Number.isNaN(ts) && Number.isNaN(this.#constant))) {
        this.#isConstant = false;
        while (this.#timestamps.length < this.#segments.length) {
          const part = this.#makeTimestamps();
          part.values.fill(this.#constant);
          this.#timestamps.push(part);
        }
      }
    }
    if (!this.#isConstant) {
      const part = this.#count >>> SEGMENT_BITS;
      if (part === this.#timestamps.length) this.#timestamps.push(this.#makeTimestamps());
      (this.#timestamps[part] as { values: Float64Array }).values[index] = ts;
    }
    this.#count++;
  }

  /**
   * Gives every point the final id of its column. A pass of its own, because many look-ups side by
   * side hide the latency of memory that one at a time would wait for.
   */
  mapColumns(ranks: Uint32Array): void {
    this.#segments.forEach(({ columns }, part) => {
      const count = Math.min(SEGMENT_POINT_COUNT, this.#count - part * SEGMENT_POINT_COUNT);
      for (let i = 0; i < count; i++) columns[i] = ranks[columns[i] as number] as number;
    });
  }

  /** Copies points [from, to) to the end of a row. */
  copyTo(row: RowPoints, from: number, to: number): void {
    row.reserve(to - from);
    for (let i = from; i < to; i++) {
      const part = i >>> SEGMENT_BITS;
      const index = i & SEGMENT_MASK;
      const segment = this.#segments[part] as Segment;
      row.push(
        segment.columns[index] as number,
        segment.kinds[index] as number,
        segment.low[index] as number,
        segment.high[index] as number,
        this.#isConstant
          ? this.#constant
          : ((this.#timestamps[part] as { values: Float64Array }).values[index] as number),
      );
    }
  }

  release(): void {
    for (const { span } of this.#segments) this.#allocator.free(span);
    for (const { span } of this.#timestamps) this.#allocator.free(span);
    this.#segments.length = 0;
    this.#timestamps.length = 0;
  }

  #makeSegment(): Segment {
    const n = SEGMENT_POINT_COUNT;
    const span = this.#allocator.allocate(n * 13);
    const words = uint32Of(this.#allocator, span);
    return {
      span,
      columns: words.subarray(0, n),
      low: words.subarray(n, 2 * n),
      high: words.subarray(2 * n, 3 * n),
      kinds: bytesOf(this.#allocator, span).subarray(12 * n),
    };
  }

  #makeTimestamps(): { span: Span; values: Float64Array } {
    const span = this.#allocator.allocate(SEGMENT_POINT_COUNT * 8);
    return { span, values: float64Of(this.#allocator, span) };
  }
}

/** The points of one row while it is put together. */
export class RowPoints {
  columns = new Uint32Array(64);
  kinds = new Uint8Array(64);
  low = new Uint32Array(64);
  high = new Uint32Array(64);
  timestamps = new Float64Array(64);
  count = 0;

  reserve(count: number): void {
    const needed = this.count + count;
    if (needed <= this.columns.length) return;
    const size = Math.max(needed, this.columns.length * 2);
    const { columns, kinds, low, high, timestamps } = this;
    this.columns = new Uint32Array(size);
    this.columns.set(columns);
    this.kinds = new Uint8Array(size);
    this.kinds.set(kinds);
    this.low = new Uint32Array(size);
    this.low.set(low);
    this.high = new Uint32Array(size);
    this.high.set(high);
    this.timestamps = new Float64Array(size);
    this.timestamps.set(timestamps);
  }

  /** Room must have been reserved. */
  push(column: number, kind: number, low: number, high: number, ts: number): void {
    const i = this.count++;
    this.columns[i] = column;
    this.kinds[i] = kind;
    this.low[i] = low;
    this.high[i] = high;
    this.timestamps[i] = ts;
  }

  /** The order of two points by column, timestamp (NaN first) and bits of the value. */
  compare(a: number, b: number): number {
    const byColumn = (this.columns[a] as number) - (this.columns[b] as number);
    if (byColumn !== 0) return byColumn;
    const s = this.timestamps[a] as number;
    const t = this.timestamps[b] as number;
    if (s < t) return -1;
    if (s > t) return 1;
    if (s !== t) {
      const byNaN = Number(Number.isNaN(t)) - Number(Number.isNaN(s));
      if (byNaN !== 0) return byNaN;
    }
    return (
      (this.kinds[a] as number) - (this.kinds[b] as number) ||
      (this.high[a] as number) - (this.high[b] as number) ||
      (this.low[a] as number) - (this.low[b] as number)
    );
  }
}
