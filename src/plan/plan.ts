// The logical plan: what a query computes, operator by operator. Plain readonly data.
//
// Rows flow from the leaves to the root. A row has a name (a path) and columns; rows of a join also
// know the rows of their sides, rows of an aggregate know their keys and aggregates. Shapes that
// the binder makes, from the root down (parts in brackets may be missing):
//
//   project [limit] [distinct-on] [sort] [filter] [when] source      sort keys read the input
//   [limit] [distinct-on] [sort] project [filter] [when] source      some key reads the output
//   project [limit] [distinct-on] [sort] [filter: HAVING] aggregate [filter] [when] source
//
// and a source is one of scan, single-row, join, transpose, merge, sample, row-dataset or any of
// the shapes above (a sub-select).
import type { FrameExclusion, FrameUnit, JoinKind, SetOperator, Span } from '../sql/node.ts';
import type { BoundExpression, JoinSide, ProjectItem, SortKey } from './expression.ts';
import type { NeededColumns } from './needed-columns.ts';

/** The rows of a dataset in stored order, or only those that `lookup` selects. */
export interface ScanNode {
  readonly kind: 'scan';
  readonly dataset: string;
  readonly columns: NeededColumns;
  readonly lookup: RowLookup | undefined;
  /** parts of the condition above that another system, which has the rows, may test before it sends them */
  readonly prefilter?: readonly BoundExpression[];
}

/**
 * What another system makes of the rows of a dataset that it has: they come with `columns`, of
 * those that it computes too, and its own row names.
 */
export interface AskNode {
  readonly kind: 'ask';
  readonly dataset: string;
  readonly columns: NeededColumns;
  /** what it does, as the relation of the dataset has it: plain data */
  readonly asked: unknown;
  /** true: rows of the dataset as they are, perhaps not all of them */
  readonly isStored: boolean;
  /** other datasets of that system that it reads for them */
  readonly beside?: readonly string[];
  /** conditions on keys that only the run knows, as many as `asked` has */
  readonly keys?: readonly SentKeys[];
}

/** Values of `columns` in some rows, which others must be equal to. */
export interface SentKeys {
  readonly rows: PlanNode;
  readonly columns: readonly BoundExpression[];
}

/**
 * Rows chosen by name without a scan. `names` are constant expressions: strings are printed paths
 * when `printed`, else one element; a row stands for its keys or values when `part` is set.
 */
export interface RowLookup {
  readonly printed: boolean;
  readonly part: 'keys' | 'values' | undefined;
  readonly names: readonly BoundExpression[];
}

/** One row named `result` without columns: a query without FROM. */
export interface SingleRowNode {
  readonly kind: 'single-row';
}

/** One row for each member (or, when `flat`, each atom) of a value: columns `column`, `value`. */
export interface RowDatasetNode {
  readonly kind: 'row-dataset';
  readonly expression: BoundExpression;
  readonly flat: boolean;
}

/** Rows become columns and columns rows. */
export interface TransposeNode {
  readonly kind: 'transpose';
  readonly input: PlanNode;
}

/** The union of the cells of the inputs by row name. */
export interface MergeNode {
  readonly kind: 'merge';
  readonly inputs: readonly PlanNode[];
}

/** A random sample of `rows` rows, or of the `fraction` of them. */
export interface SampleNode {
  readonly kind: 'sample';
  readonly input: PlanNode;
  /** a row of options: rows, fraction, withReplacement, seed */
  readonly options: BoundExpression | undefined;
}

/**
 * Joined rows have the columns of both sides; an alias is the first element of the columns of its
 * table. `equalities` are the pairs of expressions (over the left row, over the right row) that
 * must be equal and not null; `own` are conditions on the rows of one side (over these), without
 * which a row has no partner; `residual` is the rest of the condition, over the joined row.
 */
export interface JoinNode {
  readonly kind: 'join';
  readonly joinKind: JoinKind;
  readonly left: JoinInput;
  readonly right: JoinInput;
  readonly equalities: readonly JoinEquality[];
  /** A condition that can fail stands in the residual too, and holds here where it fails. */
  readonly own: Readonly<Partial<Record<JoinSide, BoundExpression>>>;
  readonly residual: BoundExpression | undefined;
  /** `value`: a join with equalities gives its rows by the values that are equal */
  readonly order: 'value' | 'any';
}

export interface JoinInput {
  readonly input: PlanNode;
  /** the alias that becomes the first element of this side's columns */
  readonly alias: string | undefined;
  /** the number of tables when this side is itself a join: its rows have combined names */
  readonly tableCount: number;
}

