/**
 * The syntax tree: plain readonly values that can be compared, printed and posted to a worker.
 *
 * Nodes hold what was written, not what it means: no name is resolved and no type is known here.
 * A left-associative chain of binary, postfix or join operators may be as deep as the text is long;
 * every other kind of nesting is bounded by `NESTING_DEPTH_MAX` of the parser. Code that follows
 * `left`, `operand` or the left side of a join should loop, or use `walk.ts`.
 */

/**
 * Where a node stands: UTF-16 offsets into the source text, the end exclusive.
 * Parentheses around an expression belong to no node, so `(a + b)` spans `a + b`.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A list of path elements as written in a name: `"x.y".z` is `['x.y', 'z']`. */
export type NamePath = readonly string[];

/** NULL, numbers (TRUE and FALSE are 1 and 0), integers above 2^53 as bigint, strings. */
export type LiteralValue = null | number | bigint | string;

export interface LiteralNode extends Span {
  readonly kind: 'literal';
  readonly value: LiteralValue;
}

/** `INTERVAL '…'`; the text between the quotes is kept as written and not yet checked. */
export interface IntervalLiteralNode extends Span {
  readonly kind: 'interval-literal';
  readonly text: string;
}

/** `$name`, without the dollar sign. */
export interface ParameterNode extends Span {
  readonly kind: 'parameter';
  readonly name: string;
}

export interface ColumnNode extends Span {
  readonly kind: 'column';
  readonly path: NamePath;
}

/** `name(args)` or `table.name(args)`; `star` marks `count(*)`, whose `args` are empty. */
export interface CallNode extends Span {
  readonly kind: 'call';
  readonly table: string | undefined;
  readonly name: string;
  readonly args: readonly Expression[];
  readonly star: boolean;
  /** what only calls of aggregates and window functions have; undefined: none of it was written */
  readonly modifiers?: CallModifiers | undefined;
}

/** `name(DISTINCT … ORDER BY … IGNORE NULLS) FILTER (WHERE …) OVER (…)` */
export interface CallModifiers {
  readonly distinct: boolean;
  readonly orderBy: readonly OrderKey[];
  readonly ignoreNulls: boolean;
  readonly filter: Expression | undefined;
  readonly over: WindowNode | undefined;
}

/** `(base PARTITION BY … ORDER BY … frame)`; `OVER name` has a base and nothing else. */
export interface WindowNode extends Span {
  readonly kind: 'window';
  readonly base: string | undefined;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderKey[];
  readonly frame: FrameNode | undefined;
}

export const FRAME_UNITS = ['rows', 'range', 'groups'] as const;
export type FrameUnit = (typeof FRAME_UNITS)[number];

export const FRAME_EXCLUSIONS = ['no others', 'current row', 'group', 'ties'] as const;
export type FrameExclusion = (typeof FRAME_EXCLUSIONS)[number];

export interface FrameNode extends Span {
  readonly kind: 'frame';
  readonly unit: FrameUnit;
  readonly from: FrameBoundNode;
  readonly to: FrameBoundNode;
  readonly exclude: FrameExclusion;
}

/** `offset` is there for `preceding` and `following` alone. */
export interface FrameBoundNode {
  readonly place:
    | 'unbounded-preceding'
    | 'preceding'
    | 'current-row'
    | 'following'
    | 'unbounded-following';
  readonly offset: Expression | undefined;
}

/** `WINDOW name AS (…)` */
export interface NamedWindow {
  readonly name: string;
  readonly window: WindowNode;
}

/** `operand[index]`; columns in `index` are members of the operand. */
export interface ExtractNode extends Span {
  readonly kind: 'extract';
  readonly operand: Expression;
  readonly index: Expression;
}

/** `{ item, … }` */
export interface RowNode extends Span {
  readonly kind: 'row';
  readonly items: readonly SelectItem[];
}

/** `[ element, … ]` */
export interface EmbeddingNode extends Span {
  readonly kind: 'embedding';
  readonly elements: readonly Expression[];
}

export const UNARY_OPERATORS = ['+', '-', '~', 'not', 'timestamp'] as const;
export type UnaryOperator = (typeof UNARY_OPERATORS)[number];

export interface UnaryNode extends Span {
  readonly kind: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}

export const COMPARISON_OPERATORS = ['=', '!=', '<', '<=', '>', '>='] as const;
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number];

