// Sums and extremes of numbers over frames. Sums are compensated as those of the reference are.
import type { FrameRanges } from './frame-range.ts';

/** Frames of at most so many rows are added up by themselves. */
const FEW_ROWS = 64;
const LEAF_ROW_COUNT = 32;

/** Numbers by position; `valid` is 0 where there is none. */
export interface PositionedNumbers {
  readonly values: Float64Array;
  readonly valid: Uint8Array | undefined;
}

export interface FrameSums {
  readonly sums: Float64Array;
  /** how many numbers each frame has */
  readonly counts: Float64Array;
}

/** A sum that is added to: see A. Neumaier, 1974, as in the aggregates. */
class Sum {
  count = 0;
  sum = 0;
  lost = 0;

  clear(): void {
    this.count = 0;
    this.sum = 0;
    this.lost = 0;
  }

  add(x: number): void {
    const sum = this.sum + x;
    this.lost += Math.abs(this.sum) >= Math.abs(x) ? this.sum - sum + x : x - sum + this.sum;
    this.sum = sum;
  }

  addAll({ values, valid }: PositionedNumbers, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      this.add(values[i] as number);
      this.count++;
    }
  }

  merge(sum: number, lost: number, count: number): void {
    this.count += count;
    this.add(sum);
    if (Number.isFinite(sum)) this.lost += lost;
  }

  get total(): number {
    return (Number.isFinite(this.sum) ? this.sum + this.lost : this.sum) + 0;
  }
}

export function sumFrames(numbers: PositionedNumbers, { from, to }: FrameRanges): FrameSums {
  const count = from.length;
  const sums = new Float64Array(count);
  const counts = new Float64Array(count);
  const state = new Sum();
  let tree: SumTree | undefined;
  let [start, end] = [-1, -1];
  for (let position = 0; position < count; position++) {
    const first = from[position] as number;
    const last = to[position] as number;
    if (first !== start || last < end) {
      state.clear();
      if (last - first > FEW_ROWS) {
        tree ??= new SumTree(numbers);
        tree.addTo(state, first, last);
      } else state.addAll(numbers, first, last);
    } else if (last > end) state.addAll(numbers, end, last);
    [start, end] = [first, last];
    sums[position] = state.total;
    counts[position] = state.count;
  }
  return { sums, counts };
}

interface SumLevel {
  readonly sums: Float64Array;
  readonly lost: Float64Array;
  readonly counts: Float64Array;
}

/** Sums of aligned parts of 32, 64, 128 … rows, made when they are first needed. */
class SumTree {
  readonly #numbers: PositionedNumbers;
  readonly #levels: SumLevel[] = [];

  constructor(numbers: PositionedNumbers) {
    this.#numbers = numbers;
  }

  addTo(state: Sum, from: number, to: number): void {
    let position = from;
    while (position < to) {
      let level = -1;
      let size = LEAF_ROW_COUNT;
      while (position % size === 0 && position + size <= to) {
        level++;
        size *= 2;
      }
      if (level === -1) {
        const end = Math.min(to, (Math.floor(position / LEAF_ROW_COUNT) + 1) * LEAF_ROW_COUNT);
        state.addAll(this.#numbers, position, end);
        position = end;
      } else {
        const part = LEAF_ROW_COUNT * 2 ** level;
        const { sums, lost, counts } = this.#level(level);
        const at = position / part;
        state.merge(sums[at] as number, lost[at] as number, counts[at] as number);
        position += part;
      }
    }
  }

  #level(level: number): SumLevel {
    for (let next = this.#levels.length; next <= level; next++) {
      const size = Math.floor(this.#numbers.values.length / (LEAF_ROW_COUNT * 2 ** next));
      const made = {
        sums: new Float64Array(size),
        lost: new Float64Array(size),
        counts: new Float64Array(size),
      };
      const below = this.#levels[next - 1];
      const state = new Sum();
      for (let i = 0; i < size; i++) {
        state.clear();
        if (below === undefined) {
          state.addAll(this.#numbers, i * LEAF_ROW_COUNT, (i + 1) * LEAF_ROW_COUNT);
        } else {
          for (const at of [2 * i, 2 * i + 1]) {
            const { sums, lost, counts } = below;
            state.merge(sums[at] as number, lost[at] as number, counts[at] as number);
          }
        }
        made.sums[i] = state.sum;
        made.lost[i] = state.lost;
        made.counts[i] = state.count;
      }
      this.#levels.push(made);
    }
    return this.#levels[level] as SumLevel;
  }
}

/**
 * Positions of the least (sign 1) or greatest (-1) number of each frame, the first of equal ones;
 * -1: it has none. A queue keeps what can still become the extreme of a frame that moves on; for
 * frames that move back everything is looked at again.
 */
export function extremesOfFrames(
  numbers: PositionedNumbers,
  { from, to }: FrameRanges,
  sign: 1 | -1,
): Int32Array {
  const { values, valid } = numbers;
  const count = from.length;
  const found = new Int32Array(count);
  const queue = new Uint32Array(count);
  let [head, tail, start, end] = [0, 0, 0, 0];
  const isBefore = (a: number, b: number) =>
    sign * compareNumbers(values[a] as number, values[b] as number) < 0;
  for (let position = 0; position < count; position++) {
    const first = from[position] as number;
    const last = to[position] as number;
    if (first < start || last < end || first >= end) {
      head = 0;
      tail = 0;
      end = first;
    }
    start = first;
    for (; end < last; end++) {
      if (valid !== undefined && valid[end] === 0) continue;
      while (tail > head && isBefore(end, queue[tail - 1] as number)) tail--;
      queue[tail++] = end;
    }
    while (head < tail && (queue[head] as number) < first) head++;
    found[position] = head < tail ? (queue[head] as number) : -1;
  }
  return found;
}

/** NaN is less than all others. */
function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}
