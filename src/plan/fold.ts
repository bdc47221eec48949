// Constant folding: an expression without columns becomes its value while the query is bound.

import { isFalse, isTrue } from '../value/atom.ts';
import { NULL_VALUE, Scalar } from '../value/value.ts';
import type { BindContext } from './bind/context.ts';
import { childrenOf } from './children.ts';
import type { BoundExpression, ConstantExpression, ProjectItem } from './expression.ts';
import type { ValueType } from './type/type.ts';
import { typeOfValue } from './type/value-type.ts';

/**
 * The constant that an expression is, or the expression itself. What fails stays as it is, so that
 * the error comes when (and if) it is evaluated: inside `try` it is still caught.
 */
export function fold(expression: BoundExpression, context: BindContext): BoundExpression {
  const decided = decideLogic(expression);
  if (decided !== undefined) return decided;
  if (!isFoldable(expression, context)) return expression;
  try {
    const value = context.evaluate(expression);
    const type = asOpenAs(expression.type, typeOfValue(value));
    return { kind: 'constant', value, type, ...spanOf(expression) };
  } catch {
    return expression;
  }
}

/** A row whose members nobody could name before stays so: its value is no promise about others. */
function asOpenAs(declared: ValueType, found: ValueType): ValueType {
  const isClosed = declared.kind === 'row' && !declared.open;
  return found.kind === 'row' && !isClosed ? { ...found, open: true } : found;
}

/** AND and OR that one constant operand decides, whatever the others are. */
function decideLogic(expression: BoundExpression): ConstantExpression | undefined {
  if (expression.kind !== 'and' && expression.kind !== 'or') return undefined;
  const decides = expression.kind === 'and' ? isFalse : isTrue;
  for (const operand of expression.operands) {
    if (operand.kind !== 'constant' || !(operand.value instanceof Scalar)) continue;
    if (!decides(operand.value.atom)) continue;
    const value = new Scalar(expression.kind === 'and' ? 0 : 1, NULL_VALUE.ts);
    return { kind: 'constant', value, type: typeOfValue(value), ...spanOf(expression) };
  }
  return undefined;
}

function isFoldable(expression: BoundExpression, context: BindContext): boolean {
  switch (expression.kind) {
    case 'constant':
      return false;
    case 'call': {
      const declaration = context.namespace.builtins.findFunction(expression.name);
      if (declaration?.kind !== 'scalar' && declaration?.kind !== 'value') return false;
      return declaration.volatility === 'immutable' && expression.args.every(isConstant);
    }
    case 'extract':
      return isConstant(expression.operand) && isClosed(expression.index);
    case 'row':
      return expression.items.every(isConstantItem);
    default:
      return FOLDABLE.has(expression.kind) && childrenOf(expression).every(isConstant);
  }
}

const FOLDABLE: ReadonlySet<BoundExpression['kind']> = new Set([
  'try',
  'embedding',
  'unary',
  'arithmetic',
  'comparison',
  'path-operand',
  'set-timestamp',
  'and',
  'or',
  'between',
  'in-list',
  'in-members',
  'like',
  'is',
  'case',
  'cast',
]);

function isConstantItem(item: ProjectItem): boolean {
  return (item.kind === 'named' || item.kind === 'spread') && isConstant(item.expression);
}

export function isConstant(expression: BoundExpression): expression is ConstantExpression {
  return expression.kind === 'constant';
}

/** True when an index of an extract depends on nothing but the members it is evaluated against. */
function isClosed(index: BoundExpression): boolean {
  if (index.kind === 'constant' || index.kind === 'member') return true;
  return index.kind === 'row'
    ? index.items.every((item) => item.kind === 'named' && isClosed(item.expression))
    : (index.kind === 'extract' || FOLDABLE.has(index.kind)) && childrenOf(index).every(isClosed);
}

function spanOf(expression: BoundExpression): { start: number; end: number } {
  return { start: expression.start, end: expression.end };
}
