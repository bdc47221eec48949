// A memory for the twins of kernels: where inputs lie, and random draws that are always the same.
import { OVERRUN_SIZE } from '../../../src/kernel/generated.ts';
import { instantiateKernels, type Kernels } from '../../../src/kernel/kernels.ts';

type Numbers =
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array;
type NumbersType<Array extends Numbers> = {
  new (buffer: ArrayBufferLike, offset: number, length: number): Array;
  readonly BYTES_PER_ELEMENT: number;
};

const START = 65_536;
const ALIGNMENT = 64;

const memory = new WebAssembly.Memory({ initial: 256, maximum: 65_536, shared: true });
const bytes = new Uint8Array(memory.buffer);
let end = START;

export const kernels: Kernels = instantiateKernels(memory);

/** The address of `size` bytes of any content, behind which kernels may write. */
export function room(size: number): number {
  const at = end;
  end = Math.ceil((at + size + OVERRUN_SIZE) / ALIGNMENT) * ALIGNMENT;
  bytes.fill(0x5a, at, end);
  return at;
}

/** The address of a copy. */
export function put(numbers: Numbers): number {
  const at = room(numbers.byteLength);
  bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), at);
  return at;
}

/** A copy of what lies at an address. */
export function read<Array extends Numbers>(
  type: NumbersType<Array>,
  at: number,
  length: number,
): Array {
  const copy = bytes.slice(at, at + length * type.BYTES_PER_ELEMENT);
  return new type(copy.buffer, 0, length);
}

/** Random draws from a seed (Tommy Ettinger's mulberry32). */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** from 0 to below 1 */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** from `least` to `greatest`, both included */
  integer(least: number, greatest: number): number {
    return least + Math.floor(this.uniform() * (greatest - least + 1));
  }

  chance(share: number): boolean {
    return this.uniform() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.integer(0, items.length - 1)] as Item;
  }

  /** now and then a number that is special */
  double(): number {
    if (this.chance(0.2)) return this.pick([Number.NaN, 0, -0, 1, Infinity, -Infinity]);
    return this.chance(0.5) ? this.integer(-5, 5) : (this.uniform() - 0.5) * 1e6;
  }

  word(): bigint {
    const high = BigInt(this.integer(0, 2 ** 32 - 1));
    return (high << 32n) | BigInt(this.integer(0, 2 ** 32 - 1));
  }

  list<Item>(length: number, next: () => Item): Item[] {
    return Array.from({ length }, next);
  }

  /** bytes of 0, 1 and 2 */
  truth(length: number): Uint8Array {
    return Uint8Array.from(this.list(length, () => this.integer(0, 2)));
  }

  /** bytes of 0 and 1 */
  valid(length: number): Uint8Array {
    return Uint8Array.from(this.list(length, () => this.integer(0, 1)));
  }

  integers(length: number, least: number, greatest: number): Int32Array {
    return Int32Array.from(this.list(length, () => this.integer(least, greatest)));
  }

  doubles(length: number): Float64Array {
    return Float64Array.from(this.list(length, () => this.double()));
  }
}

/** Runs a case with different draws; the memory is free at the start of each. */
export function repeat(body: (draw: Draw) => void, times = 40): void {
  for (let seed = 1; seed <= times; seed++) {
    end = START;
    try {
      body(new Draw(seed));
    } catch (error) {
      if (error instanceof Error) error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}

/** NaN is below every other number, and equal to itself; 0 and -0 are one. */
export function compareDoubles(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : -1;
  if (Number.isNaN(b)) return 1;
  return a < b ? -1 : Number(a > b);
}

/** Codes in one of the widths that dictionaries have. */
export function codesOf(
  width: number,
  codes: readonly number[],
): Uint8Array | Uint16Array | Uint32Array {
  if (width === 1) return Uint8Array.from(codes);
  return width === 2 ? Uint16Array.from(codes) : Uint32Array.from(codes);
}

const view = new DataView(new ArrayBuffer(8));

/** The word that orders doubles: NaN 1, else the bits with the sign turned. */
export function keyOfDouble(value: number): bigint {
  if (Number.isNaN(value)) return 1n;
  view.setFloat64(0, value + 0);
  const word = view.getBigUint64(0);
  return word >> 63n ? ~word & 0xffffffffffffffffn : word | (1n << 63n);
}
