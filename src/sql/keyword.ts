// The words of the language, and the guess at which of them a misspelt word was meant to be.

/** Words that are never a column where an operand starts; quote a column of such a name. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  'ALL',
  'ANY',
  'CASE',
  'CAST',
  'FALSE',
  'INF',
  'INFINITY',
  'INTERVAL',
  'NAN',
  'NOT',
  'NULL',
  'SOME',
  'TIMESTAMP',
  'TRUE',
]);

/** The clauses of a query in the only order in which they may stand. */
export const CLAUSES = [
  'SELECT',
  'NAMED',
  'FROM',
  'WHEN',
  'WHERE',
  'GROUP BY',
  'HAVING',
  'ORDER BY',
  'LIMIT',
  'OFFSET',
] as const;

/** Every word with a meaning somewhere; all but the reserved ones can name columns too. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...RESERVED_WORDS,
  ...CLAUSES.flatMap((clause) => clause.split(' ')),
  ...['AND', 'AS', 'ASC', 'BETWEEN', 'COLUMN', 'DESC', 'DISTINCT', 'ELSE', 'END', 'EXCLUDING'],
  ...['EXPR', 'FULL', 'IN', 'INNER', 'IS', 'JOIN', 'KEYS', 'LEFT', 'LIKE', 'OF', 'ON', 'OR'],
  ...['OUTER', 'RIGHT', 'STRUCTURED', 'THEN', 'VALUES'],
]);

/** Words that can follow a complete operand, so that a name before them is an operand. */
export const OPERATOR_WORDS: ReadonlySet<string> = new Set([
  'AND',
  'BETWEEN',
  'IN',
  'IS',
  'LIKE',
  'NOT',
  'OR',
]);
