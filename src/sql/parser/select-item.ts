// Items of select lists and row literals: wildcards, named expressions, COLUMN EXPR.
import type {
  ColumnExpressionItem,
  Exclusion,
  Expression,
  NamedItem,
  NamePath,
  RowNode,
  SelectItem,
  Star,
  WildcardItem,
} from '../node.ts';
import { parseLimitCount } from './count.ts';
import type { Cursor } from './cursor.ts';
import { endsWildcard, startsBareAlias } from './lookahead.ts';

/** `takesBareAlias`: AS may be left out, as in a select list and unlike in `{ }`. */
export function parseSelectItem(cursor: Cursor, takesBareAlias = true): SelectItem {
  const { token } = cursor;
  if (token.word === 'COLUMN' && cursor.peek(1).word === 'EXPR') return parseColumns(cursor);
  if (startsStar(cursor)) return parseWildcard(cursor);
  if (token.kind === 'name' && cursor.peek(1).symbol === ':') {
    cursor.advance();
    cursor.advance();
    return parseNamed(cursor, token.start, token.path, false);
  }
  return parseNamed(cursor, token.start, undefined, takesBareAlias);
}

/** `{ item, … }` */
export function parseRow(cursor: Cursor): RowNode {
  const { start } = cursor.advance();
  const items: SelectItem[] = [];
  if (!cursor.acceptSymbol('}')) {
    do {
      items.push(parseSelectItem(cursor, false));
    } while (cursor.acceptSymbol(','));
    cursor.expectSymbol('}');
  }
  Object.freeze(items);
  return Object.freeze({ kind: 'row', items, start, end: cursor.end });
}

function parseNamed(
  cursor: Cursor,
  start: number,
  written: NamePath | undefined,
  takesBareAlias: boolean,
): NamedItem {
  const surfaceStart = cursor.token.start;
  const expression = cursor.grammar.expression(cursor);
  const surface = cursor.source.text.slice(surfaceStart, cursor.end);
  let name: NamePath | '*' | undefined = written;
  if (written === undefined && cursor.acceptKeyword('AS')) {
    name = cursor.acceptSymbol('*') ? '*' : parseName(cursor, 'a name');
  } else if (written === undefined && takesBareAlias && startsBareAlias(cursor)) {
    name = cursor.advance().path;
  }
  const end = cursor.end;
  return Object.freeze({ kind: 'named-expression', expression, name, surface, start, end });
}

function parseName(cursor: Cursor, what: string): NamePath {
  if (cursor.token.kind !== 'name') cursor.fail(what);
  return cursor.advance().path;
}

/** Whether `*`, `x*` or `x.*` stands here, and not a product. */
function startsStar(cursor: Cursor): boolean {
  const { token } = cursor;
  if (token.symbol === '*') return true;
  if (token.kind !== 'name') return false;
  const next = cursor.peek(1);
  return next.symbol === '.*' || (next.symbol === '*' && endsWildcard(cursor, 1));
}

function parseStar(cursor: Cursor): Star {
  const path = cursor.token.kind === 'name' ? cursor.advance().path : [];
  const dotted = path.length > 0 && cursor.acceptSymbol('.*');
  if (!dotted) cursor.expectSymbol('*');
  return Object.freeze({ path, dotted });
}

function parseWildcard(cursor: Cursor): WildcardItem {
  const { start } = cursor.token;
  let star = parseStar(cursor);
  let replacement: Star | undefined;
  let excluding: readonly Exclusion[] = [];
  if (cursor.acceptSymbol(':')) {
    replacement = star;
    star = parseStar(cursor);
  } else {
    if (cursor.acceptKeyword('EXCLUDING')) excluding = parseExclusions(cursor);
    if (cursor.acceptKeyword('AS')) replacement = parseStar(cursor);
  }
  return Object.freeze({ kind: 'wildcard', star, excluding, replacement, start, end: cursor.end });
}

function parseExclusions(cursor: Cursor): readonly Exclusion[] {
  cursor.expectSymbol('(');
  const exclusions: Exclusion[] = [];
  if (!cursor.acceptSymbol(')')) {
    do {
      exclusions.push(parseExclusion(cursor));
    } while (cursor.acceptSymbol(','));
    cursor.expectSymbol(')');
  }
  return Object.freeze(exclusions);
}

function parseExclusion(cursor: Cursor): Exclusion {
  if (cursor.token.symbol !== '*' && cursor.token.kind !== 'name') {
    cursor.fail('a name', 'a wildcard');
  }
  if (startsStar(cursor)) return Object.freeze({ kind: 'star', star: parseStar(cursor) });
  return Object.freeze({ kind: 'column', path: cursor.advance().path });
}

function parseColumns(cursor: Cursor): ColumnExpressionItem {
  const { grammar } = cursor;
  const { start } = cursor.advance();
  cursor.expectKeyword('EXPR');
  const structured = cursor.acceptKeyword('STRUCTURED');
  cursor.expectSymbol('(');
  const select = parseOptional(cursor, 'SELECT');
  const as = parseOptional(cursor, 'AS');
  const where = parseOptional(cursor, 'WHERE');
  const orderBy = cursor.acceptKeyword('ORDER', 'BY') ? grammar.orderKeys(cursor) : [];
  // The other way round than in a query.
  const offset = parseLimitCount(cursor, 'OFFSET');
  const limit = parseLimitCount(cursor, 'LIMIT');
  cursor.expectSymbol(')');
  return Object.freeze({
    kind: 'column-expression',
    structured,
    select,
    as,
    where,
    orderBy: Object.freeze(orderBy),
    offset,
    limit,
    start,
    end: cursor.end,
  });
}

function parseOptional(cursor: Cursor, keyword: string): Expression | undefined {
  return cursor.acceptKeyword(keyword) ? cursor.grammar.expression(cursor) : undefined;
}
