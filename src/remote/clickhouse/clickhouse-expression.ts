// Expressions as SQL of ClickHouse: those that mean the same there, value by value. What is not
// known to be the same has no SQL and is left to Rowan.
//
// Arithmetic of Rowan is that of doubles; null is unknown; NaN equals itself and comes before
// every other number. Integers of 64 bits are compared with integers only.
import type {
  BoundExpression,
  CallExpression,
  CaseExpression,
  ComparisonExpression,
  ExtractExpression,
  InListExpression,
} from '../../plan/expression.ts';
import { Path } from '../../value/path.ts';
import { Scalar } from '../../value/value.ts';
import { lowerCall } from './clickhouse-builtin.ts';
import { tableCase } from './clickhouse-case.ts';
import { lowerModelOutput } from './clickhouse-model.ts';
import type { ClickhouseColumn } from './clickhouse-request.ts';
import {
  choose,
  compare,
  computed,
  constantSql,
  double,
  holds,
  isDouble,
  isNumeric,
  type Lowering,
  negated,
  number,
  type Sql,
  smallInteger,
  testOf,
  truth,
  truthOf,
} from './clickhouse-sql.ts';
import { quoteName } from './clickhouse-text.ts';
import { parseType } from './clickhouse-value.ts';

/** @returns undefined: it has no SQL of equal meaning */
export function lower(expression: BoundExpression, to: Lowering): Sql | undefined {
  switch (expression.kind) {
    case 'constant':
      return expression.value instanceof Scalar
        ? constantSql(expression.value.atom, to)
        : undefined;
    case 'column': {
      const { path } = expression;
      const column = path.length === 1 ? to.columns.get(path[0] as string) : undefined;
      return to.expressions?.get(new Path(path).toString()) ?? (column && columnSql(column));
    }
    case 'and':
    case 'or':
      return junction(expression.kind, expression.operands, to);
    case 'unary': {
      const operand = lower(expression.operand, to);
      if (operand === undefined) return undefined;
      if (expression.operator === 'not') {
        const test = truthOf(operand);
        return test && negated(test);
      }
      if (!isNumeric(operand)) return undefined;
      if (expression.operator === '+') return operand;
      if (expression.operator !== '-' || !isDouble(operand)) return undefined;
      return computed(number(`(-${double(operand)})`, operand.isNullable, operand.mayBeNan), [
        operand,
      ]);
    }
    case 'arithmetic':
      return arithmetic(
        expression.operator,
        lower(expression.left, to),
        lower(expression.right, to),
      );
    case 'comparison':
      return comparison(expression, to);
    case 'between': {
      const { operand, low, high, negated: isNegated } = expression;
      const value = lower(operand, to);
      const least = compare('>=', value, lower(low, to), to);
      const most = compare('<=', value, lower(high, to), to);
      if (least === undefined || most === undefined) return undefined;
      const both = junctionOf('and', [least, most]);
      return isNegated ? negated(both) : both;
    }
    case 'in-list':
      return inList(expression, to);
    case 'is': {
      const operand = lower(expression.operand, to);
      if (operand === undefined) return undefined;
      const test = isTest(expression.test, operand);
      return test === undefined
        ? undefined
        : truth(expression.negated ? `NOT ${test}` : test, undefined);
    }
    case 'like': {
      const operand = lower(expression.operand, to);
      const pattern = lower(expression.pattern, to);
      if (operand?.kind !== 'string' || typeof pattern?.constant !== 'string') return undefined;
      // What `_` is to bytes that are no character differs, and `\` has a meaning there.
      if (/[\\_]/.test(pattern.constant)) return undefined;
      const test = testOf(`(${operand.text} LIKE ${pattern.text})`, [operand]);
      return expression.negated ? negated(test) : test;
    }
    case 'case':
      return caseSql(expression, to);
    case 'call':
      return callSql(expression, to);
    case 'extract':
      return extractSql(expression, [], to);
    default:
      return undefined;
  }
}

export function columnSql({ name, type: typeText }: ClickhouseColumn): Sql | undefined {
  const { type, isNullable } = parseType(typeText);
  const text = quoteName(name);
  switch (type.kind) {
    case 'integer':
      return {
        text,
        kind: 'integer',
        isNullable,
        isSmall: type.bits <= 32,
        isUnsigned: type.bits === 64 && !type.isSigned,
      };
    case 'float':
      return number(/Float32/.test(typeText) ? `toFloat64(${text})` : text, isNullable);
    case 'string':
      return { text, kind: 'string', isNullable };
    case 'text':
      return { text: `toString(${text})`, kind: 'string', isNullable };
    case 'date':
      return {
        text: `(toInt64(toUInt16(${text})) * 86400)`,
        kind: 'instant',
        isNullable,
        calendar: text,
      };
    case 'datetime':
      return {
        text: `toInt64(toUInt32(${text}))`,
        kind: 'instant',
        isNullable,
        calendar: `toDateTime(toUInt32(${text}), 'UTC')`,
      };
    case 'date32':
      return { text: `(toInt64(toInt32(${text})) * 86400)`, kind: 'instant', isNullable };
    case 'datetime64':
      return { text: `toFloat64(${text})`, kind: 'instant', isNullable };
    default:
      return undefined;
  }
}

