// Comparison, boolean operators, IS, BETWEEN and CASE: three-valued logic with timestamps.
import { cannotFail } from '../../plan/conjunction.ts';
import type {
  AndExpression,
  BetweenExpression,
  CaseExpression,
  ComparisonExpression,
  IsExpression,
  OrExpression,
  UnaryExpression,
} from '../../plan/expression.ts';
import type { ComparisonOperator, IsTest } from '../../sql/node.ts';
import { type Atom, isInteger } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { compareReadable } from '../../value/readable-order.ts';
import { earlierOf, laterOf, Timestamp } from '../../value/timestamp.ts';
import {
  compareValues,
  EMPTY_ROW,
  effectiveTs,
  NULL_VALUE,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { isNull, latestVersions } from './call/lookup.ts';
import type { Compiler } from './compiler.ts';
import type { Evaluator, Frame, PointsEvaluator, Predicate } from './frame.ts';
import { isFalse, isTrue } from './truth.ts';

const COMPARISONS: Readonly<Record<ComparisonOperator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

export function truthValue(truth: boolean, ts: number): Scalar {
  return new Scalar(truth ? 1 : 0, ts);
}

export function compileComparison(expression: ComparisonExpression, compiler: Compiler): Evaluator {
  const left = compiler.evaluator(expression.left);
  const right = compiler.evaluator(expression.right);
  const holds = COMPARISONS[expression.operator];
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    const ts = laterOf(effectiveTs(a), effectiveTs(b));
    if (isNull(a) || isNull(b)) return new Scalar(null, ts);
    const order = compareLatest(a, b);
    return Number.isNaN(order) ? new Scalar(null, ts) : truthValue(holds(order), ts);
  };
}

/** The same as a test, without making a value. */
export function compileComparisonTest(
  expression: ComparisonExpression,
  compiler: Compiler,
): Predicate {
  const left = compiler.evaluator(expression.left);
  const right = compiler.evaluator(expression.right);
  const holds = COMPARISONS[expression.operator];
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (isNull(a) || isNull(b)) return false;
    const order = compareLatest(a, b);
    return !Number.isNaN(order) && holds(order);
  };
}

/** The order of two values; NaN, which is null, for a timestamp and a text that is none. */
function compareLatest(a: Value, b: Value): number {
  if (a instanceof Scalar && b instanceof Scalar) return compareReadable(a.atom, b.atom);
  return compareValues(latestVersions(a), latestVersions(b));
}

/** What decides (a false operand of AND, a true one of OR) outweighs null. */
export function compileJunction(
  expression: AndExpression | OrExpression,
  compiler: Compiler,
): Evaluator {
  const operands = expression.operands.map((operand) => compiler.evaluator(operand));
  const combine = expression.kind === 'and' ? conjunction : disjunction;
  return (frame) => {
    let result = (operands[0] as Evaluator)(frame);
    for (let i = 1; i < operands.length; i++) {
      result = combine(result, (operands[i] as Evaluator)(frame));
    }
    return result;
  };
}

export function conjunction(a: Value, b: Value): Scalar {
  return junction(a, b, isFalse, 0, earlierOf, laterOf);
}

export function disjunction(a: Value, b: Value): Scalar {
  return junction(a, b, isTrue, 1, laterOf, earlierOf);
}

type PickTs = (a: number, b: number) => number;

/**
 * AND and OR, mirrored: `decides` is the truth that settles the result, whose timestamp then is
 * that of the operand that settled it, or `bothTs` of two. Otherwise null, or the other truth.
 */
function junction(
  a: Value,
  b: Value,
  decides: (value: Value) => boolean,
  decided: 0 | 1,
  bothTs: PickTs,
  otherTs: PickTs,
): Scalar {
  const ta = effectiveTs(a);
  const tb = effectiveTs(b);
  const da = decides(a);
  const db = decides(b);
  if (da || db) return new Scalar(decided, da ? (db ? bothTs(ta, tb) : ta) : tb);
  const na = isNull(a);
  const nb = isNull(b);
  if (na || nb) return new Scalar(null, na ? (nb ? bothTs(ta, tb) : ta) : tb);
  return new Scalar(decided === 0 ? 1 : 0, otherTs(ta, tb));
}

/**
 * Once an operand has decided, the others are tested only if they could fail: an operand does not
 * hide the error of another.
 */
