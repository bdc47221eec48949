// The design matrix of a fit in scaled columns: products, gradients, factors and predictions.
import type { Design } from '../design/design.ts';
import {
  type FitContext,
  type JobContext,
  Layout,
  type LearnJob,
  type Workspace,
} from '../workspace.ts';
import type { Scaling } from './scaling.ts';

/** Pivots below this share of a column's own weight mean that it depends on others. */
const DEPENDENT = 1e-11;
const DEPENDENT_WHEN_CONDITIONED = 1e-4;

/** Columns whose products are kept as a matrix; past that, products are made as they are needed. */
export const DIRECT_COLUMN_COUNT_MAX = 4000;

export interface ProblemOptions {
  readonly addBias: boolean;
  /** columns that depend on those before them are left out */
  readonly condition: boolean;
}

/** Rows whose sums are added up apart, which few rows are not worth. */
const ROWS_PER_UNIT = 65_536;
const UNIT_COUNT_MAX = 8;
const GRAM_BYTES_MAX = 256e6;

/** Stretches of rows whose products are added up apart: by the data alone, so that sums are too. */
function unitCountOf({ rowCount, columnCount }: Design): number {
  const byMemory = Math.floor(GRAM_BYTES_MAX / ((columnCount + 1) ** 2 * 8));
  return Math.max(1, Math.min(UNIT_COUNT_MAX, byMemory, Math.ceil(rowCount / ROWS_PER_UNIT)));
}

interface Places {
  readonly rows: number;
  readonly vectors: number;
  readonly grams: number;
  readonly factor: number;
}

/** Coefficients are those of scaled columns, the constant's last. */
export class Problem {
  readonly context: FitContext;
  readonly design: Design;
  readonly scaling: Scaling;
  readonly options: ProblemOptions;
  /** coefficients, with the constant */
  readonly size: number;
  /** products of columns are kept as a matrix */
  readonly isDirect: boolean;
  readonly #place: Places;
  readonly #unitCount: number;

