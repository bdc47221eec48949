// Formulas of models as SQL of ClickHouse. All of it is arithmetic of doubles without null: a missing
// number is NaN, and so goes to the side of a test that fails.
import type {
  AmongTest,
  BelowTest,
  CategoryTerm,
  FeatureTerm,
  Formula,
  FormulaFunction,
  NearestOf,
  ShareOf,
} from '../../learn/formula/formula.ts';
import { double, type Sql } from './clickhouse-sql.ts';
import { numberLiteral, quoteText } from './clickhouse-text.ts';

/** A feature in a row; undefined: it is missing in all of them. */
export interface FeatureSql {
  /** a double, or a text; neither is null, but see `missing` */
  readonly text: string;
  /** a condition; undefined: it is never missing. Of a number: it is NaN */
  readonly missing: string | undefined;
  readonly mayBeInfinite: boolean;
}

/** The formula is longer than this, or has numbers that the server cannot read. */
class NotWritten extends Error {}

/**
 * @param features as many as the model has
 * @returns undefined: it would have more than `sizeMax` characters, or cannot be written
 */
export function formulaText(
  formula: Formula,
  features: readonly (FeatureSql | undefined)[],
  sizeMax: number,
): string | undefined {
  try {
    const text = new FormulaWriter(features, sizeMax).write(formula);
    return text.length > sizeMax ? undefined : text;
  } catch (thrown) {
    if (thrown instanceof NotWritten) return undefined;
    throw thrown;
  }
}

/** A value as a number: NaN where it is null. @returns undefined: it is no number */
export function numberFeature(value: Sql): FeatureSql | undefined {
  const { isNullable, kind, isSmall, mayBeNan } = value;
  if (kind !== 'integer' && kind !== 'number' && kind !== 'truth') return undefined;
  if (kind !== 'number' && isSmall === true && !isNullable) {
    return { text: value.text, missing: undefined, mayBeInfinite: false };
  }
  const text = isNullable ? `ifNull(${double(value)}, nan)` : double(value);
  const isMissing = isNullable || (kind === 'number' && mayBeNan !== false);
  return {
    text,
    missing: isMissing ? `isNaN(${text})` : undefined,
    mayBeInfinite: kind === 'number',
  };
}

/** A value as the text that stands for it. @returns undefined: it has none that is the same there */
export function textFeature(value: Sql): FeatureSql | undefined {
  const { isNullable, kind } = value;
  if (kind !== 'string' && kind !== 'integer' && kind !== 'truth') return undefined;
  const text = kind === 'string' ? value.text : `toString(${value.text})`;
  return {
    text: isNullable ? `ifNull(${text}, '')` : text,
    missing: isNullable ? `isNull(${value.text})` : undefined,
    mayBeInfinite: false,
  };
}

const APPLY: Readonly<Record<FormulaFunction, (x: string) => string>> = {
  exp: (x) => `exp(${x})`,
  logistic: (x) => `(1. / (1. + exp(negate(${x}))))`,
  'normal-cdf': (x) => `(0.5 * erfc(negate(${x}) / ${Math.SQRT2}))`,
  'comp-log-log': (x) => `(1. - exp(negate(exp(${x}))))`,
};

/** Terms that are added by signs; more of them by an array, as syntax trees have a limit of depth. */
const PLUS_COUNT_MAX = 8;

class FormulaWriter {
  readonly #features: readonly (FeatureSql | undefined)[];
  #sizeLeft: number;

  constructor(features: readonly (FeatureSql | undefined)[], sizeMax: number) {
    this.#features = features;
    this.#sizeLeft = sizeMax;
  }

  write(formula: Formula): string {
    switch (formula.kind) {
      case 'number':
        return this.#number(formula.value);
      case 'feature':
        return this.#feature(formula);
      case 'category':
        return this.#category(formula);
      case 'below':
        return this.#below(formula);
      case 'among':
        return this.#among(formula);
      case 'sum':
        return this.#sum(formula.terms.map((term) => this.write(term)));
      case 'product':
        return `(${this.#number(formula.by)} * ${this.write(formula.of)})`;
      case 'apply':
        return APPLY[formula.function](this.write(formula.of));
      case 'share':
        return this.#share(formula);
      case 'nearest':
        return this.#nearest(formula);
    }
  }

  /** Every part of a formula has a number, so this is where long ones end. */
  #number(value: number): string {
    const literal = numberLiteral(value);
    if (literal === undefined) throw new NotWritten();
    // A whole number would be an integer there, which has no type in common with doubles when it is large.
    const text = /^-?\d+$/.test(literal) ? `${literal}.` : literal;
    this.#sizeLeft -= text.length;
    if (this.#sizeLeft < 0) throw new NotWritten();
    return text;
  }

  #text(category: string): string {
    this.#sizeLeft -= category.length + 2;
    if (this.#sizeLeft < 0) throw new NotWritten();
    return quoteText(category);
  }

