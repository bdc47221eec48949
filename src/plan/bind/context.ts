// What the parts of the binder share while one query is bound.
import type {
  CallNode,
  ColumnNode,
  Expression,
  QueryNode,
  SelectItem,
  Span,
  Star,
  WildcardItem,
} from '../../sql/node.ts';
import type { Value } from '../../value/value.ts';
import type { ColumnOrder } from '../column-order.ts';
import type { BoundExpression, ColumnSource } from '../expression.ts';
import type { Namespace } from '../namespace.ts';
import type { StarPattern } from '../pattern.ts';
import type { PlanNode } from '../plan.ts';
import type { TableColumns } from '../scope/table-columns.ts';
import type { RowMember, ValueType } from '../type/type.ts';
import type { Suspicion } from '../warning.ts';

export interface BindContext {
  readonly namespace: Namespace;
  /** the text that all spans refer to */
  readonly text: string;
  /** parameters that `$name` may refer to; undefined: none, and a use is an error */
  readonly parameters: ParameterTypes | undefined;
  /** Evaluates an expression without columns; throws what its evaluation throws. */
  readonly evaluate: (expression: BoundExpression) => Value;
  bind(node: Expression, scope: Scope): BoundExpression;
  bindQuery(query: QueryNode): BoundQuery;
  /** Binds a sub-select of an expression or a LATERAL one, which may name columns of the scope. */
  bindSubquery(query: QueryNode, scope: Scope): BoundSubquery;
  /** Registers the plan of a sub-select. */
  addSubquery(plan: PlanNode): number;
  replaceSubquery(index: number, plan: PlanNode): void;
  /** the query around the one that is bound, when there is one whose columns it may name */
  readonly outer: OuterQuery | undefined;
  /** the tables of WITH that are in sight */
  readonly commonTables: CommonTables | undefined;
  /** The same context where more tables of WITH are in sight. */
  withTables(tables: CommonTables): BindContext;
  /** Says what is probably wrong. @throws SQL_BINDING when the query is strict */
  warn(span: Span, suspicion: Suspicion): void;
}

/** The tables of WITH that are in sight; those of the inner clauses hide those around them. */
export interface CommonTables {
  find(name: string): CommonTableSource | undefined;
  names(): readonly string[];
}

/** Gives the rows of a table of WITH to one place that reads it. */
export type CommonTableSource = () => CommonRows;

export interface CommonRows {
  readonly node: PlanNode;
  readonly rowType: ValueType;
  readonly columns: TableColumns;
}

/** A query around a sub-select, and what the sub-select reads of its row. */
export interface OuterQuery {
  /** the number of the sub-select */
  readonly subquery: number;
  readonly scope: Scope;
  readonly context: BindContext;
  /** what was read so far: the arguments of the sub-select */
  readonly args: BoundExpression[];
}

export interface BoundSubquery extends BoundQuery {
  readonly subquery: number;
  readonly args: readonly BoundExpression[];
}

export interface ParameterTypes {
  /** the type of a parameter; undefined: there is no such parameter */
  typeOf(name: string): ValueType | undefined;
}

export interface BoundQuery {
  readonly node: PlanNode;
  /** the type of the rows of the result */
  readonly rowType: ValueType;
  readonly order: ColumnOrder;
}

/** Where a wildcard stands: an item of the select list itself, or of a row inside an expression. */
export type WildcardPlace = 'item' | 'row';

/** What names mean at some place of a query. */
export interface Scope {
  column(node: ColumnNode, context: BindContext): BoundExpression;
  /** The same for a name that certainly means something here; else undefined, and no warning. */
  find?(node: ColumnNode, context: BindContext): BoundExpression | undefined;
  /** A function that only exists in this scope, for instance `rowName()`. */
  call(node: CallNode, context: BindContext): BoundExpression | undefined;
  /** The columns that a wildcard means. */
  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern;
  /** Replaces whole expressions before they are bound: the keys of a grouped query. */
  intercept?(node: Expression, context: BindContext): BoundExpression | undefined;
  /** The path of a column named in EXCLUDING, without an alias that columns do not have. */
  excluded?(path: readonly string[]): readonly string[];
  /** the columns of the input in the order in which wildcards present them; absent: open */
  readonly order?: ColumnOrder;
  /** What `*` means where it is more than one wildcard: the merged columns of USING come first. */
  expandStar?(item: WildcardItem): readonly SelectItem[] | undefined;
  /** the columns that `*` stands for as things stand, for descriptions; absent: not known */
  readonly listed?: readonly RowMember[] | undefined;
  /** what wildcards and COLUMN EXPR run over */
  readonly columns: ColumnSource;
  /** true: inside COLUMN EXPR, where only builtins may be called */
  readonly builtinsOnly: boolean;
}
