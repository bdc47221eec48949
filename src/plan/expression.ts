// Bound expressions: what an expression means once names are resolved and types are known.
//
// Nodes are plain readonly data. A column is a path in the row that the surrounding operator reads:
// aliases are gone in single tables and are the first element in joins. Every expression is
// evaluated against one input row; the few things that a row alone does not answer (its name, the
// sides of a join, the group, the point under WHEN, the column under COLUMN EXPR) have nodes of
// their own.
import type {
  ArithmeticOperator,
  BitwiseOperator,
  CastType,
  ComparisonOperator,
  IsTest,
  Span,
} from '../sql/node.ts';
import type { Value } from '../value/value.ts';
import type { WildcardPattern } from './pattern.ts';
import type { RowMember, ValueType } from './type/type.ts';

/** What all bound expressions share: the place in the query text and the static type. */
export interface BoundBase extends Span {
  readonly type: ValueType;
}

export interface ConstantExpression extends BoundBase {
  readonly kind: 'constant';
  readonly value: Value;
}

/**
 * A column of the input row; null when the row has no such column. Operators read its latest
 * value, a select list carries all its points over.
 */
export interface ColumnExpression extends BoundBase {
  readonly kind: 'column';
  readonly path: readonly string[];
}

/** A member of the value that an extract evaluates its index against. */
export interface MemberExpression extends BoundBase {
  readonly kind: 'member';
  readonly path: readonly string[];
}

/**
 * A column that the select list may produce; `otherwise` is read where it does not. Only in the
 * keys of a sort above a projection.
 */
export interface OutputColumnExpression extends BoundBase {
  readonly kind: 'output-column';
  readonly path: readonly string[];
  readonly otherwise: BoundExpression;
}

/** `$name`: bound for each call of a prepared query. */
export interface ParameterExpression extends BoundBase {
  readonly kind: 'parameter';
  readonly name: string;
}

/** A call of a builtin scalar or value function. */
export interface CallExpression extends BoundBase {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly BoundExpression[];
  /** source text of each argument */
  readonly surfaces: readonly string[];
}

/** A call of a function entity. */
export interface UserCallExpression extends BoundBase {
  readonly kind: 'user-call';
  readonly name: string;
  readonly arg: BoundExpression | undefined;
}

/** `try(operand, otherwise)`; without `otherwise` the text of the error. */
export interface TryExpression extends BoundBase {
  readonly kind: 'try';
  readonly operand: BoundExpression;
  readonly otherwise: BoundExpression | undefined;
}

/** Evaluates `index` against the members of `operand`: see MemberExpression. */
export interface ExtractExpression extends BoundBase {
  readonly kind: 'extract';
  readonly operand: BoundExpression;
  readonly index: BoundExpression;
}

export interface RowExpression extends BoundBase {
  readonly kind: 'row';
  readonly items: readonly ProjectItem[];
}

export interface EmbeddingExpression extends BoundBase {
  readonly kind: 'embedding';
  readonly elements: readonly BoundExpression[];
}

export interface UnaryExpression extends BoundBase {
  readonly kind: 'unary';
  readonly operator: '+' | '-' | '~' | 'not' | 'timestamp';
  readonly operand: BoundExpression;
}

