// Queries given as an object of clauses, as configurations of procedures and functions may.
import { failure } from '../../util/error.ts';
import type { SqlSource } from '../error.ts';
import type { Expression, Query } from '../node.ts';
import {
  parseExpressionOf,
  parseGroupByOf,
  parseOrderByOf,
  parseSelectOf,
  parseTableExpressionOf,
} from './parser.ts';
import { makeQuery } from './query.ts';

/** The clauses of a query, each without its keyword. `limit` -1 is none. */
export interface QueryClauses {
  /** default `*` */
  readonly select?: string | undefined;
  /** default: the path of the row, or `result` without `from` */
  readonly named?: string | undefined;
  /** default, also when blank: none */
  readonly from?: string | undefined;
  readonly when?: string | undefined;
  readonly where?: string | undefined;
  /** default, also when blank: none */
  readonly groupBy?: string | undefined;
  readonly having?: string | undefined;
  /** default, also when blank: none */
  readonly orderBy?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const CLAUSE_KEYWORDS = {
  select: 'SELECT',
  named: 'NAMED',
  from: 'FROM',
  when: 'WHEN',
  where: 'WHERE',
  groupBy: 'GROUP BY',
  having: 'HAVING',
  orderBy: 'ORDER BY',
} as const;

type ClauseName = keyof typeof CLAUSE_KEYWORDS;

const CLAUSE_NAMES = Object.keys(CLAUSE_KEYWORDS) as readonly ClauseName[];
const BLANK_IS_NONE: ReadonlySet<ClauseName> = new Set(['from', 'groupBy', 'orderBy']);

/**
 * Reads each clause by itself, so that none can run into the next. The offsets of the query refer
 * to its `text`, which joins the clauses; positions in errors count from the start of the clause.
 * @throws SqlSyntaxError whose `clause` detail names the clause, INVALID_PARAMETER for a count
 */
export function parseClauses(clauses: QueryClauses): Query {
  const { text, sources } = joinClauses(clauses);
  const expression = (name: ClauseName): Expression | undefined => {
    const source = sources.get(name);
    return source === undefined ? undefined : parseExpressionOf(source);
  };
  const select = sources.get('select') as SqlSource;
  const from = sources.get('from');
  const groupBy = sources.get('groupBy');
  const orderBy = sources.get('orderBy');
  const having = expression('having');
  const limit = countOf('limit', clauses.limit, -1);
  const offset = countOf('offset', clauses.offset, 0);
  return makeQuery(text, 0, text.length, {
    ...parseSelectOf(select),
    named: expression('named'),
    from: from && parseTableExpressionOf(from),
    when: expression('when'),
    where: expression('where'),
    ...(groupBy === undefined ? {} : parseGroupByOf(groupBy)),
    // The documented default, written out: it must not count as a HAVING without GROUP BY.
    having: having?.kind === 'literal' && having.value === 1 ? undefined : having,
    orderBy: orderBy === undefined ? [] : parseOrderByOf(orderBy),
    limit: limit === -1 ? undefined : countNode(limit),
    offset: offset === 0 ? undefined : countNode(offset),
  });
}

/** A count that stands in no text. */
function countNode(value: number): Expression {
  return Object.freeze({ kind: 'literal', value, start: 0, end: 0 });
}

/** Joins the clauses to one text, and remembers where each stands in it. */
function joinClauses(clauses: QueryClauses): {
  text: string;
  sources: ReadonlyMap<ClauseName, SqlSource>;
} {
  const spans = new Map<ClauseName, { start: number; end: number }>();
  let text = '';
  for (const name of CLAUSE_NAMES) {
    const clause = clauses[name] ?? (name === 'select' ? '*' : undefined);
    if (clause === undefined || (BLANK_IS_NONE.has(name) && clause.trim() === '')) continue;
    if (text !== '') text += '\n';
    text += `${CLAUSE_KEYWORDS[name]} `;
    const start = text.length;
    text += clause;
    spans.set(name, { start, end: text.length });
  }
  const sources = new Map<ClauseName, SqlSource>();
  for (const [label, span] of spans) sources.set(label, { text, ...span, label });
  return { text, sources };
}

function countOf(name: string, value: number | undefined, smallest: number): number {
  if (value === undefined) return smallest;
  if (Number.isInteger(value) && value >= smallest) return value;
  throw failure(
    'INVALID_PARAMETER',
    `${name} must be an integer of at least ${smallest}: ${value}`,
  );
}
