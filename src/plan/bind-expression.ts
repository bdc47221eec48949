// Syntax tree to bound expression: one function per kind of node, children first.
import type {
  BinaryNode,
  CaseNode,
  Expression,
  ExtractNode,
  InKeysNode,
  InListNode,
  InQueryNode,
  InValuesNode,
  Span,
  UnaryNode,
} from '../sql/node.ts';
import { unreachable } from '../sql/node.ts';
import { parseInterval } from '../value/interval.ts';
import { constant, type Value } from '../value/value.ts';
import { bindCall } from './bind-call.ts';
import { bindItems } from './bind-item.ts';
import type { BindContext, Scope } from './context.ts';
import { CHAIN_LENGTH_MAX } from './depth.ts';
import { bindingError, locateError } from './error.ts';
import type { BoundExpression, ConstantExpression } from './expression.ts';
import { fold } from './fold.ts';
import {
  arithmeticType,
  BOOLEAN_TYPE,
  caseType,
  castType,
  embeddingType,
  unaryType,
} from './operator-type.ts';
import { rowTypeOf } from './row-type.ts';
import { memberScope } from './scope.ts';
import { ANY_TYPE, isStructuredType } from './type.ts';
import { typeOfValue } from './value-type.ts';

/** @throws SQL_BINDING with the place of what cannot be bound */
export function bindExpression(
  node: Expression,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const replaced = scope.intercept?.(node, context);
  if (replaced !== undefined) return replaced;
  if (node.kind === 'binary') return bindBinaryChain(node, scope, context);
  return fold(bindNode(node, scope, context), context);
}

function bindNode(
  node: Exclude<Expression, BinaryNode>,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const { start, end } = node;
  const bind = (child: Expression) => context.bind(child, scope);
  switch (node.kind) {
    case 'literal':
      return constantAt(constant(node.value), node);
    case 'interval-literal':
      try {
        return constantAt(constant(parseInterval(node.text)), node);
      } catch (error) {
        throw locateError(error, context.text, node);
      }
    case 'parameter':
      return bindParameter(node, context);
    case 'column':
      return scope.column(node, context);
    case 'call':
      return bindCall(node, scope, context);
    case 'extract':
      return bindExtract(node, scope, context);
    case 'row': {
      const items = bindItems(node.items, 'row', scope, context);
      return { kind: 'row', items, type: rowTypeOf(items), start, end };
    }
    case 'embedding': {
      const elements = node.elements.map(bind);
      return { kind: 'embedding', elements, type: embeddingType(elements), start, end };
    }
    case 'unary':
      return bindUnary(node, scope, context);
    case 'and':
    case 'or':
      return {
        kind: node.kind,
        operands: node.operands.map(bind),
        type: BOOLEAN_TYPE,
        start,
        end,
      };
    case 'between':
      return {
        kind: 'between',
        operand: bind(node.operand),
        low: bind(node.low),
        high: bind(node.high),
        negated: node.negated,
        type: BOOLEAN_TYPE,
        start,
        end,
      };
    case 'in-list':
      return bindInList(node, scope, context);
    case 'in-query':
      return bindInQuery(node, scope, context);
    case 'in-keys':
    case 'in-values':
      return bindInMembers(node, scope, context);
    case 'like':
      return {
        kind: 'like',
        operand: bind(node.operand),
        pattern: bind(node.pattern),
        negated: node.negated,
        type: BOOLEAN_TYPE,
        start,
        end,
      };
    case 'is':
      return {
        kind: 'is',
        operand: bind(node.operand),
        test: node.test,
        negated: node.negated,
        type: BOOLEAN_TYPE,
        start,
        end,
      };
    case 'case':
      return bindCase(node, scope, context);
    case 'cast': {
      const operand = bind(node.operand);
      return { kind: 'cast', operand, target: node.type, type: castType(node.type), start, end };
    }
    default:
      return unreachable(node);
  }
}

/** A chain of operators is as deep as the text is long, so its left spine is a loop. */
function bindBinaryChain(node: BinaryNode, scope: Scope, context: BindContext): BoundExpression {
  const spine: BinaryNode[] = [];
  let current: Expression = node;
  let bound: BoundExpression | undefined;
  while (bound === undefined && current.kind === 'binary') {
    spine.push(current);
    current = current.left;
    bound = scope.intercept?.(current, context);
  }
  if (spine.length > CHAIN_LENGTH_MAX) {
    const message = `a chain of ${spine.length} operators is nested too deeply; at most ${CHAIN_LENGTH_MAX} are accepted`;
    throw bindingError(context.text, node, message);
  }
  bound ??= context.bind(current, scope);
  for (let i = spine.length - 1; i >= 0; i--) {
    const operator = spine[i] as BinaryNode;
    const right = context.bind(operator.right, scope);
    bound = fold(bindBinary(operator, bound, right), context);
  }
  return bound;
}

