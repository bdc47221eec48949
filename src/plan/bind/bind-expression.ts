// Syntax tree to bound expression: one function per kind of node, children first.
import type {
  BetweenNode,
  BinaryNode,
  CaseNode,
  Expression,
  ExtractNode,
  InKeysNode,
  InListNode,
  InQueryNode,
  InValuesNode,
  LikeNode,
  Span,
  TupleNode,
  UnaryNode,
} from '../../sql/node.ts';
import { unreachable } from '../../sql/node.ts';
import { parseInterval } from '../../value/interval.ts';
import { constant, type Value } from '../../value/value.ts';
import { isClosed } from '../column-order.ts';
import { CHAIN_LENGTH_MAX } from '../depth.ts';
import { bindingError, locateError } from '../error.ts';
import type { BoundCaseBranch, BoundExpression, ConstantExpression } from '../expression.ts';
import { fold } from '../fold.ts';
import { memberScope } from '../scope/scope.ts';
import { warnAboutIs, warnAboutNot, warnAboutNullCast, warnAboutTypes } from '../suspicion.ts';
import {
  arithmeticType,
  BOOLEAN_TYPE,
  caseType,
  castType,
  embeddingType,
  unaryType,
} from '../type/operator-type.ts';
import { rowTypeOf } from '../type/row-type.ts';
import { ANY_TYPE, atomType, isStructuredType, typeAtPath, type ValueType } from '../type/type.ts';
import { typeOfValue } from '../type/value-type.ts';
import { bindCall } from './bind-call.ts';
import { bindItems } from './bind-item.ts';
import {
  bindExists,
  bindInQuery,
  bindQuantified,
  bindScalarQuery,
  bindTupleEquality,
  bindTupleInList,
  comparable,
  negate,
} from './bind-subquery.ts';
import type { BindContext, BoundSubquery, Scope } from './context.ts';
import { asTimestamp, isOfType, type Sides, timestampSides } from './timestamp-sides.ts';

/** @throws SQL_BINDING with the place of what cannot be bound */
export function bindExpression(
  node: Expression,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const replaced = scope.intercept?.(node, context);
  if (replaced !== undefined) return replaced;
  if (node.kind === 'binary') return bindBinaryChain(node, scope, context);
  const bound = bindNode(node, scope, context);
  const folded = fold(bound, context);
  if (bound.kind === 'cast') warnAboutNullCast(node, [bound.operand], folded, context);
  if (bound.kind === 'call' && bound.name === 'strptime') {
    warnAboutNullCast(node, bound.args, folded, context);
  }
  return folded;
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
      return bindBetween(node, scope, context);
    case 'in-list':
      warnAboutNot(node, node.operand, 'IN', context);
      return node.operand.kind === 'tuple'
        ? bindTupleInList(node, node.operand, scope, context)
        : bindInList(node, scope, context);
    case 'in-query':
      warnAboutNot(node, node.operand, 'IN', context);
      return bindInQuery(
        node,
        (bound) => simpleInQuery(node, bound, scope, context),
        scope,
        context,
      );
    case 'scalar-query':
      return bindScalarQuery(node, scope, context);
    case 'exists':
      return bindExists(node, scope, context);
    case 'quantified':
      return bindQuantified(node, scope, context);
    case 'tuple': {
      const message = 'a list in parentheses can stand only beside IN, = and !=';
      throw bindingError(context.text, node, message);
    }
    case 'distinct-from': {
      const args = [node.left, node.right];
      return negate(callOf('is_distinct_from', args, node, scope, context), node.negated);
    }
    case 'in-keys':
    case 'in-values':
      return bindInMembers(node, scope, context);
    case 'like':
      warnAboutNot(node, node.operand, 'LIKE', context);
      if (node.anyCase === true || node.escape !== undefined) return bindLike(node, scope, context);
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
      const type = castType(node.type);
      const cast = { kind: 'cast' as const, operand, target: node.type, type, start, end };
      if (node.scale === undefined) return cast;
      const scale = constantAt(constant(node.scale), node);
      return makeCall('round', [fold(cast, context), scale], atomType('number'), node, context);
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
  const lowest = spine[spine.length - 1] as BinaryNode;
  if (tuplesOf(lowest) === undefined) bound ??= context.bind(current, scope);
  for (let i = spine.length - 1; i >= 0; i--) {
    const operator = spine[i] as BinaryNode;
    warnAboutIs(operator, context);
    const tuples = tuplesOf(operator);
    bound =
      tuples === undefined
        ? bindBinary(
            operator,
            bound as BoundExpression,
            context.bind(operator.right, scope),
            context,
          )
        : negate(bindTupleEquality(...tuples, scope, context), operator.operator === '!=');
    bound = fold(bound, context);
  }
  return bound as BoundExpression;
}

/** The sides of `(a, b) = (c, d)`. */
function tuplesOf(node: Expression): [TupleNode, TupleNode] | undefined {
  if (node.kind !== 'binary' || (node.operator !== '=' && node.operator !== '!=')) return undefined;
  const { left, right } = node;
  return left.kind === 'tuple' && right.kind === 'tuple' ? [left, right] : undefined;
}

