// Bound expressions to closures, dispatched by kind. Types that are known choose simpler closures.
import type {
  BoundExpression,
  ColumnExpression,
  ExtractExpression,
} from '../../plan/expression.ts';
import { failure } from '../../util/error.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { constant, EMPTY_ROW, NULL_VALUE, type Value } from '../../value/value.ts';
import { compileCall, compileTry, compileUserCall } from './call/call.ts';
import { asRow, latestAmong, latestAt, pointsAt, valuesAt } from './call/lookup.ts';
import {
  compileArithmetic,
  compileCast,
  compileEmbedding,
  compileLike,
  compileSetTimestamp,
  compileUnary,
} from './call/operator-call.ts';
import type { Compiler } from './compiler.ts';
import { placeFallible } from './error-place.ts';
import type { Evaluator, Frame, PointsEvaluator, Predicate } from './frame.ts';
import {
  compileBetween,
  compileCase,
  compileCasePoints,
  compileComparison,
  compileComparisonTest,
  compileIs,
  compileIsTest,
  compileJunction,
  compileJunctionTest,
  compileNot,
} from './logic.ts';
import { compileRow } from './make-row.ts';
import {
  compileInList,
  compileInMembers,
  compileInQuery,
  compilePathOperand,
} from './membership.ts';
import { GroupRow } from './row.ts';
import { compileColumnFunction, compileRowFunction } from './row-function.ts';
import { compileSubquery } from './subquery.ts';
import { isTrue } from './truth.ts';

/** The latest value of an expression. */
export function compileEvaluator(expression: BoundExpression, compiler: Compiler): Evaluator {
  return placeFallible(compileKind(expression, compiler), expression, compiler.runtime.text);
}

function compileKind(expression: BoundExpression, compiler: Compiler): Evaluator {
  const { runtime } = compiler;
  switch (expression.kind) {
    case 'constant': {
      const { value } = expression;
      return () => value;
    }
    case 'column':
      return compileColumn(expression);
    case 'member': {
      const { path } = expression;
      return (frame) => latestAt(frame.members, path);
    }
    case 'output-column': {
      const { path } = expression;
      const otherwise = compiler.evaluator(expression.otherwise);
      return (frame) => {
        const values = valuesAt(frame.output, path);
        return values.length === 0 ? otherwise(frame) : latestAmong(values);
      };
    }
    case 'parameter': {
      const { name } = expression;
      return () => runtime.parameters(name);
    }
    case 'call':
      return compileCall(expression, compiler);
    case 'user-call':
      return compileUserCall(expression, compiler);
    case 'try':
      return compileTry(expression, compiler);
    case 'extract':
      return compileExtract(expression, compiler);
    case 'row':
      return compileRow(expression.items, compiler);
    case 'embedding':
      return compileEmbedding(expression, compiler);
    case 'unary':
      return expression.operator === 'not'
        ? compileNot(expression, compiler)
        : compileUnary(expression, compiler);
    case 'arithmetic':
      return compileArithmetic(expression, compiler);
    case 'comparison':
      return compileComparison(expression, compiler);
    case 'path-operand':
      return compilePathOperand(expression, compiler);
    case 'set-timestamp':
      return compileSetTimestamp(expression, compiler);
    case 'and':
    case 'or':
      return compileJunction(expression, compiler);
    case 'between':
      return compileBetween(expression, compiler);
    case 'in-list':
      return compileInList(expression, compiler);
    case 'in-query':
      return compileInQuery(expression, compiler);
    case 'in-members':
      return compileInMembers(expression, compiler);
    case 'like':
      return compileLike(expression, compiler);
    case 'is':
      return compileIs(expression, compiler);
    case 'case':
      return compileCase(expression, compiler);
    case 'cast':
      return compileCast(expression, compiler);
    case 'row-function':
      return compileRowFunction(expression, compiler);
    case 'value-timestamp':
      return (frame) => constant(new Timestamp(frame.pointTs));
    case 'column-function':
      return compileColumnFunction(expression, compiler);
    case 'scope-call': {
      const { name } = expression;
      return () => runtime.scopeCalls(name);
    }
    case 'group-key': {
      const { index } = expression;
      return (frame) => groupOf(frame).keys[index] as Value;
    }
    case 'group-key-element': {
      const index = compiler.evaluator(expression.arg);
      return (frame) => keyElement(groupOf(frame), index(frame));
    }
    case 'aggregate-result': {
      const { index } = expression;
      return (frame) => groupOf(frame).aggregates[index] as Value;
    }
    case 'grouping': {
      const { index } = expression;
      return (frame) => constant(groupOf(frame).set?.includes(index) === false ? 1 : 0);
    }
    case 'window-result': {
      const { index } = expression;
      return (frame) => frame.windows[index] as Value;
    }
    case 'outer': {
      const { subquery, index } = expression;
      return () => runtime.outer[subquery]?.[index] ?? NULL_VALUE;
    }
    case 'subquery':
      return compileSubquery(expression, compiler);
  }
}

