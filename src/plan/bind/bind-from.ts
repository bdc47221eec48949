// FROM: tables, table functions and joins become plan nodes; their names become a scope.

import type {
  DatasetTable,
  FunctionTable,
  JoinTable,
  SeriesTable,
  Span,
  SubqueryTable,
  TableExpression,
  TableSample,
} from '../../sql/node.ts';
import { unreachable } from '../../sql/node.ts';
import { RowanError } from '../../util/error.ts';
import { findNearestWord } from '../../util/nearest-word.ts';
import { constant, sortedRow } from '../../value/value.ts';
import { OPEN_ORDER } from '../column-order.ts';
import { conjunctionOf } from '../conjunction.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import type { Relation } from '../namespace.ts';
import type { JoinInput, PlanNode } from '../plan.ts';
import {
  JoinConditionScope,
  type JoinedTable,
  JoinScope,
  type MergedColumn,
} from '../scope/join-scope.ts';
import { NO_TABLE_SCOPE } from '../scope/scope.ts';
import { TableColumns } from '../scope/table-columns.ts';
import { TableScope } from '../scope/table-scope.ts';
import { BOOLEAN_TYPE } from '../type/operator-type.ts';
import {
  ANY_TYPE,
  atomType,
  commonType,
  isNumericType,
  OPEN_ROW_TYPE,
  typeAtPath,
  type ValueType,
} from '../type/type.ts';
import { withUniqueNames } from '../unique-names.ts';
import { renameColumns } from './bind-naming.ts';
import type { BindContext, BoundQuery, Scope } from './context.ts';
import { timestampSides } from './timestamp-sides.ts';

/** A table of FROM: the rows, what they are called and, for joins, the tables inside. */
export interface BoundTable {
  readonly node: PlanNode;
  readonly alias: string | undefined;
  readonly rowType: ValueType;
  readonly columns: TableColumns;
  /** the joined tables; undefined for a single table */
  readonly joined: readonly JoinedTable[] | undefined;
  /** the columns that USING made one */
  readonly merged?: readonly MergedColumn[] | undefined;
}

export function bindTable(table: TableExpression, context: BindContext): BoundTable {
  if (table.kind === 'join') return bindJoin(table, context);
  const bound = bindNamedTable(table, context);
  const sampled = table.sample === undefined ? bound : sampleOf(bound, table.sample, table);
  if (table.columnNames === undefined) return sampled;
  const { node, rowType, order } = renameColumns(
    { node: sampled.node, rowType: sampled.rowType, order: sampled.columns.order },
    table.columnNames,
    table,
    context,
  );
  return { ...sampled, node, rowType, columns: new TableColumns(order) };
}

function bindNamedTable(
  table: Exclude<TableExpression, JoinTable>,
  context: BindContext,
): BoundTable {
  switch (table.kind) {
    case 'dataset-table':
      return bindDataset(table, context);
    case 'subquery': {
      if (table.lateral === true) {
        const message = 'LATERAL needs a table to its left whose columns it reads';
        throw bindingError(context.text, table, message);
      }
      return queryTable(context.bindQuery(withUniqueNames(table.query)), table.alias);
    }
    case 'series-table':
      return bindSeries(table, context);
    case 'row-dataset-table':
    case 'atom-dataset-table': {
      const expression = context.bind(table.expression, NO_TABLE_SCOPE);
      if (expression.type.kind === 'atom') {
        const name = table.kind === 'row-dataset-table' ? 'row_dataset' : 'atom_dataset';
        const message = `Argument to ${name} must be a row, not a scalar or NULL`;
        throw bindingError(context.text, table.expression, message);
      }
      const flat = table.kind === 'atom-dataset-table';
      return {
        node: { kind: 'row-dataset', expression, flat },
        alias: table.alias,
        rowType: MEMBER_ROW_TYPE,
        columns: new TableColumns({ paths: [['column'], ['value']], rest: undefined }),
        joined: undefined,
      };
    }
    case 'function-table':
      return bindTableFunction(table, context);
    default:
      return unreachable(table);
  }
}

