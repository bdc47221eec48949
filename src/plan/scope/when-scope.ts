// The scope of WHEN: the clause's row, and the timestamp of the point under test.
import type { CallNode, ColumnNode, Span, Star } from '../../sql/node.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import type { BoundExpression } from '../expression.ts';
import type { StarPattern } from '../pattern.ts';
import { requireArity } from '../type/arity.ts';
import { atomType } from '../type/type.ts';

export class WhenScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #input: Scope;

  constructor(input: Scope) {
    this.#input = input;
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    return this.#input.column(node, context);
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    if (node.name !== 'value_timestamp' || node.table !== undefined) {
      return this.#input.call(node, context);
    }
    requireArity(node, 0, context);
    const { start, end } = node;
    return { kind: 'value-timestamp', type: atomType('timestamp'), start, end };
  }

  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern {
    return this.#input.star(star, span, place, context);
  }

  excluded(path: readonly string[]): readonly string[] {
    return this.#input.excluded?.(path) ?? path;
  }
}
