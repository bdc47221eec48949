// The scope of COLUMN EXPR: functions of the column under test, builtins, and nothing else.
import type { CallNode } from '../../sql/node.ts';
import { Path } from '../../value/path.ts';
import type { BindContext, Scope } from '../bind/context.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, ColumnFunctionName } from '../expression.ts';
import { requireArity } from '../type/arity.ts';
import { ANY_TYPE, atomType, type ValueType } from '../type/type.ts';

const COLUMN_FUNCTIONS: Readonly<Record<ColumnFunctionName, ValueType>> = {
  columnName: atomType('string'),
  columnPath: atomType('path'),
  columnPathElement: atomType('string'),
  columnPathLength: atomType('integer'),
  columnHash: atomType('integer'),
  value: ANY_TYPE,
  rowCount: atomType('integer'),
};

/** The SELECT, AS and WHERE of a COLUMN EXPR. */
export const COLUMN_SCOPE: Scope = {
  column(node, context) {
    const name = new Path(node.path).toString();
    const message = `Cannot read column '${name}' inside COLUMN EXPR`;
    throw bindingError(context.text, node, message);
  },
  call: (node, context) => bindColumnFunction(node, COLUMN_SCOPE, context),
  star(star, span, _place, context) {
    const name = [...star.path, '*'].join('.');
    throw bindingError(context.text, span, `Cannot use wildcard '${name}' inside COLUMN EXPR`);
  },
  columns: 'input',
  builtinsOnly: true,
};

/** Its ORDER BY, which chooses columns for all rows and so has no value to look at. */
export const ORDER_COLUMN_SCOPE: Scope = {
  ...COLUMN_SCOPE,
  call(node, context) {
    if (node.name === 'value' && node.table === undefined) {
      const message = 'value() in column expression without columns';
      throw bindingError(context.text, node, message);
    }
    return bindColumnFunction(node, ORDER_COLUMN_SCOPE, context);
  },
};

function bindColumnFunction(
  node: CallNode,
  scope: Scope,
  context: BindContext,
): BoundExpression | undefined {
  if (!isColumnFunction(node.name) || node.table !== undefined) return undefined;
  const withIndex = node.name === 'columnPathElement';
  requireArity(node, withIndex ? 1 : 0, context);
  return {
    kind: 'column-function',
    function: node.name,
    arg: withIndex ? context.bind(node.args[0] as CallNode, scope) : undefined,
    type: COLUMN_FUNCTIONS[node.name],
    start: node.start,
    end: node.end,
  };
}

function isColumnFunction(name: string): name is ColumnFunctionName {
  return Object.hasOwn(COLUMN_FUNCTIONS, name);
}
