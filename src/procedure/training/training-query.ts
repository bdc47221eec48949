// What training and test queries must look like; checked when the configuration is.
import { queryTextOf } from '../../dataset/parameter.ts';
import { readQuery } from '../../exec/query.ts';
import type { InputQuery } from '../../schema/declare.ts';
import type { Expression, NamedItem, Query, SelectItem } from '../../sql/node.ts';
import { outputName } from '../../sql/node.ts';
import { failure } from '../../util/error.ts';

/** The outputs that a query must name, and what they must be. */
export type QueryShape = 'features and label' | 'score and label' | 'any';

export interface QueryRules {
  /** procedure type, for messages */
  readonly type: string;
  readonly shape: QueryShape;
  /** only wildcards, columns and simple expressions at the top of each clause */
  readonly plain?: boolean;
  readonly allowsGroupBy?: boolean;
}

const NAMES: Readonly<Record<QueryShape, readonly string[]>> = {
  'features and label': ['features', 'label'],
  'score and label': ['score', 'label'],
  any: [],
};

const EXPECTED: Readonly<Record<QueryShape, string>> = {
  'features and label': "expects a row named 'features' and a scalar named 'label'",
  'score and label': "expects a scalar named 'score' and a scalar named 'label'",
  any: '',
};

/** @throws SqlSyntaxError, or INVALID_PARAMETER saying which rule the query breaks */
export function checkTrainingQuery(query: InputQuery, rules: QueryRules): Query {
  const { type, shape } = rules;
  const parsed = readQuery(queryTextOf(query));
  if (parsed.kind !== 'query')
    throw broken(`${type} must be a SELECT: put other queries into its FROM`);
  if (parsed.from === undefined) throw broken(`${type} must contain a FROM clause`);
  if (rules.allowsGroupBy !== true) {
    if (parsed.groupBy.length > 0) throw broken(`${type} does not support groupBy clause`);
    if (parsed.having !== undefined) throw broken(`${type} does not support having clause`);
  }
  for (const name of NAMES[shape]) {
    if (findItem(parsed, name) === undefined) throw broken(`${type} ${EXPECTED[shape]}`);
  }
  if (rules.plain === true) {
    for (const item of parsed.select) checkPlain(item, type, parsed.text);
  }
  return parsed;
}

/** The item of the select list with that output name. */
export function findItem(query: Query, name: string): NamedItem | undefined {
  return query.select.find((item): item is NamedItem => {
    if (item.kind !== 'named-expression') return false;
    const output = outputName(item);
    return output !== '*' && output.length === 1 && output[0] === name;
  });
}

function checkPlain(item: SelectItem, type: string, text: string): void {
  if (item.kind !== 'named-expression' || isPlain(item.expression)) return;
  const clause = text.slice(item.start, item.end);
  throw broken(`${type} only accepts wildcard and column names at ${clause}`);
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=']);

function isPlain(expression: Expression): boolean {
  switch (expression.kind) {
    case 'column':
    case 'row':
    case 'is':
    case 'and':
    case 'or':
    case 'call':
    case 'extract':
    case 'literal':
      return true;
    case 'binary':
      return COMPARISONS.has(expression.operator);
    case 'unary':
      return expression.operator === 'not';
    default:
      return false;
  }
}

function broken(message: string): Error {
  return failure('INVALID_PARAMETER', message);
}
