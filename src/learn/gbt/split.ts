// The best split of a node, from its histograms.
import type { GbtOptions } from './options.ts';

/** Sums over one node's histogram of one column; cells {gradient, hessian}. */
export interface ColumnHistogram {
  readonly cells: Float64Array;
  readonly counts: Uint32Array | Float64Array;
  /** codes, the missing one among them */
  readonly codeCount: number;
  readonly isCategorical: boolean;
  /** -1, 0, 1 */
  readonly monotone: number;
}

export interface NodeSums {
  readonly gradient: number;
  readonly hessian: number;
  readonly count: number;
  /** values that leaves below may have */
  readonly low: number;
  readonly high: number;
}

export interface Split {
  readonly gain: number;
  readonly column: number;
  /** 1 for each of 256 codes that goes right */
  readonly right: Uint8Array;
  readonly left: NodeSums;
  readonly other: NodeSums;
}

type Penalties = Pick<
  GbtOptions,
  | 'lambda'
  | 'alpha'
  | 'gamma'
  | 'minChildWeight'
  | 'categoryCountOneHot'
  | 'categoryCountMax'
  | 'categorySmooth'
  | 'categoryL2'
> & { readonly minChildSamples: number };

/** Before shrinking: -sign(G) max(0, |G| - alpha) / (H + lambda). */
export function leafValue(
  gradient: number,
  hessian: number,
  { alpha, lambda }: Pick<GbtOptions, 'alpha' | 'lambda'>,
): number {
  const size = Math.max(0, Math.abs(gradient) - alpha);
  if (size === 0) return 0;
  return -Math.sign(gradient) * (size / (hessian + lambda));
}