function queryTable({ node, rowType, order }: BoundQuery, alias: string | undefined): BoundTable {
  return { node, alias, rowType, columns: new TableColumns(order), joined: undefined };
}

/** TABLESAMPLE: rows drawn without replacement. */
function sampleOf(table: BoundTable, sample: TableSample, span: Span): BoundTable {
  const { start, end } = span;
  const amount =
    sample.unit === 'percent' && sample.amount > 0
      ? { fraction: sample.amount / 100 }
      : { rows: sample.amount };
  const seed = sample.seed === undefined ? {} : { seed: sample.seed };
  const options = Object.entries({ ...amount, ...seed, withReplacement: 0 });
  const value = sortedRow(
    options.map(([name]) => name),
    options.map(([, number]) => constant(number)),
  );
  const bound: BoundExpression = { kind: 'constant', value, type: OPEN_ROW_TYPE, start, end };
  return { ...table, node: { kind: 'sample', input: table.node, options: bound } };
}

function bindSeries(table: SeriesTable, context: BindContext): BoundTable {
  const { name, args } = table;
  const inclusive = name === 'generate_series';
  const least = inclusive ? 2 : 1;
  if (args.length < least || args.length > 3) {
    const message = `${name} takes ${least} to 3 arguments, got ${args.length}`;
    throw bindingError(context.text, table, message);
  }
  const bound = args.map((arg) => context.bind(arg, NO_TABLE_SCOPE));
  const { start, end } = table;
  const zero: BoundExpression = { kind: 'constant', value: constant(0), type: INTEGER, start, end };
  const [first = zero, second, step] = bound;
  const [from, to] = second === undefined ? [zero, first] : [first, second];
  const column = table.columnNames === undefined ? name : (table.columnNames[0] ?? name);
  const type: ValueType = isNumericType(from.type) ? atomType('number') : from.type;
  const node: PlanNode = { kind: 'series', column, start: from, stop: to, step, inclusive };
  return {
    node,
    alias: table.alias,
    rowType: { kind: 'row', members: [{ name: column, type }], open: false },
    columns: new TableColumns({ paths: [[column]], rest: undefined }),
    joined: undefined,
  };
}

const INTEGER = atomType('integer');

/** The scope of the clauses of a query on a table. */
export function scopeOf(table: BoundTable): Scope {
  if (table.joined !== undefined) return new JoinScope(table.joined, table.merged);
  return new TableScope(table.alias, table.rowType, table.columns);
}

const MEMBER_ROW_TYPE: ValueType = {
  kind: 'row',
  members: [
    { name: 'column', type: atomType('path') },
    { name: 'value', type: ANY_TYPE },
  ],
  open: false,
};

function bindDataset(table: DatasetTable, context: BindContext): BoundTable {
  const common = context.commonTables?.find(table.name);
  if (common !== undefined) {
    return { ...common(), alias: table.alias ?? table.name, joined: undefined };
  }
  const { name, relation } = findDataset(table, context);
  return {
    node: { kind: 'scan', dataset: name, columns: 'all', lookup: undefined },
    alias: table.alias ?? table.name,
    rowType: relationType(relation),
    columns: relationColumns(relation),
    joined: undefined,
  };
}

/** The dataset of that name, else the only one whose name is the same but for its case. */
function findDataset(
  table: DatasetTable,
  context: BindContext,
): { name: string; relation: Relation } {
  const { namespace } = context;
  try {
    return { name: table.name, relation: namespace.dataset(table.name) };
  } catch (error) {
    if (!(error instanceof RowanError) || error.code !== 'ENTITY_NOT_FOUND') throw error;
    const lower = table.name.toLowerCase();
    const names = [...(namespace.datasetNames?.() ?? []), ...(context.commonTables?.names() ?? [])];
    const [other, ...more] = names.filter((name) => name.toLowerCase() === lower);
    if (other === undefined || more.length > 0) throw error;
    const message = `there is no dataset '${table.name}', only '${other}', which is read instead`;
    context.warn(table, { code: 'NAME_CASE', message, suggestion: other });
    return { name: other, relation: namespace.dataset(other) };
  }
}

