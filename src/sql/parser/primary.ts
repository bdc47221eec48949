// Operands: literals, parameters, names, calls, parentheses, rows, embeddings, CASE and CAST.
import { RESERVED_WORDS } from '../keyword.ts';
import type { Token } from '../lexer.ts';
import type { CaseBranch, Expression, LiteralValue, OrderKey, QueryNode } from '../node.ts';
import { LEVEL } from '../precedence.ts';
import { parseCastType } from './cast.ts';
import type { Cursor } from './cursor.ts';
import { continuesQuery, isGenericDistinct, startsQuery } from './lookahead.ts';
import { parseOver } from './window.ts';

const WORD_LITERALS = new Map<string, LiteralValue>([
  ['NULL', null],
  ['TRUE', 1],
  ['FALSE', 0],
  ['NAN', Number.NaN],
  ['INF', Number.POSITIVE_INFINITY],
  ['INFINITY', Number.POSITIVE_INFINITY],
]);

/** The functions that count rows rather than values when their argument is `*`. */
const STAR_FUNCTIONS: ReadonlySet<string> = new Set(['count', 'vertical_count']);

/** Reads one operand, with what stands in its parentheses. @throws SQL_SYNTAX */
export function parsePrimary(cursor: Cursor): Expression {
  const { token } = cursor;
  switch (token.kind) {
    case 'number':
    case 'string':
      cursor.advance();
      return literal(token, token.value);
    case 'parameter':
      cursor.advance();
      return Object.freeze({
        kind: 'parameter',
        name: token.value as string,
        start: token.start,
        end: token.end,
      });
    case 'name':
      return parseWord(cursor, token);
    case 'symbol':
      if (token.symbol === '(') return parseParentheses(cursor);
      if (token.symbol === '{') return cursor.grammar.row(cursor);
      if (token.symbol === '[') return parseEmbedding(cursor);
      break;
    case 'end':
      break;
  }
  return cursor.fail('an expression');
}

function literal(token: Token, value: LiteralValue): Expression {
  return Object.freeze({ kind: 'literal', value, start: token.start, end: token.end });
}

function parseWord(cursor: Cursor, token: Token): Expression {
  const { word } = token;
  if (word !== '' && RESERVED_WORDS.has(word)) return parseReserved(cursor, token);
  if (token.path.length > 1 && isReservedHead(cursor, token)) failReserved(cursor, token);
  const special = parseSpecialWord(cursor, token);
  if (special !== undefined) return special;
  cursor.advance();
  if (cursor.token.symbol === '(') return parseCall(cursor, token);
  return Object.freeze({ kind: 'column', path: token.path, start: token.start, end: token.end });
}

function parseReserved(cursor: Cursor, token: Token): Expression {
  const { word } = token;
  if (WORD_LITERALS.has(word)) {
    cursor.advance();
    return literal(token, WORD_LITERALS.get(word) as LiteralValue);
  }
  if (word === 'CASE') return parseCase(cursor);
  if (word === 'CAST') return parseCast(cursor);
  if (word === 'INTERVAL') return parseInterval(cursor);
  if (word === 'NOT') return cursor.fail('an expression');
  return failReserved(cursor, token);
}

/** In `null.x` the word is not a whole name, but still not a column. */
function isReservedHead(cursor: Cursor, token: Token): boolean {
  const head = token.path[0] as string;
  return cursor.source.text[token.start] !== '"' && RESERVED_WORDS.has(head.toUpperCase());
}

function failReserved(cursor: Cursor, token: Token): never {
  const word = (token.path[0] as string).toUpperCase();
  return cursor.failWith({
    expected: ['an expression'],
    hint: `${word} is reserved: write "${token.path[0]}" in double quotes for a column`,
  });
}

