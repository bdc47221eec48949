// What a rewrite rule is.
import type { Catalog } from '../catalog.ts';
import type { PlanNode, QueryPlan } from '../plan.ts';

export interface RuleContext {
  readonly catalog: Catalog;
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
