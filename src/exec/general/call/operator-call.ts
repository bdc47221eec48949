// Operators of src/builtin applied to evaluated operands.

import { structuredError } from '../../../builtin/conversion.ts';
import { ARITHMETIC } from '../../../builtin/operator/arithmetic.ts';
import {
  arithmeticOnValues,
  complementValue,
  negateValue,
} from '../../../builtin/operator/arithmetic-values.ts';
import { castValue } from '../../../builtin/operator/cast.ts';
import { likeAtoms, likeMatcher, likeText } from '../../../builtin/operator/like.ts';
import { setTimestamp } from '../../../builtin/operator/set-timestamp.ts';
import type {
  ArithmeticExpression,
  BoundExpression,
  CastExpression,
  EmbeddingExpression,
  LikeExpression,
  SetTimestampExpression,
  UnaryExpression,
} from '../../../plan/expression.ts';
import { failure } from '../../../util/error.ts';
import type { Atom } from '../../../value/atom.ts';
import { atomText } from '../../../value/text.ts';
import { laterOf, MINUS_INFINITY, NOT_A_DATE } from '../../../value/timestamp.ts';
import { Embedding, Row, Scalar, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import type { Evaluator } from '../frame.ts';
import { latestVersions } from './lookup.ts';

export function compileArithmetic(expression: ArithmeticExpression, compiler: Compiler): Evaluator {
  const { operator } = expression;
  const left = compiler.evaluator(expression.left);
  const right = compiler.evaluator(expression.right);
  if (operator === '&' || operator === '|' || operator === '^') {
    return (frame) => arithmeticOnValues(operator, left(frame), right(frame));
  }
  const apply = ARITHMETIC[operator];
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (a instanceof Scalar && b instanceof Scalar) {
      return new Scalar(apply(a.atom, b.atom), laterOf(a.ts, b.ts));
    }
    return arithmeticOnValues(operator, a, b);
  };
}

export function compileUnary(expression: UnaryExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  switch (expression.operator) {
    case '-':
      return (frame) => negateValue(operand(frame));
    case '~':
      return (frame) => complementValue(operand(frame));
    case 'timestamp':
      return (frame) => castValue(operand(frame), 'timestamp');
    default:
      return operand;
  }
}

export function compileCast(expression: CastExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const { target } = expression;
  return (frame) => castValue(operand(frame), target);
}

export function compileSetTimestamp(
  expression: SetTimestampExpression,
  compiler: Compiler,
): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const time = compiler.evaluator(expression.time);
  return (frame) => setTimestamp(latestVersions(operand(frame)), time(frame));
}

/** The timestamp is that of the left side; a null pattern has none. */
export function compileLike(expression: LikeExpression, compiler: Compiler): Evaluator {
  const operand = compiler.evaluator(expression.operand);
  const pattern = compiler.evaluator(expression.pattern);
  const match = compileLikeMatch(expression.pattern);
  const { negated } = expression;
  return (frame) => {
    const text = operand(frame);
    const wanted = pattern(frame);
    if (!(text instanceof Scalar)) throw structuredError(text);
    if (!(wanted instanceof Scalar)) throw structuredError(wanted);
    if (wanted.atom === null) return new Scalar(null, MINUS_INFINITY);
    const result = match(text.atom, wanted.atom);
    return new Scalar(negated && result !== null ? 1 - Number(result) : result, text.ts);
  };
}

/** A constant pattern is compiled once. */
function compileLikeMatch(pattern: BoundExpression): (text: Atom, pattern: Atom) => Atom {
  const constant = pattern.kind === 'constant' ? pattern.value : undefined;
  if (!(constant instanceof Scalar) || constant.atom === null) return likeAtoms;
  const matcher = likeMatcher(atomText(constant.atom));
  return (text) => {
    const matches = likeText(text, matcher);
    return matches === null ? null : Number(matches);
  };
}

/** Atoms make a vector, embeddings of one shape a matrix or tensor; `[]` is null. */
export function compileEmbedding(expression: EmbeddingExpression, compiler: Compiler): Evaluator {
  const elements = expression.elements.map((element) => compiler.evaluator(element));
  if (elements.length === 0) {
    const empty = new Scalar(null, NOT_A_DATE);
    return () => empty;
  }
  return (frame) => {
    const values = elements.map((element) => element(frame));
    let ts = NOT_A_DATE;
    for (const value of values) if (!(value instanceof Row)) ts = laterOf(ts, value.ts);
    return values.every((value) => value instanceof Scalar)
      ? new Embedding(
          [values.length],
          values.map((value) => value.atom),
          ts,
        )
      : stackEmbeddings(values, ts);
  };
}

function stackEmbeddings(values: readonly Value[], ts: number): Embedding {
  const [first] = values;
  const atoms: Atom[] = [];
  for (const value of values) {
    if (value instanceof Row) throw embeddingError('a row is no element of an embedding');
    if (!(value instanceof Embedding && first instanceof Embedding)) {
      throw embeddingError('elements must be all atoms or all embeddings');
    }
    if (value.shape.join() !== first.shape.join()) {
      throw embeddingError(`elements have the shapes [${first.shape}] and [${value.shape}]`);
    }
    for (const atom of value.atoms) atoms.push(atom);
  }
  const inner = first instanceof Embedding ? first.shape : [];
  return new Embedding([values.length, ...inner], atoms, ts);
}

function embeddingError(problem: string): Error {
  return failure('SQL_EXECUTION', `embedding literal: ${problem}`);
}