function bindBinary(
  node: BinaryNode,
  left: BoundExpression,
  right: BoundExpression,
): BoundExpression {
  const { operator, start, end } = node;
  switch (operator) {
    case '@':
      return { kind: 'set-timestamp', operand: left, time: right, type: left.type, start, end };
    case '=':
    case '!=': {
      const sides = isRowPath(left)
        ? { left, right: asPath(right) }
        : { left: isRowPath(right) ? asPath(left) : left, right };
      return { kind: 'comparison', operator, ...sides, type: BOOLEAN_TYPE, start, end };
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return { kind: 'comparison', operator, left, right, type: BOOLEAN_TYPE, start, end };
    default: {
      const type = arithmeticType(operator, left.type, right.type);
      return { kind: 'arithmetic', operator, left, right, type, start, end };
    }
  }
}

/** A direct call of rowPath(): strings beside it are paths of one element. */
function isRowPath(expression: BoundExpression): boolean {
  return expression.kind === 'row-function' && expression.function === 'rowPath';
}

function asPath(operand: BoundExpression): BoundExpression {
  const { start, end } = operand;
  return { kind: 'path-operand', operand, type: ANY_TYPE, start, end };
}

function bindUnary(node: UnaryNode, scope: Scope, context: BindContext): BoundExpression {
  const operand = context.bind(node.operand, scope);
  const type = unaryType(node.operator, operand.type);
  return {
    kind: 'unary',
    operator: node.operator,
    operand,
    type,
    start: node.start,
    end: node.end,
  };
}

function bindParameter(node: Span & { name: string }, context: BindContext): BoundExpression {
  const type = context.parameters?.typeOf(node.name);
  if (type === undefined) {
    const message =
      context.parameters === undefined
        ? `parameter $${node.name} is not bound: a plain query has no parameters`
        : `there is no parameter $${node.name} here`;
    throw bindingError(context.text, node, message);
  }
  return { kind: 'parameter', name: node.name, type, start: node.start, end: node.end };
}

function bindExtract(node: ExtractNode, scope: Scope, context: BindContext): BoundExpression {
  const operand = context.bind(node.operand, scope);
  const index = context.bind(node.index, memberScope(operand.type, scope));
  const { start, end } = node;
  return { kind: 'extract', operand, index, type: index.type, start, end };
}

function bindInList(node: InListNode, scope: Scope, context: BindContext): BoundExpression {
  const operand = context.bind(node.operand, scope);
  const wrap = isRowPath(operand) ? asPath : (choice: BoundExpression) => choice;
  const choices = node.choices.map((choice) => fold(wrap(context.bind(choice, scope)), context));
  const { negated, start, end } = node;
  return { kind: 'in-list', operand, choices, negated, type: BOOLEAN_TYPE, start, end };
}

function bindInQuery(node: InQueryNode, scope: Scope, context: BindContext): BoundExpression {
  const operand = context.bind(node.operand, scope);
  return {
    kind: 'in-query',
    operand,
    subquery: context.addSubquery(context.bindQuery(node.query).node),
    negated: node.negated,
    asPaths: isRowPath(operand),
    type: BOOLEAN_TYPE,
    start: node.start,
    end: node.end,
  };
}

function bindInMembers(
  node: InKeysNode | InValuesNode,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const operand = context.bind(node.operand, scope);
  return {
    kind: 'in-members',
    part: node.kind === 'in-keys' ? 'keys' : 'values',
    operand,
    row: context.bind(node.row, scope),
    negated: node.negated,
    asPaths: isRowPath(operand),
    type: BOOLEAN_TYPE,
    start: node.start,
    end: node.end,
  };
}

function bindCase(node: CaseNode, scope: Scope, context: BindContext): BoundExpression {
  const bind = (child: Expression) => context.bind(child, scope);
  const branches = node.branches.map(({ when, result }) => ({
    when: bind(when),
    result: bind(result),
  }));
  const otherwise = node.otherwise === undefined ? undefined : bind(node.otherwise);
  const first = branches[0]?.result;
  return {
    kind: 'case',
    operand: node.operand === undefined ? undefined : bind(node.operand),
    branches,
    otherwise,
    emptyRow: otherwise === undefined && first !== undefined && isStructuredType(first.type),
    type: caseType(branches, otherwise),
    start: node.start,
    end: node.end,
  };
}

function constantAt(value: Value, span: Span): ConstantExpression {
  return { kind: 'constant', value, type: typeOfValue(value), start: span.start, end: span.end };
}
