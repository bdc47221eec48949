// Errors of running say where in the query text they come from, as those of binding do.
import { placeOf } from '../../plan/error.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import type { Span } from '../../sql/node.ts';
import { RowanError } from '../../util/error.ts';
import type { Evaluator } from './frame.ts';

/** Kinds that fail by themselves; the others only pass on what their operands throw. */
const FALLIBLE: ReadonlySet<BoundExpression['kind']> = new Set([
  'call',
  'user-call',
  'row',
  'embedding',
  'unary',
  'arithmetic',
  'set-timestamp',
  'like',
  'in-query',
  'in-members',
  'cast',
  'row-function',
  'column-function',
  'group-key-element',
]);

/** An evaluator whose errors know the innermost expression that failed. */
export function placeFallible(
  evaluate: Evaluator,
  expression: BoundExpression,
  text: string | undefined,
): Evaluator {
  return FALLIBLE.has(expression.kind) ? placeErrors(evaluate, expression, text) : evaluate;
}

/** The same function; what it throws gets the place of `span`, unless it has one. */
export function placeErrors<Args extends unknown[], Result>(
  run: (...args: Args) => Result,
  span: Span,
  text: string | undefined,
): (...args: Args) => Result {
  if (text === undefined) return run;
  return (...args) => {
    try {
      return run(...args);
    } catch (error) {
      throw placedError(error, text, span);
    }
  };
}

function placedError(thrown: unknown, text: string, span: Span): unknown {
  if (!(thrown instanceof RowanError) || thrown.code === 'CANCELLED') return thrown;
  if (thrown.details?.line !== undefined || span.end <= span.start) return thrown;
  const details = { ...thrown.details, ...placeOf(text, span) };
  return new RowanError(thrown.code, thrown.httpCode, thrown.message, details, thrown.extra);
}
