// Reads what was accumulated for groups out of the cells of their measures.
import type { Kernels } from '../../../kernel/kernels.ts';
import type { Arena } from '../../../value/column/arena.ts';
import { threadKernels } from '../../thread-memory.ts';
import type { ArenaSpans } from '../arena-spans.ts';

export class GroupCells {
  readonly memory: Arena;
  readonly kernels: Kernels;
  /** address of the Int32 numbers of the cells, one a group */
  readonly cells: number;
  readonly count: number;
  readonly #spans: ArenaSpans;
  #buffer = 0;

  constructor(memory: Arena, cells: number, count: number, spans: ArenaSpans) {
    this.memory = memory;
    this.kernels = threadKernels(memory.id);
    this.cells = cells;
    this.count = count;
    this.#spans = spans;
  }

  /** Some of these groups, by their positions. */
  pick(positions: Uint32Array): GroupCells {
    const { i32 } = this.memory;
    const picked = this.#spans.allocate(positions.length * 4).offset;
    const from = this.cells / 4;
    for (let i = 0; i < positions.length; i++) {
      i32[picked / 4 + i] = i32[from + (positions[i] as number)] as number;
    }
    return new GroupCells(this.memory, picked, positions.length, this.#spans);
  }

  /** The first groups. */
  first(count: number): GroupCells {
    return new GroupCells(this.memory, this.cells, Math.min(count, this.count), this.#spans);
  }

  /** Int64 that lie at `base` in cells of `size` bytes, as the nearest doubles. */
  integers(base: number, size: number): Float64Array {
    return this.#numbers((out) =>
      this.kernels.gatherCellsI64(base, size, this.cells, this.count, out),
    );
  }

  doubles(base: number, size: number): Float64Array {
    return this.#numbers((out) =>
      this.kernels.gatherCellsF64(base, size, this.cells, this.count, out),
    );
  }

  each(read: (cell: number) => number): Float64Array {
    const values = new Float64Array(this.count);
    const from = this.cells / 4;
    for (let i = 0; i < values.length; i++) values[i] = read(this.memory.i32[from + i] as number);
    return values;
  }

  #numbers(write: (out: number) => void): Float64Array {
    if (this.#buffer === 0) this.#buffer = this.#spans.allocate(this.count * 8).offset;
    write(this.#buffer);
    return this.memory.f64.slice(this.#buffer / 8, this.#buffer / 8 + this.count);
  }
}
