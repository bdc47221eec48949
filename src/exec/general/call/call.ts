// Calls of builtin functions and function entities.

import { boundArguments } from '../../../plan/bind/bound-argument.ts';
import type {
  CallExpression,
  TryExpression,
  UserCallExpression,
} from '../../../plan/expression.ts';
import type {
  ScalarFunction,
  TimestampRule,
  UserFunction,
  ValueFunction,
} from '../../../plan/function.ts';
import { failure, RowanError } from '../../../util/error.ts';
import { earlierOf, laterOf, MINUS_INFINITY, NOT_A_DATE } from '../../../value/timestamp.ts';
import {
  constant,
  EMPTY_ROW,
  effectiveTs,
  embeddingAsRow,
  NULL_VALUE,
  Scalar,
  type Value,
  withTimestamp,
} from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import type { Evaluator, Frame } from '../frame.ts';
import { atomCall, executionError } from './atom-call.ts';
import { mapElements } from './elementwise.ts';
import { isNull, latestVersions } from './lookup.ts';

export function compileCall(expression: CallExpression, compiler: Compiler): Evaluator {
  const declaration = compiler.runtime.namespace.builtins.findFunction(expression.name);
  if (declaration?.kind !== 'scalar' && declaration?.kind !== 'value') {
    throw failure('SQL_BINDING', `Unable to find function '${expression.name}'`);
  }
  return declaration.kind === 'scalar'
    ? compileScalarCall(expression, declaration, compiler)
    : compileValueCall(expression, declaration, compiler);
}

function compileScalarCall(
  expression: CallExpression,
  declaration: ScalarFunction,
  compiler: Compiler,
): Evaluator {
  const args = expression.args.map((arg) => compiler.evaluator(arg));
  const call = atomCall(declaration, expression.args);
  const mapped = (values: readonly Value[]) =>
    locate(declaration.name, () => mapElements(declaration, call, values));
  const propagates = declaration.nulls === 'propagate';
  const rule = declaration.timestamps;
  const [first, second] = args;
  if (args.length === 1 && first !== undefined) {
    return (frame) => {
      const value = first(frame);
      if (!(value instanceof Scalar)) return mapped([value]);
      const ts = rule === 'constant' ? MINUS_INFINITY : value.ts;
      if (propagates && value.atom === null) return new Scalar(null, ts);
      return new Scalar(call(value.atom), ts);
    };
  }
  if (args.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      const a = first(frame);
      const b = second(frame);
      if (!(a instanceof Scalar && b instanceof Scalar)) {
        return mapped([a, b]);
      }
      if (propagates && (a.atom === null || b.atom === null)) {
        return new Scalar(null, nullTs(rule, [a, b]));
      }
      return new Scalar(call(a.atom, b.atom), ruleTs(rule, [a, b]));
    };
  }
  return (frame) => {
    const values = args.map((arg) => arg(frame));
    if (!values.every((value) => value instanceof Scalar)) {
      return mapped(values);
    }
    const atoms = values.map((value) => value.atom);
    if (propagates && atoms.includes(null)) return new Scalar(null, nullTs(rule, values));
    return new Scalar(call(...atoms), ruleTs(rule, values));
  };
}

function compileValueCall(
  expression: CallExpression,
  declaration: ValueFunction,
  compiler: Compiler,
): Evaluator {
  const { runtime } = compiler;
  const rule = declaration.timestamps;
  const propagates = declaration.nulls === 'propagate';
  const finish = (args: readonly Value[], result: Value): Value =>
    rule === 'own' ? result : withTimestamp(result, ruleTs(rule, args));
  const evaluate = valueEvaluation(expression, declaration);
  if (declaration.versions === 'all') {
    const points = expression.args.map((arg) => compiler.points(arg));
    return (frame) => {
      const args = points.map((arg) => toArray(arg(frame)));
      const flat = args.flat();
      if (propagates && args.some((values) => values.every(isNull))) {
        return new Scalar(null, nullTs(rule, flat));
      }
      return finish(
        flat,
        locate(expression.name, () => evaluate.points(args, runtime.scope)),
      );
    };
  }
  const args = expression.args.map((arg) => compiler.evaluator(arg));
  const ahead = compileAhead(expression, declaration, args, compiler);
  return (frame) => {
    const known = ahead?.(frame);
    if (known !== undefined) return known;
    const values = args.map((arg) => latestVersions(arg(frame)));
    if (propagates && values.some(isNull)) return new Scalar(null, nullTs(rule, values));
    return finish(
      values,
      locate(expression.name, () => evaluate.values(values, runtime.scope)),
    );
  };
}

/** Functions that take many calls at once are called before the row is evaluated. */
function compileAhead(
  expression: CallExpression,
  declaration: ValueFunction,
  args: readonly Evaluator[],
  { lookAhead, runtime }: Compiler,
): ((frame: Frame) => Value | undefined) | undefined {
  if (lookAhead === undefined || declaration.bindBatch === undefined) return undefined;
  const evaluate = declaration.bindBatch(boundArguments(expression.args, expression.surfaces));
  return lookAhead.add(expression, args, (calls) => evaluate(calls, runtime.scope));
}