export interface ArithmeticExpression extends BoundBase {
  readonly kind: 'arithmetic';
  readonly operator: ArithmeticOperator | BitwiseOperator;
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

export interface ComparisonExpression extends BoundBase {
  readonly kind: 'comparison';
  readonly operator: ComparisonOperator;
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

/** A string becomes a path of one element, anything else stays: the other side of `rowPath() =`. */
export interface PathOperandExpression extends BoundBase {
  readonly kind: 'path-operand';
  readonly operand: BoundExpression;
}

/** `operand @ time` */
export interface SetTimestampExpression extends BoundBase {
  readonly kind: 'set-timestamp';
  readonly operand: BoundExpression;
  readonly time: BoundExpression;
}

export interface AndExpression extends BoundBase {
  readonly kind: 'and';
  readonly operands: readonly BoundExpression[];
}

export interface OrExpression extends BoundBase {
  readonly kind: 'or';
  readonly operands: readonly BoundExpression[];
}

export interface BetweenExpression extends BoundBase {
  readonly kind: 'between';
  readonly operand: BoundExpression;
  readonly low: BoundExpression;
  readonly high: BoundExpression;
  readonly negated: boolean;
}

export interface InListExpression extends BoundBase {
  readonly kind: 'in-list';
  readonly operand: BoundExpression;
  readonly choices: readonly BoundExpression[];
  readonly negated: boolean;
}

/** Equals any cell of the result of the sub-select of that number in `QueryPlan.subqueries`. */
export interface InQueryExpression extends BoundBase {
  readonly kind: 'in-query';
  readonly operand: BoundExpression;
  readonly subquery: number;
  /** the only column of the sub-select, when it has one of atoms */
  readonly column: readonly string[] | undefined;
  readonly negated: boolean;
  /** strings of the result are taken as paths of one element */
  readonly asPaths: boolean;
}

/**
 * A value of the query around a sub-select: number `index` of the arguments of the sub-select of
 * that number. Constant while the sub-select runs.
 */
export interface OuterExpression extends BoundBase {
  readonly kind: 'outer';
  readonly subquery: number;
  readonly index: number;
}

/**
 * What the rows of a sub-select say about the current row. `scalar`: the only cell of its only row;
 * `exists`: whether it has a row; `any`, `all`: whether the comparison of `operands` with its
 * cells holds for one or for every row (nulls are skipped, as IN has them).
 */
export interface SubqueryExpression extends BoundBase {
  readonly kind: 'subquery';
  readonly mode: 'scalar' | 'exists' | 'any' | 'all';
  /** the number in `QueryPlan.subqueries` */
  readonly subquery: number;
  /** what it reads of the current row: see OuterExpression; empty: it runs once */
  readonly args: readonly BoundExpression[];
  /** of `any` and `all`: as many as the sub-select has columns */
  readonly operands: readonly BoundExpression[];
  readonly operator: ComparisonOperator;
  /** the columns of its rows, in the order of the select list */
  readonly columns: readonly (readonly string[])[];
  /**
   * Absent: it runs for each distinct tuple of arguments. Else it runs once, without the conditions
   * that compare with the arguments, and its rows are looked up by them.
   */
  readonly lookup: SubqueryLookup | undefined;
}

export interface SubqueryLookup {
  /** the columns of its rows that must equal the arguments */
  readonly keys: readonly (readonly string[])[];
  /** the value of a scalar sub-select that has no row for the keys; undefined: null */
  readonly otherwise: BoundExpression | undefined;
}

/** KEYS OF or VALUES OF a row. */
export interface InMembersExpression extends BoundBase {
  readonly kind: 'in-members';
  readonly part: 'keys' | 'values';
  readonly operand: BoundExpression;
  readonly row: BoundExpression;
  readonly negated: boolean;
  /** string members are taken as paths of one element */
  readonly asPaths: boolean;
}

export interface LikeExpression extends BoundBase {
  readonly kind: 'like';
  readonly operand: BoundExpression;
  readonly pattern: BoundExpression;
  readonly negated: boolean;
}

export interface IsExpression extends BoundBase {
  readonly kind: 'is';
  readonly operand: BoundExpression;
  readonly test: IsTest;
  readonly negated: boolean;
}

export interface BoundCaseBranch {
  readonly when: BoundExpression;
  readonly result: BoundExpression;
}

export interface CaseExpression extends BoundBase {
  readonly kind: 'case';
  readonly operand: BoundExpression | undefined;
  readonly branches: readonly BoundCaseBranch[];
  readonly otherwise: BoundExpression | undefined;
  /** no match and no ELSE gives the empty row instead of null: the first branch is a row */
  readonly emptyRow: boolean;
}

/** `readable-timestamp`: what cannot be read is null, as beside a timestamp, not NaD. */
export type CastTarget = CastType | 'readable-timestamp';

export interface CastExpression extends BoundBase {
  readonly kind: 'cast';
  readonly operand: BoundExpression;
  readonly target: CastTarget;
}

export type RowFunctionName = 'rowName' | 'rowPath' | 'rowHash' | 'rowPathElement' | 'columnCount';
export type JoinSide = 'left' | 'right';

/**
 * A function of the input row's name, or of the row that one side of a join contributed:
 * `side` leads from the outermost join to it, and is empty for the row itself.
 */
export interface RowFunctionExpression extends BoundBase {
  readonly kind: 'row-function';
  readonly function: RowFunctionName;
  readonly side: readonly JoinSide[];
  /** the index of rowPathElement */
  readonly arg: BoundExpression | undefined;
}

/** `value_timestamp()`: only in WHEN. */
export interface ValueTimestampExpression extends BoundBase {
  readonly kind: 'value-timestamp';
}

export type ColumnFunctionName =
  | 'columnName'
  | 'columnPath'
  | 'columnPathElement'
  | 'columnPathLength'
  | 'columnHash'
  | 'value'
  | 'rowCount';

/** A function of the column under test: only in COLUMN EXPR. */
export interface ColumnFunctionExpression extends BoundBase {
  readonly kind: 'column-function';
  readonly function: ColumnFunctionName;
  readonly arg: BoundExpression | undefined;
}

/** A function that the caller's scope adds, such as `lineNumber()` of an importer. */
export interface ScopeCallExpression extends BoundBase {
  readonly kind: 'scope-call';
  readonly name: string;
}

/** The group's value of the GROUP BY expression number `index`. */
export interface GroupKeyExpression extends BoundBase {
  readonly kind: 'group-key';
  readonly index: number;
}

/** `groupKeyElement(index)` with an index that is only known when it runs. */
export interface GroupKeyElementExpression extends BoundBase {
  readonly kind: 'group-key-element';
  readonly arg: BoundExpression;
}

/** The result of the aggregate number `index` of the group. */
export interface AggregateResultExpression extends BoundBase {
  readonly kind: 'aggregate-result';
  readonly index: number;
}

/** The result of the window function number `index` for the current row. */
export interface WindowResultExpression extends BoundBase {
  readonly kind: 'window-result';
  readonly index: number;
}

/** `GROUPING(key)`: 1 where the grouping set of the group is without that key. */
export interface GroupingExpression extends BoundBase {
  readonly kind: 'grouping';
  readonly index: number;
}

export type BoundExpression =
  | ConstantExpression
  | ColumnExpression
  | MemberExpression
  | OutputColumnExpression
  | ParameterExpression
  | CallExpression
  | UserCallExpression
  | TryExpression
  | ExtractExpression
  | RowExpression
  | EmbeddingExpression
  | UnaryExpression
  | ArithmeticExpression
  | ComparisonExpression
  | PathOperandExpression
  | SetTimestampExpression
  | AndExpression
  | OrExpression
  | BetweenExpression
  | InListExpression
  | InQueryExpression
  | InMembersExpression
  | LikeExpression
  | IsExpression
  | CaseExpression
  | CastExpression
  | RowFunctionExpression
  | ValueTimestampExpression
  | ColumnFunctionExpression
  | ScopeCallExpression
  | GroupKeyExpression
  | GroupKeyElementExpression
  | AggregateResultExpression
  | OuterExpression
  | SubqueryExpression
  | WindowResultExpression
  | GroupingExpression;

/** `expression AS path`: one output column, or those of a row or embedding below it. */
export interface NamedProjectItem extends Span {
  readonly kind: 'named';
  readonly path: readonly string[];
  readonly expression: BoundExpression;
}

/** `expression AS *`: the members of a row are the columns. */
export interface SpreadProjectItem extends Span {
  readonly kind: 'spread';
  readonly expression: BoundExpression;
}

/** The columns that a wildcard or COLUMN EXPR runs over: the input row's, or an extract's members. */
export type ColumnSource = 'input' | 'members';

/** Columns whose paths match, perhaps renamed. */
export interface WildcardProjectItem extends Span {
  readonly kind: 'wildcard';
  readonly source: ColumnSource;
  readonly pattern: WildcardPattern;
  /** the columns that it stands for as things stand, where these are known */
  readonly listed?: readonly RowMember[];
}

/** COLUMN EXPR; `select`, `as` and `where` see the column through column functions. */
export interface ColumnProjectItem extends Span {
  readonly kind: 'column-expression';
  readonly source: ColumnSource;
  readonly structured: boolean;
  readonly select: BoundExpression;
  readonly as: BoundExpression;
  readonly where: BoundExpression | undefined;
  readonly orderBy: readonly SortKey[];
  readonly offset: number;
  readonly limit: number | undefined;
  /** `where` or `as` call `value()`, so the choice of columns differs from row to row */
  readonly dependsOnValue: boolean;
  /** some part calls `rowCount()`, or there is a window: the columns of the input are listed first */
  readonly needsColumnList: boolean;
}

export type ProjectItem =
  | NamedProjectItem
  | SpreadProjectItem
  | WildcardProjectItem
  | ColumnProjectItem;

export interface SortKey {
  readonly expression: BoundExpression;
  readonly descending: boolean;
  /** where nulls go; absent: first ascending, last descending */
  readonly nulls?: 'first' | 'last' | undefined;
}
