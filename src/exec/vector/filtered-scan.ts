// The plan shape that most vector operators read: a whole table, perhaps with a filter.
import type { FilterNode, PlanNode, ScanNode } from '../../plan/plan.ts';

/** A scan with the filter above it. */
export interface FilteredScan {
  readonly scan: ScanNode;
  readonly filter: FilterNode | undefined;
}

export function matchFilteredScan(node: PlanNode): FilteredScan | undefined {
  if (node.kind === 'scan')
    return node.lookup === undefined ? { scan: node, filter: undefined } : undefined;
  if (node.kind !== 'filter' || node.input.kind !== 'scan') return undefined;
  return node.input.lookup === undefined ? { scan: node.input, filter: node } : undefined;
}
