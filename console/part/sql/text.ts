// The text of statements: its tokens, its datasets, and small rewritings that the user sees.

export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'mark';
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** brackets that are open around it */
  readonly depth: number;
}

const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<name>"(?:[^"]|"")*"?)|(?<text>'(?:[^']|'')*'?)|(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<mark>[\s\S])/gy;

/** Without spaces and comments. */
export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (const match of sql.matchAll(TOKEN)) {
    const { name, text, number, word, mark } = match.groups ?? {};
    const found = name ?? text ?? number ?? word ?? mark;
    if (found === undefined) continue;
    if (mark === ')' || mark === ']' || mark === '}') depth = Math.max(0, depth - 1);
    const kind =
      name !== undefined
        ? 'name'
        : text !== undefined
          ? 'text'
          : number !== undefined
            ? 'number'
            : word !== undefined
              ? 'word'
              : 'mark';
    tokens.push({ kind, text: found, from: match.index, to: match.index + found.length, depth });
    if (mark === '(' || mark === '[' || mark === '{') depth++;
  }
  return tokens;
}

export interface Statement {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Statements are parted by semicolons. */
export function statementsOf(sql: string): Statement[] {
  const found: Statement[] = [];
  let from = 0;
  const add = (to: number) => {
    const text = sql.slice(from, to);
    const start = from + (text.length - text.trimStart().length);
    if (text.trim() !== '')
      found.push({ from: start, to: start + text.trim().length, text: text.trim() });
    from = to + 1;
  };
  for (const token of tokensOf(sql)) if (token.text === ';' && token.depth === 0) add(token.from);
  add(sql.length);
  return found;
}

/** The statement that a position is in or behind; the first one before any. */
export function statementAt(sql: string, position: number): Statement | undefined {
  const all = statementsOf(sql);
  return all.find(({ to }) => position <= to + 1) ?? all.at(-1);
}

export function unquote(text: string): string {
  return text.startsWith('"')
    ? text.slice(1, text.endsWith('"') ? -1 : undefined).replaceAll('""', '"')
    : text;
}

/** Datasets that FROM and JOIN name anywhere in a statement, sub-selects included. */
export function datasetsOf(sql: string): string[] {
  const tokens = tokensOf(sql);
  const found = new Set<string>();
  tokens.forEach((token, index) => {
    if (token.kind !== 'word' || !/^(from|join)$/i.test(token.text)) return;
    let at = index + 1;
    for (;;) {
      const name = tokens[at];
      if (name === undefined || (name.kind !== 'word' && name.kind !== 'name')) return;
      if (tokens[at + 1]?.text !== '(') found.add(unquote(name.text));
      at++;
      // An alias, and perhaps one more dataset behind a comma.
      while (
        tokens[at] !== undefined &&
        tokens[at]?.text !== ',' &&
        isAliasPart(tokens[at] as Token)
      )
        at++;
      if (tokens[at]?.text !== ',') return;
      at++;
    }
  });
  return [...found];
}

const CLAUSE =
  /^(where|when|group|having|order|limit|offset|join|left|right|inner|outer|full|on|named|union|select|from)$/i;

function isAliasPart(token: Token): boolean {
  return token.kind === 'name' || (token.kind === 'word' && !CLAUSE.test(token.text));
}

const PLAIN_NAME = /^[A-Za-z_]\w*$/;
const RESERVED =
  /^(all|and|any|as|asc|between|by|case|cast|column|desc|distinct|else|end|excluding|expr|false|from|full|group|having|in|inf|infinity|inner|interval|is|join|keys|left|like|limit|named|nan|not|null|of|offset|on|or|order|outer|right|select|some|structured|then|timestamp|true|values|when|where)$/i;

/** One name, in quotes where it needs them. */
export function quoteName(name: string): string {
  return PLAIN_NAME.test(name) && !RESERVED.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The elements of a path as the service prints it: points part them, quotes hold them together. */
export function pathElements(printed: string): string[] {
  const elements: string[] = [];
  let at = 0;
  while (at <= printed.length) {
    if (printed[at] === '"') {
      const match = /^"((?:[^"]|"")*)"/.exec(printed.slice(at));
      if (match === null) return [printed];
      elements.push((match[1] as string).replaceAll('""', '"'));
      at += match[0].length + 1;
    } else {
      const end = printed.indexOf('.', at);
      elements.push(printed.slice(at, end === -1 ? undefined : end));
      at = end === -1 ? printed.length + 1 : end + 1;
    }
  }
  return elements;
}

/** A column as an expression. @param printed its name in a result */
export function columnExpression(printed: string): string {
  return pathElements(printed).map(quoteName).join('.');
}