/** `INTERVAL '3 days'`, `INTERVAL '3' MONTH`, `INTERVAL 3 DAY` */
function parseInterval(cursor: Cursor): Expression {
  const { start } = cursor.advance();
  const { kind, path, value } = cursor.token;
  const quoted = kind === 'name' && path.length === 1 && cursor.token.word === '';
  if (kind !== 'string' && kind !== 'number' && !quoted) {
    cursor.fail('the text of an interval in quotes');
  }
  cursor.advance();
  let text = quoted ? (path[0] as string) : String(value);
  const unit = cursor.token.word.toLowerCase();
  if (
    INTERVAL_UNITS.has(unit.replace(/s$/, '')) &&
    (kind === 'number' || /^[\s\d.+-]*$/.test(text))
  ) {
    cursor.advance();
    text = `${text.trim()} ${unit}`;
  } else if (kind === 'number') {
    cursor.fail(...[...INTERVAL_UNITS].map((each) => each.toUpperCase()));
  }
  return Object.freeze({ kind: 'interval-literal', text, start, end: cursor.end });
}

const INTERVAL_UNITS: ReadonlySet<string> = new Set([
  ...['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'],
]);

function parseParentheses(cursor: Cursor): Expression {
  const { start } = cursor.advance();
  if (startsQuery(cursor)) return closeQuery(cursor, cursor.grammar.query(cursor), start);
  const inner = cursor.grammar.expression(cursor);
  if (inner.kind === 'scalar-query' && continuesQuery(cursor)) {
    return closeQuery(cursor, cursor.grammar.continueQuery(cursor, inner.query), start);
  }
  if (cursor.token.symbol !== ',') {
    cursor.expectSymbol(')');
    return inner;
  }
  const elements = [inner];
  while (cursor.acceptSymbol(',')) elements.push(cursor.grammar.expression(cursor));
  cursor.expectSymbol(')');
  Object.freeze(elements);
  return Object.freeze({ kind: 'tuple', elements, start, end: cursor.end });
}

function closeQuery(cursor: Cursor, query: QueryNode, start: number): Expression {
  cursor.expectSymbol(')');
  return Object.freeze({ kind: 'scalar-query', query, start, end: cursor.end });
}

function parseEmbedding(cursor: Cursor): Expression {
  const { start } = cursor.advance();
  const elements: Expression[] = [];
  if (!cursor.acceptSymbol(']')) {
    do {
      elements.push(cursor.grammar.expression(cursor));
    } while (cursor.acceptSymbol(','));
    cursor.expectSymbol(']');
  }
  Object.freeze(elements);
  return Object.freeze({ kind: 'embedding', elements, start, end: cursor.end });
}

function parseCall(cursor: Cursor, token: Token): Expression {
  const { path, start } = token;
  if (path.length > 2) {
    cursor.failWith({
      message: `ambiguous function name "${path.join('.')}": expected function or table.function`,
      expected: [],
    });
  }
  const table = path.length === 2 ? path[0] : undefined;
  const name = path[path.length - 1] as string;
  cursor.advance();
  const star = cursor.token.symbol === '*' && cursor.peek(1).symbol === ')';
  const args: Expression[] = [];
  let distinct = false;
  let ignoreNulls = false;
  let orderBy: readonly OrderKey[] = [];
  if (star) {
    if (!STAR_FUNCTIONS.has(name.toLowerCase())) {
      const hint = 'only count and vertical_count take *; write {*} for all columns as a row';
      cursor.failWith({ expected: ['an expression', "')'"], hint });
    }
    cursor.advance();
    cursor.advance();
  } else if (!cursor.acceptSymbol(')')) {
    distinct = cursor.token.word === 'DISTINCT' && isGenericDistinct(cursor);
    if (distinct) cursor.advance();
    do {
      if (startsQuery(cursor)) cursor.fail('an expression');
      args.push(cursor.grammar.expression(cursor));
    } while (cursor.acceptSymbol(','));
    ignoreNulls = parseNullTreatment(cursor);
    if (cursor.acceptKeyword('ORDER', 'BY'))
      orderBy = Object.freeze(cursor.grammar.orderKeys(cursor));
    cursor.expectSymbol(')');
  }
  // In `f(g(x) IGNORE NULLS)` the words are those of f.
  if (OVER_WORDS.has(cursor.peek(2).word)) ignoreNulls ||= parseNullTreatment(cursor);
  const filter = parseFilter(cursor);
  const over = startsOver(cursor) ? parseOver(cursor) : undefined;
  Object.freeze(args);
  const call = { kind: 'call', table, name, args, star, start, end: cursor.end } as const;
  const plain = !distinct && !ignoreNulls && orderBy.length === 0;
  if (plain && filter === undefined && over === undefined) return Object.freeze(call);
  const modifiers = Object.freeze({ distinct, orderBy, ignoreNulls, filter, over });
  return Object.freeze({ ...call, modifiers });
}

