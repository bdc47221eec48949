// Some rows of a chunk as vectors: columns are gathered at their positions.
import type { ChunkVectors } from './chunk.ts';
import type { Scratch } from './scratch.ts';
import { type CodeVector, type NumberVector, Vectors } from './vectors.ts';

export class PickedVectors extends Vectors {
  readonly rowCount: number;
  readonly #chunk: ChunkVectors;
  readonly #positions: number;

  /** @param positions the address of `rowCount` Int32 */
  constructor(scratch: Scratch, chunk: ChunkVectors, positions: number, rowCount: number) {
    super(scratch);
    this.#chunk = chunk;
    this.#positions = positions;
    this.rowCount = rowCount;
  }

  columnNumbers(column: number): NumberVector {
    const vector = this.#chunk.columnNumbers(column);
    const valid = vector.valid === 0 ? 0 : this.#gatherBytes(vector.valid);
    if (vector.kind === 'constant') return { ...vector, valid };
    const { kernels } = this.scratch;
    const data = this.scratch.take(this.rowCount * 8);
    if (vector.kind === 'int32') {
      kernels.gatherI32(vector.data, this.#positions, this.rowCount, data);
    } else kernels.gatherF64(vector.data, this.#positions, this.rowCount, data);
    return { ...vector, data, valid };
  }

  storedCodes(column: number): CodeVector {
    const { kernels } = this.scratch;
    const { data, width } = this.#chunk.storedCodes(column);
    const wide = this.scratch.take(this.#chunk.rowCount * 4);
    kernels.widenCodes(data, width, this.#chunk.rowCount, wide);
    const out = this.scratch.take(this.rowCount * 4);
    kernels.gatherI32(wide, this.#positions, this.rowCount, out);
    return { data: out, width: 4 };
  }

  validity(column: number): number {
    const valid = this.#chunk.validity(column);
    return valid === 0 ? 0 : this.#gatherBytes(valid);
  }

  #gatherBytes(values: number): number {
    const out = this.bytes();
    this.scratch.kernels.gatherBytes(values, this.#positions, this.rowCount, out);
    return out;
  }
}