/** All points of an expression: only plain columns (also as branches of CASE) have several. */
export function compilePoints(expression: BoundExpression, compiler: Compiler): PointsEvaluator {
  switch (expression.kind) {
    case 'column':
      return compileColumnPoints(expression);
    case 'member': {
      const { path } = expression;
      return (frame) => pointsAt(frame.members, path);
    }
    case 'case':
      return compileCasePoints(expression, compiler);
    case 'column-function':
      if (expression.function === 'value') return (frame) => frame.column.value;
      return compiler.evaluator(expression);
    default:
      return compiler.evaluator(expression);
  }
}

/** IS TRUE of an expression. */
export function compilePredicate(expression: BoundExpression, compiler: Compiler): Predicate {
  switch (expression.kind) {
    case 'comparison':
      return compileComparisonTest(expression, compiler);
    case 'and':
    case 'or':
      return compileJunctionTest(expression, compiler);
    case 'is':
      return compileIsTest(expression, compiler);
    default: {
      const evaluate = compiler.evaluator(expression);
      return (frame) => isTrue(evaluate(frame));
    }
  }
}

/**
 * Rows of one source mostly share their list of names, so the position of a name is looked up once
 * for each list.
 */
function compileColumn(expression: ColumnExpression): Evaluator {
  const { path } = expression;
  const [name] = path;
  if (path.length !== 1 || name === undefined) return (frame) => latestAt(frame.row, path);
  let names: readonly string[] | undefined;
  let index = -1;
  return (frame) => {
    const { row } = frame;
    if (row.names !== names) {
      names = row.names;
      index = row.indexOf(name);
    }
    if (index === -1) return NULL_VALUE;
    if (names[index + 1] !== name) return row.values[index] as Value;
    return latestAmong(row.all(name));
  };
}

function compileColumnPoints(expression: ColumnExpression): PointsEvaluator {
  const { path } = expression;
  const [name] = path;
  if (path.length !== 1 || name === undefined) return (frame) => pointsAt(frame.row, path);
  let names: readonly string[] | undefined;
  let index = -1;
  return (frame) => {
    const { row } = frame;
    if (row.names !== names) {
      names = row.names;
      index = row.indexOf(name);
    }
    if (index === -1) return NULL_VALUE;
    return names[index + 1] === name ? row.all(name) : (row.values[index] as Value);
  };
}

function compileExtract(expression: ExtractExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const index = compiler.evaluator(expression.index);
  return (frame) => {
    const value = operand(frame);
    const outside = frame.members;
    frame.members = asRow(value) ?? EMPTY_ROW;
    try {
      return index(frame);
    } finally {
      frame.members = outside;
    }
  };
}

function groupOf(frame: Frame): GroupRow {
  if (frame.current instanceof GroupRow) return frame.current;
  throw new Error('a group expression is evaluated outside of a group');
}

function keyElement(group: GroupRow, index: Value): Value {
  const atom = 'atom' in index ? index.atom : undefined;
  const key = typeof atom === 'number' ? group.keys[atom] : undefined;
  if (key !== undefined) return key;
  throw failure(
    'SQL_EXECUTION',
    `the index of a group key is not an integer from 0 to ${group.keys.length - 1}`,
  );
}
