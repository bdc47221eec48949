// Generalised linear models of rows that are known by their sums: one pass for least squares, one
// pass a step for logistic regression.
import {
  type DesignColumns,
  EXTRACT_EQUALS,
  EXTRACT_PRESENCE,
  EXTRACT_VALUE,
  EXTRACT_VALUE_IF_PRESENT,
} from '../design/columns.ts';
import { DENSE_SHARE, type Design } from '../design/design.ts';
import type { CategoricalFeature } from '../feature/feature.ts';
import { type Aggregate, type Group, SumsRefused, sumAt } from '../sums/sums.ts';
import {
  call,
  choose,
  columnOf,
  compare,
  constant,
  minus,
  missing,
  over,
  plus,
  shared,
  type Term,
  times,
  weightedSum,
} from '../sums/term.ts';
import { classKeys, type SummedClasses, type SummedTraining, weighted } from '../sums/training.ts';
import { type FitContext, withScratch } from '../workspace.ts';
import type { GlzOptions } from './fit.ts';
import { solveLasso } from './lasso.ts';
import { LINK_FUNCTIONS } from './link.ts';
import { Problem } from './problem.ts';
import type { Scaling } from './scaling.ts';

/** Products of so many columns are still one readable answer. */
const COLUMN_COUNT_MAX = 200;

const STEP_COUNT_MAX = 25;
/** Change of the deviance, relative, that ends the steps. */
const DEVIANCE_TOLERANCE = 1e-10;
/** Means nearer to 0 and 1 are taken for this one and its counterpart. */
const LEAST_MEAN = 1e-12;

/** Aggregates of one request. */
const AGGREGATE_COUNT_MAX = 1500;

/** The columns that designColumns makes of the rows, those first that makeDesign puts first. */
export function designOfSums(
  { features, facts, rowCount }: SummedTraining,
  isKept: (feature: number) => boolean,
): { readonly columns: DesignColumns; readonly order: Int32Array } {
  const list: { feature: number; extract: number; category: number; isDense: boolean }[] = [];
  for (const [feature, described] of features.entries()) {
    if (!isKept(feature) || described.kind === 'unused') continue;
    if (described.kind === 'categorical') {
      for (const category of described.categories.keys()) {
        list.push({ feature, extract: EXTRACT_EQUALS, category, isDense: false });
      }
      continue;
    }
    const { count, low, high } = facts[feature] as SummedTraining['facts'][number];
    const isComplete = count === rowCount;
    const isDense = count > DENSE_SHARE * rowCount;
    const add = (extract: number) => list.push({ feature, extract, category: -1, isDense });
    if (low < high) add(isComplete ? EXTRACT_VALUE : EXTRACT_VALUE_IF_PRESENT);
    if (!isComplete) add(EXTRACT_PRESENCE);
  }
  if (list.length > COLUMN_COUNT_MAX) {
    throw new SumsRefused(
      `${list.length} columns, categories counted one by one, are more than ${COLUMN_COUNT_MAX}`,
    );
  }
  const all = [...list.keys()];
  return {
    columns: {
      features: Int32Array.from(list, ({ feature }) => feature),
      extracts: Uint8Array.from(list, ({ extract }) => extract),
      categories: Int32Array.from(list, ({ category }) => category),
    },
    order: Int32Array.from([
      ...all.filter((column) => list[column]?.isDense),
      ...all.filter((column) => !list[column]?.isDense),
    ]),
  };
}

/** What a row has in each column, in the given order. */
export function designTerms(
  { features }: SummedTraining,
  { features: of, extracts, categories }: DesignColumns,
  order: Int32Array,
): Term[] {
  return Array.from(order, (column): Term => {
    const feature = of[column] as number;
    const x = columnOf(feature);
    switch (extracts[column]) {
      case EXTRACT_VALUE:
        return x;
      case EXTRACT_EQUALS: {
        const list = (features[feature] as CategoricalFeature).categories;
        const category = constant(list[categories[column] as number] as string);
        return choose([{ test: compare('=', x, category), value: constant(1) }], constant(0));
      }
      default: {
        const value = extracts[column] === EXTRACT_PRESENCE ? constant(1) : x;
        return choose([{ test: missing(x), value: constant(0) }], value);
      }
    }
  });
}