const OVER_WORDS: ReadonlySet<string> = new Set(['OVER', 'FILTER']);

/** IGNORE NULLS; RESPECT NULLS says what is so anyway. */
function parseNullTreatment(cursor: Cursor): boolean {
  const { word } = cursor.token;
  if ((word !== 'IGNORE' && word !== 'RESPECT') || cursor.peek(1).word !== 'NULLS') return false;
  cursor.advance();
  cursor.advance();
  return word === 'IGNORE';
}

function parseFilter(cursor: Cursor): Expression | undefined {
  if (cursor.token.word !== 'FILTER' || cursor.peek(1).symbol !== '(') return undefined;
  cursor.advance();
  cursor.advance();
  cursor.expectKeyword('WHERE');
  const condition = cursor.grammar.expression(cursor);
  cursor.expectSymbol(')');
  return condition;
}

/** Reads OVER when a window follows it. */
function startsOver(cursor: Cursor): boolean {
  if (cursor.token.word !== 'OVER') return false;
  const next = cursor.peek(1);
  if (next.symbol !== '(' && next.kind !== 'name') return false;
  cursor.advance();
  return true;
}

function parseCase(cursor: Cursor): Expression {
  const { grammar } = cursor;
  const { start } = cursor.advance();
  const { word } = cursor.token;
  const searched = word === 'WHEN' || word === 'ELSE' || word === 'END';
  const operand = searched ? undefined : grammar.expression(cursor);
  const branches: CaseBranch[] = [];
  while (cursor.acceptKeyword('WHEN')) {
    const when = grammar.expression(cursor);
    cursor.expectKeyword('THEN');
    branches.push(Object.freeze({ when, result: grammar.expression(cursor) }));
  }
  const otherwise = cursor.acceptKeyword('ELSE') ? grammar.expression(cursor) : undefined;
  cursor.expectKeyword('END');
  Object.freeze(branches);
  return Object.freeze({ kind: 'case', operand, branches, otherwise, start, end: cursor.end });
}

function parseCast(cursor: Cursor): Expression {
  const { word, start } = cursor.advance();
  cursor.expectSymbol('(');
  const operandStart = cursor.token.start;
  const operand = cursor.grammar.expression(cursor);
  cursor.expectKeyword('AS');
  const type = parseCastType(cursor);
  cursor.expectSymbol(')');
  const end = cursor.end;
  if (word === 'CAST') return Object.freeze({ kind: 'cast', operand, ...type, start, end });
  const cast: Expression = Object.freeze({
    kind: 'cast',
    operand,
    ...type,
    start: operandStart,
    end: end - 1,
  });
  return makeCall('try', [cast, nullAt(end)], start, end);
}

/** DATE and a string, `[NOT] EXISTS`, and the functions that have a grammar of their own. */
function parseSpecialWord(cursor: Cursor, token: Token): Expression | undefined {
  const { word, start } = token;
  const next = cursor.peek(1);
  switch (word) {
    case 'CURRENT_DATE':
    case 'CURRENT_TIMESTAMP':
      if (next.symbol === '(') return undefined;
      cursor.advance();
      return makeCall(word.toLowerCase(), [], start, cursor.end);
    case 'DATE': {
      if (next.kind !== 'string') return undefined;
      cursor.advance();
      cursor.advance();
      const operand = literal(next, next.value);
      return Object.freeze({ kind: 'cast', operand, type: 'date', start, end: cursor.end });
    }
    case 'E':
      if (next.kind !== 'string' || next.start !== token.end) return undefined;
      return cursor.failWith({
        message:
          "strings with escapes (E'…') are not supported: write the characters themselves, or chr(10) for a line feed",
        expected: ['a string'],
      });
    case 'EXISTS':
      if (next.symbol !== '(') return undefined;
      return parseExists(cursor);
    case 'TRY_CAST':
      return next.symbol === '(' ? parseCast(cursor) : undefined;
    case 'EXTRACT':
    case 'SUBSTRING':
    case 'POSITION':
    case 'TRIM':
      return next.symbol === '(' ? parseSpecialCall(cursor, word) : undefined;
    default:
      return undefined;
  }
}

