// Points in a byte a coordinate: a lower bound of distances that takes a fraction of the time.
import { instantiateKernels, type Kernels } from '../../kernel/kernels.ts';
import { Layout } from '../workspace.ts';

/** Points are compared four at a time, and so are coordinates eight at a time. */
const POINT_GROUP = 4;
const COORDINATE_GROUP = 8;
/** The largest code of a coordinate. */
const CODE_MAX = 127;
/** Sums of products stay below it. */
const PRODUCT_MAX = 2 ** 29;
const LIMIT_MIN = -(2 ** 31);
const LIMIT_MAX = 2 ** 31 - 1;
const PAGE_SIZE = 65_536;
/** Kernels keep their constants in the first page. */
const FIRST_BYTE = PAGE_SIZE;
/** Points whose candidates are found at a time. */
export const CODED_BLOCK = 4096;

/** More coordinates would make sums of products too large. */
export const CODED_WIDTH_MAX = 16_384;

/**
 * The codes of points: each coordinate is `center + step * code`, and points lie no farther than
 * `error` from what their codes say.
 */
export class PointCodes {
  readonly #width: number;
  readonly #stride: number;
  readonly #centers: Float64Array;
  readonly #step: number;
  readonly #error: number;
  readonly #kernels: Kernels;
  readonly #places: ReturnType<typeof placesOf>;
  readonly #query: Int16Array;
  readonly #found: Int32Array;

  /** @param coordinates count x width finite numbers */
  constructor(coordinates: Float32Array, width: number) {
    const count = coordinates.length / width;
    const stride = Math.ceil(width / COORDINATE_GROUP) * COORDINATE_GROUP;
    const { centers, step } = gridOf(coordinates, width);
    this.#width = width;
    this.#stride = stride;
    this.#centers = centers;
    this.#step = step;
    const rowCount = Math.ceil(count / POINT_GROUP) * POINT_GROUP;
    this.#places = placesOf(rowCount, stride);
    const pages = Math.ceil(this.#places.end / PAGE_SIZE) + 1;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.#kernels = instantiateKernels(memory);
    this.#query = new Int16Array(memory.buffer, this.#places.query, stride);
    this.#found = new Int32Array(memory.buffer, this.#places.found, CODED_BLOCK);
    const codes = new Int8Array(memory.buffer, this.#places.codes, rowCount * stride);
    const squares = new Int32Array(memory.buffer, this.#places.squares, rowCount);
    let worst = 0;
    for (let row = 0; row < count; row++) {
      let square = 0;
      let error = 0;
      for (let i = 0; i < width; i++) {
        const offset = (coordinates[row * width + i] as number) - (centers[i] as number);
        const code = Math.round(offset / step);
        codes[row * stride + i] = code;
        square += code * code;
        error += (offset - code * step) ** 2;
      }
      squares[row] = square;
      worst = Math.max(worst, error);
    }
    this.#error = Math.sqrt(worst);
  }

  /** @returns what a query needs to be compared with codes */
  query(query: Float32Array): CodedQuery {
    const step = this.#step;
    const codeMax = Math.min(32_767, Math.floor(PRODUCT_MAX / (this.#stride * CODE_MAX)));
    let square = 0;
    let error = 0;
    for (let i = 0; i < this.#width; i++) {
      const offset = (query[i] as number) - (this.#centers[i] as number);
      const code = Math.max(-codeMax, Math.min(codeMax, Math.round(offset / step)));
      this.#query[i] = code;
      square += code * code;
      error += (offset - code * step) ** 2;
    }
    return { square, slack: Math.sqrt(error) + this.#error };
  }

  /**
   * Points from `from` to before `to`, at most `CODED_BLOCK`, that may lie within `bound` of the
   * query that was given last, in order; `from` is a multiple of four. Good until the next call.
   */
  near(from: number, to: number, bound: number, { square, slack }: CodedQuery): Int32Array {
    const { codes, squares, query, found } = this.#places;
    // Distances of codes are exact, what they are compared with is rounded up.
    const farthest = ((bound + slack) / this.#step) ** 2 * (1 + 1e-9) + 1;
    const limit = Math.max(LIMIT_MIN, Math.min(LIMIT_MAX, Math.floor(square - farthest)));
    const end = Math.ceil(to / POINT_GROUP) * POINT_GROUP;
    let count = this.#kernels.nearCodes(
      ...([codes, squares, this.#stride, from, end, query, limit, found] as const),
    );
    while (count > 0 && (this.#found[count - 1] as number) >= to) count--;
    return this.#found.subarray(0, count);
  }
}

export interface CodedQuery {
  /** of its codes */
  readonly square: number;
  /** by how much distances may be shorter than those of codes */
  readonly slack: number;
}

function placesOf(rowCount: number, stride: number) {
  const layout = new Layout(FIRST_BYTE);
  return {
    codes: layout.take(rowCount * stride),
    squares: layout.take(rowCount * 4),
    query: layout.take(stride * 2),
    found: layout.take(CODED_BLOCK * 4),
    end: FIRST_BYTE + layout.sizeBytes,
  };
}

/** One step for all coordinates, so that distances of codes are those of points. */
function gridOf(coordinates: Float32Array, width: number) {
  const centers = new Float64Array(width);
  let range = 0;
  for (let i = 0; i < width; i++) {
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let at = i; at < coordinates.length; at += width) {
      const value = coordinates[at] as number;
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    centers[i] = (least + greatest) / 2;
    range = Math.max(range, greatest - least);
  }
  return { centers, step: range === 0 ? 1 : range / (2 * CODE_MAX) };
}
