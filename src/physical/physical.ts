// The physical plan: how the rows of a logical plan come about, operator by operator. Plain readonly
// data that executors take, EXPLAIN prints and tests compare.
import type { PlanNode } from '../plan/plan.ts';

/**
 * What an operator hands on: `batches` of columns, `numbers` of the rows of a dataset, which are made
 * when somebody reads them, or `rows`, one after the other, which the reference makes.
 */
export type Way = 'batches' | 'numbers' | 'rows';

/** How an operator works, where there are several ways to the same rows. */
export type Method =
  | 'plain'
  /** rows of groups, in the order of aggregates or keys, of which only the first are read */
  | 'sorted groups'
  /** distinct values are grouped with the keys, and then counted by the keys */
  | 'grouped twice'
  /** columns of a dataset as they lie: nothing is copied */
  | 'stored columns'
  /** the least row of each group, found in one pass */
  | 'first of groups'
  /** the smaller side is built, the other one goes through it */
  | 'hash join'
  | 'semi join'
  /** the pairs of an inner join, then the rows that are in none of them */
  | 'outer join'
  /** a hash join whose rows come in the order of the keys */
  | 'ordered join'
  | 'nested loops';

/** A choice that was not made. */
export interface Refusal {
  readonly choice: string;
  readonly because: string;
}

/** An operator with those that it reads. */
export interface PhysicalNode {
  /** what it computes */
  readonly logical: PlanNode;
  readonly way: Way;
  readonly method: Method;
  readonly inputs: readonly PhysicalNode[];
  /** choices that come first and do not suit, with the reason of each */
  readonly refusals: readonly Refusal[];
}

/** A whole query: the sub-selects that stand in expressions by their numbers. */
export interface PhysicalPlan {
  readonly root: PhysicalNode;
  readonly subqueries: readonly PhysicalNode[];
}
