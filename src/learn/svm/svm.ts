// Support vector machines: two classes, several, one, and numbers.
import { failure } from '../../util/error.ts';
import { type Points, pointAt, pointColumns } from '../points.ts';
import { type FitContext, Layout, withScratch } from '../workspace.ts';
import { KernelRows, kernelValue, type SvmKernel } from './kernel.ts';
import { type Program, type Solution, solve } from './solver.ts';

export const SVM_TYPES = [
  'classification',
  'nu-classification',
  'one class',
  'regression',
  'nu-regression',
] as const;
export type SvmType = (typeof SVM_TYPES)[number];

export interface SvmOptions extends SvmKernel {
  readonly svmType: SvmType;
  readonly C: number;
  readonly nu: number;
  /** width of the tube of regressions */
  readonly p: number;
  readonly eps: number;
  readonly shrinking: boolean;
}

/** decision = sum of coefficient K(vector, x) - rho */
export interface Decision {
  readonly vectors: readonly Float64Array[];
  readonly coefficients: Float64Array;
  readonly rho: number;
}

export interface SvmModel {
  readonly svmType: SvmType;
  readonly kernel: SvmKernel;
  /** the labels of classes in order of their first appearance; empty for the others */
  readonly labels: readonly number[];
  /** one for each pair of classes, the lower first: above 0 speaks for the lower; else only one */
  readonly decisions: readonly Decision[];
}

/**
 * Cost: between rows^2 and rows^3 kernel values, of which the latest rows are kept.
 * @throws DATA_ERROR for one class where several are needed, or a nu that the classes cannot have
 */
export function fitSvm(
  context: FitContext,
  points: Points,
  targets: Float64Array,
  options: SvmOptions,
): SvmModel {
  const { kernel, degree, coef0, svmType } = options;
  const gamma = options.gamma > 0 ? options.gamma : 1 / Math.max(1, points.dimension);
  const model = { svmType, kernel: { kernel, degree, gamma, coef0 } };
  const fit = new SvmFit(context, points, model.kernel, options);
  if (svmType === 'one class') return { ...model, labels: [], decisions: [fit.oneClass()] };
  if (svmType === 'regression' || svmType === 'nu-regression') {
    return { ...model, labels: [], decisions: [fit.regression(targets)] };
  }
  const labels = [...new Set(targets)];
  if (labels.length < 2) {
    throw failure('DATA_ERROR', `the label is ${labels[0]} in all rows; two classes are needed`);
  }
  const decisions: Decision[] = [];
  const pairCount = (labels.length * (labels.length - 1)) / 2;
  for (const [index, low] of labels.entries()) {
    for (const high of labels.slice(index + 1)) {
      context.progress?.(decisions.length, pairCount);
      decisions.push(fit.pair(targets, low, high));
    }
  }
  return { ...model, labels, decisions };
}

class SvmFit {
  readonly #context: FitContext;
  readonly #points: Points;
  readonly #kernel: SvmKernel;
  readonly #options: SvmOptions;
  readonly #columns: readonly Float64Array[];

  constructor(context: FitContext, points: Points, kernel: SvmKernel, options: SvmOptions) {
    this.#context = context;
    this.#points = points;
    this.#kernel = kernel;
    this.#options = options;
    this.#columns = pointColumns(context.workspace, points);
  }