/** What the labels of one model are: 0 or 1 for each class, or the label itself. */
export type SummedTarget = { readonly ofClass: readonly number[] } | 'label';

/** Fits models over the same columns, whose products are asked for once. */
export class SummedGlz {
  readonly #context: FitContext;
  readonly #training: SummedTraining;
  readonly #options: GlzOptions;
  readonly #terms: readonly Term[];
  readonly #size: number;
  /** for each class its sums, in places of the layout */
  readonly #static: readonly Float64Array[];

  /** @param terms what a row has in each column */
  constructor(
    context: FitContext,
    training: SummedTraining,
    terms: readonly Term[],
    options: GlzOptions,
  ) {
    if (options.link !== 'linear' && options.link !== 'logit') {
      throw new SumsRefused(`link ${options.link} reads rows`);
    }
    if (options.regularization !== 'none' && options.lambda < 0) {
      throw new SumsRefused('a regularization_factor that is chosen leaves rows out one by one');
    }
    if (options.link === 'logit' && training.classes === undefined) {
      throw new SumsRefused('link logit of numbers reads rows');
    }
    if (options.link === 'logit' && options.regularization === 'l1') {
      throw new SumsRefused('link logit with regularization l1 reads rows');
    }
    this.#context = context;
    this.#training = training;
    this.#options = options;
    this.#terms = terms;
    this.#size = terms.length + 1;
    const one = constant(1);
    const products = this.#products((product) => product);
    const target = columnOf('label');
    const rights =
      training.classes === undefined
        ? [...terms.map((_, i) => times(shared(i), target)), times(one, target)]
        : [];
    this.#static = this.#ask([], [...products, ...rights]);
  }

  /** Weighted means of the columns. */
  means(): Float64Array {
    const size = this.#size;
    const raw = this.#combined(this.#static, () => 1);
    const total = raw[halfSize(size) - 1] as number;
    return Float64Array.from(
      { length: size - 1 },
      (_, i) => (raw[upper(i, size - 1, size)] as number) / total,
    );
  }

  /** @returns a coefficient for each column, then the constant */
  fit(target: SummedTarget): Float64Array {
    const { addBias, link, normalize, regularization, lambda } = this.#options;
    const scaling = this.#scaling(normalize || regularization === 'none', addBias);
    const design = withoutRows(this.#terms.length);
    const { workspace } = this.#context;
    return withScratch(workspace, design.span.arena, Problem.sizeOf(design), (at) => {
      const problem = new Problem(this.#context, design, scaling, this.#options, at);
      const penalty = regularization === 'none' ? 0 : lambda;
      if (link === 'linear') {
        return problem.toOriginal(this.#solve(problem, this.#leastSquares(target), penalty));
      }
      return this.#reweighted(problem, penalty, target as { ofClass: readonly number[] });
    });
  }

  /** @param raw a full matrix of products, then the right side. @returns scaled coefficients */
  #solve(problem: Problem, raw: Float64Array, lambda: number): Float64Array {
    const { size } = problem;
    const { gram, right } = problem.scaled(raw.subarray(0, size * size), raw.subarray(size * size));
    const { epsilon, regularization, sweepCountMax } = this.#options;
    if (regularization === 'l1') {
      const beta = new Float64Array(size);
      return solveLasso(
        problem,
        { gram, gradient: right, beta, lambda },
        { epsilon, sweepCountMax },
      );
    }
    problem.factorize(gram, size, lambda);
    return problem.solve(right);
  }

  #leastSquares(target: SummedTarget): Float64Array {
    const size = this.#size;
    const gram = this.#combined(this.#static, () => 1);
    if (target === 'label') {
      const [sums] = this.#static as [Float64Array];
      return this.#system(gram, sums.subarray(halfSize(size), halfSize(size) + size));
    }
    const right = this.#combined(this.#static, (label) => target.ofClass[label] as number);
    return this.#system(
      gram,
      Float64Array.from({ length: size }, (_, i) => right[upper(i, size - 1, size)] as number),
    );
  }

