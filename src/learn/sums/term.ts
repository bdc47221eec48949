// What is added up over rows, as plain values: a language small enough for every system that has
// rows and can aggregate them.

/** A column of the rows: the number of a feature, or one of those beside the features. */
export type ColumnRef = number | 'label' | 'weight';

/** A value of a row; null where a column that it reads is null. */
export type Term =
  | { readonly kind: 'constant'; readonly value: number | string }
  | { readonly kind: 'column'; readonly column: ColumnRef }
  /** a value that the request computes once for each row, by its position there */
  | { readonly kind: 'shared'; readonly index: number }
  | {
      readonly kind: 'arithmetic';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: Term;
      readonly right: Term;
    }
  | { readonly kind: 'call'; readonly name: TermFunction; readonly arg: Term }
  /** exp of a score in the sum of those of all, in single precision where their sum is not */
  | { readonly kind: 'softmax'; readonly terms: readonly Term[]; readonly index: number }
  /** as a key alone: a row is in the groups of all of these whole numbers from 0, below 2^32 */
  | { readonly kind: 'each'; readonly terms: readonly Term[] }
  /** the first choice whose test holds, else `otherwise` */
  | { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly otherwise: Term };

/** `float32`: the nearest number of single precision */
export type TermFunction = 'exp' | 'ln' | 'floor' | 'sqrt' | 'float32';

export interface Choice {
  readonly test: Test;
  readonly value: Term;
}

export type Test =
  | {
      readonly kind: 'compare';
      readonly operator: '=' | '<' | '<=' | '>=';
      readonly left: Term;
      readonly right: Term;
    }
  | { readonly kind: 'missing'; readonly term: Term }
  | { readonly kind: 'all' | 'any'; readonly tests: readonly Test[] };

export function constant(value: number | string): Term {
  return { kind: 'constant', value };
}

export function columnOf(column: ColumnRef): Term {
  return { kind: 'column', column };
}

export function shared(index: number): Term {
  return { kind: 'shared', index };
}

function arithmetic(operator: '+' | '-' | '*' | '/', left: Term, right: Term): Term {
  return { kind: 'arithmetic', operator, left, right };
}

export const plus = (left: Term, right: Term) => arithmetic('+', left, right);
export const minus = (left: Term, right: Term) => arithmetic('-', left, right);
export const times = (left: Term, right: Term) => arithmetic('*', left, right);
export const over = (left: Term, right: Term) => arithmetic('/', left, right);

export function compare(operator: '=' | '<' | '<=' | '>=', left: Term, right: Term): Test {
  return { kind: 'compare', operator, left, right };
}

export function missing(term: Term): Test {
  return { kind: 'missing', term };
}

export function call(name: TermFunction, arg: Term): Term {
  return { kind: 'call', name, arg };
}

export function choose(choices: readonly Choice[], otherwise: Term): Term {
  return choices.length === 0 ? otherwise : { kind: 'choice', choices, otherwise };
}

/** The sum of products with constants, those of 0 left out. */
export function weightedSum(terms: readonly Term[], factors: ArrayLike<number>, start = 0): Term {
  let sum = constant(start);
  for (const [index, term] of terms.entries()) {
    const factor = factors[index] as number;
    if (factor !== 0) sum = plus(sum, times(constant(factor), term));
  }
  return sum;
}
