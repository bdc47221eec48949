// The parallel part of grouping: each unit accumulates a range of chunks into cells of its own.
import { TRUTH } from '../../../kernel/generated.ts';
import { assert, unreachable } from '../../../util/assert.ts';
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import { type BatchSource, BatchVectors } from '../../operator/batch-vectors.ts';
import { type JobContext, registerParallelJob } from '../../parallel.ts';
import { ChunkVectors } from '../chunk.ts';
import type { ChunkRange } from '../chunk-range.ts';
import { mayPass } from '../program/chunk-statistics.ts';
import type { Measure } from '../program/measure.ts';
import type { CodeProgram, NumberProgram, TruthProgram } from '../program/program.ts';
import { Scratch } from '../scratch.ts';
import type { Vectors } from '../vectors.ts';

/** Where rows come from: chunks of a table, or pairs of the rows of a chunk and of another table. */
export type GroupSource =
  | { readonly kind: 'scan'; readonly columns: readonly ColumnSnapshot[] }
  | { readonly kind: 'batches'; readonly batches: BatchSource };

export interface GroupJobArgs {
  readonly arena: number;
  readonly source: GroupSource;
  readonly chunkRowCounts: readonly number[];
  readonly ranges: readonly ChunkRange[];
  readonly filter: TruthProgram | undefined;
  /** a group's cell is the number whose digits are the codes; the last key varies fastest */
  readonly keys: readonly CodeProgram[];
  /** cells of groups; one more stands behind them for rows that the filter drops */
  readonly cellCount: number;
  readonly measures: readonly Measure[];
  /** cells of each unit and measure, zeroed */
  readonly cells: readonly (readonly Span[])[];
}

export const groupJob = registerParallelJob<GroupJobArgs, void>({
  name: 'vector.group',
  execute(args, unit, scope) {
    const scratch = new Scratch(args.arena);
    try {
      const { vectors, forEachBatch } = openBatches(args.source, scratch, scope);
      const whole =
        args.keys.length === 0 ? new WholeTable(args, unit, vectors, scratch) : undefined;
      const cells = args.cells[unit] as readonly Span[];
      const range = args.ranges[unit] as ChunkRange;
      for (let index = range.from; index < range.to; index++) {
        if (!mayHaveRows(args, index)) continue;
        forEachBatch(index, args.chunkRowCounts[index] as number, () => {
          scope.checkCancelled();
          if (whole !== undefined) whole.add();
          else addGroups(args, cells, vectors, scratch);
        });
      }
    } finally {
      scratch.release();
    }
  },
});

function mayHaveRows({ source, filter }: GroupJobArgs, chunkIndex: number): boolean {
  if (filter === undefined || source.kind !== 'scan') return true;
  return mayPass(filter, source.columns, chunkIndex);
}

/** The rows of a chunk in batches. */
export interface Batches {
  readonly vectors: Vectors;
  forEachBatch(chunkIndex: number, rowCount: number, visit: () => void): void;
}

export function openBatches(source: GroupSource, scratch: Scratch, scope: JobContext): Batches {
  switch (source.kind) {
    case 'batches': {
      const vectors = new BatchVectors(scratch, source.batches, () => scope.checkCancelled());
      return {
        vectors,
        forEachBatch: (index, rowCount, visit) => vectors.forEachBatch(index, rowCount, visit),
      };
    }
    case 'scan': {
      const vectors = new ChunkVectors(scratch, source.columns);
      return {
        vectors,
        forEachBatch(index, rowCount, visit) {
          vectors.moveTo(index, rowCount);
          visit();
        },
      };
    }
    default:
      return unreachable(source);
  }
}

function addGroups(
  args: GroupJobArgs,
  cells: readonly Span[],
  chunk: Vectors,
  scratch: Scratch,
): void {
  const groups = cellsOfRows(args, chunk, scratch);
  args.measures.forEach((measure, index) => {
    accumulate(measure, groups, (cells[index] as Span).offset, chunk, scratch);
  });
}

/** The cell of each row, as a vector of Int32. */
export function cellsOfRows(
  args: Pick<GroupJobArgs, 'keys' | 'filter' | 'cellCount'>,
  chunk: Vectors,
  scratch: Scratch,
): number {
  const { kernels } = scratch;
  const count = chunk.rowCount;
  const [first, ...others] = args.keys;
  let groups: number;
  if (first === undefined) {
    groups = scratch.take(count * 4);
    scratch.arena.i32.fill(0, groups / 4, groups / 4 + count);
  } else groups = chunk.codes(first);
  for (const key of others) {
    kernels.combineGroups(groups, chunk.codes(key), count, key.cardinality);
  }
  if (args.filter !== undefined) {
    kernels.dropGroups(groups, chunk.truth(args.filter), count, args.cellCount);
  }
  return groups;
}

