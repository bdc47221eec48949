// What binding finds suspicious in expressions that mean something else than they seem to.
import type { BinaryNode, CallNode, Expression, IsNode, Span } from '../sql/node.ts';
import { findNearestWord } from '../util/nearest-word.ts';
import { Path } from '../value/path.ts';
import { flatten, Row } from '../value/value.ts';
import type { BindContext } from './bind/context.ts';
import { type ColumnOrder, isClosed } from './column-order.ts';
import type { BoundExpression, ConstantExpression } from './expression.ts';
import { isConstant } from './fold.ts';
import type { ModelFeatures } from './function.ts';
import { orderOfItems } from './item-order.ts';
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

/** A call of a model that names columns which it was not trained on, or none of those. */
export function warnAboutFeatures(
  node: CallNode,
  arg: BoundExpression | undefined,
  { member, names }: ModelFeatures,
  order: ColumnOrder | undefined,
  context: BindContext,
): void {
  const known = new Set(names);
  const isKnown = (name: string) =>
    known.has(name) || names.some((other) => other.startsWith(`${name}.`));
  let hasUnknown = false;
  const named = namedPaths(arg, []);
  for (const { path, span } of named) {
    const [first, ...rest] = path;
    if (first !== member || rest.length === 0) continue;
    const name = new Path(rest).toString();
    if (isKnown(name)) continue;
    hasUnknown = true;
    context.warn(span, {
      code: 'UNKNOWN_FEATURE',
      message: `${node.name} was not trained on a feature '${name}'`,
      suggestion: findNearestWord(name, names),
    });
  }
  if (hasUnknown || arg === undefined) return;
  const given =
    arg.kind === 'row'
      ? orderOfItems(arg.items, order, context)
      : { paths: named.map(({ path }) => path), rest: isRowConstant(arg) ? undefined : 0 };
  // An embedding has no names, and what a column holds is only known when it is read.
  const isRead = named.some(({ path }) => path[0] === member && path.length === 1);
  const hasAny = given.paths.some(
    ([first, ...rest]) => first === member && isKnown(new Path(rest).toString()),
  );
  if (!isClosed(given) || isRead || hasAny) return;
  const some = names.slice(0, 5).join(', ');
  context.warn(node, {
    code: 'UNKNOWN_FEATURE',
    message: `${node.name} gets none of the features that it was trained on: ${some}${names.length > 5 ? ', …' : ''}`,
  });
}

interface NamedPath {
  readonly path: readonly string[];
  readonly span: Span;
}

/** The members that a row literal names, down to those that are no row literals. */
function namedPaths(
  expression: BoundExpression | undefined,
  prefix: readonly string[],
): readonly NamedPath[] {
  if (expression === undefined) return [];
  if (isRowConstant(expression)) {
    const paths: NamedPath[] = [];
    flatten(expression.value, prefix, ({ elements }) => {
      paths.push({ path: elements, span: expression });
    });
    return paths;
  }
  if (expression.kind !== 'row') return [];
  return expression.items.flatMap((item): readonly NamedPath[] => {
    if (item.kind !== 'named') return [];
    const path = [...prefix, ...item.path];
    const inner = item.expression;
    if (inner.kind === 'row' || isRowConstant(inner)) return namedPaths(inner, path);
    return [{ path, span: item }];
  });
}

function isRowConstant(expression: BoundExpression): expression is ConstantExpression {
  return expression.kind === 'constant' && expression.value instanceof Row;
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
