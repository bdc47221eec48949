// The rules in the order in which they run, each once.
import type { PlanNode, QueryPlan } from './plan.ts';
import { askRemote } from './rule/ask-remote.ts';
import { collectChoices } from './rule/collect-choices.ts';
import { freeJoinOrder } from './rule/free-join-order.ts';
import { keepTopOfPartitions } from './rule/keep-top-of-partitions.ts';
import { keepTopRows } from './rule/keep-top-rows.ts';
import { lookUpRows } from './rule/look-up-rows.ts';
import { orderJoins } from './rule/order-joins.ts';
import { prefilterRemoteRows } from './rule/prefilter-remote-rows.ts';
import { pushFilters } from './rule/push-filters.ts';
import { readNeededColumns } from './rule/read-needed-columns.ts';
import { reduceSemiJoins } from './rule/reduce-semi-joins.ts';
import type { Rule, RuleContext } from './rule/rule.ts';
import { sendKeys } from './rule/send-keys.ts';
import { simplifyFilters } from './rule/simplify-filters.ts';
import { splitJoinConditions } from './rule/split-join-conditions.ts';
import { unnestSubqueries } from './rule/unnest-subqueries.ts';

export const RULES: readonly Rule[] = [
  // First, so that the others meet one filter a place and no constants.
  simplifyFilters,
  // Before the joins are split, so that what sinks into ON's sides is there already.
  pushFilters,
  // Tables have their filters by then, and conditions on several are whole.
  orderJoins,
  splitJoinConditions,
  // What was pushed onto a filter of a side is one filter again.
  simplifyFilters,
  collectChoices,
  // After pushing, which brings conditions on names down to the scans.
  lookUpRows,
  // After the lookup, which is better where there is one.
  prefilterRemoteRows,
  keepTopRows,
  keepTopOfPartitions,
  freeJoinOrder,
  // What is known of filters, groups and rows that are kept goes to the systems that have the rows.
  askRemote,
  // The other rules change who reads what.
  readNeededColumns,
  // Last, as it reads the rows of one side of a join once more, as they are then.
  sendKeys,
];

export function optimize(plan: QueryPlan, context: RuleContext): QueryPlan {
  // First, so that the other rules meet joins.
  const { root, subqueries } = unnestSubqueries.apply(plan, context);
  const rewrite = (node: PlanNode) =>
    RULES.reduce((before, rule) => rule.apply(before, context), node);
  const rewritten = { root: rewrite(root), subqueries: subqueries.map(rewrite) };
  // Last: what runs once for two that read it has the columns that both need.
  return reduceSemiJoins.apply(rewritten, context);
}
