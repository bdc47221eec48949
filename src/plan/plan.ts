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
import type { JoinKind, Span } from '../sql/node.ts';
import type { NeededColumns } from './catalog.ts';
import type { BoundExpression, JoinSide, ProjectItem, SortKey } from './expression.ts';

/** The rows of a dataset in stored order, or only those that `lookup` selects. */
export interface ScanNode {
  readonly kind: 'scan';
  readonly dataset: string;
  readonly columns: NeededColumns;
  readonly lookup: RowLookup | undefined;
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
  /** source text, for messages and EXPLAIN */
  readonly surface: string;
}

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

/** The first row of each run of rows with equal values. */
export interface DistinctOnNode {
  readonly kind: 'distinct-on';
  readonly input: PlanNode;
  readonly expressions: readonly BoundExpression[];
  readonly late: boolean;
}

export interface LimitNode {
  readonly kind: 'limit';
  readonly input: PlanNode;
  readonly offset: number;
  readonly limit: number | undefined;
}

export type PlanNode =
  | ScanNode
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
  | LimitNode;

/** A whole query. Sub-selects of IN are plans of their own and run once; FROM holds its own. */
export interface QueryPlan {
  readonly root: PlanNode;
  readonly subqueries: readonly PlanNode[];
}
