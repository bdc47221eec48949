// The rows of a pipeline as vectors: chunks of a table, filtered and joined with built tables. A
// batch knows the row numbers of its sources; columns are gathered when a program asks for them.
import { assert } from '../../util/assert.ts';
import type { ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import type { FlatColumn } from '../vector/built-column.ts';
import { ChunkVectors } from '../vector/chunk.ts';
import { mayPass } from '../vector/program/chunk-statistics.ts';
import type { CodeProgram, TruthProgram } from '../vector/program/program.ts';
import type { Scratch } from '../vector/scratch.ts';
import { type CodeVector, type NumberVector, Vectors } from '../vector/vectors.ts';

/** Where a column of a pipeline lies: in the chunks, or in the table that a step looks up. */
export type Place =
  | { readonly kind: 'chunks' }
  | { readonly kind: 'built'; readonly step: number; readonly flat: FlatColumn };

export type ProbeStep = LookUpStep | EveryPairStep;

/** Each row goes with every row of a built table that passes its filter. */
export interface EveryPairStep {
  readonly kind: 'every-pair';
  /** rows that are paired */
  readonly filter: TruthProgram | undefined;
  /** Int32: the built rows */
  readonly rows: Span;
  readonly rowCount: number;
}

/** A look-up of the rows of a built table by the code of a key. */
export interface LookUpStep {
  readonly kind: 'look-up';
  /** rows that are looked up */
  readonly filter: TruthProgram | undefined;
  /** codes of the built table's keys; 0 where there is no such key */
  readonly key: CodeProgram;
  /** Int32 a code: its built row, plus 1 (0: none), or where its rows in `rows` end */
  readonly head: Span;
  /** Int32: the built rows by their codes; absent: keys are distinct */
  readonly rows: Span | undefined;
  /** the built row that goes with rows without a match; -1: these are left out */
  readonly lone: number;
}

export interface BatchSource {
  /** columns of the batches; of those that are built only the type counts */
  readonly columns: readonly ColumnSnapshot[];
  readonly places: readonly Place[];
  readonly steps: readonly ProbeStep[];
  /** rows that are left in the end */
  readonly filter: TruthProgram | undefined;
}

const BATCH_ROW_COUNT_MAX = 65_536;

/** Row numbers of a batch: addresses of Int32, 0: the rows of the chunk as they lie. */
interface Level {
  readonly rowCount: number;
  readonly chunkRows: number;
  /** of each step that was taken */
  readonly builtRows: readonly number[];
}

/** Whether rows that are not looked up stay, with no partner. */
function keepsRows(step: ProbeStep | undefined): boolean {
  return step?.kind === 'look-up' && step.lone !== -1;
}

export class BatchVectors extends Vectors {
  readonly #source: BatchSource;
  readonly #look: () => void;
  readonly #chunk: ChunkVectors;
  #level: Level = { rowCount: 0, chunkRows: 0, builtRows: [] };
  #cache = new Map<number, NumberVector>();

  /** @param look throws when the work was cancelled */
  constructor(scratch: Scratch, source: BatchSource, look: () => void) {
    super(scratch);
    this.#look = look;
    this.#source = source;
    this.#chunk = new ChunkVectors(scratch, source.columns);
  }

  get rowCount(): number {
    return this.#level.rowCount;
  }

  /** Calls `visit` for each batch of a chunk, in the order of its rows. */
  forEachBatch(chunkIndex: number, rowCount: number, visit: () => void): void {
    const { places, columns, steps, filter } = this.#source;
    const first = steps[0] === undefined ? filter : steps[0].filter;
    // What is filtered first is about the columns of the chunks alone.
    const isLeftOut = first !== undefined && !mayPass(first, columns, chunkIndex);
    if (isLeftOut && !keepsRows(steps[0])) return;
    this.#chunk.moveTo(chunkIndex, rowCount);
    // What is loaded now stays for all batches of the chunk.
    places.forEach((place, column) => {
      if (place.kind === 'chunks') this.#chunk.load(column);
    });
    this.#level = { rowCount, chunkRows: 0, builtRows: [] };
    this.#cache = new Map();
    this.#take(0, visit);
  }

  /** Calls `visit` for the rows at some positions of the batch. @param selected address of Int32 */
  narrow(selected: number, count: number, visit: () => void): void {
    if (count === this.rowCount) visit();
    else if (count > 0) this.#within(this.#picked(selected, count), visit);
  }

  /** Int32 numbers of the rows: of a chunk, from `first` on, or of the table of a step. */
  rowNumbers(step: number | undefined, first: number): number {
    const { chunkRows, builtRows, rowCount } = this.#level;
    const { i32 } = this.scratch.arena;
    const out = this.scratch.take(rowCount * 4);
    const from = (step === undefined ? chunkRows : (builtRows[step] as number)) / 4;
    const base = step === undefined ? first : 0;
    const isWhole = step === undefined && chunkRows === 0;
    for (let i = 0; i < rowCount; i++) {
      i32[out / 4 + i] = base + (isWhole ? i : (i32[from + i] as number));
    }
    return out;
  }

  columnNumbers(column: number): NumberVector {
    let vector = this.#cache.get(column);
    if (vector === undefined) {
      const place = this.#place(column);
      vector =
        place.kind === 'built'
          ? this.#builtNumbers(place.step, place.flat)
          : this.#chunkNumbers(column);
      this.#cache.set(column, vector);
    }
    return vector;
  }

  storedCodes(column: number): CodeVector {
    const place = this.#place(column);
    const { kernels } = this.scratch;
    const { rowCount, chunkRows, builtRows } = this.#level;
    if (place.kind === 'built') {
      const out = this.scratch.take(rowCount * 4);
      const codes = this.scratch.addressOf(place.flat.data);
      kernels.gatherI32(codes, builtRows[place.step] as number, rowCount, out);
      return { data: out, width: 4 };
    }
    const stored = this.#chunk.storedCodes(column);
    if (chunkRows === 0) return stored;
    const wide = this.scratch.take(this.#chunk.rowCount * 4);
    kernels.widenCodes(stored.data, stored.width, this.#chunk.rowCount, wide);
    const out = this.scratch.take(rowCount * 4);
    kernels.gatherI32(wide, chunkRows, rowCount, out);
    return { data: out, width: 4 };
  }

  validity(column: number): number {
    if (this.#source.columns[column]?.dictionary === undefined) {
      return this.columnNumbers(column).valid;
    }
    const { data, width } = this.storedCodes(column);
    const out = this.bytes();
    this.scratch.kernels.validCodes(data, width, this.rowCount, out);
    return out;
  }

  /** Takes the steps from a number on with the rows at hand. */
  #take(step: number, visit: () => void): void {
    const { steps, filter } = this.#source;
    const next = steps[step];
    if (next?.kind === 'look-up') this.#probe(next, step, visit);
    else if (next !== undefined) this.#pair(next, step, visit);
    else if (filter !== undefined) this.#select(filter, visit);
    else if (this.rowCount > 0) visit();
  }

  #select(filter: TruthProgram, visit: () => void): void {
    const { kernels } = this.scratch;
    const { rowCount } = this;
    const selected = this.scratch.take(rowCount * 4);
    const count = kernels.selectTrue(this.truth(filter), rowCount, selected);
    this.narrow(selected, count, visit);
  }

  /** Blocks of pairs: some rows of the batch, each with all built rows, or with some of these. */
  #pair(step: EveryPairStep, index: number, visit: () => void): void {
    const { arena, kernels } = this.scratch;
    const before = this.scratch.mark();
    let positions = this.scratch.take(this.rowCount * 4);
    let rowCount = this.rowCount;
    if (step.filter === undefined) {
      for (let i = 0; i < rowCount; i++) arena.i32[positions / 4 + i] = i;
    } else {
      const truth = this.truth(step.filter);
      positions = this.scratch.take(rowCount * 4);
      rowCount = kernels.selectTrue(truth, rowCount, positions);
    }
    const built = this.scratch.addressOf(step.rows) / 4;
    const { i32 } = arena;
    const width = Math.min(step.rowCount, BATCH_ROW_COUNT_MAX);
    const height = Math.max(1, Math.floor(BATCH_ROW_COUNT_MAX / Math.max(1, width)));
    const mark = this.scratch.mark();
    for (let from = 0; from < rowCount; from += height) {
      const to = Math.min(from + height, rowCount);
      for (let first = 0; first < step.rowCount; first += width) {
        this.#look();
        this.scratch.rewind(mark);
        const count = Math.min(width, step.rowCount - first);
        const left = this.scratch.take((to - from) * count * 4);
        const right = this.scratch.take((to - from) * count * 4);
        let at = 0;
        for (let row = from; row < to; row++) {
          i32.fill(i32[positions / 4 + row] as number, left / 4 + at, left / 4 + at + count);
          i32.copyWithin(right / 4 + at, built + first, built + first + count);
          at += count;
        }
        if (at === 0) continue;
        const level = this.#picked(left, at);
        const builtRows = [...level.builtRows, right];
        this.#within({ ...level, builtRows }, () => this.#take(index + 1, visit));
      }
    }
    this.scratch.rewind(before);
  }

  #probe(step: LookUpStep, index: number, visit: () => void): void {
    const { kernels, arena } = this.scratch;
    const { rowCount } = this;
    const before = this.scratch.mark();
    const keys = this.codes(step.key);
    const truth = step.filter === undefined ? 0 : this.truth(step.filter);
    const head = this.scratch.addressOf(step.head);
    const rows = step.rows === undefined ? 0 : this.scratch.addressOf(step.rows);
    const state = this.scratch.take(16);
    arena.i32.fill(0, state / 4, state / 4 + 2);
    const mark = this.scratch.mark();
    for (;;) {
      this.scratch.rewind(mark);
      const left = this.scratch.take(BATCH_ROW_COUNT_MAX * 4);
      const right = this.scratch.take(BATCH_ROW_COUNT_MAX * 4);
      const probe = rows === 0 ? kernels.probePairs : kernels.probeRows;
      const count = probe(
        ...([keys, truth, rowCount, head, rows, step.lone, state] as const),
        ...([left, right, BATCH_ROW_COUNT_MAX] as const),
      );
      if (count > 0) {
        // Each row has exactly one partner, so its columns are as they lie.
        const isWhole = rows === 0 && count === rowCount;
        const level = isWhole ? { ...this.#level } : this.#picked(left, count);
        const builtRows = [...level.builtRows, right];
        this.#within({ ...level, builtRows }, () => this.#take(index + 1, visit));
      }
      if (count < BATCH_ROW_COUNT_MAX) break;
    }
    this.scratch.rewind(before);
  }

  /** The rows at some positions of the batch. */
  #picked(positions: number, rowCount: number): Level {
    const { chunkRows, builtRows } = this.#level;
    const pick = (rows: number) => {
      const out = this.scratch.take(rowCount * 4);
      this.scratch.kernels.gatherI32(rows, positions, rowCount, out);
      return out;
    };
    return {
      rowCount,
      chunkRows: chunkRows === 0 ? positions : pick(chunkRows),
      builtRows: builtRows.map(pick),
    };
  }

  #within(level: Level, action: () => void): void {
    const [outer, cache] = [this.#level, this.#cache];
    this.#level = level;
    this.#cache = new Map();
    action();
    this.#level = outer;
    this.#cache = cache;
  }

  #place(column: number): Place {
    const place = this.#source.places[column];
    assert(place !== undefined, `no column ${column}`);
    return place;
  }

  #builtNumbers(step: number, flat: FlatColumn): NumberVector {
    assert(flat.kind !== 'codes', 'codes are no numbers');
    const rows = this.#level.builtRows[step] as number;
    const data = this.#gather(this.scratch.addressOf(flat.data), rows, flat.kind);
    let valid = 0;
    if (flat.valid !== undefined) {
      valid = this.bytes();
      const bytes = this.scratch.addressOf(flat.valid);
      this.scratch.kernels.gatherBytes(bytes, rows, this.rowCount, valid);
    }
    return { kind: flat.kind, data, value: 0, valid };
  }

  #chunkNumbers(column: number): NumberVector {
    const vector = this.#chunk.columnNumbers(column);
    const { chunkRows, rowCount } = this.#level;
    if (chunkRows === 0) return vector;
    let valid = 0;
    if (vector.valid !== 0) {
      valid = this.bytes();
      this.scratch.kernels.gatherBytes(vector.valid, chunkRows, rowCount, valid);
    }
    if (vector.kind === 'constant') return { ...vector, valid };
    return { ...vector, valid, data: this.#gather(vector.data, chunkRows, vector.kind) };
  }

  #gather(values: number, rows: number, kind: 'int32' | 'float64'): number {
    const { kernels } = this.scratch;
    const out = this.scratch.take(this.rowCount * (kind === 'int32' ? 4 : 8));
    if (kind === 'int32') kernels.gatherI32(values, rows, this.rowCount, out);
    else kernels.gatherF64(values, rows, this.rowCount, out);
    return out;
  }
}
