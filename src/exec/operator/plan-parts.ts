// What is asked of parts of a plan before they run.
import { isFolded } from '../../physical/capability.ts';
import type { PhysicalNode } from '../../physical/physical.ts';
import type { NamedProjectItem, ProjectItem } from '../../plan/expression.ts';
import { inputsOf } from '../../plan/map-plan.ts';
import type { AggregateNode, PlanNode, ScanNode } from '../../plan/plan.ts';
import { suited } from './not-suited.ts';

/** What is wanted of the rows of a node. */
export interface Wanted {
  /** their names can be asked for */
  readonly named: boolean;
  /** only so many first ones are read */
  readonly first: number | undefined;
  /** false: they may come in any order */
  readonly isOrdered: boolean;
}

/** Whether the rows of an operator are groups, whose columns are keys and aggregates. */
export function isOfGroups({ logical, method, inputs: [input] }: PhysicalNode): boolean {
  if (logical.kind === 'aggregate' || method === 'sorted groups') return true;
  return logical.kind === 'limit' && input?.way === 'batches' && isOfGroups(input);
}

export type GroupItem = NamedProjectItem & { readonly path: readonly [string] };

export function isGroupItem(item: ProjectItem): item is GroupItem {
  if (item.kind !== 'named' || item.path.length !== 1) return false;
  const { kind } = item.expression;
  return kind === 'group-key' || kind === 'aggregate-result';
}

export function scanBelow({ logical, inputs: [input] }: PhysicalNode): ScanNode {
  if (logical.kind === 'scan') return logical;
  return scanBelow(suited(input));
}

/** Whether the rows of a sub-select that others read too are among what a plan reads. */
export function readsShared(node: PlanNode): boolean {
  return node.kind === 'shared' || inputsOf(node).some(readsShared);
}

/** Whether a plan reads the rows that came last in a recursion around it. */
export function readsLast(node: PlanNode, inside: readonly number[] = []): boolean {
  if (node.kind === 'recursive-table') return !inside.includes(node.table);
  const own = node.kind === 'recursive' ? [...inside, node.table] : inside;
  return inputsOf(node).some((input) => readsLast(input, own));
}

/** Whether aggregates may depend on the order of the rows that they take. */
export function readsOrder(
  { aggregates }: Pick<AggregateNode, 'aggregates'>,
  { exactTimestamps }: { readonly exactTimestamps: boolean },
): boolean {
  return aggregates.some((call) => isFolded(call, exactTimestamps));
}

/** Whether all rows of a node were made before the next one reads them. */
export function isBreaker({ logical: { kind } }: PhysicalNode): boolean {
  return (
    kind === 'aggregate' ||
    kind === 'limit' ||
    kind === 'sample' ||
    kind === 'sort' ||
    kind === 'distinct-on' ||
    kind === 'window' ||
    kind === 'set-operation' ||
    kind === 'shared' ||
    kind === 'recursive' ||
    kind === 'grouping-sets'
  );
}

/** Undefined for no limit. */
export function finite(count: number): number | undefined {
  return count === Number.POSITIVE_INFINITY ? undefined : count;
}
