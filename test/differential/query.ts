// Random queries: SELECT with every clause, set operations, common table expressions.
import { aggregate, direction, windowCall } from './call.ts';
import type { Choices } from './choices.ts';
import { condition, expression } from './expression.ts';
import {
  type Column,
  type Grammar,
  type NamedTable,
  type QueryRequest,
  type QueryText,
  type Scope,
  scopeColumns,
  TYPES,
  type Type,
} from './grammar.ts';
import { type Source, someTypes, source } from './source.ts';

const QUERY_DEPTH = 3;
const EXPRESSION_DEPTH = 2;

export interface RandomQuery {
  readonly sql: string;
  /** whether rows have one order, up to equal rows */
  readonly isOrdered: boolean;
}

export function randomQuery(choices: Choices, tables: readonly NamedTable[]): RandomQuery {
  let nameCount = 0;
  const g: Grammar = {
    choices,
    tables,
    named: [],
    newName: (prefix) => `${prefix}${nameCount++}`,
    query: (request) => query(g, request),
  };
  const types = someTypes(g);
  const depth = choices.pick([1, 2, QUERY_DEPTH]);
  const isOrdered = choices.once(3);
  const { sql, names } = query(g, { types, outer: [], depth });
  if (!isOrdered) return { sql: choices.once(20) ? `${sql};` : sql, isOrdered };
  const name = g.newName('r');
  const list = choices.once(2) ? '*' : names.join(', ');
  return {
    sql: `SELECT ${list} FROM (${sql}) ${name} ${orderOfAll(g, names)}${limit(g)}`,
    isOrdered,
  };
}

function query(g: Grammar, request: QueryRequest): QueryText {
  const { choices } = g;
  const before = g.named;
  const prefix =
    !request.isPlain && request.depth > 1 && choices.once(5) ? withClause(g, request.depth) : '';
  const body = request.depth > 0 && choices.once(6) ? setOperation(g, request) : select(g, request);
  g.named = before;
  const end = choices.once(6) ? ` ${orderOfAll(g, body.names)}${limit(g)}` : '';
  return { sql: `${prefix}${body.sql}${end}`, names: body.names };
}

function withClause(g: Grammar, depth: number): string {
  const isRecursive = g.choices.once(3);
  const tables = Array.from({ length: 1 + g.choices.below(2) }, (_, at) =>
    isRecursive && at === 0 ? recursiveTable(g) : commonTable(g, depth),
  );
  return `WITH ${isRecursive ? 'RECURSIVE ' : ''}${tables.join(', ')} `;
}

function commonTable(g: Grammar, depth: number): string {
  const types = someTypes(g);
  const name = g.newName('w');
  const { sql, names } = query(g, { types, outer: [], depth: depth - 1 });
  const isRenamed = g.choices.once(2);
  const columns = types.map((type, at) => ({
    name: isRenamed ? g.newName('e') : (names[at] as string),
    type,
  }));
  const list = isRenamed ? ` (${columns.map((column) => column.name).join(', ')})` : '';
  const how = g.choices.pick(['', '', ' MATERIALIZED', ' NOT MATERIALIZED']);
  g.named = [...g.named, { name, columns }];
  return `${name}${list} AS${how} (${sql})`;
}

function recursiveTable(g: Grammar): string {
  const [name, n, m] = [g.newName('w'), g.newName('e'), g.newName('e')];
  const { name: table } = g.choices.pick(g.tables);
  const limit = g.choices.pick(['3', '6']);
  const step = g.choices.pick([
    `SELECT ${n} + 1, ${m} || 'x' FROM ${name} WHERE ${n} < ${limit}`,
    `SELECT x.${n} + 2, upper(x.${m}) FROM ${name} AS x WHERE x.${n} < ${limit}`,
    `SELECT y.b, x.${m} FROM ${name} AS x JOIN ${table} AS y ON y.a = x.${n}`,
  ]);
  const isClosure = step.includes('JOIN');
  const union = isClosure ? 'UNION' : g.choices.pick(['UNION ALL', 'UNION']);
  g.named = [
    ...g.named,
    {
      name,
      columns: [
        { name: n, type: 'int' },
        { name: m, type: 'text' },
      ],
    },
  ];
  return `${name} (${n}, ${m}) AS (SELECT 1, 'a' ${union} ${step})`;
}

function setOperation(g: Grammar, request: QueryRequest): QueryText {
  const operator = g.choices.pick([
    ...['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT', 'EXCEPT ALL', 'INTERSECT ALL'],
  ]);
  const side = { ...request, depth: request.depth - 1 };
  const left = select(g, side);
  const right = select(g, side);
  if (!g.choices.once(4)) return { sql: `${left.sql} ${operator} ${right.sql}`, names: left.names };
  const third = select(g, side);
  const next = g.choices.pick(['UNION', 'INTERSECT', 'EXCEPT', 'UNION ALL']);
  const sql = g.choices.once(2)
    ? `${left.sql} ${operator} (${right.sql} ${next} ${third.sql})`
    : `${left.sql} ${operator} ${right.sql} ${next} ${third.sql}`;
  return { sql, names: left.names };
}

function orderOfAll(g: Grammar, names: readonly string[]): string {
  const form = g.choices.below(4);
  if (form === 3) return 'ORDER BY ALL';
  const first = g.choices.below(names.length);
  const keys = names.map((name, at) => (form === 2 ? `${at + 1}` : name));
  const ordered = [...keys.slice(first), ...keys.slice(0, first)];
  return `ORDER BY ${ordered.map((key) => `${key}${direction(g)}`).join(', ')}`;
}