  /** Tells the rows of label `low` (above 0) from those of label `high`. */
  pair(targets: Float64Array, low: number, high: number): Decision {
    const rows: number[] = [];
    for (const [row, label] of targets.entries())
      if (label === low || label === high) rows.push(row);
    const y = Int8Array.from(rows, (row) => (targets[row] === low ? 1 : -1));
    const { svmType, C, nu } = this.#options;
    if (svmType === 'classification') {
      return this.#decide(rows, {
        y,
        p: new Float64Array(rows.length).fill(-1),
        bounds: new Float64Array(rows.length).fill(C),
        start: new Float64Array(rows.length),
        isNu: false,
      });
    }
    const counts = [1, -1].map((sign) => y.reduce((sum, each) => sum + Number(each === sign), 0));
    const most = (2 * Math.min(...counts)) / rows.length;
    if (nu > most) {
      throw failure(
        'DATA_ERROR',
        `nu ${nu} is too large for labels ${low} and ${high}; at most ${most} is possible with their numbers of rows`,
      );
    }
    const left = { 1: (nu * rows.length) / 2, [-1]: (nu * rows.length) / 2 };
    const start = Float64Array.from(y, (sign) => {
      const share = Math.min(1, left[sign as 1 | -1]);
      left[sign as 1 | -1] -= share;
      return share;
    });
    return this.#decide(rows, {
      y,
      p: new Float64Array(rows.length),
      bounds: new Float64Array(rows.length).fill(1),
      start,
      isNu: true,
    });
  }

  oneClass(): Decision {
    const { rowCount } = this.#points;
    let left = this.#options.nu * rowCount;
    const start = Float64Array.from({ length: rowCount }, () => {
      const share = Math.max(0, Math.min(1, left));
      left -= share;
      return share;
    });
    return this.#decide(range(rowCount), {
      y: new Int8Array(rowCount).fill(1),
      p: new Float64Array(rowCount),
      bounds: new Float64Array(rowCount).fill(1),
      start,
      isNu: false,
    });
  }

  /** Two variables a row: one pulls the decision up, the other down. */
  regression(targets: Float64Array): Decision {
    const { rowCount } = this.#points;
    const { svmType, C, nu, p } = this.#options;
    const isNu = svmType === 'nu-regression';
    let left = (C * nu * rowCount) / 2;
    const shares = Float64Array.from({ length: rowCount }, () => {
      const share = isNu ? Math.max(0, Math.min(C, left)) : 0;
      left -= share;
      return share;
    });
    const both = (value: (row: number, sign: number) => number) =>
      Float64Array.from({ length: 2 * rowCount }, (_, i) =>
        value(i % rowCount, i < rowCount ? 1 : -1),
      );
    return this.#decide(range(rowCount), {
      y: Int8Array.from({ length: 2 * rowCount }, (_, i) => (i < rowCount ? 1 : -1)),
      p: both((row, sign) => (isNu ? 0 : p) - sign * (targets[row] as number)),
      bounds: new Float64Array(2 * rowCount).fill(C),
      start: both((row) => shares[row] as number),
      isNu,
    });
  }

  /** @param program over the rows, or twice over them */
  #decide(
    rows: readonly number[],
    program: Pick<Program, 'y' | 'p' | 'bounds' | 'start' | 'isNu'>,
  ): Decision {
    const { workspace } = this.#context;
    const { span, rowCount, dimension } = this.#points;
    const place = (base: number) => {
      const layout = new Layout(base);
      return {
        center: layout.take(dimension * 8),
        products: layout.take((rowCount + 4) * 8),
        layout,
      };
    };
    const solution = withScratch(workspace, span.arena, place(0).layout.sizeBytes, (base) => {
      const kernelRows = new KernelRows(workspace, this.#points, this.#kernel, place(base));
      const isWhole = rows.length === rowCount;
      const size = program.y.length;
      const rowOf = (i: number) => rows[i % rows.length] as number;
      const all = kernelRows.diagonal();
      const diagonal = Float64Array.from({ length: size }, (_, i) => all[rowOf(i)] as number);
      return solve(
        {
          ...program,
          size,
          diagonal,
          row: rowAccess(kernelRows, rows, size, isWhole),
          tolerance: this.#options.eps,
          shrinking: this.#options.shrinking,
        },
        this.#context,
      );
    });
    return this.#decisionOf(rows, program.y, solution);
  }

  #decisionOf(rows: readonly number[], y: Int8Array, { a, rho, r }: Solution): Decision {
    const { svmType } = this.#options;
    // Only a classification by nu has its margin scaled to 1.
    const scale = svmType === 'nu-classification' ? r : 1;
    const vectors: Float64Array[] = [];
    const coefficients: number[] = [];
    for (const [index, row] of rows.entries()) {
      let weight = 0;
      for (let i = index; i < y.length; i += rows.length) {
        weight += (y[i] as number) * (a[i] as number);
      }
      if (weight === 0) continue;
      vectors.push(pointAt(this.#columns, row));
      coefficients.push(weight / scale);
    }
    return { vectors, coefficients: Float64Array.from(coefficients), rho: rho / scale };
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Kernel rows over the variables: a part of the points, or all of them once or twice. */
function rowAccess(
  kernelRows: KernelRows,
  rows: readonly number[],
  size: number,
  isWhole: boolean,
): (index: number) => Float32Array {
  if (isWhole && size === rows.length) return (index) => kernelRows.row(index);
  const gathered = [new Float32Array(size), new Float32Array(size)] as const;
  const held: [number, number] = [-1, -1];
  let last = 0;
  // A step looks at two rows at once, so two are held.
  return (index) => {
    const known = held.indexOf(index);
    if (known >= 0) {
      last = known;
      return gathered[known] as Float32Array;
    }
    last = 1 - last;
    held[last] = index;
    const target = gathered[last] as Float32Array;
    const source = kernelRows.row(rows[index % rows.length] as number);
    for (let i = 0; i < size; i++) target[i] = source[rows[i % rows.length] as number] as number;
    return target;
  };
}

/** The value of a decision for a point. */
export function decisionValue(
  { vectors, coefficients, rho }: Decision,
  kernel: SvmKernel,
  point: Float64Array,
): number {
  let sum = -rho;
  for (const [index, vector] of vectors.entries()) {
    sum += (coefficients[index] as number) * kernelValue(kernel, vector, point);
  }
  return sum;
}

/** The label, the number, or whether the point belongs to the one class (+1 or -1). */
export function predictSvm(model: SvmModel, point: Float64Array): number {
  const { labels, decisions, kernel, svmType } = model;
  const values = decisions.map((decision) => decisionValue(decision, kernel, point));
  if (svmType === 'one class') return (values[0] as number) > 0 ? 1 : -1;
  if (labels.length === 0) return values[0] as number;
  const votes = new Float64Array(labels.length);
  let pair = 0;
  for (let low = 0; low < labels.length; low++) {
    for (let high = low + 1; high < labels.length; high++) {
      const winner = (values[pair++] as number) > 0 ? low : high;
      votes[winner] = (votes[winner] as number) + 1;
    }
  }
  return labels[votes.indexOf(Math.max(...votes))] as number;
}
