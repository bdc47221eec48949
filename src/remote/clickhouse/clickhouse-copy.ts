// Whole queries as a SELECT of ClickHouse whose rows it can write into another of its tables.
import type { BoundExpression } from '../../plan/expression.ts';
import { renamedPath } from '../../plan/pattern.ts';
import type { PlanNode, ProjectNode } from '../../plan/plan.ts';
import { Path } from '../../value/path.ts';
import { type Asked, behindList, NOTHING_ASKED } from './clickhouse-asked.ts';
import { columnSql, lower } from './clickhouse-expression.ts';
import { keyName, valueName } from './clickhouse-group.ts';
import type { ClickhouseColumn, ClickhouseQuery } from './clickhouse-request.ts';
import type { Lowering, Sql } from './clickhouse-sql.ts';
import { QueryTexts, quoteName } from './clickhouse-text.ts';
import { parseType } from './clickhouse-value.ts';

/** What rows are copied from. */
export interface CopyTable {
  readonly columns: readonly ClickhouseColumn[];
  readonly from: string;
  readonly rowNameColumn: string | undefined;
  readonly timestampColumn: string | undefined;
}

export interface CopiedColumn {
  /** printed path */
  readonly name: string;
  readonly text: string;
  /** the type that a column for it has; what the server reads as another one is none */
  readonly type: string;
}

/** Rows of a query, whose order does not matter. */
export interface CopiedRows {
  readonly columns: readonly CopiedColumn[];
  /** printed names of rows; undefined: only Rowan can tell them */
  readonly name: string | undefined;
  /** seconds: the timestamp of all cells of a row */
  readonly ts: string | undefined;
  /** the rest of a SELECT, behind its list */
  readonly rest: ClickhouseQuery;
}

/** @returns undefined: Rowan has a part in the rows */
export function copiedRows(root: PlanNode, table: CopyTable): CopiedRows | undefined {
  if (root.kind !== 'project' || root.keepsInput) return undefined;
  const source = sourceOf(root.input);
  if (source === undefined) return undefined;
  const { asked, isGrouped } = source;
  // What is named has its name in one query only.
  if (Object.keys(asked.named).length > 0) return undefined;
  const texts = new QueryTexts(asked.texts);
  const to: Lowering = { columns: new Map(table.columns.map((each) => [each.name, each])), texts };
  const columns: CopiedColumn[] = [];
  const add = (path: readonly string[], column: Omit<CopiedColumn, 'name'> | undefined) => {
    const name = new Path(path).toString();
    if (column === undefined || columns.some((other) => other.name === name)) return false;
    columns.push({ name, ...column });
    return true;
  };
  for (const item of root.items) {
    if (item.kind === 'named') {
      if (!add(item.path, columnOf(item.expression, source, to))) return undefined;
    } else if (item.kind === 'wildcard' && item.source === 'input' && !isGrouped) {
      for (const column of table.columns) {
        const path = renamedPath(item.pattern, [column.name]);
        if (path === undefined) continue;
        if (path === 'below' || !add(path, storedColumn(column))) return undefined;
      }
    } else return undefined;
  }
  if (columns.length === 0) return undefined;
  const list = columns.map(({ text }) => text).join(', ');
  return {
    columns,
    name: isGrouped ? undefined : nameOf(root, table, to),
    ts: timestampOf(table),
    rest: { sql: behindList(list, table.from, asked), texts: texts.all },
  };
}

interface CopySource {
  readonly asked: Asked;
  readonly isGrouped: boolean;
}

