// Joins below a GROUP BY or ORDER BY need not put their rows in the order of the join value.
import { someExpression } from '../children.ts';
import { expressionsOf, mapInputs } from '../map-plan.ts';
import type { PlanNode } from '../plan.ts';
import type { Rule } from './rule.ts';

export const freeJoinOrder: Rule = {
  name: 'free-join-order',
  apply: (root) => relax(root, { order: false, names: false }),
};

/** What nothing above a node depends on: the order of its rows, and what they are called. */
interface Free {
  readonly order: boolean;
  readonly names: boolean;
}

function relax(node: PlanNode, free: Free): PlanNode {
  const names = free.names && !readsNames(node);
  switch (node.kind) {
    case 'aggregate':
      return below(node, { order: !readsOrder(node), names: !readsNames(node) });
    case 'sort':
      return below(node, { order: node.ties === 'row-hash', names: false });
    case 'project':
    case 'filter':
    case 'when':
      return below(node, { order: free.order, names });
    case 'join': {
      const isSemi = node.joinKind === 'semi' || node.joinKind === 'anti';
      if (isSemi) {
        return { ...(below(node, { ...free, names }) as typeof node), order: 'any' };
      }
      const ordersRows = node.equalities.length > 0;
      // Rows with equal values come in the order of their names.
      const order = free.order || ordersRows;
      const relaxed = below(node, { order, names: free.order && names });
      return free.order ? { ...(relaxed as typeof node), order: 'any' } : relaxed;
    }
    case 'recursive': {
      // Rows are called by their numbers.
      const isFree = free.order && free.names;
      return below(node, { order: isFree, names: isFree });
    }
    default:
      return below(node, { order: false, names: false });
  }
}

function below(node: PlanNode, free: Free): PlanNode {
  return mapInputs(node, (input) => relax(input, free));
}

function readsNames(node: PlanNode): boolean {
  return expressionsOf(node).some((expression) =>
    someExpression(expression, ({ kind }) => kind === 'row-function'),
  );
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