export const ARITHMETIC_OPERATORS = ['+', '-', '*', '/', '%'] as const;
export type ArithmeticOperator = (typeof ARITHMETIC_OPERATORS)[number];

export const BITWISE_OPERATORS = ['&', '|', '^'] as const;
export type BitwiseOperator = (typeof BITWISE_OPERATORS)[number];

/** `<>` is read as `!=`; `@` sets the timestamp of its left operand, `||` joins texts. */
export type BinaryOperator = ArithmeticOperator | BitwiseOperator | ComparisonOperator | '@' | '||';

export interface BinaryNode extends Span {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** A chain `a AND b AND c` of at least two operands, the first of which is no `and` itself. */
export interface AndNode extends Span {
  readonly kind: 'and';
  readonly operands: readonly Expression[];
}

/** A chain `a OR b OR c` of at least two operands, the first of which is no `or` itself. */
export interface OrNode extends Span {
  readonly kind: 'or';
  readonly operands: readonly Expression[];
}

export interface BetweenNode extends Span {
  readonly kind: 'between';
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly negated: boolean;
  /** BETWEEN SYMMETRIC: the bounds in either order */
  readonly symmetric?: boolean | undefined;
}

/** `operand [NOT] IN (choice, …)`, at least one choice. */
export interface InListNode extends Span {
  readonly kind: 'in-list';
  readonly operand: Expression;
  readonly choices: readonly Expression[];
  readonly negated: boolean;
}

/** `operand [NOT] IN (SELECT …)` */
export interface InQueryNode extends Span {
  readonly kind: 'in-query';
  readonly operand: Expression;
  readonly query: QueryNode;
  readonly negated: boolean;
}

/** `(SELECT …)` as a value */
export interface ScalarQueryNode extends Span {
  readonly kind: 'scalar-query';
  readonly query: QueryNode;
}

/** `EXISTS (SELECT …)` */
export interface ExistsNode extends Span {
  readonly kind: 'exists';
  readonly query: QueryNode;
}

/** `operand = ANY (SELECT …)`, `operand > ALL (SELECT …)` */
export interface QuantifiedNode extends Span {
  readonly kind: 'quantified';
  readonly operator: ComparisonOperator;
  readonly quantifier: 'any' | 'all';
  readonly operand: Expression;
  readonly query: QueryNode;
}

/** `(a, b)` with at least two elements: only beside IN, `=` and `!=` */
export interface TupleNode extends Span {
  readonly kind: 'tuple';
  readonly elements: readonly Expression[];
}

/** `left IS [NOT] DISTINCT FROM right` */
export interface DistinctFromNode extends Span {
  readonly kind: 'distinct-from';
  readonly left: Expression;
  readonly right: Expression;
  readonly negated: boolean;
}

/** `operand [NOT] IN (KEYS OF row)` */
export interface InKeysNode extends Span {
  readonly kind: 'in-keys';
  readonly operand: Expression;
  readonly row: Expression;
  readonly negated: boolean;
}

/** `operand [NOT] IN (VALUES OF row)` */
export interface InValuesNode extends Span {
  readonly kind: 'in-values';
  readonly operand: Expression;
  readonly row: Expression;
  readonly negated: boolean;
}

export interface LikeNode extends Span {
  readonly kind: 'like';
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly negated: boolean;
  /** ILIKE */
  readonly anyCase?: boolean | undefined;
  /** ESCAPE */
  readonly escape?: Expression | undefined;
}

export const IS_TESTS = [
  'null',
  'true',
  'false',
  'string',
  'number',
  'integer',
  'timestamp',
  'interval',
] as const;
export type IsTest = (typeof IS_TESTS)[number];

export interface IsNode extends Span {
  readonly kind: 'is';
  readonly operand: Expression;
  readonly test: IsTest;
  readonly negated: boolean;
}

export interface CaseBranch {
  readonly when: Expression;
  readonly result: Expression;
}

/** The simple form has an operand to compare with each `when`; the searched form has none. */
export interface CaseNode extends Span {
  readonly kind: 'case';
  readonly operand: Expression | undefined;
  readonly branches: readonly CaseBranch[];
  readonly otherwise: Expression | undefined;
}

export const CAST_TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'timestamp',
  'date',
  'interval',
  'path',
  'blob',
] as const;
export type CastType = (typeof CAST_TYPES)[number];

