// Which nodes of a plan are given to operators over batches, by their shape.
import { inputsOf } from '../../plan/map-plan.ts';
import { isWholeRow } from '../../plan/pattern.ts';
import type { PlanNode, ProjectNode } from '../../plan/plan.ts';
import type { Runtime } from '../general/compiler.ts';
import { readsColumnsOfRows } from '../vector/accelerate.ts';

/** Nodes whose rows are a select list or groups, made of rows that were joined or grouped. */
export function isOperatorRoot(node: PlanNode): boolean {
  switch (node.kind) {
    case 'aggregate':
    case 'set-operation':
      return true;
    case 'project':
      return (
        node.name === undefined &&
        !node.keepsInput &&
        !readsColumnsOfRows(node) &&
        (picksColumns(node) ||
          (node.items.every((item) => item.kind === 'named' && item.path.length === 1) &&
            gathersRows(node.input)))
      );
    case 'limit':
    case 'sort':
      return isOperatorRoot(node.input) && node.input.kind !== 'aggregate';
    default:
      return false;
  }
}

/** Whether the rows are columns of a dataset as they lie, perhaps not all of them. */
function picksColumns({ items, input }: ProjectNode): boolean {
  const below = input.kind === 'limit' ? input.input : input;
  const scan = below.kind === 'filter' ? below.input : below;
  if (scan.kind !== 'scan' || scan.lookup !== undefined) return false;
  return items.every((item) =>
    item.kind === 'named'
      ? item.path.length === 1 && item.expression.kind === 'column'
      : item.kind === 'wildcard' && items.length === 1 && isWholeRow(item.pattern),
  );
}

/** Whether the rows of a node are joined or grouped ones. */
export function gathersRows(node: PlanNode): boolean {
  switch (node.kind) {
    case 'aggregate':
    case 'join':
    case 'window':
    case 'set-operation':
    case 'grouping-sets':
      return true;
    case 'project':
      return node.name === undefined && !node.keepsInput && gathersRows(node.input);
    case 'sort':
      return !node.late || gathersRows(node.input);
    case 'filter':
    case 'limit':
      return gathersRows(node.input);
    default:
      return false;
  }
}

/** Rows of the largest dataset that is scanned. */
export function largestTable(node: PlanNode, runtime: Runtime): number {
  if (node.kind === 'scan') return runtime.namespace.dataset(node.dataset).rowCount;
  return inputsOf(node).reduce((most, input) => Math.max(most, largestTable(input, runtime)), 0);
}
