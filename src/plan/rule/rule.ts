// What a rewrite rule is.
import type { Namespace } from '../namespace.ts';
import type { PlanNode, QueryPlan } from '../plan.ts';

export interface RuleContext {
  readonly namespace: Namespace;
  /** false: nobody looks at the timestamps of the result, and nothing computes with them */
  readonly exactTimestamps: boolean;
}

/** Rewrites a plan to one of the same rows. */
export interface Rule {
  readonly name: string;
  apply(root: PlanNode, context: RuleContext): PlanNode;
}

/** Rewrites a query with its sub-selects. */
export interface PlanRule {
  readonly name: string;
  apply(plan: QueryPlan, context: RuleContext): QueryPlan;
}