export interface CastNode extends Span {
  readonly kind: 'cast';
  readonly operand: Expression;
  readonly type: CastType;
  /** digits after the point that `decimal(p, s)` keeps */
  readonly scale?: number | undefined;
}

export type Expression =
  | LiteralNode
  | IntervalLiteralNode
  | ParameterNode
  | ColumnNode
  | CallNode
  | ExtractNode
  | RowNode
  | EmbeddingNode
  | UnaryNode
  | BinaryNode
  | AndNode
  | OrNode
  | BetweenNode
  | InListNode
  | InQueryNode
  | ScalarQueryNode
  | ExistsNode
  | QuantifiedNode
  | TupleNode
  | DistinctFromNode
  | InKeysNode
  | InValuesNode
  | LikeNode
  | IsNode
  | CaseNode
  | CastNode;

/** The `x*` or `x.*` of a wildcard: `path` is empty in `*`; `dotted` marks the form with a dot. */
export interface Star {
  readonly path: NamePath;
  readonly dotted: boolean;
}

/** One entry of EXCLUDING: the exact column `path`, or every column that `star` matches. */
export type Exclusion =
  | { readonly kind: 'column'; readonly path: NamePath }
  | { readonly kind: 'star'; readonly star: Star };

/** `star EXCLUDING (…) AS replacement`; `y*: x*` is read as `x* AS y*`. */
export interface WildcardItem extends Span {
  readonly kind: 'wildcard';
  readonly star: Star;
  readonly excluding: readonly Exclusion[];
  readonly replacement: Star | undefined;
}

/**
 * `expression AS name`, `name: expression` or a bare expression.
 * `name` is `'*'` for `AS *` and undefined when none was written: see `outputName`.
 * `surface` is the source text of the expression, parentheses included, trimmed of white space
 * and comments at both ends.
 */
export interface NamedItem extends Span {
  readonly kind: 'named-expression';
  readonly expression: Expression;
  readonly name: NamePath | '*' | undefined;
  readonly surface: string;
}

/** `COLUMN EXPR [STRUCTURED] (…)`; a part that was left out is undefined or empty. */
export interface ColumnExpressionItem extends Span {
  readonly kind: 'column-expression';
  readonly structured: boolean;
  readonly select: Expression | undefined;
  readonly as: Expression | undefined;
  readonly where: Expression | undefined;
  readonly orderBy: readonly OrderKey[];
  readonly offset: number | undefined;
  readonly limit: number | undefined;
}

export type SelectItem = WildcardItem | NamedItem | ColumnExpressionItem;

export interface OrderKey extends Span {
  readonly kind: 'order-key';
  readonly expression: Expression;
  readonly descending: boolean;
  /** undefined: first ascending, last descending */
  readonly nulls?: 'first' | 'last' | undefined;
}

/** What a table may be called: `AS alias (column, …)`, and `TABLESAMPLE`. */
export interface TableNaming {
  readonly alias: string | undefined;
  /** new names of its columns, by position */
  readonly columnNames?: readonly string[] | undefined;
  readonly sample?: TableSample | undefined;
}

/** `TABLESAMPLE 10 PERCENT [REPEATABLE (7)]` */
export interface TableSample {
  readonly amount: number;
  readonly unit: 'rows' | 'percent';
  readonly seed: number | undefined;
}

/** `name [AS alias]` */
export interface DatasetTable extends Span, TableNaming {
  readonly kind: 'dataset-table';
  readonly name: string;
}

/** `name(table, …, {options}) [AS alias]`, such as `transpose`, `merge` and `sample`. */
export interface FunctionTable extends Span, TableNaming {
  readonly kind: 'function-table';
  readonly name: string;
  readonly tables: readonly TableExpression[];
  readonly options: RowNode | undefined;
}

/** `generate_series(a, b, step) [AS alias]`, `range(…)` */
export interface SeriesTable extends Span, TableNaming {
  readonly kind: 'series-table';
  readonly name: 'generate_series' | 'range';
  readonly args: readonly Expression[];
}

/** `row_dataset(expression) [AS alias]` */
export interface RowDatasetTable extends Span, TableNaming {
  readonly kind: 'row-dataset-table';
  readonly expression: Expression;
}

