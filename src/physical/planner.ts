// Makes the physical plan of a logical one. At each node whose rows are read one by one the choices
// are tried in their order; the first that suits takes the node and what it reads.

import { inputsOf } from '../plan/map-plan.ts';
import type { Namespace } from '../plan/namespace.ts';
import type { PlanNode, QueryPlan } from '../plan/plan.ts';
import { batches, overBatches, picksFromEndless } from './choice/batches.ts';
import type { Choice, ChoiceName, Planner } from './choice/choice.ts';
import { rowNumbers } from './choice/row-numbers.ts';
import type { PhysicalNode, PhysicalPlan, Refusal } from './physical.ts';

/** In the order in which they are tried; what none of them takes is left to the reference. */
export const CHOICES: readonly Choice[] = [
  // Rows are never made where columns do.
  batches,
  // Kernels find the rows, which are made for whoever reads them one by one.
  rowNumbers,
];

/** What choices look at besides the plan. */
export interface PhysicalOptions {
  readonly namespace: Namespace;
  /** the plans of sub-selects by number; absent: nothing shares their rows */
  readonly subqueries?: readonly PlanNode[] | undefined;
  /** false: nobody looks at the timestamps of the result */
  readonly exactTimestamps: boolean;
  /** tables with fewer rows are left to the reference, which starts faster; absent: all are */
  readonly rowCountMin: number | undefined;
  /** choices that are not to be made */
  readonly without?: ReadonlySet<ChoiceName> | undefined;
}

export function makePlanner(options: PhysicalOptions, rounds: readonly number[] = []): Planner {
  const planner: Planner = {
    ...options,
    rounds,
    withoutChoices: () => makePlanner({ ...options, rowCountMin: undefined }, rounds),
    inRounds: (recursion) => makePlanner(options, [...rounds, recursion]),
    subqueries: options.subqueries ?? [],
    isWithout: (name) => options.without?.has(name) === true,
    rows: (node, refused) => planRows(node, planner, refused),
    batches(node) {
      const made = overBatches(node, planner);
      if (typeof made === 'object') return made;
      return planner.rows(node, { choice: batches.name, because: made });
    },
  };
  return planner;
}

/** The physical plan of a query. */
export function planQuery({ root, subqueries }: QueryPlan, planner: Planner): PhysicalPlan {
  return {
    root: planner.rows(root),
    subqueries: subqueries.map((subquery) => planner.rows(subquery)),
  };
}

function planRows(node: PlanNode, planner: Planner, refused?: Refusal): PhysicalNode {
  const refusals: Refusal[] = refused === undefined ? [] : [refused];
  if (refused === undefined && planner.rowCountMin !== undefined) {
    for (const choice of CHOICES) {
      const off = planner.isWithout(choice.name) ? 'it is switched off' : undefined;
      const taken = off ?? choice.take(node, planner);
      if (typeof taken === 'object') return { ...taken, refusals };
      refusals.push({ choice: choice.name, because: taken });
    }
  }
  // Whoever makes all rows of a recursion first may never come to those that are wanted.
  const isEndless = node.kind === 'limit' && picksFromEndless(node.input);
  const below = isEndless ? planner.withoutChoices() : planner;
  const inputs = inputsOf(node).map((input) => below.rows(input));
  return { logical: node, way: 'rows', method: methodOfReference(node), inputs, refusals };
}

function methodOfReference(node: PlanNode): PhysicalNode['method'] {
  if (node.kind !== 'join') return 'plain';
  return node.equalities.length > 0 ? 'hash join' : 'nested loops';
}