function junction(
  kind: 'and' | 'or',
  operands: readonly BoundExpression[],
  to: Lowering,
): Sql | undefined {
  const tests: Sql[] = [];
  for (const operand of operands) {
    const value = lower(operand, to);
    const test = value && truthOf(value);
    if (test === undefined) return undefined;
    tests.push(test);
  }
  return junctionOf(kind, tests);
}

function junctionOf(kind: 'and' | 'or', tests: readonly Sql[]): Sql {
  const isNullable = tests.some((test) => test.isNullable);
  const all = (part: 'yes' | 'no', word: string) =>
    `(${tests.map((test) => test[part]).join(` ${word} `)})`;
  const [first, second] = kind === 'and' ? ['AND', 'OR'] : ['OR', 'AND'];
  return truth(all('yes', first as string), isNullable ? all('no', second as string) : undefined);
}

function arithmetic(
  operator: string,
  left: Sql | undefined,
  right: Sql | undefined,
): Sql | undefined {
  if (left === undefined || right === undefined) return undefined;
  const isNullable = left.isNullable || right.isNullable;
  if (operator === '+' && left.kind === 'string' && right.kind === 'string') {
    return { text: `concat(${left.text}, ${right.text})`, kind: 'string', isNullable };
  }
  if (!isNumeric(left) || !isNumeric(right)) return undefined;
  switch (operator) {
    case '+':
    case '-':
    case '*':
      return computed(number(`(${double(left)} ${operator} ${double(right)})`, isNullable), [
        left,
        right,
      ]);
    case '/':
      // Of the two zeros there is one here, and it is positive.
      return computed(number(`(${double(left)} / (${double(right)} + 0.))`, isNullable), [
        left,
        right,
      ]);
    case '%': {
      const { constant } = right;
      const isCount = Number.isSafeInteger(constant) && (constant as number) > 0;
      if (left.kind !== 'integer' || right.isSmall !== true || !isCount) return undefined;
      return smallInteger(`(${left.text} % ${right.text})`, isNullable);
    }
    default:
      return undefined;
  }
}

function comparison(
  { operator, left, right }: ComparisonExpression,
  to: Lowering,
): Sql | undefined {
  return compare(operator, lower(left, to), lower(right, to), to);
}

function inList(
  { operand, choices, negated: isNegated }: InListExpression,
  to: Lowering,
): Sql | undefined {
  const value = lower(operand, to);
  if (value === undefined || choices.length === 0) return undefined;
  const options = choices.map((choice) => lower(choice, to));
  const isPlain = options.every(
    (option) =>
      option?.constant !== undefined &&
      ((value.kind === 'string' && option.kind === 'string') ||
        (value.kind === 'integer' && Number.isSafeInteger(option.constant))),
  );
  let test: Sql;
  if (isPlain) {
    test = testOf(`(${value.text} IN (${options.map((option) => option?.text).join(', ')}))`, [
      value,
    ]);
  } else {
    const tests = options.map((option) => compare('=', value, option, to));
    if (!tests.every((each) => each !== undefined)) return undefined;
    // A choice that is null is none.
    const yes = `(${tests.map((each) => each.yes).join(' OR ')})`;
    const there = value.isNullable ? `(isNull(${value.text}) = 0 AND NOT ${yes})` : `NOT ${yes}`;
    test = truth(yes, there);
  }
  return isNegated ? negated(test) : test;
}

function isTest(test: string, operand: Sql): string | undefined {
  if (test === 'null') return operand.isNullable ? `isNull(${operand.text})` : '0';
  const asTruth = truthOf(operand);
  if (asTruth === undefined) return undefined;
  if (test === 'true') return holds(asTruth);
  return test === 'false' ? asTruth.no : undefined;
}

function caseSql(expression: CaseExpression, to: Lowering): Sql | undefined {
  if (expression.emptyRow) return undefined;
  const table = tableCase(expression, to, lower);
  if (table !== undefined) return table;
  const subject = expression.operand && lower(expression.operand, to);
  if (expression.operand !== undefined && subject === undefined) return undefined;
  const tests: string[] = [];
  const results: (Sql | null)[] = [];
  for (const { when, result } of expression.branches) {
    const value = lower(when, to);
    const test = subject === undefined ? value && truthOf(value) : compare('=', subject, value, to);
    const chosen = resultOf(result, to);
    if (test === undefined || chosen === undefined) return undefined;
    tests.push(holds(test));
    results.push(chosen);
  }
  const otherwise = expression.otherwise === undefined ? null : resultOf(expression.otherwise, to);
  if (otherwise === undefined) return undefined;
  return choose(tests, [...results, otherwise]);
}

/** null: NULL */
function resultOf(expression: BoundExpression, to: Lowering): Sql | null | undefined {
  const isNull =
    expression.kind === 'constant' &&
    expression.value instanceof Scalar &&
    expression.value.atom === null;
  return isNull ? null : lower(expression, to);
}

function callSql({ name, args }: CallExpression, to: Lowering): Sql | undefined {
  const values: (Sql | null)[] = [];
  for (const arg of args) {
    const value = resultOf(arg, to);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return lowerCall(name, values, to);
}

/** What a model says: `model({…})[score]`. */
function extractSql(
  { operand, index }: ExtractExpression,
  rest: readonly string[],
  to: Lowering,
): Sql | undefined {
  if (index.kind !== 'member') return undefined;
  const path = [...index.path, ...rest];
  if (operand.kind === 'extract') return extractSql(operand, path, to);
  return operand.kind === 'user-call' ? lowerModelOutput(operand, path, to, lower) : undefined;
}
