// What FROM takes: datasets, table functions, sub-selects, joins.
import type {
  Expression,
  JoinKind,
  JoinTable,
  RowNode,
  TableExpression,
  TableNaming,
  TableSample,
} from '../node.ts';
import type { Cursor } from './cursor.ts';
import { continuesQuery, startsBareAlias, startsQuery } from './lookahead.ts';
import { parseNameList } from './query.ts';

/** Reads tables and the joins between them; chains of joins and of commas nest to the left. */
export function parseTableExpression(cursor: Cursor): TableExpression {
  const { start } = cursor.token;
  let left = parseJoined(cursor);
  while (cursor.acceptSymbol(',')) {
    const right = parseJoined(cursor);
    left = makeJoin(cursor, start, { joinKind: 'inner', left, right, on: undefined });
  }
  return left;
}

/** Reads tables joined by words. */
function parseJoined(cursor: Cursor): TableExpression {
  cursor.enter();
  const { start } = cursor.token;
  let left = parseTable(cursor);
  for (;;) {
    const join = parseJoinKind(cursor);
    if (join === undefined) break;
    const right = parseTable(cursor);
    const condition = join.conditional ? parseJoinCondition(cursor) : NO_CONDITION;
    const natural = join.natural ? { natural: true } : {};
    left = makeJoin(cursor, start, {
      joinKind: join.joinKind,
      left,
      right,
      ...condition,
      ...natural,
    });
  }
  cursor.leave();
  return left;
}

function makeJoin(
  cursor: Cursor,
  start: number,
  parts: Omit<JoinTable, 'kind' | 'start' | 'end'>,
): TableExpression {
  return Object.freeze({ kind: 'join', ...parts, start, end: cursor.end });
}

type JoinCondition = Pick<JoinTable, 'on' | 'using'>;

const NO_CONDITION: JoinCondition = { on: undefined };

function parseJoinCondition(cursor: Cursor): JoinCondition {
  if (cursor.acceptKeyword('ON')) return { on: cursor.grammar.expression(cursor) };
  if (cursor.acceptKeyword('USING')) return { on: undefined, using: parseNameList(cursor) };
  return NO_CONDITION;
}

interface JoinWords {
  readonly joinKind: JoinKind;
  readonly natural: boolean;
  /** ON or USING may follow */
  readonly conditional: boolean;
}

function parseJoinKind(cursor: Cursor): JoinWords | undefined {
  if (cursor.acceptKeyword('CROSS', 'JOIN')) {
    return { joinKind: 'inner', natural: false, conditional: false };
  }
  const natural = cursor.acceptKeyword('NATURAL');
  const joinKind = parseJoinWord(cursor);
  if (joinKind !== undefined) return { joinKind, natural, conditional: !natural };
  return natural ? cursor.fail() : undefined;
}

function parseJoinWord(cursor: Cursor): JoinKind | undefined {
  if (cursor.acceptKeyword('JOIN')) return 'inner';
  if (cursor.acceptKeyword('INNER', 'JOIN')) return 'inner';
  if (cursor.acceptKeyword('SEMI', 'JOIN')) return 'semi';
  if (cursor.acceptKeyword('ANTI', 'JOIN')) return 'anti';
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
  if (token.word === 'LATERAL' && cursor.peek(1).symbol === '(') return parseLateral(cursor);
  if (token.kind !== 'name') cursor.fail('the name of a dataset', "'('");
  const name = cursor.expectIdentifier('the name of a dataset');
  if (!cursor.acceptSymbol('(')) {
    const naming = parseNaming(cursor);
    return Object.freeze({ kind: 'dataset-table', name, ...naming, start, end: cursor.end });
  }
  if (name === 'row_dataset' || name === 'atom_dataset') {
    const expression = cursor.grammar.expression(cursor);
    expectClose(cursor);
    const naming = parseNaming(cursor);
    const kind = name === 'row_dataset' ? 'row-dataset-table' : 'atom-dataset-table';
    return Object.freeze({ kind, expression, ...naming, start, end: cursor.end });
  }
  const lower = name.toLowerCase();
  if (lower === 'generate_series' || lower === 'range') return parseSeries(cursor, lower, start);
  const { tables, options } = parseArguments(cursor);
  const naming = parseNaming(cursor);
  const end = cursor.end;
  return Object.freeze({ kind: 'function-table', name, tables, options, ...naming, start, end });
}

