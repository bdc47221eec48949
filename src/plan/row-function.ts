// rowName() and its kin: functions of the row that a table or a side of a join contributes.
import type { CallNode, Span } from '../sql/node.ts';
import type { BindContext, Scope } from './bind/context.ts';
import { bindingError } from './error.ts';
import type { BoundExpression, JoinSide, RowFunctionName } from './expression.ts';
import { requireArity } from './type/arity.ts';
import { atomType, type ValueType } from './type/type.ts';

const ROW_FUNCTIONS: Readonly<Record<RowFunctionName, ValueType>> = {
  rowName: atomType('string'),
  rowPath: atomType('path'),
  rowHash: atomType('integer'),
  rowPathElement: atomType('string'),
  columnCount: atomType('integer'),
};

const JOIN_FUNCTIONS: Readonly<Record<string, [JoinSide, RowFunctionName]>> = {
  leftRowName: ['left', 'rowName'],
  rightRowName: ['right', 'rowName'],
  leftRowPath: ['left', 'rowPath'],
  rightRowPath: ['right', 'rowPath'],
};

export function isRowFunction(name: string): name is RowFunctionName {
  return Object.hasOwn(ROW_FUNCTIONS, name);
}

/** A call of a row function, speaking of the row at `side`; undefined when it is none. */
export function bindRowFunction(
  node: CallNode,
  side: readonly JoinSide[],
  scope: Scope,
  context: BindContext,
): BoundExpression | undefined {
  if (!isRowFunction(node.name)) return undefined;
  const withIndex = node.name === 'rowPathElement';
  requireArity(node, withIndex ? 1 : 0, context);
  const arg = withIndex ? context.bind(node.args[0] as CallNode, scope) : undefined;
  return makeRowFunction(node, node.name, side, arg);
}

/** leftRowName() and the like: only in joins. */
export function bindJoinFunction(
  node: CallNode,
  context: BindContext,
): BoundExpression | undefined {
  const meaning = Object.hasOwn(JOIN_FUNCTIONS, node.name) ? JOIN_FUNCTIONS[node.name] : undefined;
  if (meaning === undefined || node.table !== undefined) return undefined;
  requireArity(node, 0, context);
  const [side, name] = meaning;
  return makeRowFunction(node, name, [side], undefined);
}

export function refuseJoinFunction(node: CallNode, context: BindContext): void {
  if (node.table === undefined && Object.hasOwn(JOIN_FUNCTIONS, node.name)) {
    const message = `Function '${node.name}' is not available outside of a join`;
    throw bindingError(context.text, node, message);
  }
}

function makeRowFunction(
  span: Span,
  name: RowFunctionName,
  side: readonly JoinSide[],
  arg: BoundExpression | undefined,
): BoundExpression {
  const { start, end } = span;
  return { kind: 'row-function', function: name, side, arg, type: ROW_FUNCTIONS[name], start, end };
}
