// What FROM takes: datasets, table functions, sub-selects, joins.
import type { Expression, JoinKind, RowNode, TableExpression } from '../node.ts';
import type { Cursor } from './cursor.ts';
import { startsQuery } from './lookahead.ts';

/** Reads tables and the joins between them; a chain of joins nests to the left. */
export function parseTableExpression(cursor: Cursor): TableExpression {
  cursor.enter();
  const { start } = cursor.token;
  let left = parseTable(cursor);
  for (;;) {
    const joinKind = parseJoinKind(cursor);
    if (joinKind === undefined) break;
    const right = parseTable(cursor);
    const on: Expression | undefined = cursor.acceptKeyword('ON')
      ? cursor.grammar.expression(cursor)
      : undefined;
    left = Object.freeze({ kind: 'join', joinKind, left, right, on, start, end: cursor.end });
  }
  cursor.leave();
  return left;
}

function parseJoinKind(cursor: Cursor): JoinKind | undefined {
  if (cursor.acceptKeyword('JOIN')) return 'inner';
  if (cursor.acceptKeyword('INNER', 'JOIN')) return 'inner';
  if (cursor.acceptKeyword('OUTER', 'JOIN')) return 'full';
  for (const [word, kind] of OUTER_JOINS) {
    if (cursor.acceptKeyword(word)) {
      cursor.acceptKeyword('OUTER');
      cursor.expectKeyword('JOIN');
      return kind;
    }
  }
  return undefined;
}

const OUTER_JOINS: readonly (readonly [word: string, kind: JoinKind])[] = [
  ['LEFT', 'left'],
  ['RIGHT', 'right'],
  ['FULL', 'full'],
];

function parseTable(cursor: Cursor): TableExpression {
  const { token } = cursor;
  const { start } = token;
  if (token.symbol === '(') return parseParentheses(cursor);
  if (token.kind !== 'name') cursor.fail('the name of a dataset', "'('");
  const name = cursor.expectIdentifier('the name of a dataset');
  if (!cursor.acceptSymbol('(')) {
    const alias = parseAlias(cursor);
    return Object.freeze({ kind: 'dataset-table', name, alias, start, end: cursor.end });
  }
  if (name === 'row_dataset' || name === 'atom_dataset') {
    const expression = cursor.grammar.expression(cursor);
    expectClose(cursor);
    const alias = parseAlias(cursor);
    const kind = name === 'row_dataset' ? 'row-dataset-table' : 'atom-dataset-table';
    return Object.freeze({ kind, expression, alias, start, end: cursor.end });
  }
  const { tables, options } = parseArguments(cursor);
  const alias = parseAlias(cursor);
  const end = cursor.end;
  return Object.freeze({ kind: 'function-table', name, tables, options, alias, start, end });
}

/** A sub-select, or tables in parentheses, which leave no trace but the shape of the join. */
function parseParentheses(cursor: Cursor): TableExpression {
  const { start } = cursor.advance();
  if (startsQuery(cursor)) {
    const query = cursor.grammar.query(cursor);
    expectClose(cursor);
    const alias = parseAlias(cursor);
    return Object.freeze({ kind: 'subquery', query, alias, start, end: cursor.end });
  }
  const table = parseTableExpression(cursor);
  expectClose(cursor);
  return table;
}

interface TableArguments {
  readonly tables: readonly TableExpression[];
  readonly options: RowNode | undefined;
}

/** Reads the arguments of a table function: tables, then at most one row literal of options. */
function parseArguments(cursor: Cursor): TableArguments {
  const tables: TableExpression[] = [];
  let options: RowNode | undefined;
  if (!cursor.acceptSymbol(')')) {
    do {
      if (cursor.token.symbol === '{') {
        options = cursor.grammar.row(cursor);
        break;
      }
      tables.push(parseTableExpression(cursor));
    } while (cursor.acceptSymbol(','));
    expectClose(cursor);
  }
  return { tables: Object.freeze(tables), options };
}

function parseAlias(cursor: Cursor): string | undefined {
  return cursor.acceptKeyword('AS') ? cursor.expectIdentifier('a name for the table') : undefined;
}

function expectClose(cursor: Cursor): void {
  if (cursor.acceptSymbol(')')) return;
  const { previous } = cursor;
  const hint =
    previous?.word === 'SELECT' ? 'a sub-select needs parentheses of its own' : undefined;
  cursor.failWith({
    message: "Expected to find a ')' parsing a table expression",
    expected: ["')'"],
    hint,
  });
}