function bindBinary(
  node: BinaryNode,
  left: BoundExpression,
  right: BoundExpression,
  context: BindContext,
): BoundExpression {
  const { operator, start, end } = node;
  switch (operator) {
    case '||':
      return makeCall('text_concat', [left, right], atomType('string'), node, context);
    case '@':
      return { kind: 'set-timestamp', operand: left, time: right, type: left.type, start, end };
    case '=':
    case '!=': {
      warnAboutTypes(node, left, right, context);
      const sides = isRowPath(left)
        ? { left, right: asPath(right) }
        : isRowPath(right)
          ? { left: asPath(left), right }
          : timestampSides(left, right, context);
      return { kind: 'comparison', operator, ...sides, type: BOOLEAN_TYPE, start, end };
    }
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const sides = timestampSides(left, right, context);
      return { kind: 'comparison', operator, ...sides, type: BOOLEAN_TYPE, start, end };
    }
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
  const wrap = isRowPath(operand)
    ? asPath
    : (choice: BoundExpression) => timestampSides(operand, choice, context).right;
  const choices = node.choices.map((choice) => {
    const bound = context.bind(choice, scope);
    warnAboutTypes(choice, operand, bound, context);
    return fold(wrap(bound), context);
  });
  const { negated, start, end } = node;
  const type = BOOLEAN_TYPE;
  const list = { kind: 'in-list', type, start, end } as const;
  const times = choices.filter((choice) => isOfType(choice, 'timestamp'));
  if (!isOfType(operand, 'string') || times.length === 0) {
    return { ...list, operand, choices, negated };
  }
  // A text among timestamps is read as one for those choices only.
  const read = asTimestamp(operand, context);
  const ofTimes = { ...list, operand: read, choices: times };
  if (times.length === choices.length) return { ...ofTimes, negated };
  const rest = choices.filter((choice) => !isOfType(choice, 'timestamp'));
  const operands = [
    { ...list, operand, choices: rest, negated: false },
    { ...ofTimes, negated: false },
  ];
  return negate({ kind: 'or', operands, type, start, end }, negated);
}

/** Equals any cell of the result, which does not depend on the row. */
function simpleInQuery(
  node: InQueryNode,
  bound: BoundSubquery,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const [path] = bound.order.paths;
  const isAtom =
    bound.order.paths.length === 1 &&
    isClosed(bound.order) &&
    typeAtPath(bound.rowType, path ?? [])?.kind === 'atom';
  const plain = context.bind(node.operand, scope);
  const [operand = plain] = isAtom
    ? comparable([plain], bound, bound.order.paths, context)
    : [plain];
  return {
    kind: 'in-query',
    operand,
    subquery: bound.subquery,
    column: isAtom ? path : undefined,
    negated: node.negated,
    asPaths: isRowPath(operand),
    type: BOOLEAN_TYPE,
    start: node.start,
    end: node.end,
  };
}

/** Bounds are read as timestamps beside one; SYMMETRIC takes them in either order. */
function bindBetween(node: BetweenNode, scope: Scope, context: BindContext): BoundExpression {
  const { start, end, negated } = node;
  const operand = context.bind(node.operand, scope);
  const low = timestampSides(operand, context.bind(node.low, scope), context);
  const high = timestampSides(operand, context.bind(node.high, scope), context);
  // A text between timestamps is read too, when both bounds say so.
  const read = low.left !== operand && high.left !== operand ? low.left : operand;
  const between = (from: BoundExpression, to: BoundExpression): BoundExpression => ({
    kind: 'between',
    operand: read,
    low: from,
    high: to,
    negated: node.symmetric === true ? false : negated,
    type: BOOLEAN_TYPE,
    start,
    end,
  });
  if (node.symmetric !== true) return between(low.right, high.right);
  const operands = [between(low.right, high.right), between(high.right, low.right)];
  return negate({ kind: 'or', operands, type: BOOLEAN_TYPE, start, end }, negated);
}

/** ILIKE and ESCAPE. */
function bindLike(node: LikeNode, scope: Scope, context: BindContext): BoundExpression {
  const name = `${node.anyCase === true ? 'ilike' : 'like'}${node.escape === undefined ? '' : '_escape'}`;
  const args = [node.operand, node.pattern, ...(node.escape === undefined ? [] : [node.escape])];
  return negate(callOf(name, args, node, scope, context), node.negated);
}

function callOf(
  name: string,
  args: readonly Expression[],
  { start, end }: Span,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const call = { kind: 'call', table: undefined, name, args, star: false, start, end } as const;
  return fold(bindCall(call, scope, context), context);
}

/** A call of a builtin that an operator stands for. */
function makeCall(
  name: string,
  args: readonly BoundExpression[],
  type: ValueType,
  { start, end }: Span,
  context: BindContext,
): BoundExpression {
  const surfaces = args.map((arg) => context.text.slice(arg.start, arg.end));
  return { kind: 'call', name, args, surfaces, type, start, end };
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
  const sides =
    node.operand === undefined ? undefined : caseSides(bind(node.operand), branches, context);
  return {
    kind: 'case',
    operand: sides?.operand,
    branches: sides?.branches ?? branches,
    otherwise,
    emptyRow: otherwise === undefined && first !== undefined && isStructuredType(first.type),
    type: caseType(branches, otherwise),
    start: node.start,
    end: node.end,
  };
}

/** What the operand of CASE is compared with is read beside a timestamp as for `=`. */
function caseSides(
  operand: BoundExpression,
  branches: readonly BoundCaseBranch[],
  context: BindContext,
): { readonly operand: BoundExpression; readonly branches: readonly BoundCaseBranch[] } {
  const sides = branches.map(({ when }) => timestampSides(operand, when, context));
  // A text is read as a timestamp when all branches say so.
  const read = sides.every(({ left }) => left !== operand) ? sides[0]?.left : undefined;
  return {
    operand: read ?? operand,
    branches: branches.map(({ result }, index) => {
      return { when: (sides[index] as Sides).right, result };
    }),
  };
}

function constantAt(value: Value, span: Span): ConstantExpression {
  return { kind: 'constant', value, type: typeOfValue(value), start: span.start, end: span.end };
}
