// WHERE on a join is tested on the side that it is about, before rows are paired; WHERE on a
// sub-select of plain columns is tested on the rows below it. Conditions that can fail stay where
// they were: a row that a join leaves out must not fail the query.
import { someExpression } from '../children.ts';
import { cannotFail, conjunctionOf, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { mapExpression } from '../map-expression.ts';
import { mapInputs } from '../map-plan.ts';
import { isWholeRow } from '../pattern.ts';
import type { FilterNode, JoinNode, PlanNode, ProjectNode } from '../plan.ts';
import { onSide, readsWholeTable, sideOfExpression } from '../scope/join-side.ts';
import type { Rule } from './rule.ts';
import { withFilter } from './simplify-filters.ts';

export const pushFilters: Rule = {
  name: 'push-filters',
  apply: (root) => push(root),
};

/** From the root down, so that a condition sinks as far as it can. */
function push(node: PlanNode): PlanNode {
  return mapInputs(node.kind === 'filter' ? pushOne(node) : node, push);
}

function pushOne(node: FilterNode): PlanNode {
  const { input } = node;
  const parts = conjunctsOf(node.condition);
  if (input.kind === 'join') {
    const isSemi = input.joinKind === 'semi' || input.joinKind === 'anti';
    return isSemi ? pushBelowSemiJoin(parts, input) : pushBelowJoin(parts, input);
  }
  if (input.kind === 'project') return pushBelowProject(parts, input);
  return node;
}

/** Its rows are those of the left side as they are. */
function pushBelowSemiJoin(parts: readonly BoundExpression[], join: JoinNode): PlanNode {
  const movable = parts.filter(cannotFail);
  const left = { ...join.left, input: withFilter(join.left.input, movable) };
  return withFilter(
    { ...join, left },
    parts.filter((part) => !movable.includes(part)),
  );
}

function pushBelowJoin(parts: readonly BoundExpression[], join: JoinNode): PlanNode {
  const kept: BoundExpression[] = [];
  const filters: Record<JoinSide, BoundExpression[]> = { left: [], right: [] };
  for (const part of parts) {
    const side = sideOfExpression(part, join);
    const movable = side !== undefined && cannotFail(part) && !readsWholeTable(part);
    if (movable && isUnpadded(side, join)) filters[side].push(onSide(part, side, join));
    else kept.push(part);
  }
  // Of both sides: a part of ON, where equalities become keys.
  const paired = join.joinKind === 'inner' ? kept.filter(isPaired) : [];
  if (kept.length === parts.length && paired.length === 0) return withFilter(join, parts);
  const residual = conjunctionOf([
    ...(join.residual === undefined ? [] : [join.residual]),
    ...paired,
  ]);
  const lowered: JoinNode = {
    ...join,
    residual,
    left: { ...join.left, input: withFilter(join.left.input, filters.left) },
    right: { ...join.right, input: withFilter(join.right.input, filters.right) },
  };
  return withFilter(
    lowered,
    kept.filter((part) => !paired.includes(part)),
  );
}

function isPaired(part: BoundExpression): boolean {
  return part.kind === 'comparison' && cannotFail(part) && !readsWholeTable(part);
}

/** Rows of the side always take part with a row: an outer join puts nothing in their place. */
function isUnpadded(side: JoinSide, join: JoinNode): boolean {
  return join.joinKind === 'inner' || join.joinKind === side;
}

function pushBelowProject(parts: readonly BoundExpression[], project: ProjectNode): PlanNode {
  const lowered: BoundExpression[] = [];
  const kept: BoundExpression[] = [];
  for (const part of parts) {
    const below = cannotFail(part) ? throughProject(part, project) : undefined;
    if (below === undefined) kept.push(part);
    else lowered.push(below);
  }
  if (lowered.length === 0 || !isRowwise(project.input)) return withFilter(project, parts);
  return withFilter({ ...project, input: withFilter(project.input, lowered) }, kept);
}

/** Rows below may be left out earlier only if none of them influences another. */
function isRowwise(node: PlanNode): boolean {
  switch (node.kind) {
    case 'limit':
    case 'limit-by':
    case 'distinct-on':
      return false;
    case 'when':
      return false;
    case 'sort':
      return isRowwise(node.input);
    default:
      return true;
  }
}

/** The condition in terms of the projection's input; undefined when it cannot be said there. */
function throughProject(
  condition: BoundExpression,
  project: ProjectNode,
): BoundExpression | undefined {
  let possible = project.name === undefined;
  const rewritten = mapExpression(condition, (part) => {
    if (part.kind !== 'column') return part;
    const source = sourceOfColumn(part.path, project);
    possible &&= source !== undefined;
    return source ?? part;
  });
  const opaque = someExpression(
    rewritten,
    (part) => part.kind === 'row' || part.kind === 'output-column',
  );
  return possible && !opaque ? rewritten : undefined;
}

function sourceOfColumn(
  path: readonly string[],
  project: ProjectNode,
): BoundExpression | undefined {
  let source: BoundExpression | undefined;
  for (const item of project.items) {
    if (item.kind === 'wildcard' && project.items.length === 1 && isWholeRow(item.pattern)) {
      return { kind: 'column', path, type: { kind: 'any' }, start: item.start, end: item.end };
    }
    if (item.kind !== 'named' || item.path.length !== 1) return undefined;
    if (item.path[0] !== path[0]) continue;
    if (source !== undefined || item.expression.kind !== 'column' || path.length !== 1) {
      return undefined;
    }
    source = item.expression;
  }
  return source;
}