/** Columns of a table in the order in which they were recorded; natural order where it is open. */
function relationColumns(relation: Relation): TableColumns {
  const { snapshot } = relation;
  if (snapshot?.layout === 'columnar') {
    const paths = snapshot.columns.map((column) => column.path);
    return new TableColumns({ paths, rest: undefined });
  }
  return new TableColumns(OPEN_ORDER, () => {
    if (relation.remote?.listsColumns === false) return NO_NAMES;
    if (relation.columnCount() > TYPED_COLUMN_COUNT_MAX) return NO_NAMES;
    return new Set(relation.columns().map(({ path }) => path.elements[0] as string));
  });
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** More columns than this are not worth listing for their types. */
const TYPED_COLUMN_COUNT_MAX = 4096;

/** The types of stored columns; open, since a column nobody recorded reads as null. */
export function relationType(relation: Relation): ValueType {
  const { snapshot, remote } = relation;
  if (remote !== undefined) return remote.rowType();
  if (snapshot?.layout !== 'columnar' || snapshot.columns.length > TYPED_COLUMN_COUNT_MAX) {
    return OPEN_ROW_TYPE;
  }
  const members = snapshot.columns.flatMap((column) => {
    const [name] = column.path;
    if (column.path.length !== 1 || name === undefined) return [];
    return { name, type: atomType(column.type === 'mixed' ? 'atom' : column.type) };
  });
  const nested = new Set(snapshot.columns.flatMap((c) => (c.path.length > 1 ? c.path[0] : [])));
  return { kind: 'row', members: members.filter(({ name }) => !nested.has(name)), open: true };
}

const TABLE_FUNCTIONS = ['transpose', 'merge', 'sample', 'row_dataset', 'atom_dataset'];

function bindTableFunction(table: FunctionTable, context: BindContext): BoundTable {
  const { name, tables, options } = table;
  const bounds: BoundTable[] = [];
  const inputs = () =>
    tables.map((input) => {
      const bound = bindTable(input, context);
      bounds.push(bound);
      return bound.node;
    });
  const single = (node: PlanNode): BoundTable => ({
    node,
    alias: table.alias,
    rowType: OPEN_ROW_TYPE,
    columns: new TableColumns(OPEN_ORDER),
    joined: undefined,
  });
  const refuse = (message: string) => bindingError(context.text, table, message);
  switch (name) {
    case 'transpose': {
      const [input] = inputs();
      if (input === undefined || tables.length > 1 || options !== undefined) {
        throw refuse('transpose() takes a single argument');
      }
      return single({ kind: 'transpose', input });
    }
    case 'merge':
      if (tables.length === 0) throw refuse('merge() needs at least 1 argument');
      if (options !== undefined) throw refuse('merge() takes no options');
      return single({ kind: 'merge', inputs: inputs() });
    case 'sample': {
      const [input] = inputs();
      if (input === undefined || tables.length > 1) {
        throw refuse('sample() takes one table and a row expression of options');
      }
      const bound = options === undefined ? undefined : context.bind(options, NO_TABLE_SCOPE);
      const sampled = single({ kind: 'sample', input, options: bound });
      const [table0] = bounds;
      return table0 === undefined || table0.joined !== undefined
        ? sampled
        : { ...sampled, rowType: table0.rowType, columns: table0.columns };
    }
    default: {
      const near = findNearestWord(name.toLowerCase(), TABLE_FUNCTIONS);
      const hint = near === undefined ? '' : `. Did you mean '${near}'?`;
      throw refuse(
        `Unable to find table function '${name}'; accepted are ${TABLE_FUNCTIONS.join(', ')}${hint}`,
      );
    }
  }
}

function bindJoin(table: JoinTable, context: BindContext): BoundTable {
  const left = bindTable(table.left, context);
  const { right: rightTable } = table;
  if (rightTable.kind === 'subquery' && rightTable.lateral === true) {
    return bindLateral(table, left, rightTable, context);
  }
  const right = bindTable(rightTable, context);
  const tables = [...tablesOf(left, 'left'), ...tablesOf(right, 'right')];
  refuseAmbiguousAliases(tables, table, context);
  const using = usedColumns(table, left, right, context);
  const merged = [...(left.merged ?? []), ...(right.merged ?? [])];
  const scope = new JoinScope(tables, merged);
  const { condition, columns } =
    using === undefined
      ? {
          condition:
            table.on === undefined
              ? undefined
              : context.bind(table.on, new JoinConditionScope(scope)),
          columns: merged,
        }
      : bindUsing(table, using, left, right, context);
  const { joinKind } = table;
  const node: PlanNode = {
    kind: 'join',
    joinKind,
    left: joinInput(left),
    right: joinInput(right),
    equalities: [],
    own: {},
    residual: condition,
    order: 'value',
  };
  // The rows of the left side as they are: only which of them is asked.
  if (joinKind === 'semi' || joinKind === 'anti') return { ...left, node };
  return joinedTable(node, tables, columns);
}

function joinedTable(
  node: PlanNode,
  tables: readonly JoinedTable[],
  merged: readonly MergedColumn[],
): BoundTable {
  const { order } = new JoinScope(tables);
  const columns = new TableColumns(order);
  return { node, alias: undefined, rowType: OPEN_ROW_TYPE, columns, joined: tables, merged };
}

function bindLateral(
  table: JoinTable,
  left: BoundTable,
  rightTable: SubqueryTable,
  context: BindContext,
): BoundTable {
  if (table.joinKind !== 'inner' && table.joinKind !== 'left') {
    const message =
      'LATERAL can stand to the right of a comma, JOIN, CROSS JOIN and LEFT JOIN only';
    throw bindingError(context.text, rightTable, message);
  }
  const bound = context.bindSubquery(withUniqueNames(rightTable.query), scopeOf(left));
  const renamed =
    rightTable.columnNames === undefined
      ? bound
      : renameColumns(bound, rightTable.columnNames, rightTable, context);
  const right = queryTable(renamed, rightTable.alias);
  const tables = [...tablesOf(left, 'left'), ...tablesOf(right, 'right')];
  refuseAmbiguousAliases(tables, table, context);
  const scope = new JoinScope(tables, left.merged);
  const condition =
    table.on === undefined ? undefined : context.bind(table.on, new JoinConditionScope(scope));
  // Its plan stands in the tree; only its number is needed.
  context.replaceSubquery(bound.subquery, { kind: 'single-row' });
  const node: PlanNode = {
    kind: 'lateral',
    joinKind: table.joinKind,
    left: joinInput(left),
    right: joinInput(right),
    subquery: bound.subquery,
    args: bound.args,
    condition,
  };
  return joinedTable(node, tables, left.merged ?? []);
}

/** The names of USING, or those that NATURAL finds on both sides. */
function usedColumns(
  table: JoinTable,
  left: BoundTable,
  right: BoundTable,
  context: BindContext,
): readonly string[] | undefined {
  if (table.using !== undefined) return table.using;
  if (table.natural !== true) return undefined;
  const namesOf = (side: BoundTable): readonly string[] => {
    const tables = side.joined ?? [side];
    if (tables.some(({ columns }) => !columns.closed)) {
      const message = 'NATURAL JOIN needs tables whose columns are known: write USING (column, …)';
      throw bindingError(context.text, table, message);
    }
    return tables.flatMap(({ columns }) => columns.order.paths.map((path) => path[0] as string));
  };
  const names = new Set(namesOf(right));
  const common = [...new Set(namesOf(left))].filter((name) => names.has(name));
  return common.length === 0 ? undefined : common;
}

function bindUsing(
  table: JoinTable,
  names: readonly string[],
  left: BoundTable,
  right: BoundTable,
  context: BindContext,
): { condition: BoundExpression | undefined; columns: readonly MergedColumn[] } {
  const { start, end } = table;
  const columns: MergedColumn[] = [];
  const conditions = names.map((name): BoundExpression => {
    const ofLeft = usedColumn(name, left, 'left', table, context);
    const ofRight = usedColumn(name, right, 'right', table, context);
    const padded = table.joinKind === 'full' || table.joinKind === 'right';
    const value = padded ? firstOf(ofLeft.value, ofRight.value) : ofLeft.value;
    columns.push({ name, tables: [...ofLeft.tables, ...ofRight.tables], value });
    return {
      kind: 'comparison',
      operator: '=',
      ...timestampSides(ofLeft.value, ofRight.value, context),
      type: BOOLEAN_TYPE,
      start,
      end,
    };
  });
  const used = new Set(names);
  const others = [...(left.merged ?? []), ...(right.merged ?? [])].filter(
    ({ name }) => !used.has(name),
  );
  return { condition: conjunctionOf(conditions), columns: [...columns, ...others] };
}

/** A column of USING on one side: the one table that has it, or what USING made before. */
function usedColumn(
  name: string,
  side: BoundTable,
  which: JoinSide,
  span: Span,
  context: BindContext,
): MergedColumn {
  const known = side.merged?.find((column) => column.name === name);
  if (known !== undefined) return known;
  const tables = tablesOf(side, which);
  const open = tables.filter(({ columns }) => columns.has(name) || !columns.closed);
  const exact = tables.filter(({ columns }) => columns.has(name));
  const candidates = exact.length > 0 ? exact : open;
  const [only] = candidates;
  if (only === undefined || candidates.length > 1) {
    const message =
      only === undefined
        ? `USING: the ${which} side has no column '${name}'`
        : `USING: Column '${name}' is ambiguous: ${candidates.map(({ alias }) => `${alias}.${name}`).join(', ')}`;
    throw bindingError(context.text, span, message);
  }
  const { start, end } = span;
  const path = only.alias === undefined ? [name] : [only.alias, name];
  const type = typeAtPath(only.rowType, [name]) ?? ANY_TYPE;
  const value: BoundExpression = { kind: 'column', path, type, start, end };
  return { name, tables: only.alias === undefined ? [] : [only.alias], value };
}

/** `left` where it is not null, else `right`. */
function firstOf(left: BoundExpression, right: BoundExpression): BoundExpression {
  const { start, end } = left;
  const type = commonType(left.type, right.type);
  const when: BoundExpression = {
    kind: 'is',
    operand: left,
    test: 'null',
    negated: false,
    type: BOOLEAN_TYPE,
    start,
    end,
  };
  const branches = [{ when, result: right }];
  return {
    kind: 'case',
    operand: undefined,
    branches,
    otherwise: left,
    emptyRow: false,
    type,
    start,
    end,
  };
}

function tablesOf(table: BoundTable, side: JoinSide): JoinedTable[] {
  if (table.joined === undefined) {
    const { alias, rowType, columns } = table;
    return [{ alias, side: [side], rowType, columns }];
  }
  return table.joined.map((inner) => ({ ...inner, side: [side, ...inner.side] }));
}

function joinInput(table: BoundTable): JoinInput {
  return { input: table.node, alias: table.alias, tableCount: table.joined?.length ?? 1 };
}

/** Tables that one FROM may join. */
const TABLE_COUNT_MAX = 128;

function refuseAmbiguousAliases(
  tables: readonly JoinedTable[],
  span: Span,
  context: BindContext,
): void {
  const aliases = tables.flatMap((table) => table.alias ?? []);
  if (tables.length > TABLE_COUNT_MAX) {
    const message = `more than ${TABLE_COUNT_MAX} tables are joined in one FROM: join some of them in a sub-select first`;
    throw bindingError(context.text, span, message);
  }
  const repeated = [...new Set(aliases.filter((alias, i) => aliases.indexOf(alias) !== i))];
  if (repeated.length === 0) return;
  const message = `Join has ambiguous table name(s): ${repeated.join(', ')}; give each table an alias of its own with AS`;
  throw bindingError(context.text, span, message);
}
