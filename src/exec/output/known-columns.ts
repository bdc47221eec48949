// The columns of a result, where the query alone tells them.
import type { PlanNode } from '../../plan/plan.ts';
import { isAtomType } from '../../plan/type/type.ts';
import { comparePaths, Path } from '../../value/path.ts';
import type { PathComparer } from './cell.ts';

/**
 * Printed paths in their order (absent: natural order) when every item of the select list is a
 * named atom: then each row has each of these columns.
 */
export function knownColumnsOf(
  root: PlanNode,
  compare: PathComparer,
): readonly string[] | undefined {
  const project = findProject(root);
  if (project === undefined) return undefined;
  const paths: Path[] = [];
  for (const item of project.items) {
    if (item.kind !== 'named' || !isAtomType(item.expression.type)) return undefined;
    paths.push(new Path(item.path));
  }
  const ordered = paths.sort((a, b) =>
    compare === undefined ? comparePaths(a, b) : compare(a.elements, b.elements),
  );
  const columns = ordered.map((path) => path.toString());
  return [...new Set(columns)];
}

function findProject(node: PlanNode): Extract<PlanNode, { kind: 'project' }> | undefined {
  switch (node.kind) {
    case 'project':
      return node;
    case 'limit':
    case 'limit-by':
    case 'sort':
    case 'distinct-on':
      return findProject(node.input);
    default:
      return undefined;
  }
}
