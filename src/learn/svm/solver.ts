// The quadratic programs of support vector machines, two variables at a time.
import type { JobContext } from '../workspace.ts';

/**
 * Minimise a'Qa/2 + p'a with 0 <= a_i <= bound_i and y'a constant; Q_ij = y_i y_j K(i, j).
 * For the nu forms the sums over each sign of y are constant too.
 */
export interface Program {
  readonly size: number;
  /** +1 or -1 */
  readonly y: Int8Array;
  readonly p: Float64Array;
  readonly bounds: Float64Array;
  /** a feasible start */
  readonly start: Float64Array;
  /** K(i, j) for all j */
  row(index: number): Float32Array;
  readonly diagonal: Float64Array;
  readonly tolerance: number;
  /** true: variables that stay at a bound are left out for a while */
  readonly shrinking: boolean;
  readonly isNu: boolean;
}

export interface Solution {
  readonly a: Float64Array;
  /** the offset that decisions subtract */
  readonly rho: number;
  /** of nu forms: what scales a decision to a margin of 1 */
  readonly r: number;
}

/** Curvature that stands for one that is not positive. */
const CURVATURE_MIN = 1e-12;
const STEPS_PER_SHRINK = 1000;
const STEPS_PER_CHECK = 64;

/**
 * @see Fan, Chen & Lin, "Working set selection using second order information for training support
 *   vector machines", 2005; Chang & Lin, "Training nu-support vector classifiers", 2001
 */
export function solve(program: Program, scope: JobContext): Solution {
  return new Solver(program, scope).run();
}

class Solver {
  readonly #program: Program;
  readonly #scope: JobContext;
  readonly #a: Float64Array;
  readonly #gradient: Float64Array;
  /** variables in play; the first `activeCount` count */
  readonly #active: Int32Array;
  #activeCount: number;
  #hasUnshrunk = false;

  constructor(program: Program, scope: JobContext) {
    this.#program = program;
    this.#scope = scope;
    this.#a = program.start.slice();
    this.#gradient = program.p.slice();
    this.#active = Int32Array.from({ length: program.size }, (_, i) => i);
    this.#activeCount = program.size;
  }

