// Errors of binding: a query that parses but cannot mean anything here.
import { positionOf, wholeText } from '../sql/error.ts';
import type { Span } from '../sql/node.ts';
import { RowanError } from '../util/error.ts';
import { ERRORS } from '../util/error-catalogue.ts';

const NEAR_LENGTH_MAX = 40;
const PREFIX = 'Binding error: ';

/** An error at a place of the query text; `details` has its line, column and the text there. */
export function bindingError(text: string, span: Span, message: string): RowanError {
  return new RowanError('SQL_BINDING', ERRORS.SQL_BINDING.status, message, placeOf(text, span));
}

/** Line and column (both from 1) and the beginning of the text at a span. */
export function placeOf(text: string, span: Span): { line: number; column: number; near: string } {
  const { line, column } = positionOf(wholeText(text), span.start);
  const near = text.slice(span.start, span.end);
  return {
    line,
    column,
    near: near.length > NEAR_LENGTH_MAX ? `${near.slice(0, NEAR_LENGTH_MAX)}…` : near,
  };
}

/** Turns what a declaration refused (an interval, a pattern, an arity) into an error with a place. */
export function locateError(thrown: unknown, text: string, span: Span): unknown {
  if (!(thrown instanceof RowanError) || thrown.details?.line !== undefined) return thrown;
  return bindingError(text, span, thrown.message);
}

/** Queries on a dataset announce the phase; an error passes several queries on its way out. */
export function prefixBindingError(thrown: unknown): unknown {
  if (!(thrown instanceof RowanError) || thrown.code !== 'SQL_BINDING') return thrown;
  if (thrown.message.startsWith(PREFIX)) return thrown;
  return new RowanError(thrown.code, thrown.httpCode, PREFIX + thrown.message, thrown.details);
}
