// What the parts of the binder share while one query is bound.
import type { CallNode, ColumnNode, Expression, Query, Span, Star } from '../sql/node.ts';
import type { Value } from '../value/value.ts';
import type { Catalog } from './catalog.ts';
import type { BoundExpression, ColumnSource } from './expression.ts';
import type { StarPattern } from './pattern.ts';
import type { PlanNode } from './plan.ts';
import type { ValueType } from './type.ts';

export interface BindContext {
  readonly catalog: Catalog;
  /** the text that all spans refer to */
  readonly text: string;
  /** parameters that `$name` may refer to; undefined: none, and a use is an error */
  readonly parameters: ParameterTypes | undefined;
  /** Evaluates an expression without columns; throws what its evaluation throws. */
  readonly evaluate: (expression: BoundExpression) => Value;
  bind(node: Expression, scope: Scope): BoundExpression;
  bindQuery(query: Query): BoundQuery;
  /** Registers the plan of a sub-select of IN. */
  addSubquery(plan: PlanNode): number;
}

export interface ParameterTypes {
  /** the type of a parameter; undefined: there is no such parameter */
  typeOf(name: string): ValueType | undefined;
}

export interface BoundQuery {
  readonly node: PlanNode;
  /** the type of the rows of the result */
  readonly rowType: ValueType;
}

/** Where a wildcard stands: an item of the select list itself, or of a row inside an expression. */
export type WildcardPlace = 'item' | 'row';

/** What names mean at some place of a query. */
export interface Scope {
  column(node: ColumnNode, context: BindContext): BoundExpression;
  /** A function that only exists in this scope, for instance `rowName()`. */
  call(node: CallNode, context: BindContext): BoundExpression | undefined;
  /** The columns that a wildcard means. */
  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern;
  /** Replaces whole expressions before they are bound: the keys of a grouped query. */
  intercept?(node: Expression, context: BindContext): BoundExpression | undefined;
  /** The path of a column named in EXCLUDING, without an alias that columns do not have. */
  excluded?(path: readonly string[]): readonly string[];
  /** what wildcards and COLUMN EXPR run over */
  readonly columns: ColumnSource;
  /** true: inside COLUMN EXPR, where only builtins may be called */
  readonly builtinsOnly: boolean;
}
