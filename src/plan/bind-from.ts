// FROM: tables, table functions and joins become plan nodes; their names become a scope.

import type { DatasetTable, FunctionTable, JoinTable, Span, TableExpression } from '../sql/node.ts';
import { unreachable } from '../sql/node.ts';
import { findNearestWord } from '../util/nearest-word.ts';
import type { Relation } from './catalog.ts';
import type { BindContext, Scope } from './context.ts';
import { bindingError } from './error.ts';
import type { JoinSide } from './expression.ts';
import { JoinConditionScope, type JoinedTable, JoinScope } from './join-scope.ts';
import type { JoinInput, PlanNode } from './plan.ts';
import { NO_TABLE_SCOPE } from './scope.ts';
import { TableScope } from './table-scope.ts';
import { ANY_TYPE, atomType, OPEN_ROW_TYPE, type ValueType } from './type.ts';

/** A table of FROM: the rows, what they are called and, for joins, the tables inside. */
export interface BoundTable {
  readonly node: PlanNode;
  readonly alias: string | undefined;
  readonly rowType: ValueType;
  /** the joined tables; undefined for a single table */
  readonly joined: readonly JoinedTable[] | undefined;
}

export function bindTable(table: TableExpression, context: BindContext): BoundTable {
  switch (table.kind) {
    case 'dataset-table':
      return bindDataset(table, context);
    case 'subquery': {
      const { node, rowType } = context.bindQuery(table.query);
      return { node, alias: table.alias, rowType, joined: undefined };
    }
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
        joined: undefined,
      };
    }
    case 'function-table':
      return bindTableFunction(table, context);
    case 'join':
      return bindJoin(table, context);
    default:
      return unreachable(table);
  }
}

/** The scope of the clauses of a query on a table. */
export function scopeOf(table: BoundTable): Scope {
  if (table.joined !== undefined) return new JoinScope(table.joined);
  return new TableScope(table.alias, table.rowType);
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
  const relation = context.catalog.dataset(table.name);
  return {
    node: { kind: 'scan', dataset: table.name, columns: 'all', lookup: undefined },
    alias: table.alias ?? table.name,
    rowType: relationType(relation),
    joined: undefined,
  };
}

/** More columns than this are not worth listing for their types. */
const TYPED_COLUMN_COUNT_MAX = 4096;

/** The types of stored columns; open, since a column nobody recorded reads as null. */
export function relationType(relation: Relation): ValueType {
  const { snapshot } = relation;
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
  const inputs = () => tables.map((input) => bindTable(input, context).node);
  const single = (node: PlanNode): BoundTable => ({
    node,
    alias: table.alias,
    rowType: OPEN_ROW_TYPE,
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
      return single({ kind: 'sample', input, options: bound });
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
  const right = bindTable(table.right, context);
  const tables = [...tablesOf(left, 'left'), ...tablesOf(right, 'right')];
  refuseAmbiguousAliases(tables, table, context);
  const scope = new JoinScope(tables);
  const condition =
    table.on === undefined ? undefined : context.bind(table.on, new JoinConditionScope(scope));
  return {
    node: {
      kind: 'join',
      joinKind: table.joinKind,
      left: joinInput(left),
      right: joinInput(right),
      equalities: [],
      own: {},
      residual: condition,
      order: 'value',
    },
    alias: undefined,
    rowType: OPEN_ROW_TYPE,
    joined: tables,
  };
}

function tablesOf(table: BoundTable, side: JoinSide): JoinedTable[] {
  if (table.joined === undefined) {
    return [{ alias: table.alias, side: [side], rowType: table.rowType }];
  }
  return table.joined.map((inner) => ({ ...inner, side: [side, ...inner.side] }));
}

function joinInput(table: BoundTable): JoinInput {
  return { input: table.node, alias: table.alias, tableCount: table.joined?.length ?? 1 };
}

function refuseAmbiguousAliases(
  tables: readonly JoinedTable[],
  span: Span,
  context: BindContext,
): void {
  const aliases = tables.flatMap((table) => table.alias ?? []);
  const repeated = [...new Set(aliases.filter((alias, i) => aliases.indexOf(alias) !== i))];
  if (repeated.length === 0) return;
  const message = `Join has ambiguous table name(s): ${repeated.join(', ')}; give each table an alias of its own with AS`;
  throw bindingError(context.text, span, message);
}
