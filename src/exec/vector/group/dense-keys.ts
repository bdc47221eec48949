// Keys of few values: each combination of their codes has a cell of its own.
import type { Arena } from '../../../value/column/arena.ts';
import { threadKernels } from '../../thread-memory.ts';
import type { ArenaSpans } from '../arena-spans.ts';
import type { LoweredCodes } from '../program/lower.ts';
import type { CodeProgram } from '../program/program.ts';
import type { GroupCells } from './group-cells.ts';
import type { KernelColumn } from './group-column.ts';
import { columnOfCodes, type GroupKeys } from './group-key.ts';

export function cellCountOf(keys: readonly LoweredCodes[]): number {
  return keys.reduce((product, { program }) => product * program.cardinality, 1);
}

export class DenseKeys implements GroupKeys {
  readonly cellCount: number;
  readonly programs: readonly CodeProgram[];
  readonly #keys: readonly LoweredCodes[];
  readonly #memory: Arena;
  readonly #spans: ArenaSpans;

  constructor(keys: readonly LoweredCodes[], memory: Arena, spans: ArenaSpans) {
    this.#keys = keys;
    this.#memory = memory;
    this.#spans = spans;
    this.programs = keys.map(({ program }) => program);
    this.cellCount = cellCountOf(keys);
  }

  /** The cells that are met, in the order of the keys. */
  cells(counts: number, isOrdered: boolean): { readonly address: number; readonly count: number } {
    const kernels = threadKernels(this.#memory.id);
    const orders = isOrdered ? this.#keys.map(orderOf) : [];
    if (orders.every((order) => order === undefined)) {
      const address = this.#spans.allocate(this.cellCount * 4).offset;
      return { address, count: kernels.selectCells(counts, this.cellCount, address) };
    }
    let prefixes = this.#spans.allocate(4).offset;
    let count = 1;
    this.#memory.i32[prefixes / 4] = 0;
    this.#keys.forEach(({ program: { cardinality } }, depth) => {
      const codes = this.#spans.allocate(cardinality * 4).offset;
      const order = orders[depth];
      for (let i = 0; i < cardinality; i++) this.#memory.i32[codes / 4 + i] = order?.[i] ?? i;
      const out = this.#spans.allocate(count * cardinality * 4).offset;
      const isLast = depth === this.#keys.length - 1;
      const met = isLast ? counts : 0;
      count = kernels.expandCells(prefixes, count, codes, cardinality, met, out);
      prefixes = out;
    });
    return { address: prefixes, count };
  }

  columns({ cells, count }: GroupCells): KernelColumn[] {
    const kernels = threadKernels(this.#memory.id);
    const out = this.#spans.allocate(count * 4).offset;
    let divisor = this.cellCount;
    return this.#keys.map((key) => {
      const { cardinality } = key.program;
      divisor /= cardinality;
      kernels.digitsOfCells(cells, count, divisor, cardinality, out);
      return columnOfCodes(key, this.#memory.i32.slice(out / 4, out / 4 + count));
    });
  }

  words(): readonly [] {
    return [];
  }
}

/** Codes in the order of their atoms; undefined when they are in it as they are. */
function orderOf({ program, order }: LoweredCodes): Uint32Array | undefined {
  if (program.op === 'range') return undefined;
  const codes = order();
  for (let i = 0; i < codes.length; i++) if (codes[i] !== i) return codes;
  return undefined;
}
