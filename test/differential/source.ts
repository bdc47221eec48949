// Random FROM clauses: tables, sub-queries, VALUES, series and joins of every kind.
import { condition, literal } from './expression.ts';
import { type Column, type Grammar, type NamedTable, TYPES, type Type } from './grammar.ts';

export interface Source {
  readonly sql: string;
  readonly columns: readonly Column[];
  /** commas stand between its tables */
  readonly isListed?: boolean;
}

interface Table {
  readonly sql: string;
  readonly alias: string;
  readonly columns: NamedTable['columns'];
}

const JOIN_COUNT_MAX = 2;

export function source(g: Grammar, depth: number): Source {
  const first = table(g, depth);
  const joinCount = g.choices.pick([0, 0, 0, 1, 1, JOIN_COUNT_MAX]);
  if (joinCount === 0) {
    const isBare = g.choices.once(2);
    const columns = first.columns.map(({ name, type }) => ({
      text: isBare ? name : `${first.alias}.${name}`,
      type,
    }));
    return { sql: first.sql, columns };
  }
  let joined: Source = { sql: first.sql, columns: qualified(first) };
  let merged: string | undefined;
  let isListed = false;
  for (let index = 0; index < joinCount; index++) {
    if (index === 0 && g.choices.once(6)) {
      const common = joinUsing(g, first, depth);
      if (common !== undefined) {
        joined = common.source;
        merged = common.name;
        continue;
      }
    }
    // JOIN binds tighter than a comma, so nothing but a comma follows one.
    joined = join(g, joined, isListed, depth, merged);
    isListed ||= joined.isListed === true;
  }
  return joined;
}

function qualified({ alias, columns }: Table): Column[] {
  return columns.map(({ name, type }) => ({ text: `${alias}.${name}`, type }));
}

function table(g: Grammar, depth: number): Table {
  const { choices } = g;
  const alias = g.newName('r');
  const as = choices.pick([' AS ', ' ']);
  const kind = depth > 0 ? choices.below(10) : 0;
  if (kind === 7) return derived(g, alias, depth);
  if (kind === 8) return valuesTable(g, alias);
  if (kind === 9) {
    const call = choices.pick(['generate_series(1, 4)', 'generate_series(-1, 5, 2)', 'range(3)']);
    return { sql: `${call} AS ${alias}(n)`, alias, columns: [{ name: 'n', type: 'int' }] };
  }
  const { name, columns } = choices.pick([...g.tables, ...g.named, ...g.named]);
  return { sql: `${name}${as}${alias}`, alias, columns };
}

function derived(g: Grammar, alias: string, depth: number, outer: readonly Column[] = []): Table {
  const types = someTypes(g);
  const { sql, names } = g.query({ types, outer, depth: depth - 1 });
  const isRenamed = g.choices.once(3);
  const columns = names.map((name, index) => ({
    name: isRenamed ? g.newName('d') : name,
    type: types[index] as Type,
  }));
  const list = isRenamed ? `(${columns.map(({ name }) => name).join(', ')})` : '';
  return { sql: `(${sql}) AS ${alias}${list}`, alias, columns };
}

function valuesTable(g: Grammar, alias: string): Table {
  const types = someTypes(g);
  const columns = types.map((type) => ({ name: g.newName('v'), type }));
  const row = (isFirst: boolean) =>
    types.map((type) => (!isFirst && g.choices.once(4) ? 'NULL' : literal(g, type))).join(', ');
  const rows = Array.from({ length: 1 + g.choices.below(4) }, (_, at) => `(${row(at === 0)})`);
  const list = columns.map(({ name }) => name).join(', ');
  return { sql: `(VALUES ${rows.join(', ')}) AS ${alias}(${list})`, alias, columns };
}

export function someTypes(g: Grammar): Type[] {
  return Array.from({ length: 1 + g.choices.below(3) }, () => g.choices.pick(TYPES));
}

/** A join whose condition may be any. */
function join(
  g: Grammar,
  left: Source,
  isListed: boolean,
  depth: number,
  merged: string | undefined,
): Source {
  const { choices } = g;
  if (depth > 0 && choices.once(10)) return lateral(g, left, isListed, depth);
  const right = table(g, depth);
  const columns = qualified(right);
  const all = [...left.columns, ...columns];
  const kind = choices.pick([
    ...['JOIN', 'JOIN', 'INNER JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'],
    ...['FULL OUTER JOIN', 'SEMI JOIN', 'ANTI JOIN', 'CROSS JOIN', ','],
  ]);
  if (kind === ',' || isListed) {
    return { sql: `${left.sql}, ${right.sql}`, columns: all, isListed: true };
  }
  if (kind === 'CROSS JOIN') return { sql: `${left.sql} CROSS JOIN ${right.sql}`, columns: all };
  const on = joinCondition(g, left.columns, columns, merged);
  const isHalf = kind === 'SEMI JOIN' || kind === 'ANTI JOIN';
  const more = choices.once(4) ? ` AND ${condition(g, { columns: all, outer: [] }, 1, false)}` : '';
  return {
    sql: `${left.sql} ${kind} ${right.sql} ON ${on}${more}`,
    columns: isHalf ? left.columns : all,
  };
}

function joinCondition(
  g: Grammar,
  left: readonly Column[],
  right: readonly Column[],
  merged: string | undefined,
): string {
  const pairs: string[] = [];
  for (const a of left) {
    if (a.text === merged) continue;
    for (const b of right) if (a.type === b.type) pairs.push(`${a.text} = ${b.text}`);
  }
  if (pairs.length === 0 || g.choices.once(8)) {
    return condition(g, { columns: [...left, ...right], outer: [] }, 1, false);
  }
  const first = g.choices.pick(pairs);
  return g.choices.once(4) ? `${first} AND ${g.choices.pick(pairs)}` : first;
}

function joinUsing(
  g: Grammar,
  left: Table,
  depth: number,
): { source: Source; name: string } | undefined {
  const right = table(g, Math.min(depth, 0));
  const common = left.columns.filter(({ name }) =>
    right.columns.some((other) => other.name === name),
  );
  const merged = common[0] && g.choices.pick(common);
  if (merged === undefined) return undefined;
  const kind = g.choices.pick(['JOIN', 'LEFT JOIN', 'FULL JOIN', 'RIGHT JOIN']);
  const rest = [...qualified(left), ...qualified(right)].filter(
    ({ text }) => !text.endsWith(`.${merged.name}`),
  );
  return {
    name: merged.name,
    source: {
      sql: `${left.sql} ${kind} ${right.sql} USING (${merged.name})`,
      columns: [{ text: merged.name, type: merged.type }, ...rest],
    },
  };
}

function lateral(g: Grammar, left: Source, isListed: boolean, depth: number): Source {
  const right = derived(g, g.newName('r'), depth, left.columns);
  const columns = [...left.columns, ...qualified(right)];
  const form = isListed
    ? ', LATERAL'
    : g.choices.pick([', LATERAL', ' CROSS JOIN LATERAL', ' LEFT JOIN LATERAL']);
  const on = form === ' LEFT JOIN LATERAL' ? ' ON 1 = 1' : '';
  return { sql: `${left.sql}${form} ${right.sql}${on}`, columns, isListed: form === ', LATERAL' };
}
