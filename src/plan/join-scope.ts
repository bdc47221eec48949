// Names in a join: every column begins with the alias of its table.

import type { CallNode, ColumnNode, Span, Star } from '../sql/node.ts';
import { findNearestWord } from '../util/nearest-word.ts';
import type { BindContext, Scope, WildcardPlace } from './context.ts';
import { bindingError } from './error.ts';
import type { BoundExpression, JoinSide } from './expression.ts';
import { patternOfStar, type StarPattern } from './pattern.ts';
import { bindJoinFunction, bindRowFunction } from './row-function.ts';
import { boundColumn } from './scope.ts';
import { ANY_TYPE, OPEN_ROW_TYPE, typeAtPath, type ValueType } from './type.ts';

/** A table of a join: `side` leads from the outermost join to its row. */
export interface JoinedTable {
  /** undefined: a sub-select without alias, whose columns have no prefix */
  readonly alias: string | undefined;
  readonly side: readonly JoinSide[];
  readonly rowType: ValueType;
}

export class JoinScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #tables: readonly JoinedTable[];

  constructor(tables: readonly JoinedTable[]) {
    this.#tables = tables;
  }

  column(node: ColumnNode, _context: BindContext): BoundExpression {
    const table = this.find(node.path[0]);
    if (table === undefined) return boundColumn(node, node.path, OPEN_ROW_TYPE);
    const type =
      node.path.length === 1 ? table.rowType : typeAtPath(table.rowType, node.path.slice(1));
    const { start, end } = node;
    return { kind: 'column', path: node.path, type: type ?? ANY_TYPE, start, end };
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    if (node.table === undefined) {
      return bindJoinFunction(node, context) ?? bindRowFunction(node, [], this, context);
    }
    const table = this.find(node.table);
    return table === undefined ? undefined : bindRowFunction(node, table.side, this, context);
  }

  star(star: Star, _span: Span, _place: WildcardPlace, _context: BindContext): StarPattern {
    return patternOfStar(star.path, star.dotted);
  }

  find(alias: string | undefined): JoinedTable | undefined {
    if (alias === undefined) return undefined;
    return this.#tables.find((table) => table.alias === alias);
  }

  aliases(): string[] {
    return this.#tables.flatMap((table) => table.alias ?? []);
  }

  hasUnprefixedColumns(): boolean {
    return this.#tables.some((table) => table.alias === undefined);
  }
}

/** The scope of ON: a column must say which table it belongs to. */
export class JoinConditionScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #join: JoinScope;

  constructor(join: JoinScope) {
    this.#join = join;
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    const [alias = ''] = node.path;
    if (this.#join.find(alias) === undefined && !this.#join.hasUnprefixedColumns()) {
      const aliases = this.#join.aliases();
      const near = findNearestWord(alias, aliases);
      const hint = near === undefined ? '' : `; did you mean '${near}'?`;
      throw bindingError(
        context.text,
        node,
        `Join condition refers to unknown variables: '${node.path.join('.')}' does not begin with one of the tables ${aliases.join(', ')}${hint}`,
      );
    }
    return this.#join.column(node, context);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    return this.#join.call(node, context);
  }

  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern {
    return this.#join.star(star, span, place, context);
  }
}
