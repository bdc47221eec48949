// What the parts of the random grammar share: columns by their text and type, names, and the choices.
import type { Choices } from './choices.ts';

export const TYPES = ['int', 'num', 'text', 'time', 'bool'] as const;
export type Type = (typeof TYPES)[number];

/** Something that may stand in an expression as it is written. */
export interface Column {
  readonly text: string;
  readonly type: Type;
  /** a key of GROUP BY, or an aggregate or window function: a sub-query cannot read these */
  readonly made?: 'key' | 'call';
}

export interface Scope {
  readonly columns: readonly Column[];
  /** columns of the queries around, for sub-queries */
  readonly outer: readonly Column[];
}

/** A common table expression in sight. */
export interface NamedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: Type }[];
}

/** What a query gives. */
export interface QueryText {
  readonly sql: string;
  readonly names: readonly string[];
}

export interface QueryRequest {
  readonly types: readonly Type[];
  readonly outer: readonly Column[];
  readonly depth: number;
  /** whether the query may bring ORDER BY, LIMIT and WITH of its own */
  readonly isPlain?: boolean;
}

/** The state of one random query. */
export interface Grammar {
  readonly choices: Choices;
  readonly tables: readonly NamedTable[];
  named: readonly NamedTable[];
  newName(prefix: string): string;
  query(request: QueryRequest): QueryText;
}

export function scopeColumns(scope: Scope, type: Type): readonly Column[] {
  return scope.columns.filter((column) => column.type === type);
}
