// WHERE on the name of a dataset's rows reads these rows instead of all.
import { cannotFail, conjunctsOf, isRowFree } from '../conjunction.ts';
import type { BoundExpression } from '../expression.ts';
import { mapPlan } from '../map-plan.ts';
import type { PlanNode, RowLookup } from '../plan.ts';
import type { Rule } from './rule.ts';
import { withFilter } from './simplify-filters.ts';

export const lookUpRows: Rule = {
  name: 'look-up-rows',
  apply: (root) => mapPlan(root, rewrite),
};

function rewrite(node: PlanNode): PlanNode {
  if (node.kind !== 'filter' || node.input.kind !== 'scan') return node;
  if (node.input.lookup !== undefined) return node;
  const parts = conjunctsOf(node.condition);
  for (const [index, part] of parts.entries()) {
    const lookup = lookupOf(part);
    const others = parts.toSpliced(index, 1);
    // A part that fails for a row fails the query, whatever the name of the row is.
    if (lookup === undefined || !others.every(cannotFail)) continue;
    return withFilter({ ...node.input, lookup }, others);
  }
  return node;
}

/** The rows that a condition names; undefined when it does not name them. */
function lookupOf(condition: BoundExpression): RowLookup | undefined {
  switch (condition.kind) {
    case 'comparison': {
      if (condition.operator !== '=') return undefined;
      const { left, right } = condition;
      return lookupBy(left, [right], undefined) ?? lookupBy(right, [left], undefined);
    }
    case 'in-list':
      if (condition.negated) return undefined;
      return lookupBy(condition.operand, condition.choices, undefined);
    case 'in-members':
      if (condition.negated) return undefined;
      return lookupBy(condition.operand, [condition.row], condition.part);
    case 'or':
      return condition.operands.map(lookupOf).reduce(unite);
    default:
      return undefined;
  }
}

function lookupBy(
  name: BoundExpression,
  values: readonly BoundExpression[],
  part: RowLookup['part'],
): RowLookup | undefined {
  if (name.kind !== 'row-function' || name.side.length > 0) return undefined;
  if (name.function !== 'rowName' && name.function !== 'rowPath') return undefined;
  if (!values.every(isRowFree)) return undefined;
  return { printed: name.function === 'rowName', part, names: values };
}

function unite(a: RowLookup | undefined, b: RowLookup | undefined): RowLookup | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a.printed !== b.printed || a.part !== b.part) return undefined;
  return { ...a, names: [...a.names, ...b.names] };
}
