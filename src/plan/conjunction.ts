// Conditions as lists of parts that must all hold.

import { childrenOf } from './children.ts';
import type { BoundExpression } from './expression.ts';
import { BOOLEAN_TYPE } from './type/operator-type.ts';
import { isNumericType } from './type/type.ts';

/** The operands of nested ANDs: a row passes when each of them IS TRUE. */
export function conjunctsOf(condition: BoundExpression): readonly BoundExpression[] {
  return condition.kind === 'and' ? condition.operands.flatMap(conjunctsOf) : [condition];
}

/** One condition of several parts; undefined when there are none. */
export function conjunctionOf(parts: readonly BoundExpression[]): BoundExpression | undefined {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return first;
  const last = parts[parts.length - 1] as BoundExpression;
  return { kind: 'and', operands: parts, type: BOOLEAN_TYPE, start: first.start, end: last.end };
}

/**
 * True when evaluating the expression never throws, whatever the row: only then may a condition be
 * tested on rows that would not have reached it.
 */
export function cannotFail(expression: BoundExpression): boolean {
  const isSafe =
    SAFE_KINDS.has(expression.kind) ||
    (expression.kind === 'unary' && expression.operator === 'not') ||
    isSafeByType(expression);
  return isSafe && childrenOf(expression).every(cannotFail);
}

/** Operators that fail for some types only, over operands whose types are known. */
function isSafeByType(expression: BoundExpression): boolean {
  if (expression.kind === 'arithmetic') {
    return isNumericType(expression.left.type) && isNumericType(expression.right.type);
  }
  if (expression.kind !== 'like') return false;
  const { type } = expression.operand;
  return type.kind === 'atom' && type.atom === 'string' && expression.pattern.kind === 'constant';
}

const SAFE_KINDS: ReadonlySet<BoundExpression['kind']> = new Set([
  'constant',
  'column',
  'parameter',
  'comparison',
  'path-operand',
  'and',
  'or',
  'between',
  'in-list',
  'is',
  'case',
  'row-function',
  'outer',
  'window-result',
  'grouping',
]);

/** True when the expression is the same for every row of a run. */
export function isRowFree(expression: BoundExpression): boolean {
  switch (expression.kind) {
    case 'constant':
    case 'parameter':
    case 'outer':
      return true;
    case 'row':
      return expression.items.every((item) => item.kind === 'named' && isRowFree(item.expression));
    case 'embedding':
    case 'cast':
    case 'arithmetic':
    case 'path-operand':
    case 'extract':
    case 'member':
    case 'call':
      return childrenOf(expression).every(isRowFree);
    default:
      return false;
  }
}
