// What a choice is, and what it sees.

import { inputsOf } from '../../plan/map-plan.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { PlanNode, ScanNode } from '../../plan/plan.ts';
import type { PhysicalNode, Refusal } from '../physical.ts';

/** Those behind the second are choices of operators over batches. */
export type ChoiceName =
  | 'batches'
  | 'row-numbers'
  | 'first-groups'
  | 'grouped-twice'
  | 'stored-columns';

/** Takes a node and what it reads. */
export interface Choice {
  readonly name: ChoiceName;
  /** The operators for a node, or why it does not suit. */
  take(node: PlanNode, planner: Planner): PhysicalNode | string;
}

/** What choices plan with. */
export interface Planner {
  readonly namespace: Namespace;
  /** the plans of sub-selects by number */
  readonly subqueries: readonly PlanNode[];
  readonly exactTimestamps: boolean;
  readonly rowCountMin: number | undefined;
  isWithout(name: ChoiceName): boolean;
  /** recursions whose rounds operators run */
  readonly rounds: readonly number[];
  /** A planner that leaves everything to the reference. */
  withoutChoices(): Planner;
  /** A planner of parts of the step of a recursion. */
  inRounds(recursion: number): Planner;
  /**
   * The plan of a node whose rows are read one by one. @param refused a choice that did not suit:
   * the reference makes the rows, of inputs that are planned as ever
   */
  rows(node: PlanNode, refused?: Refusal): PhysicalNode;
  /** The plan of a node whose columns are read; its rows are made where there is no other way. */
  batches(node: PlanNode): PhysicalNode;
}

/** Why a scan gives no columns; undefined when it does. */
export function whyNoColumns(
  { dataset, lookup }: ScanNode,
  { namespace, exactTimestamps }: Planner,
): string | undefined {
  if (lookup !== undefined) return `rows of '${dataset}' are looked up by name`;
  const { snapshot, rowCount } = namespace.dataset(dataset);
  if (snapshot?.layout !== 'columnar') return `dataset '${dataset}' does not lie in columns`;
  if (rowCount === 0) return `dataset '${dataset}' has no rows`;
  if (!exactTimestamps) return undefined;
  const { timestamps } = snapshot;
  const isOne = timestamps.kind === 'constant' && !Number.isNaN(timestamps.ts);
  return isOne ? undefined : `cells of dataset '${dataset}' have timestamps of their own`;
}

/** Why a part of a plan is left to the reference, which starts faster; undefined when it is not. */
export function whyTooSmall(node: PlanNode, planner: Planner): string | undefined {
  const least = Math.max(1, planner.rowCountMin ?? 1);
  const most = largestTable(node, planner);
  return most < least ? `no dataset has ${least} rows or more` : undefined;
}

/** Rows of the largest dataset that is scanned. */
function largestTable(node: PlanNode, planner: Planner): number {
  if (node.kind === 'scan') {
    const relation = planner.namespace.dataset(node.dataset);
    // Rows in another system are not counted for a plan.
    return relation.remote === undefined ? relation.rowCount : 0;
  }
  const shared = node.kind === 'shared' ? planner.subqueries[node.subquery] : undefined;
  const inputs = shared === undefined ? inputsOf(node) : [shared];
  return inputs.reduce((most, input) => Math.max(most, largestTable(input, planner)), 0);
}