/** What a select list reads, where the server has all of it. */
function sourceOf(node: PlanNode): CopySource | undefined {
  switch (node.kind) {
    case 'ask':
      return { asked: node.asked as Asked, isGrouped: false };
    case 'scan':
      return node.lookup === undefined ? { asked: NOTHING_ASKED, isGrouped: false } : undefined;
    // Tables have no order.
    case 'sort':
      return node.keep === undefined ? sourceOf(node.input) : undefined;
    case 'limit': {
      const { input, limit, offset } = node;
      const isThere = input.kind === 'ask' && (input.asked as Asked).limit === limit;
      return isThere && offset === 0
        ? { asked: input.asked as Asked, isGrouped: false }
        : undefined;
    }
    case 'aggregate': {
      const { input } = node;
      const isThere = input.kind === 'ask' && (input.asked as Asked).groups !== undefined;
      return isThere ? { asked: input.asked as Asked, isGrouped: true } : undefined;
    }
    default:
      return undefined;
  }
}

function columnOf(
  expression: BoundExpression,
  { asked: { computed }, isGrouped }: CopySource,
  to: Lowering,
): Omit<CopiedColumn, 'name'> | undefined {
  switch (expression.kind) {
    case 'group-key':
      return valueColumn(computed[keyName(expression.index)]);
    case 'aggregate-result':
      return valueColumn(computed[valueName(expression.index)]);
    case 'column': {
      const [name = ''] = expression.path;
      if (isGrouped || expression.path.length !== 1) return undefined;
      const stored = to.columns.get(name);
      return computed[name] === undefined
        ? stored && storedColumn(stored)
        : valueColumn(computed[name]);
    }
    case 'constant':
      return valueColumn(lower(expression, to));
    default:
      return undefined;
  }
}

const STORED_AS: Readonly<Partial<Record<Sql['kind'], string>>> = {
  integer: 'Nullable(Int64)',
  truth: 'Nullable(Int64)',
  number: 'Nullable(Float64)',
  string: 'Nullable(String)',
};

function valueColumn(value: Sql | undefined): Omit<CopiedColumn, 'name'> | undefined {
  const type = value && STORED_AS[value.kind];
  if (value === undefined || type === undefined) return undefined;
  return { text: value.kind === 'integer' ? `toInt64(${value.text})` : value.text, type };
}

const KEPT = new Set([
  'integer',
  'float',
  'string',
  'text',
  'date',
  'date32',
  'datetime',
  'datetime64',
]);

/** As it is, in a type that takes nulls; undefined: rows have several columns for it. */
function storedColumn({ name, type }: ClickhouseColumn): Omit<CopiedColumn, 'name'> | undefined {
  if (!KEPT.has(parseType(type).type.kind)) return undefined;
  return { text: quoteName(name), type: `Nullable(${bareType(type)})` };
}

/** Without what wraps it. */
export function bareType(type: string): string {
  const [, inner] = /^(?:Nullable|LowCardinality)\(([\s\S]*)\)$/.exec(type) ?? [];
  return inner === undefined ? type : bareType(inner);
}

/** The printed form of the row's name: see Path. */
function nameOf(
  { name }: ProjectNode,
  { rowNameColumn }: CopyTable,
  to: Lowering,
): string | undefined {
  if (name === undefined) {
    if (rowNameColumn === undefined) return undefined;
    return printed(`ifNull(toString(${quoteName(rowNameColumn)}), 'null')`);
  }
  const value = name.kind === 'column' ? lower(name, to) : undefined;
  if (value === undefined || value.isNullable) return undefined;
  if (value.kind === 'string') return printed(value.text);
  return value.kind === 'integer' ? `toString(${value.text})` : undefined;
}

function printed(text: string): string {
  const isSpecial = `${text} = '' OR match(${text}, '[."\\\\x00-\\\\x1f]')`;
  return `if(${isSpecial}, concat('"', replaceAll(${text}, '"', '""'), '"'), ${text})`;
}

function timestampOf({ columns, timestampColumn }: CopyTable): string | undefined {
  if (timestampColumn === undefined) return '-inf';
  const column = columns.find(({ name }) => name === timestampColumn);
  const value = column && columnSql(column);
  if (value === undefined || value.isNullable || value.kind === 'string') return undefined;
  return `toFloat64(${value.text})`;
}
