// Names in a query on one table: an alias, its columns and the functions of its rows.
import type { CallNode, ColumnNode, Span, Star } from '../sql/node.ts';
import type { BindContext, Scope, WildcardPlace } from './context.ts';
import type { BoundExpression } from './expression.ts';
import { patternOfStar, type StarPattern } from './pattern.ts';
import { bindRowFunction, refuseJoinFunction } from './row-function.ts';
import { boundColumn } from './scope.ts';
import type { ValueType } from './type.ts';

export class TableScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #alias: string | undefined;
  readonly #rowType: ValueType;

  constructor(alias: string | undefined, rowType: ValueType) {
    this.#alias = alias;
    this.#rowType = rowType;
  }

  column(node: ColumnNode): BoundExpression {
    return boundColumn(node, this.#withoutAlias(node.path, 2), this.#rowType);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    refuseJoinFunction(node, context);
    return bindRowFunction(node, [], this, context);
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