export interface JoinEquality {
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

/** Rows whose condition IS TRUE. */
export interface FilterNode {
  readonly kind: 'filter';
  readonly input: PlanNode;
  readonly condition: BoundExpression;
}

/** Rows with only the points for which the condition IS TRUE. */
export interface WhenNode {
  readonly kind: 'when';
  readonly input: PlanNode;
  readonly condition: BoundExpression;
  /** false: the condition does not look at the point, so it decides for the whole row */
  readonly perPoint: boolean;
}

/** New rows: the select list and, when `name` is there, new row names. */
export interface ProjectNode {
  readonly kind: 'project';
  readonly input: PlanNode;
  readonly items: readonly ProjectItem[];
  readonly name: BoundExpression | undefined;
  /** true: rows also remember the input row, for a sort above */
  readonly keepsInput: boolean;
}

/**
 * One row for each distinct tuple of keys, in ascending order of the tuples, named by the JSON of
 * the tuple. No keys: one group over all rows; over no rows only if an aggregate counts the empty.
 */
export interface AggregateNode {
  readonly kind: 'aggregate';
  readonly input: PlanNode;
  readonly keys: readonly BoundExpression[];
  readonly aggregates: readonly AggregateCall[];
  /** true: GROUP BY was written, so that no rows give no groups */
  readonly explicit: boolean;
}

export interface AggregateCall extends Span {
  readonly name: string;
  readonly args: readonly BoundExpression[];
  /** DISTINCT, ORDER BY and FILTER; absent: every row counts, in the order of the input */
  readonly modifiers?: AggregateModifiers | undefined;
  /** source text, for messages and EXPLAIN */
  readonly surface: string;
}

/** Which rows an aggregate sees, and in which order. */
export interface AggregateModifiers {
  /** each tuple of arguments once */
  readonly distinct: boolean;
  readonly orderBy: readonly SortKey[];
  /** rows for which it IS TRUE */
  readonly filter: BoundExpression | undefined;
}

/**
 * Several groupings of the same rows: a group for each distinct tuple of the keys of each set, in
 * the order of the sets, then of the tuples. Keys outside of the set of a group are null.
 */
export interface GroupingSetsNode {
  readonly kind: 'grouping-sets';
  readonly input: PlanNode;
  readonly keys: readonly BoundExpression[];
  readonly aggregates: readonly AggregateCall[];
  /** positions in `keys` */
  readonly sets: readonly (readonly number[])[];
}

/** Rows as they are, each with the results of window functions: see WindowResultExpression. */
export interface WindowPlanNode {
  readonly kind: 'window';
  readonly input: PlanNode;
  readonly calls: readonly WindowCall[];
  /** rows behind so many first ones of each partition, and those that tie with them, may be left out */
  readonly keep?: number | undefined;
}

/**
 * A window function or aggregate over the rows that its frame takes in. Rows without an order are
 * peers of one another; rows of equal order keep the order of the input.
 */
export interface WindowCall extends Span {
  readonly name: string;
  readonly args: readonly BoundExpression[];
  readonly modifiers: AggregateModifiers | undefined;
  readonly ignoreNulls: boolean;
  readonly partitionBy: readonly BoundExpression[];
  readonly orderBy: readonly SortKey[];
  readonly frame: WindowFrame;
  readonly surface: string;
}

export interface WindowFrame {
  readonly unit: FrameUnit;
  readonly from: FrameBound;
  readonly to: FrameBound;
  readonly exclude: FrameExclusion;
}

/**
 * `offset` counts rows or groups of peers, or is added to the key in a range; negative: preceding.
 * An unbounded start or end has none.
 */
export type FrameBound =
  | { readonly kind: 'unbounded' }
  | { readonly kind: 'current-row' }
  | { readonly kind: 'preceding' | 'following'; readonly offset: BoundExpression };

/** One row for each distinct row of the input, named by its values, in their order. */
export interface DistinctNode {
  readonly kind: 'distinct';
  readonly input: PlanNode;
  /** the columns in the order that decides the name and the order of rows; undefined: natural */
  readonly columns: readonly (readonly string[])[] | undefined;
}

/**
 * Rows of both sides: `union`, rows of the left without those of the right, rows that both have.
 * With `all` equal rows count by their number, and rows keep their names below `0` and `1`; without
 * it they are named and ordered like groups. Both sides have the same columns, but for `byName`.
 */
export interface SetOperationNode {
  readonly kind: 'set-operation';
  readonly operator: SetOperator;
  readonly all: boolean;
  readonly left: PlanNode;
  readonly right: PlanNode;
  /** as in DistinctNode */
  readonly columns: readonly (readonly string[])[] | undefined;
}

/** Rows of constants, named by their numbers. */
export interface ValuesNode {
  readonly kind: 'values';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly BoundExpression[])[];
}

