// What parameters that name datasets and queries mean to SQL.
import type { DatasetReference, InputQuery } from '../schema/declare.ts';
import type { QueryClauses } from '../sql/parser/clauses.ts';

/**
 * An input query as the parser takes it. Datasets given by configuration must have become ids
 * before.
 */
export function queryTextOf(query: InputQuery): string | QueryClauses {
  if (typeof query === 'string') return query;
  const { from } = query;
  return typeof from === 'object'
    ? { ...query, from: quoteName(from.id ?? '') }
    : { ...query, from };
}

/** A name in double quotes, as SQL wants names with any characters. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The ids of dataset references once the service has resolved them. */
export function referenceIds(references: readonly DatasetReference[]): string[] {
  return references.map((reference) =>
    typeof reference === 'string' ? reference : (reference.id ?? ''),
  );
}
