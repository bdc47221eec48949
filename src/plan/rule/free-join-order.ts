// Joins below a GROUP BY or ORDER BY need not put their rows in the order of the join value.
import { mapInputs } from '../map-plan.ts';
import type { PlanNode } from '../plan.ts';
import type { Rule } from './rule.ts';

export const freeJoinOrder: Rule = {
  name: 'free-join-order',
  apply: (root) => relax(root, false),
};

/** `free`: nothing above the node depends on the order of its rows. */
function relax(node: PlanNode, free: boolean): PlanNode {
  switch (node.kind) {
    case 'aggregate':
      return mapInputs(node, (input) => relax(input, !readsOrder(node)));
    case 'sort':
      return mapInputs(node, (input) => relax(input, node.ties === 'row-hash'));
    case 'project':
    case 'filter':
    case 'when':
      return mapInputs(node, (input) => relax(input, free));
    case 'join': {
      const isSemi = node.joinKind === 'semi' || node.joinKind === 'anti';
      if (isSemi)
        return { ...mapInputs(node, (input) => relax(input, free)), order: 'any' } as PlanNode;
      const ordersRows = node.equalities.length > 0;
      const relaxed = mapInputs(node, (input) => relax(input, free || ordersRows));
      return free ? { ...(relaxed as typeof node), order: 'any' } : relaxed;
    }
    default:
      return mapInputs(node, (input) => relax(input, false));
  }
}

/** Aggregates that take the first or last of rows without an order of their own. */
function readsOrder(node: Extract<PlanNode, { kind: 'aggregate' }>): boolean {
  return node.aggregates.some(
    ({ name, modifiers }) => ORDERED.has(name) && (modifiers?.orderBy.length ?? 0) === 0,
  );
}

const ORDERED: ReadonlySet<string> = new Set([
  ...['first', 'last', 'any_value', 'array_agg', 'string_agg', 'arg_min', 'arg_max', 'mode'],
]);
