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

/** `<>` is read as `!=`; `@` sets the timestamp of its left operand. */
export type BinaryOperator = ArithmeticOperator | BitwiseOperator | ComparisonOperator | '@';

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
  readonly query: Query;
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
  'path',
  'blob',
] as const;
export type CastType = (typeof CAST_TYPES)[number];

export interface CastNode extends Span {
  readonly kind: 'cast';
  readonly operand: Expression;
  readonly type: CastType;
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
}

/** `name [AS alias]` */
export interface DatasetTable extends Span {
  readonly kind: 'dataset-table';
  readonly name: string;
  readonly alias: string | undefined;
}

/** `name(table, …, {options}) [AS alias]`, such as `transpose`, `merge` and `sample`. */
export interface FunctionTable extends Span {
  readonly kind: 'function-table';
  readonly name: string;
  readonly tables: readonly TableExpression[];
  readonly options: RowNode | undefined;
  readonly alias: string | undefined;
}

/** `row_dataset(expression) [AS alias]` */
export interface RowDatasetTable extends Span {
  readonly kind: 'row-dataset-table';
  readonly expression: Expression;
  readonly alias: string | undefined;
}

/** `atom_dataset(expression) [AS alias]` */
export interface AtomDatasetTable extends Span {
  readonly kind: 'atom-dataset-table';
  readonly expression: Expression;
  readonly alias: string | undefined;
}

/** `(SELECT …) [AS alias]` */
export interface SubqueryTable extends Span {
  readonly kind: 'subquery';
  readonly query: Query;
  readonly alias: string | undefined;
}

export const JOIN_KINDS = ['inner', 'left', 'right', 'full'] as const;
export type JoinKind = (typeof JOIN_KINDS)[number];

/** A join; a chain nests to the left, a parenthesised join on the right stays on the right. */
export interface JoinTable extends Span {
  readonly kind: 'join';
  readonly joinKind: JoinKind;
  readonly left: TableExpression;
  readonly right: TableExpression;
  readonly on: Expression | undefined;
}

export type TableExpression =
  | DatasetTable
  | FunctionTable
  | RowDatasetTable
  | AtomDatasetTable
  | SubqueryTable
  | JoinTable;

/**
 * `SELECT …`; a clause that was left out is undefined or an empty list.
 * `text` is the whole source text that all offsets refer to, also in a sub-select.
 */
export interface Query extends Span {
  readonly kind: 'query';
  readonly text: string;
  readonly distinctOn: readonly Expression[];
  readonly select: readonly SelectItem[];
  readonly named: Expression | undefined;
  readonly from: TableExpression | undefined;
  readonly when: Expression | undefined;
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly having: Expression | undefined;
  readonly orderBy: readonly OrderKey[];
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

export type SqlNode = Expression | SelectItem | OrderKey | TableExpression | Query;

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