/** What a leaf takes off the objective, twice; a value that is bounded takes off less. */
function reduction(
  gradient: number,
  hessian: number,
  lambda: number,
  alpha: number,
  low: number,
  high: number,
): number {
  const size = Math.abs(gradient) - alpha;
  if (low === Number.NEGATIVE_INFINITY && high === Number.POSITIVE_INFINITY) {
    return size > 0 ? (size * size) / (hessian + lambda) : 0;
  }
  const value = clamp(leafValue(gradient, hessian, { alpha, lambda }), low, high);
  return -(2 * gradient * value + (hessian + lambda) * value * value + 2 * alpha * Math.abs(value));
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Gains that differ by less, relative to the node's own, are a tie. */
const TIE = 1e-12;

/** Searches columns one after another and keeps the best split; ties go to the first found. */
export class SplitSearch {
  readonly #node: NodeSums;
  readonly #options: Penalties;
  readonly #own: number;
  #gain = 0;
  #column = -1;
  #right: Uint8Array | undefined;
  #left = { gradient: 0, hessian: 0, count: 0 };
  #monotone = 0;
  #extraL2 = 0;

  constructor(node: NodeSums, options: Penalties) {
    this.#node = node;
    this.#options = options;
    const { gradient, hessian, low, high } = node;
    this.#own = reduction(gradient, hessian, options.lambda, options.alpha, low, high);
  }

  search(column: number, histogram: ColumnHistogram): void {
    const { isCategorical, codeCount } = histogram;
    if (!isCategorical) {
      this.#searchOrdered(column, histogram);
      return;
    }
    let seen = 0;
    for (let code = 1; code < codeCount; code++) {
      if ((histogram.counts[code] as number) > 0) seen++;
    }
    const { categoryCountMax, categoryCountOneHot } = this.#options;
    if (seen <= categoryCountOneHot) this.#searchSingle(column, histogram);
    else if (seen <= categoryCountMax) this.#searchSets(column, histogram);
    // Of many categories the order by gradients is mostly noise. Codes follow the mean of the target
    // over all rows, which is not.
    else this.#searchOrdered(column, histogram);
  }

  best(): Split | undefined {
    const right = this.#right;
    if (right === undefined) return undefined;
    const { gradient, hessian, count, low, high } = this.#node;
    const left = this.#left;
    const other = {
      gradient: gradient - left.gradient,
      hessian: hessian - left.hessian,
      count: count - left.count,
    };
    if (this.#monotone === 0) {
      return {
        ...{ gain: this.#gain, column: this.#column, right },
        ...{ left: { ...left, low, high }, other: { ...other, low, high } },
      };
    }
    const options = { alpha: this.#options.alpha, lambda: this.#options.lambda + this.#extraL2 };
    const valueFrom = (sums: { gradient: number; hessian: number }) =>
      clamp(leafValue(sums.gradient, sums.hessian, options), low, high);
    const middle = (valueFrom(left) + valueFrom(other)) / 2;
    const isRising = this.#monotone > 0;
    return {
      ...{ gain: this.#gain, column: this.#column, right },
      left: { ...left, low: isRising ? low : middle, high: isRising ? middle : high },
      other: { ...other, low: isRising ? middle : low, high: isRising ? high : middle },
    };
  }

  /** "Below a threshold", missing values on either side. */
  #searchOrdered(column: number, { cells, counts, codeCount, monotone }: ColumnHistogram): void {
    const missing = { gradient: cells[0] as number, hessian: cells[1] as number };
    const missingCount = counts[0] as number;
    let gradient = 0;
    let hessian = 0;
    let count = 0;
    for (let code = 1; code + 1 < codeCount; code++) {
      const own = counts[code] as number;
      gradient += cells[2 * code] as number;
      hessian += cells[2 * code + 1] as number;
      count += own;
      if (own === 0) continue;
      const last = code;
      const makeRight = (missingLeft: boolean) => () => {
        const right = new Uint8Array(256);
        right.fill(1, last + 1);
        right[0] = missingLeft ? 0 : 1;
        return right;
      };
      if (missingCount === 0) {
        // Nothing says where missing values belong: to the heavier side.
        const isLeft = hessian >= this.#node.hessian - hessian;
        this.#offer(column, gradient, hessian, count, monotone, 0, makeRight(isLeft));
        continue;
      }
      const withMissing = [gradient + missing.gradient, hessian + missing.hessian] as const;
      this.#offer(
        ...([column, ...withMissing, count + missingCount, monotone, 0] as const),
        makeRight(true),
      );
      this.#offer(column, gradient, hessian, count, monotone, 0, makeRight(false));
    }
    if (missingCount > 0) {
      // All values against none: the threshold beyond the last value.
      this.#offer(
        column,
        gradient + (cells[2 * codeCount - 2] as number),
        hessian + (cells[2 * codeCount - 1] as number),
        count + (counts[codeCount - 1] as number),
        monotone,
        0,
        () => {
          const right = new Uint8Array(256);
          right[0] = 1;
          return right;
        },
      );
    }
  }

  /** One category against the rest. */
  #searchSingle(column: number, { cells, counts, codeCount }: ColumnHistogram): void {
    for (let code = 1; code < codeCount; code++) {
      const count = counts[code] as number;
      if (count === 0) continue;
      const gradient = cells[2 * code] as number;
      const hessian = cells[2 * code + 1] as number;
      const missingCount = counts[0] as number;
      const only = (isMissingLeft: boolean) => () => {
        const right = new Uint8Array(256).fill(1);
        right[code] = 0;
        if (isMissingLeft) right[0] = 0;
        return right;
      };
      if (missingCount > 0) {
        const with0 = [gradient + (cells[0] as number), hessian + (cells[1] as number)] as const;
        this.#offer(...([column, ...with0, count + missingCount, 0, 0] as const), only(true));
        this.#offer(column, gradient, hessian, count, 0, 0, only(false));
      } else {
        const isLeft = hessian >= this.#node.hessian - hessian;
        this.#offer(column, gradient, hessian, count, 0, 0, only(isLeft));
      }
    }
  }

  /**
   * Categories in the order of gradient / (hessian + smooth), parted at a place.
   * @see Fisher, "On grouping for maximum homogeneity", JASA 1958
   */
  #searchSets(column: number, { cells, counts, codeCount }: ColumnHistogram): void {
    const { categoryL2, categorySmooth } = this.#options;
    const codes: number[] = [];
    for (let code = 1; code < codeCount; code++) {
      if ((counts[code] as number) > 0) codes.push(code);
    }
    const rate = (code: number) =>
      (cells[2 * code] as number) / ((cells[2 * code + 1] as number) + categorySmooth);
    const rates = new Map(codes.map((code) => [code, rate(code)]));
    codes.sort((a, b) => (rates.get(a) as number) - (rates.get(b) as number) || a - b);
    const missingCount = counts[0] as number;
    let gradient = 0;
    let hessian = 0;
    let count = 0;
    for (let taken = 1; taken < codes.length; taken++) {
      const code = codes[taken - 1] as number;
      gradient += cells[2 * code] as number;
      hessian += cells[2 * code + 1] as number;
      count += counts[code] as number;
      const makeRight = (isMissingLeft: boolean) => () => {
        // Categories that are new here go where missing values go.
        const right = new Uint8Array(256).fill(isMissingLeft ? 0 : 1);
        for (const [index, each] of codes.entries()) right[each] = index < taken ? 0 : 1;
        return right;
      };
      if (missingCount > 0) {
        const with0 = [gradient + (cells[0] as number), hessian + (cells[1] as number)] as const;
        this.#offer(
          ...([column, ...with0, count + missingCount, 0, categoryL2] as const),
          makeRight(true),
        );
        this.#offer(column, gradient, hessian, count, 0, categoryL2, makeRight(false));
      } else {
        const isLeft = hessian >= this.#node.hessian - hessian;
        this.#offer(column, gradient, hessian, count, 0, categoryL2, makeRight(isLeft));
      }
    }
  }

  #offer(
    column: number,
    gradient: number,
    hessian: number,
    count: number,
    monotone: number,
    extraL2: number,
    makeRight: () => Uint8Array,
  ): void {
    const { alpha, gamma, minChildSamples, minChildWeight } = this.#options;
    const node = this.#node;
    const otherHessian = node.hessian - hessian;
    const otherCount = node.count - count;
    if (count < minChildSamples || otherCount < minChildSamples) return;
    if (hessian < minChildWeight || otherHessian < minChildWeight) return;
    const lambda = this.#options.lambda + extraL2;
    const otherGradient = node.gradient - gradient;
    const { low, high } = node;
    const sum =
      reduction(gradient, hessian, lambda, alpha, low, high) +
      reduction(otherGradient, otherHessian, lambda, alpha, low, high);
    const gain = 0.5 * (sum - this.#own) - gamma;
    if (!(gain > this.#gain + TIE * this.#own) || !(gain > 1e-15)) return;
    if (monotone !== 0) {
      const penalties = { alpha, lambda };
      const left = clamp(leafValue(gradient, hessian, penalties), low, high);
      const right = clamp(leafValue(otherGradient, otherHessian, penalties), low, high);
      if (monotone * (right - left) < 0) return;
    }
    this.#gain = gain;
    this.#column = column;
    this.#left = { gradient, hessian, count };
    this.#monotone = monotone;
    this.#extraL2 = extraL2;
    this.#right = makeRight();
  }
}