function limit(g: Grammar): string {
  return g.choices.pick([
    '',
    '',
    ' LIMIT 3',
    ' LIMIT 5 OFFSET 2',
    ' OFFSET 1',
    ' OFFSET 2 ROWS FETCH FIRST 4 ROWS ONLY',
  ]);
}

function select(g: Grammar, request: QueryRequest): QueryText {
  const { choices } = g;
  const { types, outer, depth } = request;
  const from = depth > 0 && choices.once(30) ? undefined : source(g, depth);
  if (from === undefined) {
    const items = types.map((type) => expression(g, { columns: [], outer }, type, 1));
    return listed(g, items, (list) => `SELECT ${list}`);
  }
  const scope = { columns: from.columns, outer };
  const where = choices.once(2) ? ` WHERE ${condition(g, scope, EXPRESSION_DEPTH, depth > 0)}` : '';
  const body = ` FROM ${from.sql}${where}`;
  switch (choices.below(6)) {
    case 4:
      return windowed(g, request, scope, body, '');
    case 5:
    case 3:
      return grouped(g, request, from, body);
    default: {
      const items = types.map((type) => expression(g, scope, type, EXPRESSION_DEPTH, depth > 0));
      const distinct = choices.once(6) ? 'DISTINCT ' : '';
      return listed(g, items, (list) => `SELECT ${distinct}${list}${body}`);
    }
  }
}

/** Names the items of a select list. */
function listed(
  g: Grammar,
  items: readonly string[],
  write: (list: string, names: readonly string[]) => string,
): QueryText {
  const names = items.map(() => g.newName('c'));
  const as = g.choices.pick([' AS ', ' AS ', ' ']);
  return {
    sql: write(items.map((item, at) => `${item}${as}${names[at]}`).join(', '), names),
    names,
  };
}

function grouped(g: Grammar, request: QueryRequest, from: Source, body: string): QueryText {
  const { choices } = g;
  const { types, outer, depth } = request;
  const scope: Scope = { columns: from.columns, outer };
  const keys = types.map((type) => (choices.once(2) ? groupKey(g, scope, type) : undefined));
  const hidden = choices.once(4) ? groupKey(g, scope, choices.pick(TYPES)) : undefined;
  const how = choices.below(7);
  const written = keys.filter((key): key is Column => key !== undefined);
  const all = hidden === undefined || how > 2 ? written : [...written, hidden];
  const aggregates = [...types, 'int' as const].map((type) => aggregate(g, scope, type));
  const groups: Scope = { columns: [...all, ...aggregates], outer };
  const isAll = how === 5 && all.length > 0;
  const having =
    how === 6 || how === 0
      ? ' HAVING count(*) > 0'
      : choices.once(3)
        ? ` HAVING (1 = 1) AND ${condition(g, isAll ? { columns: aggregates, outer } : groups, 1, false)}`
        : '';
  const items = types.map(
    (type, at) =>
      keys[at]?.text ??
      (isAll ? aggregates[at]?.text : undefined) ??
      expression(g, groups, type, 1, depth > 0 && how < 5),
  );
  if (all.length === 0) {
    // Without a count, no rows are no group: that differs on purpose, as HAVING without GROUP BY.
    const counted = items.map((item) => `CASE WHEN count(*) >= 0 THEN ${item} END`);
    return listed(g, counted, (list) => `SELECT ${list}${body}`);
  }
  const texts = all.map(({ text }) => text);
  if (how === 1 && choices.once(2)) {
    return windowed(g, request, groups, `${body} GROUP BY ${texts.join(', ')}${having}`, '');
  }
  return listed(g, items, (list, names) => {
    const positions = keys.flatMap((key, at) => (key === undefined ? [] : [`${at + 1}`]));
    const aliases = keys.flatMap((key, at) => (key === undefined ? [] : [names[at] as string]));
    const sets = [
      `ROLLUP (${texts.join(', ')})`,
      `CUBE (${texts.join(', ')})`,
      `GROUPING SETS ((${texts.join(', ')}), (${texts[0]}), ())`,
    ];
    const groupBy =
      how === 3
        ? positions.join(', ')
        : how === 4
          ? aliases.join(', ')
          : isAll
            ? 'ALL'
            : how === 6
              ? choices.pick(sets)
              : texts.join(', ');
    return `SELECT ${list}${body} GROUP BY ${groupBy}${having}`;
  });
}

/** An expression of at least one column of the scope itself. */
function groupKey(g: Grammar, scope: Scope, type: Type): Column | undefined {
  const text = expression(g, scope, type, g.choices.pick([0, 0, 1]), false);
  const isOfColumns = scope.columns.some((column) => text.includes(column.text));
  const column = scopeColumns(scope, type)[0];
  return isOfColumns ? { text, type, made: 'key' } : column && { ...column, made: 'key' };
}

function windowed(
  g: Grammar,
  request: QueryRequest,
  scope: Scope,
  body: string,
  having: string,
): QueryText {
  const { choices } = g;
  const { types, outer } = request;
  const calls = types.map((type, at) => windowCall(g, scope, type, at === 0));
  const columns = [...scope.columns, ...calls, ...calls];
  const items = types.map((type, at) =>
    choices.once(2)
      ? expression(g, { columns, outer }, type, 1, false)
      : (calls[at] as Column).text,
  );
  const qualify = choices.once(3) ? ` QUALIFY ${condition(g, { columns, outer }, 1, false)}` : '';
  return listed(g, items, (list) => `SELECT ${list}${body}${having}${qualify}`);
}