function parseExists(cursor: Cursor): Expression | undefined {
  const after = cursor.peek(2);
  const opens = after.word === 'SELECT' || after.word === 'WITH' || after.word === 'VALUES';
  if (!opens && after.symbol !== '(') return undefined;
  const { start } = cursor.advance();
  cursor.expectSymbol('(');
  const query = cursor.grammar.query(cursor);
  cursor.expectSymbol(')');
  return Object.freeze({ kind: 'exists', query, start, end: cursor.end });
}

/** `EXTRACT(unit FROM t)`, `SUBSTRING(s FROM a FOR n)`, `POSITION(a IN b)`, `TRIM(BOTH c FROM s)`. */
function parseSpecialCall(cursor: Cursor, word: string): Expression {
  const { grammar } = cursor;
  const token = cursor.token;
  const { start } = token;
  if (word === 'EXTRACT') {
    const unit = cursor.peek(2);
    const named = unit.kind === 'name' || unit.kind === 'string';
    if (!named || cursor.peek(3).word !== 'FROM') return parseOrdinaryCall(cursor);
    for (let i = 0; i < 4; i++) cursor.advance();
    const text = unit.kind === 'string' ? (unit.value as string) : unit.path.join('.');
    const part: Expression = Object.freeze({
      kind: 'literal',
      value: text.toLowerCase(),
      start: unit.start,
      end: unit.end,
    });
    const time = grammar.expression(cursor);
    cursor.expectSymbol(')');
    return makeCall('extract', [part, time], start, cursor.end);
  }
  if (word === 'TRIM') {
    const side = TRIM_FUNCTIONS.get(cursor.peek(2).word);
    if (side !== undefined && cursor.peek(3).kind !== 'symbol') {
      for (let i = 0; i < 3; i++) cursor.advance();
      const characters = cursor.token.word === 'FROM' ? [] : [grammar.expression(cursor)];
      cursor.expectKeyword('FROM');
      const text = grammar.expression(cursor);
      cursor.expectSymbol(')');
      return makeCall(side, [text, ...characters], start, cursor.end);
    }
  }
  const name = cursor.source.text.slice(token.start, token.end);
  cursor.advance();
  cursor.expectSymbol('(');
  // `a IN b` would be read as a condition.
  const level = word === 'POSITION' ? LEVEL.sum : LEVEL.or;
  const first = grammar.expression(cursor, level);
  if (word === 'POSITION' && cursor.acceptKeyword('IN')) {
    const text = grammar.expression(cursor, LEVEL.sum);
    cursor.expectSymbol(')');
    return makeCall('position', [text, first], start, cursor.end);
  }
  if (word === 'SUBSTRING' && cursor.acceptKeyword('FROM')) {
    const args = [first, grammar.expression(cursor)];
    if (cursor.acceptKeyword('FOR')) args.push(grammar.expression(cursor));
    cursor.expectSymbol(')');
    return makeCall('substring', args, start, cursor.end);
  }
  if (word === 'TRIM' && cursor.acceptKeyword('FROM')) {
    const text = grammar.expression(cursor);
    cursor.expectSymbol(')');
    return makeCall('trim', [text, first], start, cursor.end);
  }
  const args = [first];
  while (cursor.acceptSymbol(',')) args.push(grammar.expression(cursor));
  cursor.expectSymbol(')');
  return makeCall(name, args, start, cursor.end);
}

const TRIM_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['BOTH', 'trim'],
  ['LEADING', 'ltrim'],
  ['TRAILING', 'rtrim'],
]);

function parseOrdinaryCall(cursor: Cursor): Expression {
  return parseCall(cursor, cursor.advance());
}

function makeCall(
  name: string,
  args: readonly Expression[],
  start: number,
  end: number,
): Expression {
  const call = { kind: 'call', table: undefined, name, args: Object.freeze(args) } as const;
  return Object.freeze({ ...call, star: false, start, end });
}

function nullAt(end: number): Expression {
  return Object.freeze({ kind: 'literal', value: null, start: end, end });
}