/** `atom_dataset(expression) [AS alias]` */
export interface AtomDatasetTable extends Span, TableNaming {
  readonly kind: 'atom-dataset-table';
  readonly expression: Expression;
}

/** `[LATERAL] (SELECT …) [AS alias]` */
export interface SubqueryTable extends Span, TableNaming {
  readonly kind: 'subquery';
  readonly query: QueryNode;
  /** true: the query may name columns of the tables to its left */
  readonly lateral?: boolean | undefined;
}

export const JOIN_KINDS = ['inner', 'left', 'right', 'full', 'semi', 'anti'] as const;
export type JoinKind = (typeof JOIN_KINDS)[number];

/** A join; a chain nests to the left, a parenthesised join on the right stays on the right. */
export interface JoinTable extends Span {
  readonly kind: 'join';
  readonly joinKind: JoinKind;
  readonly left: TableExpression;
  readonly right: TableExpression;
  readonly on: Expression | undefined;
  /** USING (x, y) */
  readonly using?: readonly string[] | undefined;
  /** NATURAL */
  readonly natural?: boolean | undefined;
}

export type TableExpression =
  | DatasetTable
  | FunctionTable
  | SeriesTable
  | RowDatasetTable
  | AtomDatasetTable
  | SubqueryTable
  | JoinTable;

/** One table of WITH: `name (column, …) AS [NOT] MATERIALIZED (query)`. */
export interface CommonTable extends Span {
  readonly kind: 'common-table';
  readonly name: string;
  readonly columnNames: readonly string[] | undefined;
  /** true and false as written; undefined: nothing was */
  readonly materialized: boolean | undefined;
  readonly query: QueryNode;
}

export interface WithClause {
  readonly recursive: boolean;
  readonly tables: readonly CommonTable[];
}

/** What every form of query may have around its body. */
export interface QueryFrame extends Span {
  /** the whole source text that all offsets refer to, also in a sub-select */
  readonly text: string;
  readonly with?: WithClause | undefined;
  readonly orderBy: readonly OrderKey[];
  /** ORDER BY ALL */
  readonly orderByAll?: { readonly descending: boolean } | undefined;
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
}

/** `SELECT …`; a clause that was left out is undefined or an empty list. */
export interface Query extends QueryFrame {
  readonly kind: 'query';
  /** SELECT DISTINCT */
  readonly distinct?: boolean | undefined;
  readonly distinctOn: readonly Expression[];
  readonly select: readonly SelectItem[];
  readonly named: Expression | undefined;
  readonly from: TableExpression | undefined;
  readonly when: Expression | undefined;
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  /** GROUP BY ALL */
  readonly groupByAll?: boolean | undefined;
  /** GROUPING SETS, ROLLUP and CUBE as sets of positions in `groupBy` */
  readonly groupingSets?: readonly (readonly number[])[] | undefined;
  readonly having: Expression | undefined;
  readonly windows?: readonly NamedWindow[] | undefined;
  readonly qualify?: Expression | undefined;
}

export const SET_OPERATORS = ['union', 'except', 'intersect'] as const;
export type SetOperator = (typeof SET_OPERATORS)[number];

/** `left UNION [ALL] [BY NAME] right` */
export interface SetQuery extends QueryFrame {
  readonly kind: 'set-query';
  readonly operator: SetOperator;
  readonly all: boolean;
  readonly byName: boolean;
  readonly left: QueryNode;
  readonly right: QueryNode;
}

/** `VALUES (1, 'a'), (2, NULL)` */
export interface ValuesQuery extends QueryFrame {
  readonly kind: 'values-query';
  readonly rows: readonly (readonly Expression[])[];
}

export type QueryNode = Query | SetQuery | ValuesQuery;

export type SqlNode =
  | Expression
  | SelectItem
  | OrderKey
  | WindowNode
  | FrameNode
  | TableExpression
  | CommonTable
  | QueryNode;

/**
 * The name of the output column of an item: the written name, else the full path of a plain
 * column, else the source text as one element; `'*'` when the members of the value are the columns.
 */
export function outputName(item: NamedItem): NamePath | '*' {
  if (item.name !== undefined) return item.name;
  return item.expression.kind === 'column' ? item.expression.path : [item.surface];
}

/** Ends a switch over `kind`: the compiler proves that no kind was forgotten. */
export function unreachable(value: never): never {
  throw new Error(`unexpected syntax node: ${JSON.stringify(value)}`);
}
