// The parts of ON that say `left = right` become keys of a hash join; parts about one side that an
// outer join does not keep become filters of that side.
import { cannotFail, conjunctionOf, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { onSide, readsWholeTable, sideOfExpression } from '../join-side.ts';
import { mapPlan } from '../map-plan.ts';
import type { JoinEquality, JoinNode, PlanNode } from '../plan.ts';
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
  for (const part of conjunctsOf(join.residual)) {
    const equality = equalityOf(part, join);
    const side = equality === undefined ? filterSide(part, join) : undefined;
    if (equality !== undefined) equalities.push(equality);
    else if (side !== undefined) filters[side].push(onSide(part, side, join));
    else residual.push(part);
  }
  return {
    ...join,
    left: { ...join.left, input: withFilter(join.left.input, filters.left) },
    right: { ...join.right, input: withFilter(join.right.input, filters.right) },
    equalities,
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

/** The side that a part filters; none when unmatched rows of that side must be kept. */
function filterSide(part: BoundExpression, join: JoinNode): JoinSide | undefined {
  const side = sideOfExpression(part, join);
  if (side === undefined || !cannotFail(part) || readsWholeTable(part)) return undefined;
  const kept = join.joinKind === 'full' || join.joinKind === side;
  return kept ? undefined : side;
}
