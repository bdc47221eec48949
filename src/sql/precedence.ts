// How tightly operators bind: shared by the parser and the printer.
import type { BinaryOperator, Expression } from './node.ts';

/**
 * Levels from loosest to tightest. All binary operators are left-associative. Prefix signs belong
 * to the level of sums, so that `-a * b` is `-(a * b)`; IS and `[ ]` bind tighter than any prefix.
 */
export const LEVEL = {
  or: 1,
  and: 2,
  member: 3,
  negation: 4,
  comparison: 5,
  sum: 6,
  product: 7,
  prefix: 8,
  postfix: 9,
  primary: 10,
} as const;

const BINARY_LEVELS: Readonly<Record<BinaryOperator, number>> = {
  '=': LEVEL.comparison,
  '!=': LEVEL.comparison,
  '<': LEVEL.comparison,
  '<=': LEVEL.comparison,
  '>': LEVEL.comparison,
  '>=': LEVEL.comparison,
  '+': LEVEL.sum,
  '-': LEVEL.sum,
  '&': LEVEL.sum,
  '|': LEVEL.sum,
  '^': LEVEL.sum,
  '*': LEVEL.product,
  '/': LEVEL.product,
  '%': LEVEL.product,
  '@': LEVEL.product,
  '||': LEVEL.sum,
};

/** The level of a binary operator, on the scale of `LEVEL`. */
export function binaryLevel(operator: BinaryOperator): number {
  return BINARY_LEVELS[operator];
}

/** The level of the outermost operator of an expression. */
export function levelOf(expression: Expression): number {
  switch (expression.kind) {
    case 'or':
      return LEVEL.or;
    case 'and':
      return LEVEL.and;
    case 'in-list':
    case 'in-query':
    case 'in-keys':
    case 'in-values':
    case 'like':
      return LEVEL.member;
    case 'quantified':
      return LEVEL.comparison;
    case 'between':
      return LEVEL.comparison;
    case 'binary':
      return binaryLevel(expression.operator);
    case 'unary':
      if (expression.operator === 'not') return LEVEL.negation;
      return expression.operator === '+' || expression.operator === '-' ? LEVEL.sum : LEVEL.prefix;
    case 'distinct-from':
      // Its left side is an operand of IS, its right side a sum: as an operand it needs parentheses.
      return LEVEL.comparison;
    case 'is':
    case 'extract':
      return LEVEL.postfix;
    case 'literal':
      // A negative literal, which only rewritten trees have, prints like a prefix sign.
      return isNegative(expression.value) ? LEVEL.sum : LEVEL.primary;
    default:
      return LEVEL.primary;
  }
}

function isNegative(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'bigint') && value < 0;
}
