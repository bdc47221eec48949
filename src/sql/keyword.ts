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
  'WINDOW',
  'QUALIFY',
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
  ...['USING', 'CROSS', 'NATURAL', 'SEMI', 'ANTI', 'LATERAL', 'TABLESAMPLE', 'UNION', 'EXCEPT'],
  ...['INTERSECT', 'ILIKE', 'NULLS', 'OVER', 'FILTER', 'WITHIN', 'FETCH', 'EXISTS', 'DATE'],
  ...['TRY_CAST', 'CURRENT_DATE', 'CURRENT_TIMESTAMP', 'SIMILAR', 'ESCAPE', 'WITH'],
]);

/** Words that are no alias where AS may be left out: something else begins with them there. */
export const NO_ALIAS_WORDS: ReadonlySet<string> = new Set([
  ...['FROM', 'WHEN', 'WHERE', 'GROUP', 'HAVING', 'QUALIFY', 'WINDOW', 'ORDER', 'LIMIT', 'OFFSET'],
  ...['FETCH', 'NAMED', 'AS', 'ON', 'USING', 'JOIN', 'INNER', 'LEFT', 'RIGHT', 'FULL', 'OUTER'],
  ...['CROSS', 'NATURAL', 'SEMI', 'ANTI', 'LATERAL', 'TABLESAMPLE', 'UNION', 'EXCEPT', 'INTERSECT'],
  ...[
    'AND',
    'OR',
    'NOT',
    'IN',
    'IS',
    'LIKE',
    'ILIKE',
    'SIMILAR',
    'BETWEEN',
    'ASC',
    'DESC',
    'NULLS',
  ],
  ...['EXCLUDING', 'OVER', 'FILTER', 'WITHIN', 'END', 'THEN', 'ELSE', 'ESCAPE'],
]);

/** Words that can follow a complete operand, so that a name before them is an operand. */
export const OPERATOR_WORDS: ReadonlySet<string> = new Set([
  'AND',
  'BETWEEN',
  'ILIKE',
  'IN',
  'IS',
  'LIKE',
  'NOT',
  'OR',
]);