  #feature({ feature: index, missing, present, weight }: FeatureTerm): string {
    const feature = this.#features[index];
    if (feature === undefined) return this.#number(missing);
    const { text, mayBeInfinite } = feature;
    const refusing = mayBeInfinite ? ` + throwIf(isInfinite(${text}))` : '';
    const constant = present === 0 ? '' : ` + ${this.#number(present)}`;
    const value = `(${this.#number(weight)} * ${text}${constant}${refusing})`;
    if (feature.missing === undefined) return value;
    return `if(${feature.missing}, ${this.#number(missing)}, ${value})`;
  }

  #category({ feature: index, categories, values, otherwise, missing }: CategoryTerm): string {
    const feature = this.#features[index];
    if (feature === undefined) return this.#number(missing);
    const names = categories.map((category) => this.#text(category)).join(', ');
    const numbers = values.map((value) => this.#number(value)).join(', ');
    const value =
      categories.length === 0
        ? this.#number(otherwise)
        : `transform(${feature.text}, [${names}], [${numbers}], ${this.#number(otherwise)})`;
    if (feature.missing === undefined) return value;
    return `if(${feature.missing}, ${this.#number(missing)}, ${value})`;
  }

  #below({ feature: index, boundary, yes, no, missing }: BelowTest): string {
    const feature = this.#features[index];
    if (feature === undefined) return this.write(missing);
    const { text } = feature;
    if (!Number.isFinite(boundary)) {
      if (feature.missing === undefined || missing === yes) return this.write(yes);
      return `if(${feature.missing}, ${this.write(missing)}, ${this.write(yes)})`;
    }
    const at = this.#number(boundary);
    if (feature.missing === undefined || missing === no) {
      return `if(${text} < ${at}, ${this.write(yes)}, ${this.write(no)})`;
    }
    if (missing === yes) return `if(${text} >= ${at}, ${this.write(no)}, ${this.write(yes)})`;
    const sides = `${text} < ${at}, ${this.write(yes)}, ${text} >= ${at}, ${this.write(no)}`;
    return `multiIf(${sides}, ${this.write(missing)})`;
  }

  #among({ feature: index, left, right, yes, no, other, missing }: AmongTest): string {
    const feature = this.#features[index];
    if (feature === undefined) return this.write(missing);
    const isIn = (list: readonly string[]) =>
      list.length === 1
        ? `${feature.text} = ${this.#text(list[0] as string)}`
        : `${feature.text} IN (${list.map((each) => this.#text(each)).join(', ')})`;
    const branches: string[] = [];
    if (feature.missing !== undefined && missing !== other) {
      branches.push(`${feature.missing}, ${this.write(missing)}`);
    }
    // A missing one is the empty text, which may be a category.
    const there =
      feature.missing !== undefined && missing === other ? `NOT ${feature.missing} AND ` : '';
    for (const [list, then] of [
      [left, yes],
      [right, no],
    ] as const) {
      if (then !== other && list.length > 0) {
        branches.push(`${there}${isIn(list)}, ${this.write(then)}`);
      }
    }
    const last = this.write(other);
    if (branches.length === 0) return last;
    const choose = branches.length === 1 ? 'if' : 'multiIf';
    return `${choose}(${branches.join(', ')}, ${last})`;
  }

  #sum(terms: readonly string[]): string {
    if (terms.length === 0) return this.#number(0);
    if (terms.length === 1) return terms[0] as string;
    const isFew = terms.length <= PLUS_COUNT_MAX;
    return isFew ? `(${terms.join(' + ')})` : `arraySum([${terms.join(', ')}])`;
  }

  /** Each part is written once, as the argument of a lambda. */
  #share({ of, index, ofExponentials }: ShareOf): string {
    const names = of.map((_, i) => `s${i}`);
    const own = names[index];
    const share = ofExponentials
      ? `1. / (${names.map((name) => `exp(${name} - ${own})`).join(' + ')})`
      : `${own} / (${names.join(' + ')})`;
    const parts = of.map((each) => `[toFloat64(${this.write(each)})]`).join(', ');
    const value = `arrayMap((${names.join(', ')}) -> ${share}, ${parts})`;
    return `arrayElement(${value}, 1)`;
  }

  #nearest({ centroids, metric }: NearestOf): string {
    const point = this.#features.map((feature) => {
      const { text, missing, mayBeInfinite } = feature as FeatureSql;
      if (missing === undefined && !mayBeInfinite) return `toFloat64(${text})`;
      return `(${text} + throwIf(NOT isFinite(${text})))`;
    });
    const distances = centroids.map((centroid) =>
      metric === 'cosine' ? this.#cosine(point, centroid) : this.#squared(point, centroid),
    );
    const least = `arrayMap(d -> indexOf(d, arrayReduce('min', d)), [[${distances.join(', ')}]])`;
    return `(toInt64(arrayElement(${least}, 1)) - 1)`;
  }

  #squared(point: readonly string[], centroid: Float64Array): string {
    const squares = point.map((x, i) => {
      const difference = `(${x} - ${this.#operand(centroid[i] as number)})`;
      return `${difference} * ${difference}`;
    });
    return this.#sum(squares);
  }

  #cosine(point: readonly string[], centroid: Float64Array): string {
    const square = this.#sum(point.map((x) => `${x} * ${x}`));
    const length = Math.sqrt(centroid.reduce((sum, c) => sum + c * c, 0));
    if (length === 0) return `if(${square} = 0, -1., 2.)`;
    const product = this.#sum(
      point.map((x, i) => `${x} * ${this.#operand(centroid[i] as number)}`),
    );
    const cosine = `negate(${product}) / sqrt(${square}) / ${this.#number(length)}`;
    return `if(${square} = 0, 2., ${cosine})`;
  }

  #operand(value: number): string {
    const text = this.#number(value);
    return text.startsWith('-') ? `(${text})` : text;
  }
}
