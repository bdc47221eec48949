// What a query that runs may still say is probably wrong.
import { positionOf, wholeText } from '../sql/error.ts';
import type { Span } from '../sql/node.ts';
import { RowanError } from '../util/error.ts';
import { ERRORS } from '../util/error-catalogue.ts';

export const WARNING_CODES = [
  'UNKNOWN_COLUMN',
  'UNKNOWN_FEATURE',
  'TYPES_NEVER_EQUAL',
  'PRECEDENCE',
  'NAME_CASE',
  'NULL_CAST',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

export interface QueryWarning {
  readonly code: WarningCode;
  readonly message: string;
  /** both from 1 */
  readonly line: number;
  readonly column: number;
  /** what to write instead; null when nothing is near */
  readonly suggestion: string | null;
}

export interface Suspicion {
  readonly code: WarningCode;
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** Warnings beyond this many say nothing new. */
const WARNING_COUNT_MAX = 50;

/** Collects warnings; a strict collector refuses the query instead. */
export class WarningCollector {
  readonly warnings: QueryWarning[] = [];
  readonly #strict: boolean;

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  /** @throws SQL_BINDING with the place when the query is strict */
  add(text: string, span: Span, suspicion: Suspicion): void {
    const { code, message, suggestion } = suspicion;
    const { line, column } = positionOf(wholeText(text), span.start);
    if (this.#strict) {
      const hint = suggestion === undefined ? '' : `; write ${suggestion}`;
      throw new RowanError('SQL_BINDING', ERRORS.SQL_BINDING.status, message + hint, {
        line,
        column,
        near: text.slice(span.start, span.end).slice(0, 40),
        warning: code,
      });
    }
    if (this.warnings.length >= WARNING_COUNT_MAX) return;
    const known = this.warnings.some(
      (other) => other.code === code && other.line === line && other.column === column,
    );
    if (known) return;
    this.warnings.push({ code, message, line, column, suggestion: suggestion ?? null });
  }
}
