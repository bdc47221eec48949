// The parser's entry points: each reads the whole of a text or says where it is wrong.
import { type SqlSource, wholeText } from '../error.ts';
import type { Expression, OrderKey, QueryNode, SelectItem, TableExpression } from '../node.ts';
import { Cursor, type Grammar } from './cursor.ts';
import { parseExpression as readExpression } from './expression.ts';
import {
  continueQuery,
  type Grouping,
  parseGrouping,
  parseOrderKeys,
  parseSelect,
  parseSelectItems,
  parseQuery as readQuery,
  type SelectClause,
} from './query.ts';
import { parseRow, parseSelectItem } from './select-item.ts';
import { refuseWritingStatement } from './statement.ts';
import { parseTableExpression as readTable } from './table.ts';

const GRAMMAR: Grammar = {
  expression: readExpression,
  row: parseRow,
  selectItem: parseSelectItem,
  orderKeys: parseOrderKeys,
  query: readQuery,
  continueQuery,
  table: readTable,
};

function parseWhole<Result>(source: SqlSource, read: (cursor: Cursor) => Result): Result {
  const cursor = new Cursor(source, GRAMMAR);
  const result = read(cursor);
  cursor.miss('the end of the text');
  cursor.expectEnd();
  return result;
}

/**
 * Reads a query: SELECT, VALUES, set operations of them, WITH before them. A semicolon may end it.
 * @throws SqlSyntaxError with the line and column of the first thing that does not fit; so does
 *   every other entry point
 */
export function parseQuery(text: string): QueryNode {
  return parseWhole(wholeText(text), (cursor) => {
    refuseWritingStatement(cursor);
    const query = readQuery(cursor);
    cursor.acceptSymbol(';');
    return query;
  });
}

/** Reads one expression. */
export function parseExpression(text: string): Expression {
  return parseExpressionOf(wholeText(text));
}

/** Reads the items of a select list, without SELECT and without DISTINCT ON. */
export function parseSelectList(text: string): readonly SelectItem[] {
  return parseWhole(wholeText(text), parseSelectItems);
}

/** Reads what follows FROM. */
export function parseTableExpression(text: string): TableExpression {
  return parseTableExpressionOf(wholeText(text));
}

/** Reads what follows ORDER BY. */
export function parseOrderBy(text: string): readonly OrderKey[] {
  return parseOrderByOf(wholeText(text));
}

/** Reads what follows GROUP BY. */
export function parseGroupBy(text: string): Grouping {
  return parseGroupByOf(wholeText(text));
}

// The same for a part of a text.

/** Reads one expression. @throws SQL_SYNTAX where the source is not exactly one; so below */
export function parseExpressionOf(source: SqlSource): Expression {
  return parseWhole(source, (cursor) => readExpression(cursor));
}

/** Reads a select list, with DISTINCT where it has one. */
export function parseSelectOf(source: SqlSource): SelectClause {
  return parseWhole(source, parseSelect);
}

/** Reads what follows FROM. */
export function parseTableExpressionOf(source: SqlSource): TableExpression {
  return parseWhole(source, readTable);
}

/** Reads what follows ORDER BY. */
export function parseOrderByOf(source: SqlSource): readonly OrderKey[] {
  return parseWhole(source, parseOrderKeys);
}

/** Reads what follows GROUP BY. */
export function parseGroupByOf(source: SqlSource): Grouping {
  return parseWhole(source, parseGrouping);
}