export function compileJunctionTest(
  expression: AndExpression | OrExpression,
  compiler: Compiler,
): Predicate {
  const every = expression.kind === 'and';
  const tests = expression.operands.map((operand) => compiler.predicate(operand));
  const skippable = expression.operands.map(cannotFail);
  return (frame) => {
    let result = every;
    for (let i = 0; i < tests.length; i++) {
      if (result !== every && skippable[i] === true) continue;
      if ((tests[i] as Predicate)(frame) !== every) result = !every;
    }
    return result;
  };
}

export function compileNot(expression: UnaryExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  return (frame) => {
    const value = operand(frame);
    if (isNull(value)) return value;
    return truthValue(!isTrue(value), effectiveTs(value));
  };
}

const IS_TESTS: Readonly<Record<IsTest, (value: Value) => boolean>> = {
  null: isNull,
  true: isTrue,
  false: isFalse,
  string: ofAtom((atom) => typeof atom === 'string'),
  number: ofAtom((atom) => typeof atom === 'number' || typeof atom === 'bigint'),
  integer: ofAtom(isInteger),
  timestamp: ofAtom((atom) => atom instanceof Timestamp),
  interval: ofAtom((atom) => atom instanceof Interval),
};

function ofAtom(test: (atom: Atom) => boolean): (value: Value) => boolean {
  return (value) => value instanceof Scalar && test(value.atom);
}

export function compileIs(expression: IsExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const test = IS_TESTS[expression.test];
  const { negated } = expression;
  return (frame) => {
    const value = operand(frame);
    return truthValue(test(value) !== negated, effectiveTs(value));
  };
}

export function compileIsTest(expression: IsExpression, compiler: Compiler): Predicate {
  const operand = compiler.evaluator(expression.operand);
  const test = IS_TESTS[expression.test];
  const { negated } = expression;
  return (frame) => test(operand(frame)) !== negated;
}

export function compileBetween(expression: BetweenExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const low = compiler.evaluator(expression.low);
  const high = compiler.evaluator(expression.high);
  const { negated } = expression;
  return (frame) => {
    const value = operand(frame);
    const lowest = low(frame);
    const highest = high(frame);
    const ts = effectiveTs(value);
    if (isNull(value)) return new Scalar(null, ts);
    const lowTs = laterOf(ts, effectiveTs(lowest));
    if (isNull(lowest)) return new Scalar(null, lowTs);
    const fromLow = compareLatest(value, lowest);
    if (Number.isNaN(fromLow)) return new Scalar(null, lowTs);
    if (fromLow < 0) return truthValue(negated, lowTs);
    const highTs = laterOf(ts, effectiveTs(highest));
    if (isNull(highest)) return new Scalar(null, highTs);
    const fromHigh = compareLatest(value, highest);
    if (Number.isNaN(fromHigh)) return new Scalar(null, highTs);
    if (fromHigh > 0) return truthValue(negated, highTs);
    return truthValue(!negated, laterOf(lowTs, highTs));
  };
}

/** The branch that a CASE takes in the frame's row: its position, or -1. */
function compileChoice(expression: CaseExpression, compiler: Compiler): (frame: Frame) => number {
  const { operand, branches } = expression;
  if (operand === undefined) {
    const tests = branches.map((branch) => compiler.predicate(branch.when));
    return (frame) => tests.findIndex((test) => test(frame));
  }
  const evaluate = compiler.evaluator(operand);
  const choices = branches.map((branch) => compiler.evaluator(branch.when));
  return (frame) => {
    const value = evaluate(frame);
    const matchable = !isNull(value);
    return choices.findIndex((choice) => {
      const candidate = choice(frame);
      return matchable && !isNull(candidate) && compareLatest(value, candidate) === 0;
    });
  };
}

export function compileCase(expression: CaseExpression, compiler: Compiler): Evaluator {
  const choose = compileChoice(expression, compiler);
  const results = expression.branches.map((branch) => compiler.evaluator(branch.result));
  const otherwise =
    expression.otherwise === undefined
      ? () => noMatch(expression)
      : compiler.evaluator(expression.otherwise);
  return (frame) => (results[choose(frame)] ?? otherwise)(frame);
}

/** Branches that are plain columns carry all their points over. */
export function compileCasePoints(expression: CaseExpression, compiler: Compiler): PointsEvaluator {
  const choose = compileChoice(expression, compiler);
  const results = expression.branches.map((branch) => compiler.points(branch.result));
  const otherwise =
    expression.otherwise === undefined
      ? () => noMatch(expression)
      : compiler.points(expression.otherwise);
  return (frame) => (results[choose(frame)] ?? otherwise)(frame);
}

function noMatch(expression: CaseExpression): Value {
  return expression.emptyRow ? EMPTY_ROW : NULL_VALUE;
}