function parseSeries(
  cursor: Cursor,
  name: 'generate_series' | 'range',
  start: number,
): TableExpression {
  const args: Expression[] = [];
  do {
    args.push(cursor.grammar.expression(cursor));
  } while (cursor.acceptSymbol(','));
  expectClose(cursor);
  Object.freeze(args);
  const naming = parseNaming(cursor);
  return Object.freeze({ kind: 'series-table', name, args, ...naming, start, end: cursor.end });
}

function parseLateral(cursor: Cursor): TableExpression {
  const { start } = cursor.advance();
  cursor.expectSymbol('(');
  if (!startsQuery(cursor) && cursor.token.symbol !== '(') cursor.fail('SELECT');
  const query = cursor.grammar.query(cursor);
  expectClose(cursor);
  const naming = parseNaming(cursor);
  const end = cursor.end;
  return Object.freeze({ kind: 'subquery', query, lateral: true, ...naming, start, end });
}

/** A sub-select, or tables in parentheses, which leave no trace but the shape of the join. */
function parseParentheses(cursor: Cursor): TableExpression {
  const { start } = cursor.advance();
  if (startsQuery(cursor)) {
    return closeSubquery(cursor, cursor.grammar.query(cursor), start);
  }
  const table = parseTableExpression(cursor);
  const bare = table.kind === 'subquery' && table.alias === undefined;
  if (bare && continuesQuery(cursor)) {
    return closeSubquery(cursor, cursor.grammar.continueQuery(cursor, table.query), start);
  }
  expectClose(cursor);
  return table;
}

function closeSubquery(
  cursor: Cursor,
  query: Extract<TableExpression, { kind: 'subquery' }>['query'],
  start: number,
): TableExpression {
  expectClose(cursor);
  const naming = parseNaming(cursor);
  return Object.freeze({ kind: 'subquery', query, ...naming, start, end: cursor.end });
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
      tables.push(parseJoined(cursor));
    } while (cursor.acceptSymbol(','));
    expectClose(cursor);
  }
  return { tables: Object.freeze(tables), options };
}

/** Reads `[TABLESAMPLE …] [AS] alias [(column, …)] [TABLESAMPLE …]`. */
function parseNaming(cursor: Cursor): TableNaming {
  const before = parseSample(cursor);
  const alias = parseAlias(cursor);
  const renames = alias !== undefined && cursor.token.symbol === '(';
  const columnNames = renames ? parseNameList(cursor) : undefined;
  const sample = before ?? parseSample(cursor);
  return {
    alias,
    ...(columnNames === undefined ? {} : { columnNames }),
    ...(sample === undefined ? {} : { sample }),
  };
}

function parseAlias(cursor: Cursor): string | undefined {
  if (cursor.acceptKeyword('AS')) return cursor.expectIdentifier('a name for the table');
  return startsBareAlias(cursor) ? cursor.expectIdentifier('a name for the table') : undefined;
}

function parseSample(cursor: Cursor): TableSample | undefined {
  if (cursor.token.word !== 'TABLESAMPLE') return undefined;
  cursor.advance();
  const parenthesised = cursor.acceptSymbol('(');
  const amount = readNumber(cursor, 'a number of rows or percent');
  const unit = parseSampleUnit(cursor);
  if (parenthesised) cursor.expectSymbol(')');
  if (unit === 'rows' ? !Number.isInteger(amount) : amount > 100) {
    const message =
      unit === 'rows'
        ? 'TABLESAMPLE takes a whole number of rows'
        : 'TABLESAMPLE takes at most 100 PERCENT';
    cursor.failWith({ message, expected: [] });
  }
  let seed: number | undefined;
  if (cursor.acceptKeyword('REPEATABLE')) {
    cursor.expectSymbol('(');
    seed = readNumber(cursor, 'a seed');
    cursor.expectSymbol(')');
  }
  return Object.freeze({ amount, unit, seed });
}

function parseSampleUnit(cursor: Cursor): 'rows' | 'percent' {
  if (cursor.acceptKeyword('ROWS')) return 'rows';
  if (cursor.token.symbol === '%') {
    cursor.advance();
    return 'percent';
  }
  cursor.expectKeyword('PERCENT');
  return 'percent';
}

function readNumber(cursor: Cursor, what: string): number {
  const { kind, value } = cursor.token;
  if (kind !== 'number') cursor.fail(what);
  cursor.advance();
  return Number(value);
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
