// The parts of ON that say `left = right` become keys of a hash join; parts about one side become
// filters of that side, or, where an outer join keeps its rows, decide which of them stay alone.
import { cannotFail, conjunctionOf, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { mapPlan } from '../map-plan.ts';
import type { JoinEquality, JoinNode, PlanNode } from '../plan.ts';
import { onSide, readsWholeTable, sideOfExpression } from '../scope/join-side.ts';
import type { Rule } from './rule.ts';
import { withFilter } from './simplify-filters.ts';

export const splitJoinConditions: Rule = {
  name: 'split-join-conditions',
  apply: (root) => mapPlan(root, (node) => (node.kind === 'join' ? split(node) : node)),
};

function split(join: JoinNode): PlanNode {
  if (join.residual === undefined) return join;
  const equalities: JoinEquality[] = [...join.equalities];
  const residual: BoundExpression[] = [];
  const filters: Record<JoinSide, BoundExpression[]> = { left: [], right: [] };
  const own: Record<JoinSide, BoundExpression[]> = { left: [], right: [] };
  const parts = conjunctsOf(join.residual);
  for (const part of parts) {
    const equality = equalityOf(part, join);
    if (equality !== undefined) equalities.push(equality);
  }
  for (const part of parts) {
    if (equalityOf(part, join) !== undefined) continue;
    const side = sideOfExpression(part, join);
    if (side === undefined || readsWholeTable(part)) residual.push(part);
    else if (isKept(side, join) && equalities.length > 0) {
      own[side].push(onSide(part, side, join));
      if (!cannotFail(part)) residual.push(part);
    } else if (isKept(side, join) || !cannotFail(part)) residual.push(part);
    else filters[side].push(onSide(part, side, join));
  }
  const [ownLeft, ownRight] = [conjunctionOf(own.left), conjunctionOf(own.right)];
  return {
    ...join,
    left: { ...join.left, input: withFilter(join.left.input, filters.left) },
    right: { ...join.right, input: withFilter(join.right.input, filters.right) },
    equalities,
    own: {
      ...(ownLeft === undefined ? {} : { left: ownLeft }),
      ...(ownRight === undefined ? {} : { right: ownRight }),
    },
    residual: conjunctionOf(residual),
  };
}

/** Both sides are evaluated once a row instead of once a pair, so they must not fail. */
function equalityOf(part: BoundExpression, join: JoinNode): JoinEquality | undefined {
  if (part.kind !== 'comparison' || part.operator !== '=') return undefined;
  const first = sideOfExpression(part.left, join);
  const second = sideOfExpression(part.right, join);
  if (first === undefined || second === undefined || first === second) return undefined;
  const [left, right] = first === 'left' ? [part.left, part.right] : [part.right, part.left];
  if (readsWholeTable(left) || readsWholeTable(right)) return undefined;
  return { left: onSide(left, 'left', join), right: onSide(right, 'right', join) };
}

/** Whether rows of the side without a partner stay. */
function isKept(side: JoinSide, { joinKind }: JoinNode): boolean {
  return joinKind === 'full' || joinKind === side || (joinKind === 'anti' && side === 'left');
}