interface ValueEvaluation {
  values: NonNullable<ValueFunction['evaluate']>;
  points: NonNullable<ValueFunction['evaluatePoints']>;
}

/** The prepared call of a value function; `bind` sees constant arguments. */
function valueEvaluation(expression: CallExpression, declaration: ValueFunction): ValueEvaluation {
  const bound = declaration.bind?.(boundArguments(expression.args, expression.surfaces));
  const values: ValueEvaluation['values'] =
    bound ??
    ((args, scope) => {
      if (declaration.evaluate === undefined) {
        throw new Error(`function ${declaration.name} declares no evaluation`);
      }
      return declaration.evaluate(args, scope);
    });
  return {
    values,
    points: (args, scope) =>
      declaration.evaluatePoints === undefined
        ? values(
            args.map((points) => points[0] as Value),
            scope,
          )
        : declaration.evaluatePoints(args, scope),
  };
}

function toArray(points: Value | readonly Value[]): readonly Value[] {
  return Array.isArray(points) ? points : [points as Value];
}

/** Nulls carry the latest timestamp of the arguments unless the function has none of its own. */
function nullTs(rule: TimestampRule, args: readonly Value[]): number {
  return rule === 'constant' ? MINUS_INFINITY : latestTs(args);
}

function ruleTs(rule: TimestampRule, args: readonly Value[]): number {
  switch (rule) {
    case 'first':
      return args[0] === undefined ? MINUS_INFINITY : effectiveTs(args[0]);
    case 'earliest':
      return args.reduce((ts, arg) => earlierOf(ts, effectiveTs(arg)), Number.POSITIVE_INFINITY);
    case 'constant':
      return MINUS_INFINITY;
    default:
      return latestTs(args);
  }
}

function latestTs(args: readonly Value[]): number {
  if (args.length === 0) return MINUS_INFINITY;
  let ts = NOT_A_DATE;
  for (const arg of args) ts = laterOf(ts, effectiveTs(arg));
  return ts;
}

function locate(name: string, evaluate: () => Value): Value {
  try {
    return evaluate();
  } catch (error) {
    throw executionError(name, error);
  }
}

/** Functions that call one another deeper than this are taken for endless recursion. */
const CALL_DEPTH_MAX = 50;
let callDepth = 0;

export function compileUserCall(expression: UserCallExpression, compiler: Compiler): Evaluator {
  const { runtime } = compiler;
  const user = runtime.namespace.findUserFunction(expression.name);
  if (user === undefined) {
    throw failure('SQL_BINDING', `Unable to find function '${expression.name}'`);
  }
  const apply = (input: Value): Value => {
    if (callDepth >= CALL_DEPTH_MAX) {
      throw failure('SQL_EXECUTION', `Reached a stack depth of over ${CALL_DEPTH_MAX} functions`);
    }
    callDepth++;
    try {
      return user.apply(input, runtime.scope);
    } finally {
      callDepth--;
    }
  };
  if (expression.arg === undefined) return () => apply(EMPTY_ROW);
  const arg = compiler.evaluator(expression.arg);
  const { applyAll } = user;
  const ahead =
    applyAll &&
    compiler.lookAhead?.add(expression, [arg], (calls) => {
      const inputs = calls.map(([input]) => input as Value);
      if (user.takesAnyValue) return applyAll(inputs, runtime.scope);
      const present = inputs.filter((input) => !isNull(input));
      const results = applyAll(
        present.map((input) => inputRow(input, user)),
        runtime.scope,
      );
      let next = 0;
      return inputs.map((input) => (isNull(input) ? NULL_VALUE : (results[next++] as Value)));
    });
  return (frame) => {
    const known = ahead?.(frame);
    if (known !== undefined) return known;
    const input = latestVersions(arg(frame));
    if (user.takesAnyValue) return apply(input);
    return isNull(input) ? NULL_VALUE : apply(inputRow(input, user));
  };
}

function inputRow(input: Value, user: UserFunction): Value {
  if (input instanceof Scalar) {
    const message = `User function ${user.name} expected a single row { } argument`;
    throw failure('SQL_EXECUTION', message);
  }
  return 'shape' in input ? embeddingAsRow(input) : input;
}

/** `try` catches what goes wrong while its operand is evaluated, and nothing before. */
export function compileTry(expression: TryExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const otherwise =
    expression.otherwise === undefined ? undefined : compiler.evaluator(expression.otherwise);
  return (frame: Frame) => {
    try {
      return operand(frame);
    } catch (error) {
      if (!(error instanceof RowanError) || error.code === 'CANCELLED') throw error;
      return otherwise === undefined ? constant(error.message) : otherwise(frame);
    }
  };
}
