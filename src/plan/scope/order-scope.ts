// The scope of ORDER BY and DISTINCT ON: columns of the output first, then those of the input.
import type { CallNode, ColumnNode, Expression, Span, Star } from '../../sql/node.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import type { BoundExpression, ProjectItem } from '../expression.ts';
import type { StarPattern } from '../pattern.ts';
import { missing } from './scope.ts';

/** How a select list produces a column of some path. */
type Production =
  /** no item does */
  | { readonly kind: 'none' }
  /** exactly this expression */
  | { readonly kind: 'expression'; readonly expression: BoundExpression }
  /** some item may, but only the finished row tells */
  | { readonly kind: 'dynamic' };

export class OrderScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #items: readonly ProjectItem[];
  readonly #input: Scope;
  readonly #grouped: boolean;
  /** true once a key needs the finished output row */
  readsOutput = false;

  /** `grouped`: the input has no columns of its own beside the keys */
  constructor(items: readonly ProjectItem[], input: Scope, grouped: boolean) {
    this.#items = items;
    this.#input = input;
    this.#grouped = grouped;
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    const production = productionOf(node.path, this.#items);
    switch (production.kind) {
      case 'none':
        return this.#inputColumn(node, context);
      case 'expression':
        return production.expression;
      case 'dynamic':
        return this.output(node.path, node, this.#dynamicInput(node, context));
    }
  }

  /** A column of the finished output row. */
  output(
    path: readonly string[],
    { start, end }: Span,
    otherwise: BoundExpression = missing({ start, end }),
  ): BoundExpression {
    this.readsOutput = true;
    return { kind: 'output-column', path, otherwise, type: { kind: 'any' }, start, end };
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    const production = productionOf(node.path, this.#items);
    if (production.kind === 'expression') return production.expression;
    return this.#input.find?.(node, context);
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

  /** A key of the group stands for itself, unless the name is an output column. */
  intercept(node: Expression, context: BindContext): BoundExpression | undefined {
    if (node.kind === 'column' && productionOf(node.path, this.#items).kind !== 'none') {
      return undefined;
    }
    return this.#input.intercept?.(node, context);
  }

  #inputColumn(node: ColumnNode, context: BindContext): BoundExpression {
    return this.#input.intercept?.(node, context) ?? this.#input.column(node, context);
  }

  /** Where the output has no such column: the input's, or null for a group without such a key. */
  #dynamicInput(node: ColumnNode, context: BindContext): BoundExpression {
    const key = this.#input.intercept?.(node, context);
    if (key !== undefined) return key;
    return this.#grouped ? missing(node) : this.#input.column(node, context);
  }
}

function productionOf(path: readonly string[], items: readonly ProjectItem[]): Production {
  let found: Production = { kind: 'none' };
  for (const item of items) {
    const production = productionOfItem(path, item);
    if (production.kind === 'none') continue;
    if (found.kind !== 'none' || production.kind === 'dynamic') return { kind: 'dynamic' };
    found = production;
  }
  return found;
}

function productionOfItem(path: readonly string[], item: ProjectItem): Production {
  if (item.kind === 'named') {
    const shared = Math.min(path.length, item.path.length);
    if (!path.slice(0, shared).every((element, index) => element === item.path[index])) {
      return { kind: 'none' };
    }
    if (path.length === item.path.length) {
      return { kind: 'expression', expression: item.expression };
    }
    return { kind: 'dynamic' };
  }
  // Columns that keep their names are the input columns of the same names.
  if (item.kind === 'wildcard' && item.pattern.rename.kind === 'keep') return { kind: 'none' };
  return { kind: 'dynamic' };
}