  run(): Solution {
    const { size, shrinking, tolerance } = this.#program;
    this.#computeGradient(this.#active);
    const stepMax = Math.max(10_000_000, 100 * size);
    let untilShrink = Math.min(size, STEPS_PER_SHRINK);
    for (let step = 0; step < stepMax; step++) {
      if (step % STEPS_PER_CHECK === 0) this.#scope.checkCancelled();
      if (shrinking && --untilShrink === 0) {
        untilShrink = Math.min(size, STEPS_PER_SHRINK);
        this.#shrink();
      }
      let pair = this.#choose(tolerance);
      if (pair === undefined) {
        if (this.#activeCount === size) break;
        this.#restoreAll();
        untilShrink = 1;
        pair = this.#choose(tolerance);
        if (pair === undefined) break;
      }
      this.#update(pair[0], pair[1]);
    }
    if (this.#activeCount < size) this.#restoreAll();
    return { a: this.#a, ...this.#offsets() };
  }

  /** Gradients of the given variables from all that are not 0. */
  #computeGradient(variables: Int32Array): void {
    const { y, p, size, row } = this.#program;
    for (const i of variables) this.#gradient[i] = p[i] as number;
    for (let j = 0; j < size; j++) {
      const weight = (this.#a[j] as number) * (y[j] as number);
      if (weight === 0) continue;
      if (j % STEPS_PER_CHECK === 0) this.#scope.checkCancelled();
      const kernel = row(j);
      for (const i of variables) {
        this.#gradient[i] =
          (this.#gradient[i] as number) + (y[i] as number) * weight * (kernel[i] as number);
      }
    }
  }

  #canGrow(i: number): boolean {
    const { y, bounds } = this.#program;
    return y[i] === 1 ? (this.#a[i] as number) < (bounds[i] as number) : (this.#a[i] as number) > 0;
  }

  #canFall(i: number): boolean {
    const { y, bounds } = this.#program;
    return y[i] === 1 ? (this.#a[i] as number) > 0 : (this.#a[i] as number) < (bounds[i] as number);
  }

  /** The pair that promises most; undefined when none violates the conditions beyond tolerance. */
  #choose(tolerance: number): readonly [number, number] | undefined {
    if (!this.#program.isNu) return this.#chooseAmong(0, tolerance)?.pair;
    const plus = this.#chooseAmong(1, tolerance);
    const minus = this.#chooseAmong(-1, tolerance);
    if (plus === undefined || minus === undefined) return (plus ?? minus)?.pair;
    return plus.gain <= minus.gain ? plus.pair : minus.pair;
  }

  /** @param sign of y that both have; 0: any */
  #chooseAmong(
    sign: number,
    tolerance: number,
  ): { readonly pair: readonly [number, number]; readonly gain: number } | undefined {
    const { y, diagonal, row } = this.#program;
    const active = this.#active;
    let first = -1;
    let largest = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < this.#activeCount; k++) {
      const i = active[k] as number;
      if ((sign !== 0 && y[i] !== sign) || !this.#canGrow(i)) continue;
      const value = -(y[i] as number) * (this.#gradient[i] as number);
      if (value > largest) {
        largest = value;
        first = i;
      }
    }
    if (first < 0) return undefined;
    const kernel = row(first);
    let second = -1;
    let best = Number.POSITIVE_INFINITY;
    let smallest = Number.POSITIVE_INFINITY;
    for (let k = 0; k < this.#activeCount; k++) {
      const j = active[k] as number;
      if ((sign !== 0 && y[j] !== sign) || !this.#canFall(j)) continue;
      const value = -(y[j] as number) * (this.#gradient[j] as number);
      if (value < smallest) smallest = value;
      const violation = largest - value;
      if (violation <= 0) continue;
      const curvature =
        (diagonal[first] as number) + (diagonal[j] as number) - 2 * (kernel[j] as number);
      const gain = -(violation * violation) / (curvature > 0 ? curvature : CURVATURE_MIN);
      if (gain < best) {
        best = gain;
        second = j;
      }
    }
    if (second < 0 || largest - smallest < tolerance) return undefined;
    return { pair: [first, second], gain: best };
  }

  /** Moves two variables to the minimum along the line that keeps y'a. */
  #update(i: number, j: number): void {
    const { y, diagonal, bounds, row } = this.#program;
    const a = this.#a;
    const kernelI = row(i);
    const kernelJ = row(j);
    const yi = y[i] as number;
    const yj = y[j] as number;
    const curvature =
      (diagonal[i] as number) + (diagonal[j] as number) - 2 * (kernelI[j] as number);
    const slope = -yi * (this.#gradient[i] as number) + yj * (this.#gradient[j] as number);
    let step = slope / (curvature > 0 ? curvature : CURVATURE_MIN);
    // y_i a_i grows by the step, y_j a_j falls by it; neither may leave its bounds.
    step = Math.min(
      step,
      yi === 1 ? (bounds[i] as number) - (a[i] as number) : (a[i] as number),
      yj === 1 ? (a[j] as number) : (bounds[j] as number) - (a[j] as number),
    );
    const beforeI = a[i] as number;
    const beforeJ = a[j] as number;
    a[i] = clamp(beforeI + yi * step, bounds[i] as number);
    a[j] = clamp(beforeJ - yj * step, bounds[j] as number);
    const changeI = yi * ((a[i] as number) - beforeI);
    const changeJ = yj * ((a[j] as number) - beforeJ);
    const active = this.#active;
    const gradient = this.#gradient;
    for (let k = 0; k < this.#activeCount; k++) {
      const t = active[k] as number;
      gradient[t] =
        (gradient[t] as number) +
        (y[t] as number) * (changeI * (kernelI[t] as number) + changeJ * (kernelJ[t] as number));
    }
  }

  /** Leaves variables out that are at a bound and would stay there. */
  #shrink(): void {
    const { y, isNu, tolerance } = this.#program;
    const limits = [this.#limits(isNu ? 1 : 0), this.#limits(isNu ? -1 : 0)] as const;
    const violation = Math.max(limits[0].up - limits[0].down, limits[1].up - limits[1].down);
    if (!this.#hasUnshrunk && violation <= tolerance * 10) {
      this.#hasUnshrunk = true;
      this.#restoreAll();
      return;
    }
    const active = this.#active;
    let kept = 0;
    for (let k = 0; k < this.#activeCount; k++) {
      const i = active[k] as number;
      const { up, down } = y[i] === 1 ? limits[0] : limits[1];
      const value = -(y[i] as number) * (this.#gradient[i] as number);
      const canGrow = this.#canGrow(i);
      const canFall = this.#canFall(i);
      const isStuck = (!canGrow && value > up) || (!canFall && value < down);
      if (isStuck) continue;
      const other = active[kept] as number;
      active[kept++] = i;
      active[k] = other;
    }
    this.#activeCount = kept;
  }

  /** The largest value that can grow, and the smallest that can fall. */
  #limits(sign: number): { readonly up: number; readonly down: number } {
    const { y } = this.#program;
    let up = Number.NEGATIVE_INFINITY;
    let down = Number.POSITIVE_INFINITY;
    for (let k = 0; k < this.#activeCount; k++) {
      const i = this.#active[k] as number;
      if (sign !== 0 && y[i] !== sign) continue;
      const value = -(y[i] as number) * (this.#gradient[i] as number);
      if (this.#canGrow(i) && value > up) up = value;
      if (this.#canFall(i) && value < down) down = value;
    }
    return { up, down };
  }

  #restoreAll(): void {
    this.#computeGradient(this.#active.slice(this.#activeCount));
    this.#activeCount = this.#program.size;
  }

  #offsets(): { readonly rho: number; readonly r: number } {
    if (!this.#program.isNu) return { rho: this.#offset(0), r: 1 };
    const plus = this.#offset(1);
    const minus = -this.#offset(-1);
    return { rho: (plus - minus) / 2, r: (plus + minus) / 2 };
  }

  /** The mean of y G over free variables, or the middle of what the bound ones allow. */
  #offset(sign: number): number {
    const { y, size, bounds } = this.#program;
    let sum = 0;
    let count = 0;
    let high = Number.POSITIVE_INFINITY;
    let low = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < size; i++) {
      if (sign !== 0 && y[i] !== sign) continue;
      const value = (y[i] as number) * (this.#gradient[i] as number);
      const a = this.#a[i] as number;
      if (a > 0 && a < (bounds[i] as number)) {
        sum += value;
        count++;
      } else if (this.#canGrow(i)) high = Math.min(high, value);
      else low = Math.max(low, value);
    }
    if (count > 0) return sum / count;
    if (!Number.isFinite(high)) return Number.isFinite(low) ? low : 0;
    return Number.isFinite(low) ? (high + low) / 2 : high;
  }
}

/** A value this near to a bound, as a share of it, is at the bound. */
const BOUND_SHARE = 1e-12;

function clamp(value: number, bound: number): number {
  if (value <= bound * BOUND_SHARE) return 0;
  return value >= bound * (1 - BOUND_SHARE) ? bound : value;
}