  /** The same steps as over rows; what rows add to the sums is computed where they are. */
  #reweighted(
    problem: Problem,
    lambda: number,
    { ofClass }: { readonly ofClass: readonly number[] },
  ): Float64Array {
    const { forward } = LINK_FUNCTIONS.logit;
    const size = this.#size;
    // Before the first step all rows of a class are alike.
    const starts = ofClass.map((y) => {
      const mu = (y + 0.5) / 2;
      const rise = mu * (1 - mu);
      return { weight: rise, right: rise * forward(mu) + (y - mu) };
    });
    const first = this.#combined(this.#static, (label) => starts[label]?.right as number);
    let raw = this.#system(
      this.#combined(this.#static, (label) => starts[label]?.weight as number),
      Float64Array.from({ length: size }, (_, i) => first[upper(i, size - 1, size)] as number),
    );
    let deviance = Number.POSITIVE_INFINITY;
    for (let iteration = 0; ; iteration++) {
      this.#context.checkCancelled();
      const beta = problem.toOriginal(this.#solve(problem, raw, lambda));
      if (iteration === STEP_COUNT_MAX - 1) return beta;
      const next = this.#pass(beta, ofClass);
      if (
        Math.abs(deviance - next.deviance) <=
        DEVIANCE_TOLERANCE * (Math.abs(next.deviance) + 0.1)
      ) {
        return beta;
      }
      ({ deviance, raw } = next);
    }
  }

  /** One pass: the deviance at the coefficients, and the system of the next step. */
  #pass(beta: Float64Array, ofClass: readonly number[]) {
    const size = this.#size;
    const columns = this.#terms.map((_, i) => shared(i));
    const eta = this.#terms.length;
    const [mean, weight] = [eta + 1, eta + 2];
    const one = constant(1);
    const negative = minus(constant(0), shared(eta));
    const more: Term[] = [
      weightedSum(columns, beta, beta[size - 1] as number),
      over(one, plus(one, call('exp', negative))),
      times(shared(mean), minus(one, shared(mean))),
    ];
    // Beside the labels, which are the same in all rows of a class.
    const fixed = minus(times(shared(weight), shared(eta)), shared(mean));
    const all = Array.from({ length: size }, (_, i) => i);
    const found = this.#ask(more, [
      ...this.#products((term) => times(shared(weight), term)),
      ...all.map((i) => (i === size - 1 ? fixed : times(fixed, shared(i)))),
      logarithm(shared(mean), minus(constant(0), shared(eta))),
      logarithm(minus(one, shared(mean)), shared(eta)),
    ]);
    const half = halfSize(size);
    const sums = this.#combined(found, () => 1);
    const ones = this.#combined(found, (label) => ofClass[label] as number);
    const labels = this.#combined(this.#static, (label) => ofClass[label] as number);
    const right = Float64Array.from(
      all,
      (i) => (sums[half + i] as number) + (labels[upper(i, size - 1, size)] as number),
    );
    const at = half + size;
    const deviance =
      -2 * ((ones[at] as number) + (sums[at + 1] as number) - (ones[at + 1] as number));
    return { raw: this.#system(sums, right), deviance };
  }

  /** Products of all pairs of columns, of which the constant is the last. */
  #products(make: (product: Term) => Term): Term[] {
    const products: Term[] = [];
    const { length } = this.#terms;
    for (let i = 0; i <= length; i++) {
      for (let j = i; j <= length; j++) {
        if (i === length) products.push(make(constant(1)));
        else products.push(make(j === length ? shared(i) : times(shared(i), shared(j))));
      }
    }
    return products;
  }

  /** Sums of weighted terms for each class. */
  #ask(more: readonly Term[], terms: readonly Term[]): Float64Array[] {
    const training = this.#training;
    const { classes } = training;
    const sums = Array.from(
      { length: classes?.labelCount ?? 1 },
      () => new Float64Array(terms.length),
    );
    for (let from = 0; from < terms.length; from += AGGREGATE_COUNT_MAX) {
      const part = terms.slice(from, from + AGGREGATE_COUNT_MAX);
      const values = part.map((term): Aggregate => weighted(training, term));
      const groups = training.sums.groups({
        shared: [...this.#terms, ...more],
        keys: classKeys(training),
        values,
      });
      for (const group of groups) {
        const own = sums[classOf(classes, group)] as Float64Array;
        for (const position of part.keys()) {
          own[from + position] = (own[from + position] as number) + sumAt(group, position);
        }
      }
    }
    return sums;
  }

  /** Sums over the classes, which weigh what their rows do, times a factor. */
  #combined(of: readonly Float64Array[], factor: (label: number) => number): Float64Array {
    const { classes, weightTotal } = this.#training;
    const total = new Float64Array(of[0]?.length ?? 0);
    for (const [label, sums] of of.entries()) {
      // Penalties are held against sums over rows, so weights add up to what they stand for.
      const own = classes === undefined ? 1 : (classes.factors[label] as number) * weightTotal;
      const scale = own * factor(label);
      for (let i = 0; i < total.length; i++) {
        total[i] = (total[i] as number) + scale * (sums[i] as number);
      }
    }
    return total;
  }

  /** A full matrix of the products, then the right side. */
  #system(sums: Float64Array, right: Float64Array): Float64Array {
    const size = this.#size;
    const raw = new Float64Array(size * size + size);
    for (let i = 0; i < size; i++) {
      for (let j = i; j < size; j++) raw[i * size + j] = sums[upper(i, j, size)] as number;
    }
    raw.set(right, size * size);
    return raw;
  }

  #scaling(isScaled: boolean, addBias: boolean): Scaling {
    const size = this.#size;
    const means = this.means();
    const deviations = new Float64Array(size - 1).fill(1);
    if (!isScaled) return { means: means.fill(0), deviations };
    const sums = this.#combined(this.#static, () => 1);
    const total = sums[halfSize(size) - 1] as number;
    for (let c = 0; c < size - 1; c++) {
      const mean = means[c] as number;
      const variance = (sums[upper(c, c, size)] as number) / total - mean * mean;
      if (variance > 0) deviations[c] = Math.sqrt(variance);
      if (!addBias) means[c] = 0;
    }
    return { means, deviations };
  }
}

/** Of the design only the columns matter where products come from elsewhere. */
function withoutRows(columnCount: number): Design {
  const span = { arena: 0, offset: 0, sizeBytes: 0 };
  const nowhere = { header: 0, dense: 0, starts: 0, columns: 0, values: 0 };
  return { rowCount: 0, columnCount, denseCount: 0, order: new Int32Array(0), span, ...nowhere };
}

/** Of a share, as if it were at least LEAST_MEAN. @param eta the logit of the rest */
function logarithm(share: Term, eta: Term): Term {
  const least = Math.log(LEAST_MEAN);
  const test = compare('>=', eta, constant(-least));
  return choose([{ test, value: constant(least) }], call('ln', share));
}

/** Where the product of columns i <= j stands among those of all pairs. */
function upper(i: number, j: number, size: number): number {
  return i * size - (i * (i - 1)) / 2 + (j - i);
}

function halfSize(size: number): number {
  return (size * (size + 1)) / 2;
}

function classOf(classes: SummedClasses | undefined, { keys }: Group): number {
  return classes === undefined ? 0 : classes.classOf(keys[0] ?? null);
}
