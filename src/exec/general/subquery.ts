// Sub-selects as values of expressions: their rows are read once for each distinct tuple of what
// they read of the current row, or once and for all when they can be looked up by it.
import type { SubqueryExpression } from '../../plan/expression.ts';
import { failure } from '../../util/error.ts';
import { type CanonicalKey, keyOfTuple } from '../../value/canonical-key.ts';
import { compareValues, NULL_VALUE, type Value } from '../../value/value.ts';
import { isNull, latestAmong, latestVersions, valuesAt } from './call/lookup.ts';
import type { Compiler } from './compiler.ts';
import { placeErrors } from './error-place.ts';
import type { Evaluator, Frame } from './frame.ts';
import { truthValue } from './logic.ts';

/** Tuples of arguments whose results are remembered. */
const REMEMBERED_COUNT_MAX = 1_000_000;

/** What one run of a sub-select gave, as far as the expression needs it. */
type Result = readonly (readonly Value[])[];

export function compileSubquery(expression: SubqueryExpression, compiler: Compiler): Evaluator {
  const read =
    expression.lookup === undefined
      ? compileRuns(expression, compiler)
      : compileLookups(expression, compiler);
  const conclude = compileConclusion(expression, compiler);
  return placeErrors(
    (frame: Frame) => conclude(read(frame), frame),
    expression,
    compiler.runtime.text,
  );
}

/** Runs the plan for each distinct tuple of arguments. */
function compileRuns(expression: SubqueryExpression, compiler: Compiler): (frame: Frame) => Result {
  const { runtime } = compiler;
  const { subquery, mode, columns } = expression;
  const args = expression.args.map((arg) => compiler.evaluator(arg));
  const remembered = new Map<CanonicalKey, Result>();
  let run = -1;
  // The first row, or a second one, says all there is to say.
  const rowCountMax = mode === 'exists' ? 1 : mode === 'scalar' ? 2 : Number.POSITIVE_INFINITY;
  return (frame) => {
    if (run !== runtime.run) {
      remembered.clear();
      run = runtime.run;
    }
    const values = args.map((arg) => latestVersions(arg(frame)));
    const key = keyOfTuple(values);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    runtime.scope.checkCancelled();
    runtime.outer[subquery] = values;
    const result: (readonly Value[])[] = [];
    for (const { row } of runtime.subqueryRows(subquery)) {
      result.push(columns.map((path) => latestAmong(valuesAt(row, path)) ?? NULL_VALUE));
      if (result.length >= rowCountMax) break;
    }
    if (remembered.size < REMEMBERED_COUNT_MAX) remembered.set(key, result);
    return result;
  };
}

const NO_ROWS: Result = [];

/** Runs the plan once, and finds its rows by the arguments. */
function compileLookups(
  expression: SubqueryExpression,
  compiler: Compiler,
): (frame: Frame) => Result {
  const { runtime } = compiler;
  const { subquery, columns, lookup } = expression;
  const keys = lookup?.keys ?? [];
  const args = expression.args.map((arg) => compiler.evaluator(arg));
  let table = new Map<CanonicalKey, (readonly Value[])[]>();
  let run = -1;
  const build = () => {
    table = new Map();
    run = runtime.run;
    for (const { row } of runtime.subqueryRows(subquery)) {
      const values = keys.map((path) => latestAmong(valuesAt(row, path)) ?? NULL_VALUE);
      if (values.some(isNull)) continue;
      const key = keyOfTuple(values);
      const result = columns.map((path) => latestAmong(valuesAt(row, path)) ?? NULL_VALUE);
      const known = table.get(key);
      if (known === undefined) table.set(key, [result]);
      else known.push(result);
    }
  };
  return (frame) => {
    if (run !== runtime.run) build();
    const values = args.map((arg) => latestVersions(arg(frame)));
    return values.some(isNull) ? NO_ROWS : (table.get(keyOfTuple(values)) ?? NO_ROWS);
  };
}

function compileConclusion(
  expression: SubqueryExpression,
  compiler: Compiler,
): (result: Result, frame: Frame) => Value {
  const { mode, lookup } = expression;
  switch (mode) {
    case 'exists':
      return (result) => truthValue(result.length > 0, NULL_VALUE.ts);
    case 'scalar': {
      const missing = lookup?.otherwise;
      const otherwise = missing === undefined ? undefined : compiler.evaluator(missing);
      return (result, frame) => {
        if (result.length > 1) {
          throw failure('SQL_EXECUTION', 'scalar sub-query returned more than one row');
        }
        return result[0]?.[0] ?? otherwise?.(frame) ?? NULL_VALUE;
      };
    }
    case 'any':
    case 'all':
      return compileQuantified(expression, compiler);
  }
}

/** The tuples of a result that can be equal to something. */
interface Members {
  readonly tuples: Result;
  readonly keys: ReadonlySet<CanonicalKey>;
  readonly least: Value | undefined;
  readonly greatest: Value | undefined;
}

function membersOf(result: Result): Members {
  const tuples = result.filter((tuple) => !tuple.some(isNull));
  let least: Value | undefined;
  let greatest: Value | undefined;
  for (const [value] of tuples) {
    if (value === undefined) continue;
    if (least === undefined || compareValues(value, least) < 0) least = value;
    if (greatest === undefined || compareValues(value, greatest) > 0) greatest = value;
  }
  return { tuples, keys: new Set(tuples.map(keyOfTuple)), least, greatest };
}

function compileQuantified(
  expression: SubqueryExpression,
  compiler: Compiler,
): (result: Result, frame: Frame) => Value {
  const { mode, operator } = expression;
  const operands = expression.operands.map((operand) => compiler.evaluator(operand));
  const known = new WeakMap<Result, Members>();
  const isAny = mode === 'any';
  return (result, frame) => {
    let members = known.get(result);
    if (members === undefined) {
      members = membersOf(result);
      known.set(result, members);
    }
    if (members.tuples.length === 0) return truthValue(!isAny, NULL_VALUE.ts);
    const values = operands.map((operand) => latestVersions(operand(frame)));
    if (values.some(isNull)) return NULL_VALUE;
    const { keys, least, greatest } = members;
    const holds = (): boolean => {
      const isMember = keys.has(keyOfTuple(values));
      if (operator === '=') return isAny ? isMember : isMember && keys.size === 1;
      if (operator === '!=') return isAny ? !isMember || keys.size > 1 : !isMember;
      const [value] = values as [Value];
      const upward = operator === '<' || operator === '<=';
      const bound = (upward === isAny ? greatest : least) as Value;
      const order = compareValues(value, bound);
      if (order === 0) return operator === '<=' || operator === '>=';
      return upward ? order < 0 : order > 0;
    };
    return truthValue(holds(), NULL_VALUE.ts);
  };
}