function accumulate(
  measure: Measure,
  groups: number,
  cells: number,
  chunk: Vectors,
  scratch: Scratch,
): void {
  const { kernels } = scratch;
  const count = chunk.rowCount;
  switch (measure.kind) {
    case 'rows':
      kernels.groupCount(groups, 0, count, cells);
      return;
    case 'count':
      kernels.groupCount(groups, chunk.validity(measure.column), count, cells);
      return;
    case 'values':
      kernels.groupCount(groups, chunk.numbers(measure.numbers).valid, count, cells);
      return;
    case 'sum': {
      const vector = measure.exact
        ? chunk.numbers(measure.numbers)
        : chunk.doubles(measure.numbers);
      const { data, valid } = vector;
      if (measure.exact) kernels.groupSumI32(groups, data, valid, count, cells);
      else kernels.groupSumF64(groups, data, valid, count, cells);
      return;
    }
    case 'min':
    case 'max':
    case 'moments': {
      const { data, valid } = chunk.doubles(measure.numbers);
      if (measure.kind === 'min') kernels.groupMinF64(groups, data, valid, count, cells);
      else if (measure.kind === 'max') kernels.groupMaxF64(groups, data, valid, count, cells);
      else kernels.groupMoments(groups, data, valid, count, cells);
      return;
    }
    case 'distinct': {
      const { cardinality } = measure.codes;
      kernels.groupPresence(groups, chunk.codes(measure.codes), count, cardinality, cells);
      return;
    }
  }
}

/** One group over everything needs no cell numbers: counts and sums run over whole vectors. */
class WholeTable {
  readonly #args: GroupJobArgs;
  readonly #cells: readonly Span[];
  readonly #chunk: Vectors;
  readonly #scratch: Scratch;

  constructor(args: GroupJobArgs, unit: number, chunk: Vectors, scratch: Scratch) {
    this.#args = args;
    this.#cells = args.cells[unit] as readonly Span[];
    this.#chunk = chunk;
    this.#scratch = scratch;
  }

  add(): void {
    const { filter, measures } = this.#args;
    const truth = filter === undefined ? 0 : this.#chunk.truth(filter);
    let groups = 0;
    measures.forEach((measure, index) => {
      const cell = (this.#cells[index] as Span).offset;
      if (this.#addWhole(measure, truth, cell)) return;
      groups ||= this.#groups(truth);
      accumulate(measure, groups, cell, this.#chunk, this.#scratch);
    });
  }

  /** @returns false for measures that need the groups' kernels */
  #addWhole(measure: Measure, truth: number, cell: number): boolean {
    const { kernels, arena } = this.#scratch;
    const count = this.#chunk.rowCount;
    const word = cell / 8;
    switch (measure.kind) {
      case 'rows':
        arena.i64[word] = (arena.i64[word] as bigint) + BigInt(this.#countTrue(truth));
        return true;
      case 'count':
      case 'values': {
        const valid =
          measure.kind === 'count'
            ? this.#chunk.validity(measure.column)
            : this.#chunk.numbers(measure.numbers).valid;
        const some = this.#withValues(truth, valid);
        arena.i64[word] = (arena.i64[word] as bigint) + BigInt(this.#countTrue(some));
        return true;
      }
      case 'sum': {
        const vector = this.#sumVector(measure.numbers, measure.exact);
        const some = this.#withValues(truth, vector.valid);
        arena.i64[word] = (arena.i64[word] as bigint) + BigInt(this.#countTrue(some));
        if (measure.exact) {
          const sum = kernels.sumI32(vector.data, some, count);
          arena.i64[word + 1] = (arena.i64[word + 1] as bigint) + sum;
        } else {
          const sum = kernels.sumF64Where(vector.data, some, count);
          arena.f64[word + 1] = (arena.f64[word + 1] as number) + sum;
        }
        return true;
      }
      case 'distinct': {
        const { codes } = measure;
        const stored = codes.op === 'codes' ? this.#chunk.storedCodes(codes.column) : undefined;
        const { data, width } = stored ?? { data: this.#chunk.codes(codes), width: 4 };
        kernels.presence(data, width, truth, count, cell);
        return true;
      }
      default:
        return false;
    }
  }

  #sumVector(numbers: NumberProgram, exact: boolean) {
    const vector = exact ? this.#chunk.numbers(numbers) : this.#chunk.doubles(numbers);
    assert(!exact || vector.kind === 'int32', 'exact sums are over int32 chunks');
    return vector;
  }

  #countTrue(truth: number): number {
    return truth === 0
      ? this.#chunk.rowCount
      : this.#scratch.kernels.countTrue(truth, this.#chunk.rowCount);
  }

  /** Truth of the rows that pass the filter and have a value; 0 when that is all of them. */
  #withValues(truth: number, valid: number): number {
    if (valid === 0) return truth;
    const { arena, kernels } = this.#scratch;
    const count = this.#chunk.rowCount;
    const out = this.#scratch.take(count);
    if (truth === 0) arena.u8.fill(TRUTH.isTrue, out, out + count);
    else arena.u8.copyWithin(out, truth, truth + count);
    kernels.nullTruth(out, valid, count);
    return out;
  }

  #groups(truth: number): number {
    const { arena, kernels } = this.#scratch;
    const count = this.#chunk.rowCount;
    const groups = this.#scratch.take(count * 4);
    arena.i32.fill(0, groups / 4, groups / 4 + count);
    if (truth !== 0) kernels.dropGroups(groups, truth, count, this.#args.cellCount);
    return groups;
  }
}
