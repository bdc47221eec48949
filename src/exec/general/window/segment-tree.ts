// Aggregates over many ranges of one sequence.
import type { AggregateFunction } from '../../../plan/function.ts';
import type { Value } from '../../../value/value.ts';
import type { PositionRange } from './partition.ts';

/** Rows below one leaf of the tree. */
const LEAF_ROW_COUNT = 32;

/**
 * A range that goes on where the one before it began grows the same state; any other is put
 * together from states of aligned parts, which are made when they are first needed.
 * @see Leis et al., "Efficient Processing of Window Functions in Analytical SQL Queries", VLDB 2015
 */
export class SegmentTree {
  readonly #declaration: AggregateFunction;
  /** the arguments of each row; undefined: a filter leaves the row out */
  readonly #tuples: readonly (readonly Value[] | undefined)[];
  /** states of 32, 64, 128 … rows */
  readonly #levels: unknown[][] = [];
  #state: unknown;
  #from = -1;
  #to = -1;

  constructor(declaration: AggregateFunction, tuples: readonly (readonly Value[] | undefined)[]) {
    this.#declaration = declaration;
    this.#tuples = tuples;
  }

  aggregate(ranges: readonly PositionRange[]): Value {
    const [first] = ranges;
    if (first !== undefined && ranges.length === 1) {
      const [from, to] = first;
      if (from === this.#from && to >= this.#to) {
        this.#addRows(this.#state, this.#to, to);
      } else {
        this.#state = this.#declaration.init();
        this.#addRange(this.#state, from, to);
      }
      this.#from = from;
      this.#to = to;
      return this.#declaration.finish(this.#state);
    }
    const state = this.#declaration.init();
    for (const [from, to] of ranges) this.#addRange(state, from, to);
    return this.#declaration.finish(state);
  }

  #addRows(state: unknown, from: number, to: number): void {
    for (let position = from; position < to; position++) {
      const tuple = this.#tuples[position];
      if (tuple !== undefined) this.#declaration.update(state, tuple);
    }
  }

  /** The largest aligned parts from left to right, so that the order of rows is kept. */
  #addRange(state: unknown, from: number, to: number): void {
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
        this.#addRows(state, position, end);
        position = end;
      } else {
        const part = LEAF_ROW_COUNT * 2 ** level;
        this.#declaration.merge(state, this.#stateOf(level, position / part));
        position += part;
      }
    }
  }

  #stateOf(level: number, index: number): unknown {
    this.#levels[level] ??= [];
    const states = this.#levels[level] as unknown[];
    let state = states[index];
    if (state !== undefined) return state;
    state = this.#declaration.init();
    if (level === 0) {
      const from = index * LEAF_ROW_COUNT;
      this.#addRows(state, from, from + LEAF_ROW_COUNT);
    } else {
      this.#declaration.merge(state, this.#stateOf(level - 1, index * 2));
      this.#declaration.merge(state, this.#stateOf(level - 1, index * 2 + 1));
    }
    states[index] = state;
    return state;
  }
}
