// The rows of one chunk of a table as vectors.
import { assert } from '../../util/assert.ts';
import { isChunkInFile } from '../../value/column/file-span.ts';
import type { ChunkSnapshot, ColumnSnapshot } from '../../value/column/snapshot.ts';
import type { NumberedProgram } from './program/program.ts';
import type { Scratch } from './scratch.ts';
import { type CodeVector, type NumberVector, Vectors } from './vectors.ts';

export class ChunkVectors extends Vectors {
  readonly #columns: readonly ColumnSnapshot[];
  readonly #cache = new Map<ChunkSnapshot, NumberVector>();
  /** codes that were read from a file */
  readonly #codes = new Map<ChunkSnapshot, CodeVector>();
  #chunkIndex = 0;
  #rowCount = 0;

  constructor(scratch: Scratch, columns: readonly ColumnSnapshot[]) {
    super(scratch);
    this.#columns = columns;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Moves to a chunk; vectors of the one before are gone. */
  moveTo(chunkIndex: number, rowCount: number): void {
    this.scratch.reset();
    this.#cache.clear();
    this.#codes.clear();
    this.#chunkIndex = chunkIndex;
    this.#rowCount = rowCount;
  }

  columnNumbers(column: number): NumberVector {
    const chunk = this.#chunk(column);
    let vector = this.#cache.get(chunk);
    if (vector === undefined) {
      vector = this.#loadNumbers(chunk);
      this.#cache.set(chunk, vector);
    }
    return vector;
  }

  storedCodes(column: number): CodeVector {
    const chunk = this.#chunk(column);
    if (chunk.kind !== 'codes') return this.#expandCodes(chunk);
    let vector = this.#codes.get(chunk);
    if (vector === undefined) {
      vector = { data: this.scratch.addressOf(chunk.data), width: chunk.width };
      if (isChunkInFile(chunk)) this.#codes.set(chunk, vector);
    }
    return vector;
  }

  /** Reads a column now, for whoever rewinds the scratch before the next chunk. */
  load(column: number): void {
    if (this.#columns[column]?.dictionary === undefined) this.columnNumbers(column);
    else if (isChunkInFile(this.#chunk(column))) this.storedCodes(column);
  }

  validity(column: number): number {
    const chunk = this.#chunk(column);
    if (this.#columns[column]?.dictionary === undefined) return this.columnNumbers(column).valid;
    if (chunk.kind === 'codes' && chunk.nullCount === 0) return 0;
    const { data, width } = this.storedCodes(column);
    const out = this.bytes();
    this.scratch.kernels.validCodes(data, width, this.#rowCount, out);
    return out;
  }

  protected override numberedCodes(program: NumberedProgram, out: number): void {
    const { arena, kernels } = this.scratch;
    const { pairs, starts, bases, partCount, firstRows, isTotal } = program;
    if (!isTotal) arena.i32.fill(0, out / 4, out / 4 + this.#rowCount);
    const first = firstRows[this.#chunkIndex] as number;
    kernels.scatterNumbers(
      pairs.offset + first * 16,
      starts.offset + this.#chunkIndex * (partCount + 1) * 4,
      bases.offset,
      partCount,
      out,
    );
  }

  #chunk(column: number): ChunkSnapshot {
    const chunk = this.#columns[column]?.chunks[this.#chunkIndex];
    assert(chunk !== undefined, `no chunk ${this.#chunkIndex} of column ${column}`);
    return chunk;
  }

  #loadNumbers(chunk: ChunkSnapshot): NumberVector {
    switch (chunk.kind) {
      case 'constant': {
        if (typeof chunk.atom === 'number') return this.constant(chunk.atom);
        assert(chunk.atom === null, 'a constant of a numeric column is a number or null');
        return { ...this.constant(0), valid: this.noneValid() };
      }
      case 'sparse':
        return this.#expandSparse(chunk);
      case 'codes':
        return assertNever('codes are no numbers');
      default: {
        const kind = chunk.kind === 'int32' ? 'int32' : 'float64';
        const data = this.scratch.addressOf(chunk.data);
        let valid = 0;
        if (chunk.validity !== undefined && chunk.nullCount > 0) {
          valid = this.bytes();
          const bits = this.scratch.addressOf(chunk.validity);
          this.scratch.kernels.expandBits(bits, chunk.rowCount, valid);
        }
        return { kind, data, value: 0, valid };
      }
    }
  }

  #expandSparse(chunk: ChunkSnapshot & { kind: 'sparse' }): NumberVector {
    const { arena } = this.scratch;
    const values = this.asDoublesOf(this.#loadNumbers(chunk.values), chunk.values.rowCount);
    const rows = this.scratch.addressOf(chunk.rows) / 2;
    const data = this.scratch.take(this.#rowCount * 8);
    const valid = this.bytes();
    arena.u8.fill(0, valid, valid + this.#rowCount);
    arena.f64.fill(0, data / 8, data / 8 + this.#rowCount);
    for (let i = 0; i < chunk.values.rowCount; i++) {
      const row = arena.u16[rows + i] as number;
      arena.f64[data / 8 + row] = arena.f64[values.data / 8 + i] as number;
      arena.u8[valid + row] = values.valid === 0 ? 1 : (arena.u8[values.valid + i] as number);
    }
    return { kind: 'float64', data, value: 0, valid };
  }

  /** Sparse and null chunks of a dictionary column as four-byte codes. */
  #expandCodes(chunk: ChunkSnapshot): CodeVector {
    const { arena } = this.scratch;
    const data = this.scratch.take(this.#rowCount * 4);
    const start = data / 4;
    arena.i32.fill(0, start, start + this.#rowCount);
    if (chunk.kind === 'sparse' && chunk.values.kind === 'codes') {
      const { values } = chunk;
      const codes = this.scratch.addressOf(values.data);
      const rows = this.scratch.addressOf(chunk.rows) / 2;
      for (let i = 0; i < values.rowCount; i++) {
        arena.i32[start + (arena.u16[rows + i] as number)] = readCode(
          arena,
          codes,
          values.width,
          i,
        );
      }
    } else {
      assert(chunk.kind === 'constant' && chunk.atom === null, 'unexpected chunk of a dictionary');
    }
    return { data, width: 4 };
  }
}

function readCode(
  arena: { readonly u8: Uint8Array; readonly u16: Uint16Array; readonly i32: Int32Array },
  address: number,
  width: number,
  index: number,
): number {
  if (width === 1) return arena.u8[address + index] as number;
  if (width === 2) return arena.u16[address / 2 + index] as number;
  return arena.i32[address / 4 + index] as number;
}

function assertNever(message: string): never {
  assert(false, message);
  throw new Error(message);
}
