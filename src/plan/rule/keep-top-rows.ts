// ORDER BY below LIMIT holds only the rows that can be wanted.
import { mapPlan } from '../map-plan.ts';
import type { PlanNode } from '../plan.ts';
import type { Rule } from './rule.ts';

export const keepTopRows: Rule = {
  name: 'keep-top-rows',
  apply: (root) => mapPlan(root, rewrite),
};

function rewrite(node: PlanNode): PlanNode {
  if (node.kind !== 'limit' || node.limit === undefined || node.input.kind !== 'sort') return node;
  return { ...node, input: { ...node.input, keep: node.offset + node.limit } };
}
