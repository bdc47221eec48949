// Fitting generalised linear models: iteratively reweighted least squares over a design matrix.
import { failure } from '../../util/error.ts';
import type { Design } from '../design/design.ts';
import {
  type FitContext,
  type JobContext,
  Layout,
  type LearnJob,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import { LINK_FUNCTIONS, type Link } from './link.ts';
import { conjugateGradient, type Scaling } from './matrix-free.ts';

export interface GlzOptions {
  readonly link: Link;
  readonly addBias: boolean;
  /** columns are standardised before they are penalised */
  readonly normalize: boolean;
  readonly regularization: 'none' | 'l1' | 'l2';
  /** negative: chosen by the error that is made on rows left out */
  readonly lambda: number;
  /** l1: sweeps at most, and the change that ends them */
  readonly sweepCountMax: number;
  readonly epsilon: number;
  /** columns that depend on those before them are left out */
  readonly condition: boolean;
}

/** Pivots below this share of a column's own weight mean that it depends on others. */
const DEPENDENT = 1e-11;
const DEPENDENT_WHEN_CONDITIONED = 1e-4;

/** Columns whose products are kept as a matrix; past that, products are made as they are needed. */
export const DIRECT_COLUMN_COUNT_MAX = 4000;

const ITERATION_COUNT_MAX = 25;
/** Change of the deviance, relative, that ends the iterations. */
const DEVIANCE_TOLERANCE = 1e-10;

/** Penalties that are tried when none is given. */
const LAMBDAS = Array.from({ length: 16 }, (_, i) => 10 ** (1 - i));

/**
 * Minimises the deviance + lambda |b|^2 (l2) or + lambda |b|_1 (l1) over the coefficients b,
 * among them the constant. A linear link is one least-squares problem.
 * @param targets one a row; between 0 and 1 unless the link is linear
 * @param weights one a row, 0 leaves a row out; sums, not means, are penalised
 * @returns a coefficient for each place of the design, then the constant, in original units
 * @throws DATA_ERROR when a target is out of the link's range
 * @see McCullagh & Nelder, "Generalized linear models", 1989, chapter 2
 */
export function fitGlz(
  context: FitContext,
  design: Design,
  targets: Float64Array,
  weights: Float64Array,
  options: GlzOptions,
): Float64Array {
  const { link } = options;
  if (link !== 'linear') {
    for (const target of targets) {
      if (target >= 0 && target <= 1) continue;
      throw failure(
        'DATA_ERROR',
        `link ${link} needs labels from 0 to 1, not ${target}; link linear takes all numbers`,
      );
    }
  }
  return withProblem(context, design, targets, weights, options, (problem) => problem.solve());
}

function withProblem<Result>(
  context: FitContext,
  design: Design,
  targets: Float64Array,
  weights: Float64Array,
  options: GlzOptions,
  use: (problem: Problem) => Result,
): Result {
  const { workspace } = context;
  const size = design.columnCount + 1;
  const isDirect = design.columnCount <= DIRECT_COLUMN_COUNT_MAX;
  const unitCount = isDirect ? unitCountOf(design) : 1;
  const sizes = {
    rows: design.rowCount * 8 * 3,
    beta: size * 8 * 3,
    grams: isDirect ? unitCount * (size * size + size) * 8 : 0,
    factor: isDirect ? size * size * 8 + 16 : 0,
  };
  const total = Object.values(sizes).reduce((sum, part) => sum + part + 16, 0);
  return withScratch(workspace, design.span.arena, total, (scratch) => {
    const layout = new Layout(scratch);
    const place = {
      rows: layout.take(sizes.rows),
      beta: layout.take(sizes.beta),
      grams: layout.take(sizes.grams),
      factor: layout.take(sizes.factor),
    };
    const problem = new Problem(context, design, targets, weights, options, place, unitCount);
    return use(problem);
  });
}

/** Sums of a unit are added to those of others, which few rows are not worth. */
const ROWS_PER_UNIT = 65_536;

/** Stretches of rows whose products are added up apart: by the data alone, so that sums are too. */
function unitCountOf({ rowCount, columnCount }: Design): number {
  const byMemory = Math.floor(256e6 / ((columnCount + 1) ** 2 * 8));
  return Math.max(1, Math.min(8, byMemory, Math.ceil(rowCount / ROWS_PER_UNIT)));
}

interface Places {
  readonly rows: number;
  readonly beta: number;
  readonly grams: number;
  readonly factor: number;
}

class Problem {
  readonly #context: FitContext;
  readonly #design: Design;
  readonly #targets: Float64Array;
  readonly #weights: Float64Array;
  readonly #options: GlzOptions;
  readonly #place: Places;
  readonly #unitCount: number;
  readonly #scaling: Scaling;
  readonly #size: number;

  constructor(
    context: FitContext,
    design: Design,
    targets: Float64Array,
    weights: Float64Array,
    options: GlzOptions,
    place: Places,
    unitCount: number,
  ) {
    this.#context = context;
    this.#design = design;
    this.#targets = targets;
    this.#weights = weights;
    this.#options = options;
    this.#place = place;
    this.#unitCount = unitCount;
    this.#size = design.columnCount + 1;
    // Without a penalty the solution does not depend on scales, and scaled columns are exact.
    const isScaled = options.normalize || options.regularization === 'none';
    this.#scaling = this.#measure(isScaled);
  }

  solve(): Float64Array {
    const { lambda, regularization } = this.#options;
    if (regularization === 'none') return this.#solveWith(0);
    if (lambda >= 0) return this.#solveWith(lambda);
    let best: Float64Array | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const candidate of LAMBDAS) {
      const beta = this.#solveWith(candidate);
      const error = this.#leaveOneOutError(beta);
      if (error < least) {
        least = error;
        best = beta;
      }
    }
    return best ?? this.#solveWith(0);
  }

  #solveWith(lambda: number): Float64Array {
    return this.#options.link === 'linear' ? this.#leastSquares(lambda) : this.#reweighted(lambda);
  }

  #leastSquares(lambda: number): Float64Array {
    this.#w.set(this.#weights);
    this.#z.set(this.#targets);
    return this.#toOriginal(this.#step(lambda, undefined));
  }

  #reweighted(lambda: number): Float64Array {
    const { inverse, forward, slope } = LINK_FUNCTIONS[this.#options.link];
    // The slope of the logistic function follows from its value, which saves a power of e.
    const isLogit = this.#options.link === 'logit';
    const w = this.#w;
    const z = this.#z;
    const eta = this.#eta;
    const targets = this.#targets;
    const weights = this.#weights;
    for (let row = 0; row < eta.length; row++) {
      eta[row] = forward(((targets[row] as number) + 0.5) / 2);
    }
    let deviance = Number.POSITIVE_INFINITY;
    let scaled: Float64Array | undefined;
    let original: Float64Array = new Float64Array(this.#size);
    for (let iteration = 0; iteration < ITERATION_COUNT_MAX; iteration++) {
      this.#context.checkCancelled();
      for (let row = 0; row < eta.length; row++) {
        const weight = weights[row] as number;
        if (weight === 0) {
          w[row] = 0;
          z[row] = 0;
          continue;
        }
        const linear = eta[row] as number;
        const mean = inverse(linear);
        const mu = clampMean(mean);
        const rise = Math.max(isLogit ? mean * (1 - mean) : slope(linear), 1e-15);
        w[row] = (weight * rise * rise) / (mu * (1 - mu));
        z[row] = linear + ((targets[row] as number) - mu) / rise;
      }
      scaled = this.#step(lambda, scaled);
      const next = this.#toOriginal(scaled);
      this.#predict(next);
      let sum = 0;
      for (let row = 0; row < eta.length; row++) {
        const weight = weights[row] as number;
        if (weight === 0) continue;
        const mu = clampMean(inverse(eta[row] as number));
        sum += weight * binomialDeviance(targets[row] as number, mu);
      }
      original = next;
      if (Math.abs(deviance - sum) <= DEVIANCE_TOLERANCE * (Math.abs(sum) + 0.1)) break;
      deviance = sum;
    }
    return original;
  }

  /** Minimises sum w (z - X b)^2 + penalty. @returns scaled coefficients, the constant last */
  #step(lambda: number, start: Float64Array | undefined): Float64Array {
    const { regularization, addBias } = this.#options;
    if (this.#place.factor === 0 || this.#design.columnCount > DIRECT_COLUMN_COUNT_MAX) {
      if (regularization === 'l1') {
        throw failure(
          'DATA_ERROR',
          `regularization l1 takes at most ${DIRECT_COLUMN_COUNT_MAX} columns, not ${this.#design.columnCount}; l2 takes any number`,
        );
      }
      const { workspace } = this.#context;
      const problem = {
        ...{ workspace, design: this.#design, scaling: this.#scaling, w: this.#w, z: this.#z },
        ...{ lambda, addBias, vectors: this.#place.beta, residual: this.#at(2) },
      };
      return conjugateGradient(this.#context, problem, start);
    }
    const { gram, right } = this.#normalEquations();
    return regularization === 'l1'
      ? this.#lasso(gram, right, lambda, start)
      : this.#ridge(gram, right, lambda);
  }

  /** X' W X (full) and X' W z over scaled columns; without a constant its line is 0. */
  #normalEquations(): { readonly gram: Float64Array; readonly right: Float64Array } {
    const { workspace, parallel } = this.#context;
    const { arena } = this.#design.span;
    const size = this.#size;
    const stretch = (size * size + size) * 8;
    const { u8, f64 } = workspace.memory.get(arena);
    const { grams } = this.#place;
    u8.fill(0, grams, grams + stretch * this.#unitCount);
    const task: GramTask = {
      ...{ arena, header: this.#design.header, rowCount: this.#design.rowCount },
      ...{ unitCount: this.#unitCount, stretch, grams, size },
      ...{ w: this.#at(0), z: this.#at(1) },
    };
    parallel.run(linearGramJob(workspace), task, this.#unitCount);
    const first = grams >>> 3;
    const length = size * size + size;
    for (let unit = 1; unit < this.#unitCount; unit++) {
      const from = first + unit * length;
      for (let i = 0; i < length; i++) {
        f64[first + i] = (f64[first + i] as number) + (f64[from + i] as number);
      }
    }
    return this.#scaled(f64.subarray(first, first + length), size);
  }

  #scaled(raw: Float64Array, size: number) {
    const { means, deviations } = this.#scaling;
    const last = size - 1;
    const total = raw[last * size + last] as number;
    const sums = Float64Array.from({ length: size }, (_, i) => raw[i * size + last] as number);
    const rightRaw = raw.subarray(size * size);
    const rightTotal = rightRaw[last] as number;
    const gram = new Float64Array(size * size);
    const right = new Float64Array(size);
    for (let i = 0; i < last; i++) {
      const meanI = means[i] as number;
      const scaleI = deviations[i] as number;
      for (let j = i; j < last; j++) {
        const meanJ = means[j] as number;
        const product =
          (raw[i * size + j] as number) -
          (sums[i] as number) * meanJ -
          (sums[j] as number) * meanI +
          total * meanI * meanJ;
        const value = product / (scaleI * (deviations[j] as number));
        gram[i * size + j] = value;
        gram[j * size + i] = value;
      }
      right[i] = ((rightRaw[i] as number) - meanI * rightTotal) / scaleI;
      if (!this.#options.addBias) continue;
      const side = ((sums[i] as number) - meanI * total) / scaleI;
      gram[i * size + last] = side;
      gram[last * size + i] = side;
    }
    if (this.#options.addBias) {
      gram[last * size + last] = total;
      right[last] = rightTotal;
    }
    return { gram, right };
  }

  #ridge(gram: Float64Array, right: Float64Array, lambda: number): Float64Array {
    const size = this.#size;
    for (let i = 0; i < size; i++) gram[i * size + i] = (gram[i * size + i] as number) + lambda;
    this.#factorize(gram);
    return this.#solveFactor(right);
  }

  #factorize(gram: Float64Array): void {
    const size = this.#size;
    const { workspace } = this.#context;
    const { arena } = this.#design.span;
    const { f64 } = workspace.memory.get(arena);
    const { factor, beta } = this.#place;
    f64.set(gram, factor >>> 3);
    for (let i = 0; i < size; i++) f64[(beta >>> 3) + i] = gram[i * size + i] as number;
    const kernels = workspace.kernels(arena);
    const tolerance = this.#options.condition ? DEPENDENT_WHEN_CONDITIONED : DEPENDENT;
    for (let row = 0; row < size; ) {
      this.#context.checkCancelled();
      row = kernels.choleskyRows(factor, size, row, 64, beta, tolerance);
    }
  }

  #solveFactor(right: Float64Array): Float64Array {
    const { workspace } = this.#context;
    const { arena } = this.#design.span;
    const { f64 } = workspace.memory.get(arena);
    const at = this.#place.beta + this.#size * 8;
    f64.set(right, at >>> 3);
    workspace.kernels(arena).choleskySolve(this.#place.factor, this.#size, at);
    return f64.slice(at >>> 3, (at >>> 3) + this.#size);
  }

  #lasso(
    gram: Float64Array,
    right: Float64Array,
    lambda: number,
    start: Float64Array = new Float64Array(this.#size),
  ): Float64Array {
    const { workspace } = this.#context;
    const { arena } = this.#design.span;
    const { f64 } = workspace.memory.get(arena);
    const { factor, beta } = this.#place;
    const { sweepCountMax, epsilon } = this.#options;
    const size = this.#size;
    const residualAt = beta + size * 8;
    f64.set(gram, factor >>> 3);
    f64.set(start, beta >>> 3);
    for (let i = 0; i < size; i++) {
      let product = 0;
      for (let j = 0; j < size; j++) {
        product += (gram[i * size + j] as number) * (start[j] as number);
      }
      f64[(residualAt >>> 3) + i] = (right[i] as number) - product;
    }
    const kernels = workspace.kernels(arena);
    for (let sweep = 0; sweep < sweepCountMax; sweep += SWEEPS_PER_LOOK) {
      this.#context.checkCancelled();
      const count = Math.min(SWEEPS_PER_LOOK, sweepCountMax - sweep);
      const change = kernels.lassoSweeps(factor, size, residualAt, beta, lambda, epsilon, count);
      if (change < epsilon) break;
    }
    return f64.slice(beta >>> 3, (beta >>> 3) + size);
  }

  /** sum ((z - z^) / (1 - h))^2 w over the rows, h from the last factor. */
  #leaveOneOutError(beta: Float64Array): number {
    this.#predict(beta);
    const eta = this.#eta;
    const w = this.#w;
    const z = this.#z;
    const size = this.#size;
    const hasFactor = this.#options.regularization === 'l2' && this.#place.factor !== 0;
    // Leverages cost a solution each: of many rows, as many as are affordable stand for all.
    const affordable = Math.max(1000, Math.floor(2e8 / (size * size)));
    const stride = Math.max(1, Math.ceil(eta.length / affordable));
    let error = 0;
    for (let row = 0; row < eta.length; row += stride) {
      if (row % (64 * stride) === 0) this.#context.checkCancelled();
      const weight = w[row] as number;
      if (weight === 0) continue;
      const leverage = hasFactor ? weight * this.#leverage(row) : 0;
      const residual = (z[row] as number) - (eta[row] as number);
      error += weight * (residual / Math.max(1 - leverage, 1e-12)) ** 2;
    }
    return error;
  }

  #leverage(row: number): number {
    const x = this.#scaledRow(row);
    const solution = this.#solveFactor(x);
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += (x[i] as number) * (solution[i] as number);
    return sum;
  }

  #scaledRow(row: number): Float64Array {
    const design = this.#design;
    const { f64, u32 } = this.#context.workspace.memory.get(design.span.arena);
    const { means, deviations } = this.#scaling;
    const x = new Float64Array(this.#size);
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
    x[design.columnCount] = this.#options.addBias ? 1 : 0;
    return x;
  }

  /** Means and population deviations of the columns; 0 and 1 when they are taken as they are. */
  #measure(isScaled: boolean): Scaling {
    const { columnCount } = this.#design;
    const means = new Float64Array(columnCount);
    const deviations = new Float64Array(columnCount).fill(1);
    if (!isScaled) return { means, deviations };
    const { workspace } = this.#context;
    const { f64, u32 } = workspace.memory.get(this.#design.span.arena);
    const { rowCount, denseCount } = this.#design;
    let total = 0;
    for (const weight of this.#weights) total += weight;
    const squares = new Float64Array(columnCount);
    for (let c = 0; c < denseCount; c++) {
      this.#context.checkCancelled();
      const from = (this.#design.dense >>> 3) + c * rowCount;
      let sum = 0;
      for (let row = 0; row < rowCount; row++) {
        sum += (this.#weights[row] as number) * (f64[from + row] as number);
      }
      const mean = sum / total;
      let square = 0;
      for (let row = 0; row < rowCount; row++) {
        square += (this.#weights[row] as number) * ((f64[from + row] as number) - mean) ** 2;
      }
      means[c] = mean;
      squares[c] = square / total;
    }
    const starts = this.#design.starts >>> 2;
    for (let row = 0; row < rowCount; row++) {
      const weight = (this.#weights[row] as number) / total;
      for (let i = u32[starts + row] as number; i < (u32[starts + row + 1] as number); i++) {
        const c = u32[(this.#design.columns >>> 2) + i] as number;
        const value =
          this.#design.values === 0 ? 1 : (f64[(this.#design.values >>> 3) + i] as number);
        means[c] = (means[c] as number) + weight * value;
        squares[c] = (squares[c] as number) + weight * value * value;
      }
    }
    for (let c = 0; c < columnCount; c++) {
      const mean = means[c] as number;
      const square = squares[c] as number;
      const variance = c < denseCount ? square : square - mean * mean;
      if (variance > 0) deviations[c] = Math.sqrt(variance);
      // Without a constant there is nothing that a shift could move to.
      if (!this.#options.addBias) means[c] = 0;
    }
    return { means, deviations };
  }

  #toOriginal(scaled: Float64Array): Float64Array {
    const { means, deviations } = this.#scaling;
    const beta = new Float64Array(this.#size);
    const last = this.#size - 1;
    let constant = scaled[last] as number;
    for (let c = 0; c < last; c++) {
      const value = (scaled[c] as number) / (deviations[c] as number);
      beta[c] = value;
      constant -= value * (means[c] as number);
    }
    beta[last] = this.#options.addBias ? constant : 0;
    return beta;
  }

  /** Fills the linear predictors. */
  #predict(beta: Float64Array): void {
    const { workspace } = this.#context;
    const { arena } = this.#design.span;
    const { f64 } = workspace.memory.get(arena);
    f64.set(beta, this.#place.beta >>> 3);
    workspace
      .kernels(arena)
      .linearPredict(this.#design.header, 0, this.#design.rowCount, this.#place.beta, this.#at(2));
  }

  #at(index: number): number {
    return this.#place.rows + index * this.#design.rowCount * 8;
  }

  #rows(index: number): Float64Array {
    const { f64 } = this.#context.workspace.memory.get(this.#design.span.arena);
    const from = this.#at(index) >>> 3;
    return f64.subarray(from, from + this.#design.rowCount);
  }

  get #w(): Float64Array {
    return this.#rows(0);
  }

  get #z(): Float64Array {
    return this.#rows(1);
  }

  get #eta(): Float64Array {
    return this.#rows(2);
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

function clampMean(mu: number): number {
  return Math.min(1 - 1e-12, Math.max(1e-12, mu));
}

function binomialDeviance(y: number, mu: number): number {
  const first = y === 0 ? 0 : y * Math.log(y / mu);
  const second = y === 1 ? 0 : (1 - y) * Math.log((1 - y) / (1 - mu));
  return 2 * (first + second);
}
