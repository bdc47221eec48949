// Names in a query on one table: an alias, its columns and the functions of its rows.
import type { CallNode, ColumnNode, Span, Star } from '../../sql/node.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import type { ColumnOrder } from '../column-order.ts';
import type { BoundExpression } from '../expression.ts';
import { patternOfStar, type StarPattern } from '../pattern.ts';
import { bindRowFunction, refuseJoinFunction } from '../row-function.ts';
import {
  ANY_TYPE,
  OPEN_ROW_TYPE,
  type RowMember,
  typeAtPath,
  type ValueType,
} from '../type/type.ts';
import { bindOuter } from './outer.ts';
import { boundColumn } from './scope.ts';
import type { TableColumns } from './table-columns.ts';

/** More columns than this are not worth describing. */
const LISTED_COUNT_MAX = 4096;

export class TableScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #alias: string | undefined;
  readonly #rowType: ValueType;
  readonly #columns: TableColumns;

  constructor(alias: string | undefined, rowType: ValueType, columns: TableColumns) {
    this.#alias = alias;
    this.#rowType = rowType;
    this.#columns = columns;
  }

  get order(): ColumnOrder {
    return this.#columns.order;
  }

  get listed(): readonly RowMember[] | undefined {
    const { closed, order } = this.#columns;
    if (!closed || order.paths.length > LISTED_COUNT_MAX) return undefined;
    const names = new Set(order.paths.map((path) => path[0] as string));
    const isNested = new Set(order.paths.flatMap((path) => (path.length > 1 ? path[0] : [])));
    return [...names].map((name) => ({
      name,
      type: isNested.has(name) ? OPEN_ROW_TYPE : (typeAtPath(this.#rowType, [name]) ?? ANY_TYPE),
    }));
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    const path = this.#withoutAlias(node.path, 2);
    const [name = ''] = path;
    if (this.#columns.has(name)) return boundColumn(node, path, this.#rowType);
    if (path === node.path) {
      const outer = bindOuter(node, context);
      if (outer !== undefined) return outer;
    }
    if (!this.#columns.closed) {
      const { areListed } = this.#columns;
      if (areListed) warnAboutUnknown(node, path, this.#alias, this.#columns, context);
      return boundColumn(node, path, this.#rowType);
    }
    const other = this.#columns.findInAnyCase(name);
    if (other !== undefined) {
      warnAboutCase(node, name, other, context);
      return boundColumn(node, [other, ...path.slice(1)], this.#rowType);
    }
    warnAboutUnknown(node, path, this.#alias, this.#columns, context);
    return boundColumn(node, path, this.#rowType);
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    const path = this.#withoutAlias(node.path, 2);
    if (path === node.path && !this.#columns.has(path[0] as string)) return undefined;
    return this.column(node, context);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    refuseJoinFunction(node, context);
    const own = node.table === undefined || node.table === this.#alias;
    return own || context.outer === undefined
      ? bindRowFunction(node, [], this, context)
      : undefined;
  }

  star(star: Star, _span: Span, _place: WildcardPlace, _context: BindContext): StarPattern {
    const path = this.#withoutAlias(star.path, star.dotted ? 1 : 2);
    return patternOfStar(path, star.dotted);
  }

  excluded(path: readonly string[]): readonly string[] {
    return this.#withoutAlias(path, 2);
  }

  #withoutAlias(path: readonly string[], lengthMin: number): readonly string[] {
    return path.length >= lengthMin && path[0] === this.#alias ? path.slice(1) : path;
  }
}

export function warnAboutCase(node: Span, name: string, other: string, context: BindContext): void {
  context.warn(node, {
    code: 'NAME_CASE',
    message: `there is no '${name}', only '${other}', which is read instead`,
    suggestion: other,
  });
}

/** Says that nothing has a column of that name, or that what stands before its dot is no table. */
export function warnAboutUnknown(
  node: Span,
  path: readonly string[],
  table: string | undefined,
  columns: TableColumns,
  context: BindContext,
): void {
  const [name = '', ...rest] = path;
  const near = columns.nearest(name);
  const where = table === undefined ? 'no table here' : `'${table}'`;
  const has = table === undefined ? 'has' : 'does not have';
  const message =
    rest.length > 0
      ? `'${name}' before the dot is neither a table nor a column here: '${path.join('.')}' is NULL in every row`
      : `${where} ${has} a column '${name}': it is NULL in every row`;
  const suggestion = near ?? (rest.length > 0 ? table : undefined);
  context.warn(node, { code: 'UNKNOWN_COLUMN', message, suggestion });
}
