// Names in a join: every column begins with the alias of its table, which may be left out in text.

import type { CallNode, ColumnNode, SelectItem, Span, Star, WildcardItem } from '../../sql/node.ts';
import { findNearestWord } from '../../util/nearest-word.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import { type ColumnOrder, concatOrders, orderBelow } from '../column-order.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { patternOfStar, type StarPattern } from '../pattern.ts';
import { bindJoinFunction, bindRowFunction } from '../row-function.ts';
import { ANY_TYPE, OPEN_ROW_TYPE, typeAtPath, type ValueType } from '../type/type.ts';
import { bindOuter } from './outer.ts';
import { boundColumn } from './scope.ts';
import type { TableColumns } from './table-columns.ts';
import { warnAboutCase, warnAboutUnknown } from './table-scope.ts';

/** A table of a join: `side` leads from the outermost join to its row. */
export interface JoinedTable {
  /** undefined: a sub-select without alias, whose columns have no prefix */
  readonly alias: string | undefined;
  readonly side: readonly JoinSide[];
  readonly rowType: ValueType;
  readonly columns: TableColumns;
}

/** A column that USING made of one column of each side. */
export interface MergedColumn {
  readonly name: string;
  /** the tables that have it, by alias */
  readonly tables: readonly string[];
  readonly value: BoundExpression;
}

export class JoinScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #tables: readonly JoinedTable[];
  readonly #merged: readonly MergedColumn[];

  constructor(tables: readonly JoinedTable[], merged: readonly MergedColumn[] = []) {
    this.#tables = tables;
    this.#merged = merged;
  }

  get order(): ColumnOrder {
    return concatOrders(
      this.#tables.map(({ alias, columns }) =>
        alias === undefined ? columns.order : orderBelow(alias, columns.order),
      ),
    );
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    const found = this.find(node, context) ?? bindOuter(node, context);
    if (found !== undefined) return found;
    const [name = '', ...rest] = node.path;
    if (this.#tables.some(({ columns }) => !columns.closed && !columns.areListed)) {
      return boundColumn(node, node.path, OPEN_ROW_TYPE);
    }
    const others = this.#tables.flatMap((table) => {
      if (!table.columns.closed) return [];
      const other = table.columns.findInAnyCase(name);
      return other === undefined ? [] : [{ table, other }];
    });
    const [only] = others;
    if (only !== undefined && others.length === 1) {
      warnAboutCase(node, name, only.other, context);
      return this.#columnOf(node, only.table, [only.other, ...rest]);
    }
    const nearest = this.#tables.find(({ columns }) => columns.nearest(name) !== undefined);
    const table = nearest ?? (this.#tables[0] as JoinedTable);
    warnAboutUnknown(node, node.path, undefined, table.columns, context);
    return boundColumn(node, node.path, OPEN_ROW_TYPE);
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    const [name = ''] = node.path;
    const table = this.tableOf(name);
    if (table !== undefined) {
      return this.#qualified(node, table, context);
    }
    const merged = this.#merged.find((column) => column.name === name);
    if (merged !== undefined && node.path.length === 1) {
      return { ...merged.value, start: node.start, end: node.end };
    }
    const candidates = this.#tables.filter(({ columns }) => columns.has(name));
    const [only] = candidates;
    if (only === undefined) return undefined;
    if (candidates.length > 1) {
      const places = candidates.map(({ alias }) => [...(alias ?? []), name]);
      const names = candidates.map(({ alias }, i) =>
        alias === undefined ? places[i]?.at(-1) : `${alias}.${name}`,
      );
      const message = `Column '${node.path.join('.')}' is ambiguous: ${names.join(', ')}`;
      throw bindingError(context.text, node, message);
    }
    return this.#columnOf(node, only, node.path);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    if (node.table === undefined) {
      return bindJoinFunction(node, context) ?? bindRowFunction(node, [], this, context);
    }
    const table = this.tableOf(node.table);
    return table === undefined ? undefined : bindRowFunction(node, table.side, this, context);
  }

  star(star: Star, _span: Span, _place: WildcardPlace, _context: BindContext): StarPattern {
    return patternOfStar(star.path, star.dotted);
  }

  /** `*` of a join with USING: the merged columns, then each table without them. */
  expandStar(item: WildcardItem): readonly SelectItem[] | undefined {
    const { star, excluding, replacement, start, end } = item;
    const all = star.path.length === 0 && replacement === undefined;
    if (this.#merged.length === 0 || !all) return undefined;
    const excludes = (name: string) =>
      excluding.some(
        (exclusion) =>
          exclusion.kind === 'column' && exclusion.path.length === 1 && exclusion.path[0] === name,
      );
    const merged: SelectItem[] = this.#merged
      .filter(({ name }) => !excludes(name))
      .map(({ name }) => ({
        kind: 'named-expression',
        expression: { kind: 'column', path: [name], start, end },
        name: undefined,
        surface: name,
        start,
        end,
      }));
    const hidden = this.#merged.flatMap(({ name, tables }) =>
      tables.map((alias) => ({ kind: 'column' as const, path: [alias, name] })),
    );
    return [...merged, { ...item, excluding: [...excluding, ...hidden] }];
  }

  tableOf(alias: string | undefined): JoinedTable | undefined {
    if (alias === undefined) return undefined;
    return this.#tables.find((table) => table.alias === alias);
  }

  aliases(): string[] {
    return this.#tables.flatMap((table) => table.alias ?? []);
  }

  hasUnprefixedColumns(): boolean {
    return this.#tables.some((table) => table.alias === undefined);
  }

  /** A column behind the alias of its table. */
  #qualified(node: ColumnNode, table: JoinedTable, context: BindContext): BoundExpression {
    const [alias = '', name, ...rest] = node.path;
    if (name === undefined) {
      return { kind: 'column', path: node.path, type: table.rowType, ...spanOf(node) };
    }
    const { closed, areListed } = table.columns;
    if ((closed || areListed) && !table.columns.has(name)) {
      const other = closed ? table.columns.findInAnyCase(name) : undefined;
      if (other !== undefined) {
        warnAboutCase(node, name, other, context);
        return this.#columnOf(node, table, [other, ...rest]);
      }
      warnAboutUnknown(node, [name, ...rest], alias, table.columns, context);
    }
    return this.#columnOf(node, table, [name, ...rest]);
  }

  #columnOf(node: Span, table: JoinedTable, path: readonly string[]): BoundExpression {
    const type = typeAtPath(table.rowType, path) ?? ANY_TYPE;
    const full = table.alias === undefined ? path : [table.alias, ...path];
    return { kind: 'column', path: full, type, ...spanOf(node) };
  }
}

function spanOf({ start, end }: Span): Span {
  return { start, end };
}

/** The scope of ON: a name must be a column of one of the tables. */
export class JoinConditionScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #join: JoinScope;

  constructor(join: JoinScope) {
    this.#join = join;
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    const found = this.#join.find(node, context) ?? bindOuter(node, context);
    if (found !== undefined) return found;
    if (this.#join.hasUnprefixedColumns()) return this.#join.column(node, context);
    const [alias = ''] = node.path;
    const aliases = this.#join.aliases();
    const near = findNearestWord(alias, aliases);
    const hint = near === undefined ? '' : `; did you mean '${near}'?`;
    throw bindingError(
      context.text,
      node,
      `Join condition refers to unknown variables: '${node.path.join('.')}' does not begin with one of the tables ${aliases.join(', ')}${hint}`,
    );
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    return this.#join.find(node, context);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    return this.#join.call(node, context);
  }

  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern {
    return this.#join.star(star, span, place, context);
  }
}
