// `x = 1 OR x = 2 OR …` in a filter becomes `x IN (1, 2, …)`, which is one look-up a row.
// After simplify-filters, which leaves one condition a filter.
import { conjunctionOf, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, ColumnExpression, ConstantExpression } from '../expression.ts';
import { mapPlan } from '../map-plan.ts';
import type { PlanNode } from '../plan.ts';
import type { Rule } from './rule.ts';

export const collectChoices: Rule = {
  name: 'collect-choices',
  apply: (root) => mapPlan(root, rewrite),
};

function rewrite(node: PlanNode): PlanNode {
  if (node.kind !== 'filter') return node;
  const condition = conjunctionOf(conjunctsOf(node.condition).map(collect));
  return condition === undefined ? node : { ...node, condition };
}

/** Only IS TRUE of the result is the same: `x = null` is null where `x IN (null)` is 0. */
function collect(condition: BoundExpression): BoundExpression {
  if (condition.kind !== 'or') return condition;
  const { type, start, end } = condition;
  const choicesOf = new Map<string, ConstantExpression[]>();
  const operands: BoundExpression[] = [];
  for (const operand of flatten(condition)) {
    const equality = equalityOf(operand);
    if (equality === undefined) {
      operands.push(operand);
      continue;
    }
    const { column } = equality;
    const key = JSON.stringify(column.path);
    const known = choicesOf.get(key);
    if (known !== undefined) {
      for (const choice of equality.choices) known.push(choice);
      continue;
    }
    const choices = [...equality.choices];
    choicesOf.set(key, choices);
    const list = { kind: 'in-list', operand: column, choices, negated: false } as const;
    operands.push({ ...list, type, start, end });
  }
  return operands.length === 1 ? (operands[0] as BoundExpression) : { ...condition, operands };
}

function flatten(expression: BoundExpression): readonly BoundExpression[] {
  return expression.kind === 'or' ? expression.operands.flatMap(flatten) : [expression];
}

interface Equality {
  readonly column: ColumnExpression;
  readonly choices: readonly ConstantExpression[];
}

function equalityOf(expression: BoundExpression): Equality | undefined {
  if (expression.kind === 'comparison' && expression.operator === '=') {
    const { left, right } = expression;
    if (left.kind === 'column' && right.kind === 'constant') {
      return { column: left, choices: [right] };
    }
    if (right.kind === 'column' && left.kind === 'constant') {
      return { column: right, choices: [left] };
    }
  }
  if (expression.kind !== 'in-list' || expression.negated) return undefined;
  const { operand, choices } = expression;
  if (operand.kind !== 'column' || !choices.every((choice) => choice.kind === 'constant')) {
    return undefined;
  }
  return { column: operand, choices };
}
