// Pairs of rows of an equality join as vectors. Rows of the build side hang at the codes of their
// keys; a chunk of the probe side finds them, and columns of both sides are gathered pair by pair.
import type { ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import { ChunkVectors } from './chunk.ts';
import type { CodeProgram, TruthProgram } from './program/program.ts';
import type { Scratch, ScratchMark } from './scratch.ts';
import { type CodeVector, type NumberVector, Vectors } from './vectors.ts';

/** A column of the build side with all its rows in one piece, and one more row without a value. */
export type FlatColumn =
  | { readonly kind: 'int32' | 'float64'; readonly data: Span; readonly valid: Span | undefined }
  | { readonly kind: 'codes'; readonly data: Span };

export interface JoinSource {
  /** columns of the probe side */
  readonly columns: readonly ColumnSnapshot[];
  readonly filter: TruthProgram | undefined;
  /** codes of the build side's keys; 0 where there is no such key */
  readonly key: CodeProgram;
  /** Int32 a code: the first build row, plus 1; 0: none */
  readonly head: Span;
  /** Int32 a build row: the next with the same key, plus 1; absent: keys are distinct */
  readonly next: Span | undefined;
  /** the build row that goes with probe rows without a match; -1: these are left out */
  readonly lone: number;
  /** by number of the build side's columns; only those that are read */
  readonly flat: readonly (FlatColumn | undefined)[];
  /** where each column of the joined rows is found */
  readonly places: readonly JoinPlace[];
}

export interface JoinPlace {
  readonly isBuilt: boolean;
  readonly column: number;
}

const PAIR_COUNT_MAX = 65_536;

export class JoinVectors extends Vectors {
  readonly #source: JoinSource;
  readonly #probe: ChunkVectors;
  readonly #cache = new Map<number, NumberVector>();
  #keys = 0;
  #truth = 0;
  #state = 0;
  #mark: ScratchMark;
  #isIdentity = false;
  #left = 0;
  #right = 0;
  #rowCount = 0;

  constructor(scratch: Scratch, source: JoinSource) {
    super(scratch);
    this.#source = source;
    this.#probe = new ChunkVectors(scratch, source.columns);
    this.#mark = scratch.mark();
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Moves to a chunk of the probe side; `next` gives its pairs. */
  moveTo(chunkIndex: number, rowCount: number): void {
    const { key, filter, places, columns } = this.#source;
    this.#probe.moveTo(chunkIndex, rowCount);
    this.#keys = this.#probe.codes(key);
    this.#truth = filter === undefined ? 0 : this.#probe.truth(filter);
    // What is loaded now stays for all batches of the chunk.
    for (const { isBuilt, column } of places) {
      if (isBuilt) continue;
      if (columns[column]?.dictionary === undefined) this.#probe.columnNumbers(column);
    }
    this.#state = this.scratch.take(16);
    this.scratch.arena.i32.fill(0, this.#state / 4, this.#state / 4 + 2);
    this.#mark = this.scratch.mark();
    this.#rowCount = PAIR_COUNT_MAX;
  }

  /** The next pairs of the chunk. @returns false when there are none */
  next(): boolean {
    if (this.#rowCount < PAIR_COUNT_MAX) return false;
    const { head, next, lone } = this.#source;
    this.scratch.rewind(this.#mark);
    this.#cache.clear();
    this.#left = this.scratch.take(PAIR_COUNT_MAX * 4);
    this.#right = this.scratch.take(PAIR_COUNT_MAX * 4);
    const { rowCount } = this.#probe;
    this.#rowCount = this.scratch.kernels.probePairs(
      ...([this.#keys, this.#truth, rowCount, this.scratch.addressOf(head)] as const),
      ...([next === undefined ? 0 : this.scratch.addressOf(next), lone, this.#state] as const),
      ...([this.#left, this.#right, PAIR_COUNT_MAX] as const),
    );
    // Each probe row has exactly one partner, so its columns are as they lie.
    this.#isIdentity = next === undefined && this.#rowCount === rowCount;
    return this.#rowCount > 0;
  }

  columnNumbers(column: number): NumberVector {
    let vector = this.#cache.get(column);
    if (vector === undefined) {
      const { isBuilt, column: own } = this.#source.places[column] as JoinPlace;
      vector = isBuilt ? this.#flatNumbers(own) : this.#probeNumbers(own);
      this.#cache.set(column, vector);
    }
    return vector;
  }

  storedCodes(column: number): CodeVector {
    const { isBuilt, column: own } = this.#source.places[column] as JoinPlace;
    const { kernels } = this.scratch;
    const out = this.scratch.take(this.#rowCount * 4);
    if (isBuilt) {
      const { data } = this.#source.flat[own] as FlatColumn;
      const codes = this.scratch.addressOf(data);
      kernels.gatherI32(codes, this.#right, this.#rowCount, out);
      return { data: out, width: 4 };
    }
    const stored = this.#probe.storedCodes(own);
    if (this.#isIdentity) return stored;
    const wide = this.scratch.take(this.#probe.rowCount * 4);
    kernels.widenCodes(stored.data, stored.width, this.#probe.rowCount, wide);
    kernels.gatherI32(wide, this.#left, this.#rowCount, out);
    return { data: out, width: 4 };
  }

  validity(column: number): number {
    const { isBuilt, column: own } = this.#source.places[column] as JoinPlace;
    const hasCodes = isBuilt
      ? this.#source.flat[own]?.kind === 'codes'
      : this.#source.columns[own]?.dictionary !== undefined;
    if (!hasCodes) return this.columnNumbers(column).valid;
    const { data, width } = this.storedCodes(column);
    const out = this.bytes();
    this.scratch.kernels.validCodes(data, width, this.#rowCount, out);
    return out;
  }

  #flatNumbers(column: number): NumberVector {
    const flat = this.#source.flat[column] as FlatColumn & { kind: 'int32' | 'float64' };
    const data = this.#gather(this.scratch.addressOf(flat.data), this.#right, flat.kind);
    let valid = 0;
    if (flat.valid !== undefined) {
      valid = this.bytes();
      const bytes = this.scratch.addressOf(flat.valid);
      this.scratch.kernels.gatherBytes(bytes, this.#right, this.#rowCount, valid);
    }
    return { kind: flat.kind, data, value: 0, valid };
  }

  #probeNumbers(column: number): NumberVector {
    const vector = this.#probe.columnNumbers(column);
    if (this.#isIdentity) return vector;
    let valid = 0;
    if (vector.valid !== 0) {
      valid = this.bytes();
      this.scratch.kernels.gatherBytes(vector.valid, this.#left, this.#rowCount, valid);
    }
    if (vector.kind === 'constant') return { ...vector, valid };
    return { ...vector, valid, data: this.#gather(vector.data, this.#left, vector.kind) };
  }

  #gather(values: number, rows: number, kind: 'int32' | 'float64'): number {
    const { kernels } = this.scratch;
    const out = this.scratch.take(this.#rowCount * (kind === 'int32' ? 4 : 8));
    if (kind === 'int32') kernels.gatherI32(values, rows, this.#rowCount, out);
    else kernels.gatherF64(values, rows, this.#rowCount, out);
    return out;
  }
}
