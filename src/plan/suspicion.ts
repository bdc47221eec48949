// What binding finds suspicious in expressions that mean something else than they seem to.
import type { BinaryNode, Expression, IsNode, Span } from '../sql/node.ts';
import type { BindContext } from './bind/context.ts';
import type { BoundExpression } from './expression.ts';
import { isConstant } from './fold.ts';
import { typeName, type ValueType } from './type/type.ts';

/** `x + 1 IS NULL`, which is `x + (1 IS NULL)` here and `(x + 1) IS NULL` in standard SQL. */
export function warnAboutIs(node: BinaryNode, context: BindContext): void {
  const { right } = node;
  // With parentheses around it the operand would end before the operator's own text does.
  if ((right.kind !== 'is' && right.kind !== 'distinct-from') || right.end !== node.end) return;
  if (startsInParentheses(right, context)) return;
  const operand = right.kind === 'is' ? (right as IsNode).operand : right.left;
  const text = (span: Span) => context.text.slice(span.start, span.end);
  const test = context.text.slice(operand.end, right.end).trimStart();
  context.warn(node, {
    code: 'PRECEDENCE',
    message: `IS binds more tightly than ${node.operator} here: this is ${text(node.left)} ${node.operator} (${text(right)})`,
    suggestion: `(${text(node.left)} ${node.operator} ${text(operand)}) ${test}`,
  });
}

function startsInParentheses(node: Expression, context: BindContext): boolean {
  return context.text.slice(0, node.start).trimEnd().endsWith('(');
}

/** `NOT x IN (…)` and `NOT x LIKE …`, which are `(NOT x) IN (…)` here. */
export function warnAboutNot(
  node: Span,
  operand: Expression,
  operator: 'IN' | 'LIKE',
  context: BindContext,
): void {
  if (operand.kind !== 'unary' || operand.operator !== 'not') return;
  if (operand.start !== node.start) return;
  const inner = context.text.slice(operand.operand.start, operand.operand.end);
  const rest = context.text.slice(operand.end, node.end).trimStart();
  context.warn(node, {
    code: 'PRECEDENCE',
    message: `NOT binds more tightly than ${operator} here: this is (NOT ${inner}) ${rest}`,
    suggestion: `${inner} NOT ${rest}`,
  });
}

type TypeClass = 'number' | 'string' | 'timestamp' | 'interval' | 'blob' | 'path';

function classOf(type: ValueType): TypeClass | undefined {
  if (type.kind !== 'atom') return undefined;
  switch (type.atom) {
    case 'integer':
    case 'number':
      return 'number';
    case 'null':
    case 'atom':
      return undefined;
    default:
      return type.atom;
  }
}

/** A column compared for equality with what can never be equal to it. */
export function warnAboutTypes(
  span: Span,
  left: BoundExpression,
  right: BoundExpression,
  context: BindContext,
): void {
  const [a, b] = [classOf(left.type), classOf(right.type)];
  if (a === undefined || b === undefined || a === b) return;
  const isOperand = (side: BoundExpression) => side.kind === 'column' || isConstant(side);
  if (!isOperand(left) || !isOperand(right) || (isConstant(left) && isConstant(right))) return;
  const pair = new Set([a, b]);
  // A string is read as a timestamp beside one; paths are compared with texts.
  if (pair.has('string') && (pair.has('timestamp') || pair.has('path'))) return;
  const text = ({ start, end }: Span) => context.text.slice(start, end);
  const number = a === 'number' ? left : right;
  const string = a === 'string' ? left : right;
  const literal = pair.has('number') && pair.has('string') && isConstant(string);
  const value = literal && 'atom' in string.value ? Number(string.value.atom) : Number.NaN;
  context.warn(span, {
    code: 'TYPES_NEVER_EQUAL',
    message: `${text(left)} of type ${typeName(left.type)} never equals ${text(right)} of type ${typeName(right.type)}`,
    suggestion: Number.isNaN(value) ? undefined : `${text(number)} = ${value}`,
  });
}

/** A conversion of a constant that gives nothing. */
export function warnAboutNullCast(
  node: Span,
  operands: readonly BoundExpression[],
  result: BoundExpression,
  context: BindContext,
): void {
  if (!isConstant(result) || !('atom' in result.value)) return;
  const { atom } = result.value;
  const isNaD =
    typeof atom === 'object' &&
    atom !== null &&
    'seconds' in atom &&
    !('months' in atom) &&
    Number.isNaN(atom.seconds);
  if (atom !== null && !isNaD) return;
  const given = operands.every(
    (operand) => isConstant(operand) && 'atom' in operand.value && operand.value.atom !== null,
  );
  if (!given) return;
  const text = context.text.slice(node.start, node.end);
  context.warn(node, { code: 'NULL_CAST', message: `${text} is NULL: the text cannot be read so` });
}
