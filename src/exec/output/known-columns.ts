// The columns of a result, where the query alone tells them.
import type { PlanNode } from '../../plan/plan.ts';
import { isAtomType, type ValueType } from '../../plan/type/type.ts';
import { comparePaths, Path } from '../../value/path.ts';
import type { PathComparer } from './cell.ts';

/**
 * Printed paths in their order (absent: natural order) when every item of the select list is a
 * named atom, or the rows have certain members, which are atoms: then each row has each of these
 * columns.
 */
export function knownColumnsOf(
  root: PlanNode,
  rowType: ValueType,
  compare: PathComparer,
): readonly string[] | undefined {
  const paths = namedAtoms(root) ?? certainAtoms(rowType);
  if (paths === undefined) return undefined;
  const ordered = paths.sort((a, b) =>
    compare === undefined ? comparePaths(a, b) : compare(a.elements, b.elements),
  );
  const columns = ordered.map((path) => path.toString());
  return [...new Set(columns)];
}

function namedAtoms(root: PlanNode): Path[] | undefined {
  const paths: Path[] = [];
  for (const item of findProject(root)?.items ?? [undefined]) {
    if (item?.kind !== 'named' || !isAtomType(item.expression.type)) return undefined;
    paths.push(new Path(item.path));
  }
  return paths;
}

function certainAtoms(type: ValueType): Path[] | undefined {
  if (type.kind !== 'row' || type.open || type.members.length === 0) return undefined;
  if (type.members.some((member) => !isAtomType(member.type))) return undefined;
  return type.members.map(({ name }) => new Path([name]));
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