interface Clause {
  readonly name: string;
  readonly from: number;
}

/** Where the clauses of the outermost query begin. */
function clausesOf(sql: string): Clause[] {
  return tokensOf(sql)
    .filter((token) => token.depth === 0 && token.kind === 'word')
    .filter(({ text }) =>
      /^(select|from|when|where|group|having|order|limit|offset|union|intersect|except|join)$/i.test(
        text,
      ),
    )
    .map(({ text, from }) => ({ name: text.toLowerCase(), from }));
}

/** The WHERE clause of a statement as text, with its word; '' without one. */
export function whereOf(sql: string): string {
  const clauses = clausesOf(sql);
  const at = clauses.findIndex(({ name }) => name === 'where');
  return at === -1 ? '' : sql.slice(clauses[at]?.from, clauses[at + 1]?.from).trim();
}

/** A statement with another WHERE clause in place of its own. */
export function withWhere(sql: string, where: string): string {
  const own = whereOf(sql);
  return own === '' ? sql : sql.replace(own, () => where);
}

/** The statement with its rows in the order of a column; undefined takes the order away. */
export function withOrder(
  sql: string,
  column: string,
  direction: 'ASC' | 'DESC' | undefined,
): string {
  const statement = withoutEnd(sql);
  const clauses = clausesOf(statement);
  const order = clauses.find(({ name }) => name === 'order');
  const limit = clauses.find(({ name }) => name === 'limit' || name === 'offset');
  const isPlain = !clauses.some(({ name }) => /^(group|union|intersect|except|join)$/.test(name));
  const isLimited = limit !== undefined && order === undefined;
  if (direction === undefined || (isPlain && !isLimited) || order !== undefined) {
    const head = statement.slice(0, order?.from ?? limit?.from ?? statement.length).trimEnd();
    const tail = limit === undefined ? '' : `\n${statement.slice(limit.from)}`;
    return direction === undefined
      ? head + tail
      : `${head}\nORDER BY ${orderTerm(column, direction)}${tail}`;
  }
  return `SELECT * FROM (\n${indented(statement)}\n)\nORDER BY ${orderTerm(column, direction)}`;
}

function orderTerm(column: string, direction: 'ASC' | 'DESC'): string {
  return `${columnExpression(column)}${direction === 'DESC' ? ' DESC' : ''}`;
}

/** The order that a statement asks for, when it is that of one column. */
export function orderOf(sql: string): { name: string; isDescending: boolean } | undefined {
  const order = clausesOf(sql).find(({ name }) => name === 'order');
  const match =
    order &&
    /^order\s+by\s+((?:"(?:[^"]|"")*"|[\w.])+)(?:\s+(asc|desc))?\s*(?:;?\s*$|limit|offset)/i.exec(
      sql.slice(order.from),
    );
  if (!match) return undefined;
  return { name: match[1] as string, isDescending: /desc/i.test(match[2] ?? '') };
}

/** The statement with one more condition. */
export function withFilter(sql: string, condition: string): string {
  const statement = withoutEnd(sql);
  const clauses = clausesOf(statement);
  const isPlain = !clauses.some(({ name }) =>
    /^(group|having|union|intersect|except|join|limit|offset)$/.test(name),
  );
  const selects = clauses.filter(({ name }) => name === 'select');
  const isWholeRow = /^select\s+\*\s+from\b/i.test(statement) && selects.length === 1;
  if (!isPlain || !isWholeRow) {
    return `SELECT * FROM (\n${indented(statement)}\n)\nWHERE ${condition}`;
  }
  const order = clauses.find(({ name }) => name === 'order');
  const where = clauses.find(({ name }) => name === 'where');
  const end = order?.from ?? statement.length;
  const tail = order === undefined ? '' : `\n${statement.slice(order.from)}`;
  if (where === undefined) return `${statement.slice(0, end).trimEnd()}\nWHERE ${condition}${tail}`;
  const given = statement.slice(where.from + 'where'.length, end).trim();
  const isOne = /\bor\b/i.test(given) ? `(${given})` : given;
  return `${statement.slice(0, where.from)}WHERE ${isOne} AND ${condition}${tail}`;
}

function withoutEnd(sql: string): string {
  return sql
    .trim()
    .replace(/;+\s*$/, '')
    .trimEnd();
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

/** At most two edits away, or begun by it; what the user may have meant. */
export function nearestName(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let nearestDistance = 3;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < nearestDistance) [nearest, nearestDistance] = [candidate, distance];
  }
  return nearest;
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[j] as number) + 1, (current[j - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[b.length] as number;
}