  /** @param at start of memory of `sizeOf(design)` bytes in the arena of the design */
  constructor(
    context: FitContext,
    design: Design,
    scaling: Scaling,
    options: ProblemOptions,
    at: number,
  ) {
    this.context = context;
    this.design = design;
    this.scaling = scaling;
    this.options = options;
    this.size = design.columnCount + 1;
    this.isDirect = design.columnCount <= DIRECT_COLUMN_COUNT_MAX;
    this.#unitCount = this.isDirect ? unitCountOf(design) : 1;
    const layout = new Layout(at);
    const [rows, vectors, grams, factor] = Problem.#sizes(design).map((size) =>
      layout.take(size),
    ) as [number, number, number, number];
    this.#place = { rows, vectors, grams, factor };
  }

  static sizeOf(design: Design): number {
    const layout = new Layout();
    for (const size of Problem.#sizes(design)) layout.take(size);
    return layout.sizeBytes;
  }

  static #sizes(design: Design): number[] {
    const size = design.columnCount + 1;
    const isDirect = design.columnCount <= DIRECT_COLUMN_COUNT_MAX;
    return [
      design.rowCount * 8 * 3,
      size * 8 * 3,
      isDirect ? unitCountOf(design) * (size * size + size) * 8 : 0,
      isDirect ? size * size * 8 : 0,
    ];
  }

  /** What each row weighs in sums of products. */
  get w(): Float64Array {
    return this.#rows(0);
  }

  /** What columns are multiplied with: targets of a least-squares problem, or slopes of a loss. */
  get z(): Float64Array {
    return this.#rows(1);
  }

  /** Predictions. */
  get eta(): Float64Array {
    return this.#rows(2);
  }

  /** X' W X over all columns, size x size, and X' W z. A view: it is gone with the next call. */
  normalEquations(): { readonly gram: Float64Array; readonly right: Float64Array } {
    const { workspace, parallel } = this.context;
    const { arena } = this.design.span;
    const { size } = this;
    const stretch = (size * size + size) * 8;
    const { u8, f64 } = workspace.memory.get(arena);
    const { grams } = this.#place;
    u8.fill(0, grams, grams + stretch * this.#unitCount);
    const task: GramTask = {
      ...{ arena, header: this.design.header, rowCount: this.design.rowCount },
      ...{ unitCount: this.#unitCount, stretch, grams, size },
      ...{ w: this.#rowsAt(0), z: this.#rowsAt(1) },
    };
    parallel.run(linearGramJob(workspace), task, this.#unitCount);
    const length = size * size + size;
    const first = f64.subarray(grams >>> 3, (grams >>> 3) + length);
    for (let unit = 1; unit < this.#unitCount; unit++) {
      const from = (grams >>> 3) + unit * length;
      const other = f64.subarray(from, from + length);
      for (let i = 0; i < length; i++) first[i] = (first[i] as number) + (other[i] as number);
    }
    return this.scaled(first.subarray(0, size * size), first.subarray(size * size));
  }

  /** Products of columns as they are become those of scaled columns; the matrix is overwritten. */
  scaled(gram: Float64Array, right: Float64Array) {
    this.#scaleGram(gram);
    return { gram, right: this.#scaleSums(right) };
  }

  /** The upper triangle in original units becomes a symmetric matrix of scaled columns. */
  #scaleGram(gram: Float64Array): void {
    const { means, deviations } = this.scaling;
    const { size } = this;
    const { addBias } = this.options;
    const last = size - 1;
    const total = gram[last * size + last] as number;
    const sums = Float64Array.from({ length: size }, (_, i) => gram[i * size + last] as number);
    for (let i = 0; i < last; i++) {
      const meanI = means[i] as number;
      const scaleI = deviations[i] as number;
      const sumI = (sums[i] as number) - total * meanI;
      for (let j = i; j < last; j++) {
        const product =
          (gram[i * size + j] as number) -
          sumI * (means[j] as number) -
          (sums[j] as number) * meanI;
        const value = product / (scaleI * (deviations[j] as number));
        gram[i * size + j] = value;
        gram[j * size + i] = value;
      }
      const side = addBias ? sumI / scaleI : 0;
      gram[i * size + last] = side;
      gram[last * size + i] = side;
    }
    if (!addBias) gram[last * size + last] = 0;
  }

  /** Sums of columns times something become those of scaled columns. */
  #scaleSums(raw: Float64Array): Float64Array {
    const { means, deviations } = this.scaling;
    const last = this.size - 1;
    const total = raw[last] as number;
    return raw.map((sum, i) => {
      if (i === last) return this.options.addBias ? total : 0;
      return (sum - (means[i] as number) * total) / (deviations[i] as number);
    });
  }

  /** X' v. @param v `w`, `z` or `eta` */
  transposed(v: Float64Array): Float64Array {
    const { workspace } = this.context;
    const { arena } = this.design.span;
    const { f64 } = workspace.memory.get(arena);
    const at = this.#place.vectors >>> 3;
    f64.fill(0, at, at + this.size);
    const { header, rowCount } = this.design;
    const kernels = workspace.kernels(arena);
    kernels.linearTransposed(header, 0, rowCount, v.byteOffset, this.#place.vectors);
    return this.#scaleSums(f64.subarray(at, at + this.size));
  }

  /** Fills `eta` with X beta. */
  predict(beta: Float64Array): void {
    const { workspace } = this.context;
    const { arena } = this.design.span;
    const { f64 } = workspace.memory.get(arena);
    f64.set(this.toOriginal(beta), this.#place.vectors >>> 3);
    const { header, rowCount } = this.design;
    workspace
      .kernels(arena)
      .linearPredict(header, 0, rowCount, this.#place.vectors, this.#rowsAt(2));
  }

  /** Coefficients of the columns as they are. */
  toOriginal(scaled: Float64Array): Float64Array {
    const { means, deviations } = this.scaling;
    const beta = new Float64Array(this.size);
    const last = this.size - 1;
    let constant = scaled[last] as number;
    for (let c = 0; c < last; c++) {
      const value = (scaled[c] as number) / (deviations[c] as number);
      beta[c] = value;
      constant -= value * (means[c] as number);
    }
    beta[last] = this.options.addBias ? constant : 0;
    return beta;
  }

  /** Factorizes `matrix` + lambda, a symmetric one of `size` columns; columns that depend get 0. */
  factorize(matrix: Float64Array, size: number, lambda: number): void {
    const { workspace } = this.context;
    const { arena } = this.design.span;
    const { f64 } = workspace.memory.get(arena);
    const { factor, vectors } = this.#place;
    const at = factor >>> 3;
    f64.set(matrix.length === size * size ? matrix : matrix.subarray(0, size * size), at);
    for (let i = 0; i < size; i++) {
      const pivot = at + i * size + i;
      f64[pivot] = (f64[pivot] as number) + lambda;
      f64[(vectors >>> 3) + i] = f64[pivot] as number;
    }
    const kernels = workspace.kernels(arena);
    const tolerance = this.options.condition ? DEPENDENT_WHEN_CONDITIONED : DEPENDENT;
    for (let row = 0; row < size; ) {
      this.context.checkCancelled();
      row = kernels.choleskyRows(factor, size, row, 64, vectors, tolerance);
    }
  }

  /** Solves with the last factor. */
  solve(right: Float64Array): Float64Array {
    const { workspace } = this.context;
    const { arena } = this.design.span;
    const { f64 } = workspace.memory.get(arena);
    const at = this.#place.vectors + this.size * 8;
    f64.set(right, at >>> 3);
    workspace.kernels(arena).choleskySolve(this.#place.factor, right.length, at);
    return f64.slice(at >>> 3, (at >>> 3) + right.length);
  }

  /**
   * Coordinate descent for d' G d - 2 d' gradient + lambda |beta + d|_1, from d = 0.
   * @param matrix G, of as many columns as there are coefficients
   * @returns beta + d
   */
  descend(
    matrix: Float64Array,
    gradient: Float64Array,
    beta: Float64Array,
    lambda: number,
    { epsilon, sweepCountMax }: { readonly epsilon: number; readonly sweepCountMax: number },
  ): Float64Array {
    const { workspace } = this.context;
    const { arena } = this.design.span;
    const { f64 } = workspace.memory.get(arena);
    const { factor, vectors } = this.#place;
    const size = beta.length;
    const residualAt = vectors + size * 8;
    f64.set(matrix, factor >>> 3);
    f64.set(beta, vectors >>> 3);
    f64.set(gradient, residualAt >>> 3);
    const kernels = workspace.kernels(arena);
    for (let sweep = 0; sweep < sweepCountMax; sweep += SWEEPS_PER_LOOK) {
      this.context.checkCancelled();
      const count = Math.min(SWEEPS_PER_LOOK, sweepCountMax - sweep);
      const change = kernels.lassoSweeps(factor, size, residualAt, vectors, lambda, epsilon, count);
      if (change < epsilon) break;
    }
    return f64.slice(vectors >>> 3, (vectors >>> 3) + size);
  }

  /** One row of the design, scaled. */
  scaledRow(row: number): Float64Array {
    const { design } = this;
    const { f64, u32 } = this.context.workspace.memory.get(design.span.arena);
    const { means, deviations } = this.scaling;
    const x = new Float64Array(this.size);
    for (let c = 0; c < design.denseCount; c++) {
      x[c] = f64[(design.dense >>> 3) + c * design.rowCount + row] as number;
    }
    const starts = design.starts >>> 2;
    for (let i = u32[starts + row] as number; i < (u32[starts + row + 1] as number); i++) {
      const column = u32[(design.columns >>> 2) + i] as number;
      x[column] = design.values === 0 ? 1 : (f64[(design.values >>> 3) + i] as number);
    }
    for (let c = 0; c < design.columnCount; c++) {
      x[c] = ((x[c] as number) - (means[c] as number)) / (deviations[c] as number);
    }
    x[design.columnCount] = this.options.addBias ? 1 : 0;
    return x;
  }

  #rowsAt(index: number): number {
    return this.#place.rows + index * this.design.rowCount * 8;
  }

  #rows(index: number): Float64Array {
    const { f64 } = this.context.workspace.memory.get(this.design.span.arena);
    const from = this.#rowsAt(index) >>> 3;
    return f64.subarray(from, from + this.design.rowCount);
  }
}

const SWEEPS_PER_LOOK = 8;

interface GramTask {
  readonly arena: number;
  readonly header: number;
  readonly rowCount: number;
  readonly unitCount: number;
  readonly stretch: number;
  readonly grams: number;
  readonly size: number;
  readonly w: number;
  readonly z: number;
}

/** Rows that one call of the kernel covers. */
const ROWS_PER_CALL = 8192;

/** Adds up the products of one stretch of rows. */
export function linearGramJob(workspace: Workspace): LearnJob<GramTask, void> {
  return {
    name: 'learn.linear-gram',
    execute(task, unit, scope: JobContext) {
      const kernels = workspace.kernels(task.arena);
      const gram = task.grams + unit * task.stretch;
      const right = gram + task.size * task.size * 8;
      const from = Math.floor((task.rowCount * unit) / task.unitCount);
      const to = Math.floor((task.rowCount * (unit + 1)) / task.unitCount);
      for (let row = from; row < to; row += ROWS_PER_CALL) {
        scope.checkCancelled();
        const end = Math.min(to, row + ROWS_PER_CALL);
        kernels.linearGram(task.header, row, end, task.w, task.z, gram, right);
      }
    },
  };
}