/** Numbers or timestamps from `start` by `step`, in one column; rows named by their numbers. */
export interface SeriesNode {
  readonly kind: 'series';
  readonly column: string;
  readonly start: BoundExpression;
  readonly stop: BoundExpression;
  readonly step: BoundExpression | undefined;
  /** true: `stop` belongs to it */
  readonly inclusive: boolean;
}

/** The rows of the sub-select of that number, which runs once for all who read it. */
export interface SharedNode {
  readonly kind: 'shared';
  readonly subquery: number;
  /** about how many rows there are; absent: nobody knows */
  readonly rowCount?: number;
}

/**
 * WITH RECURSIVE: the rows of `base`, then of `step` over the rows that came last, until there are
 * none. Without `all` a row that came before is left out. Rows are named by their numbers.
 */
export interface RecursiveNode {
  readonly kind: 'recursive';
  /** what a RecursiveTableNode in `step` refers to */
  readonly table: number;
  readonly base: PlanNode;
  readonly step: PlanNode;
  readonly all: boolean;
}

/** The rows that came last in the recursion of that number. */
export interface RecursiveTableNode {
  readonly kind: 'recursive-table';
  readonly table: number;
}

/**
 * Each row of the left with the rows that the right has for it: `right` reads the left row through
 * OuterExpressions of that sub-select number, whose arguments are `args` over the left row.
 */
export interface LateralNode {
  readonly kind: 'lateral';
  readonly joinKind: 'inner' | 'left';
  readonly left: JoinInput;
  readonly right: JoinInput;
  readonly subquery: number;
  readonly args: readonly BoundExpression[];
  readonly condition: BoundExpression | undefined;
}

/**
 * Rows of joins that were put in another order, under the names that they have in the order as
 * written: `shape` tells it, with the position of each table in the input (see JoinShapeTree).
 */
export interface RejoinNode {
  readonly kind: 'rejoin';
  readonly input: PlanNode;
  readonly shape: JoinShapeTree;
}

/** The way to the row of one table of the input, or two parts that were joined. */
export type JoinShapeTree =
  | { readonly kind: 'table'; readonly side: readonly JoinSide[]; readonly tableCount: number }
  | { readonly kind: 'pair'; readonly left: JoinShapeTree; readonly right: JoinShapeTree };

/**
 * A total order of rows. `late` keys read the output row first (see OutputColumnExpression);
 * ties go by the hash, then the path of `name` (absent: the row's own name), or keep the order of
 * the input. With `keep` only that many first rows are wanted.
 */
export interface SortNode {
  readonly kind: 'sort';
  readonly input: PlanNode;
  readonly keys: readonly SortKey[];
  readonly late: boolean;
  readonly ties: 'row-hash' | 'input-order';
  readonly keep: number | undefined;
}

/** The first row of those with equal values. */
export interface DistinctOnNode {
  readonly kind: 'distinct-on';
  readonly input: PlanNode;
  readonly expressions: readonly BoundExpression[];
  readonly late: boolean;
  /** true: rows with equal values stand together */
  readonly sorted: boolean;
}

export interface LimitNode {
  readonly kind: 'limit';
  readonly input: PlanNode;
  readonly offset: number;
  readonly limit: number | undefined;
}

/** LIMIT and OFFSET that are only known when the query runs. */
export interface LimitByNode {
  readonly kind: 'limit-by';
  readonly input: PlanNode;
  readonly offset: BoundExpression | undefined;
  readonly limit: BoundExpression | undefined;
}

export type PlanNode =
  | ScanNode
  | AskNode
  | SingleRowNode
  | RowDatasetNode
  | TransposeNode
  | MergeNode
  | SampleNode
  | JoinNode
  | FilterNode
  | WhenNode
  | ProjectNode
  | AggregateNode
  | SortNode
  | DistinctOnNode
  | LimitNode
  | LimitByNode
  | GroupingSetsNode
  | WindowPlanNode
  | DistinctNode
  | SetOperationNode
  | ValuesNode
  | SeriesNode
  | SharedNode
  | RecursiveNode
  | RecursiveTableNode
  | LateralNode
  | RejoinNode;

/**
 * A whole query. Sub-selects that stand in expressions, and those that several places read, are
 * plans of their own; FROM holds its own.
 */
export interface QueryPlan {
  readonly root: PlanNode;
  readonly subqueries: readonly PlanNode[];
}
