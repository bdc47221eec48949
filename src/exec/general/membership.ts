// IN: a list, the cells of a sub-select, the keys or values of a row.
import type {
  InListExpression,
  InMembersExpression,
  InQueryExpression,
  PathOperandExpression,
} from '../../plan/expression.ts';
import { type CanonicalKey, keyOfValue } from '../../value/canonical-key.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { laterOf, readTimestamp, Timestamp } from '../../value/timestamp.ts';
import {
  compareValues,
  effectiveTs,
  NULL_VALUE,
  type Row,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { asRow, isNull, latestVersions } from './call/lookup.ts';
import type { Compiler } from './compiler.ts';
import type { Evaluator } from './frame.ts';
import { truthValue } from './logic.ts';

export function compileInList(expression: InListExpression, compiler: Compiler): Evaluator {
  const { negated, choices } = expression;
  const operand = compiler.evaluator(expression.operand);
  const constants = choices.map((choice) =>
    choice.kind === 'constant' ? choice.value : undefined,
  );
  if (constants.every((value) => value !== undefined)) {
    const timestamps = firstTimestamps(constants);
    // A text beside a timestamp is read as one.
    const times = firstTimestamps(constants.map((choice) => asTime(choice)));
    const hasTimes = constants.some(
      (choice) => choice instanceof Scalar && choice.atom instanceof Timestamp,
    );
    const readAmong = (value: Value): number | undefined => {
      const atom = value instanceof Scalar ? value.atom : undefined;
      const read = atom instanceof Timestamp || (hasTimes && typeof atom === 'string');
      return read ? times.get(keyOfValue(asTime(value))) : undefined;
    };
    return (frame) => {
      const value = latestVersions(operand(frame));
      const ts = effectiveTs(value);
      if (isNull(value)) return new Scalar(null, ts);
      const found = timestamps.get(keyOfValue(value)) ?? readAmong(value);
      if (found === undefined) return truthValue(negated, ts);
      return truthValue(!negated, laterOf(ts, found));
    };
  }
  const evaluators = choices.map((choice) => compiler.evaluator(choice));
  return (frame) => {
    const value = latestVersions(operand(frame));
    const ts = effectiveTs(value);
    if (isNull(value)) return new Scalar(null, ts);
    for (const evaluate of evaluators) {
      const choice = latestVersions(evaluate(frame));
      if (!isNull(choice) && compareValues(value, choice) === 0) {
        return truthValue(!negated, laterOf(ts, effectiveTs(choice)));
      }
    }
    return truthValue(negated, ts);
  };
}

/** A timestamp or a text that is one; everything else is null. */
function asTime(value: Value): Value {
  if (!(value instanceof Scalar)) return NULL_VALUE;
  if (value.atom instanceof Timestamp) return value;
  const seconds = typeof value.atom === 'string' ? readTimestamp(value.atom) : null;
  return seconds === null ? NULL_VALUE : new Scalar(new Timestamp(seconds), value.ts);
}

/** The first timestamp of each distinct non-null choice. */
function firstTimestamps(choices: readonly Value[]): Map<CanonicalKey, number> {
  const timestamps = new Map<CanonicalKey, number>();
  for (const choice of choices) {
    const key = keyOfValue(choice);
    if (!isNull(choice) && !timestamps.has(key)) timestamps.set(key, effectiveTs(choice));
  }
  return timestamps;
}

/** The sub-select runs once a run, when the first row asks. */
export function compileInQuery(expression: InQueryExpression, compiler: Compiler): Evaluator {
  const { negated, asPaths, subquery } = expression;
  const { runtime } = compiler;
  const operand = compiler.evaluator(expression.operand);
  let keys: ReadonlySet<CanonicalKey> | undefined;
  let run = -1;
  const collect = (): ReadonlySet<CanonicalKey> => {
    const cells = runtime.subqueryCells(subquery);
    return new Set(
      cells.flatMap((cell) => (isNull(cell) ? [] : keyOfValue(asPath(cell, asPaths)))),
    );
  };
  return (frame) => {
    const value = latestVersions(operand(frame));
    const ts = effectiveTs(value);
    if (isNull(value)) return new Scalar(null, ts);
    if (keys === undefined || run !== runtime.run) {
      keys = collect();
      run = runtime.run;
    }
    return truthValue(keys.has(keyOfValue(value)) !== negated, ts);
  };
}

export function compileInMembers(expression: InMembersExpression, compiler: Compiler): Evaluator {
  const { negated, part, asPaths } = expression;
  const operand = compiler.evaluator(expression.operand);
  const evaluateRow = compiler.evaluator(expression.row);
  const find = part === 'keys' ? findKey : findValue;
  return (frame) => {
    const value = latestVersions(operand(frame));
    const set = evaluateRow(frame);
    const ts = effectiveTs(value);
    if (isNull(value) || isNull(set)) return new Scalar(null, laterOf(ts, effectiveTs(set)));
    const row = asRow(latestVersions(set));
    const found = row === undefined ? undefined : find(row, value, asPaths);
    if (found === undefined) return truthValue(negated, ts);
    return truthValue(!negated, laterOf(ts, found));
  };
}

/** The timestamp of the member that has the text of the value as its name. */
function findKey(row: Row, value: Value): number | undefined {
  if (!(value instanceof Scalar) || value.atom === null) return undefined;
  const index = row.indexOf(atomText(value.atom));
  return index === -1 ? undefined : effectiveTs(row.values[index] as Value);
}

function findValue(row: Row, value: Value, asPaths: boolean): number | undefined {
  const found = row.values.find(
    (member) => !isNull(member) && compareValues(asPath(member, asPaths), value) === 0,
  );
  return found === undefined ? undefined : effectiveTs(found);
}

/** Beside a direct call of rowPath() a string is a path of one element. */
export function compilePathOperand(
  expression: PathOperandExpression,
  compiler: Compiler,
): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  return (frame) => asPath(operand(frame), true);
}

function asPath(value: Value, wanted: boolean): Value {
  if (!wanted || !(value instanceof Scalar) || typeof value.atom !== 'string') return value;
  return new Scalar(new Path([value.atom]), value.ts);
}
