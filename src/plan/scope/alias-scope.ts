// Names of WHERE, HAVING and QUALIFY: those of the input, and else the aliases of the select list.
import type { CallNode, ColumnNode, Expression, SelectItem, Span, Star } from '../../sql/node.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import type { ColumnOrder } from '../column-order.ts';
import type { BoundExpression } from '../expression.ts';
import type { StarPattern } from '../pattern.ts';

export class AliasScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #input: Scope;
  readonly #items: readonly SelectItem[];

  constructor(input: Scope, items: readonly SelectItem[]) {
    this.#input = input;
    this.#items = items;
  }

  get order(): ColumnOrder {
    return this.#input.order as ColumnOrder;
  }

  get listed(): Scope['listed'] {
    return this.#input.listed;
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    return this.find(node, context) ?? this.#input.column(node, context);
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    const found = this.#input.find?.(node, context);
    if (found !== undefined) return found;
    const aliased = aliasedExpression(node, this.#items);
    return aliased === undefined ? undefined : context.bind(aliased, this.#input);
  }

  intercept(node: Expression, context: BindContext): BoundExpression | undefined {
    return this.#input.intercept?.(node, context);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    return this.#input.call(node, context);
  }

  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern {
    return this.#input.star(star, span, place, context);
  }

  excluded(path: readonly string[]): readonly string[] {
    return this.#input.excluded?.(path) ?? path;
  }
}

/** The expression that the select list names like a column. */
export function aliasedExpression(
  node: Expression,
  items: readonly SelectItem[],
): Expression | undefined {
  if (node.kind !== 'column' || node.path.length !== 1) return undefined;
  const [name] = node.path;
  for (const item of items) {
    if (item.kind !== 'named-expression' || item.name === undefined || item.name === '*') continue;
    if (item.name.length === 1 && item.name[0] === name) return item.expression;
  }
  return undefined;
}
