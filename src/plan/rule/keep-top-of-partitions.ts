// A condition such as `r <= 3` on the number or rank of a row says how many first rows of each
// partition are wanted, so that window functions need not sort the others.

import { Scalar } from '../../value/value.ts';
import { cannotFail, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, ProjectItem } from '../expression.ts';
import { mapPlan } from '../map-plan.ts';
import type { FilterNode, PlanNode, WindowCall, WindowPlanNode } from '../plan.ts';
import { textOfExpression } from '../text-of-expression.ts';
import type { Rule } from './rule.ts';

export const keepTopOfPartitions: Rule = {
  name: 'keep-top-of-partitions',
  apply: (root) => mapPlan(root, rewrite),
};

/** Functions of which a row's result depends on the rows before it alone. */
const RANKING: ReadonlySet<string> = new Set(['row_number', 'rank', 'dense_rank']);

function rewrite(node: PlanNode): PlanNode {
  if (node.kind !== 'filter') return node;
  const { input } = node;
  if (input.kind === 'window') {
    const window = withKeep(node, input, (part) => part);
    return window === undefined ? node : { ...node, input: window };
  }
  if (input.kind !== 'project' || input.input.kind !== 'window') return node;
  const { items } = input;
  if (!items.every(isSafe)) return node;
  const window = withKeep(node, input.input, (part) => meaningOf(part, items));
  return window === undefined ? node : { ...node, input: { ...input, input: window } };
}

/** Rows that are left out early must not have failed later. */
function isSafe(item: ProjectItem): boolean {
  return item.kind === 'named' && item.path.length === 1 && cannotFail(item.expression);
}

function withKeep(
  { condition }: FilterNode,
  window: WindowPlanNode,
  meaning: (part: BoundExpression) => BoundExpression | undefined,
): WindowPlanNode | undefined {
  const [first, ...others] = window.calls;
  if (first === undefined || first.orderBy.length === 0 || !cannotFail(condition)) return undefined;
  if (!window.calls.every(({ name }) => RANKING.has(name))) return undefined;
  const order = textOfOrder(first);
  if (!others.every((call) => textOfOrder(call) === order)) return undefined;
  const counts = conjunctsOf(condition).flatMap((part) => {
    const bound = boundOf(part);
    const call = bound && meaning(bound.operand);
    if (bound === undefined || call?.kind !== 'window-result') return [];
    // Rows of equal rank that are dense say nothing of how many there are.
    return window.calls[call.index]?.name === 'dense_rank' ? [] : [bound.count];
  });
  if (counts.length === 0) return undefined;
  return { ...window, keep: Math.max(0, Math.min(...counts)) };
}

function textOfOrder({ partitionBy, orderBy }: WindowCall): string {
  return textOfExpression([partitionBy, orderBy]);
}

interface Bound {
  readonly operand: BoundExpression;
  /** the greatest number that passes */
  readonly count: number;
}

function boundOf(part: BoundExpression): Bound | undefined {
  if (part.kind === 'between' && !part.negated) {
    const high = numberOf(part.high);
    return high === undefined ? undefined : { operand: part.operand, count: Math.floor(high) };
  }
  if (part.kind !== 'comparison') return undefined;
  const right = numberOf(part.right);
  const left = numberOf(part.left);
  const [operand, limit, operator] =
    right === undefined
      ? [part.right, left, MIRRORED[part.operator]]
      : [part.left, right, part.operator];
  if (limit === undefined) return undefined;
  if (operator === '<') return { operand, count: Math.ceil(limit) - 1 };
  if (operator === '<=' || operator === '=') return { operand, count: Math.floor(limit) };
  return undefined;
}

const MIRRORED: Readonly<Record<string, string>> = { '=': '=', '>': '<', '>=': '<=' };

function numberOf(expression: BoundExpression): number | undefined {
  if (expression.kind !== 'constant' || !(expression.value instanceof Scalar)) return undefined;
  const { atom } = expression.value;
  return typeof atom === 'number' && Number.isFinite(atom) ? atom : undefined;
}

/** What a column of a select list is computed as. */
function meaningOf(
  part: BoundExpression,
  items: readonly ProjectItem[],
): BoundExpression | undefined {
  if (part.kind !== 'column' || part.path.length !== 1) return undefined;
  const found = items.filter((item) => item.kind === 'named' && item.path[0] === part.path[0]);
  const [item] = found;
  return found.length === 1 && item?.kind === 'named' ? item.expression : undefined;
}
