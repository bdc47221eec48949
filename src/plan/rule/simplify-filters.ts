// Filters that are always true go; parts of every case of an OR stand alone; a filter on a filter becomes one.

import { isTrue } from '../../value/atom.ts';
import { Scalar } from '../../value/value.ts';
import { conjunctionOf, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression } from '../expression.ts';
import { mapPlan } from '../map-plan.ts';
import type { PlanNode } from '../plan.ts';
import { textOfExpression } from '../text-of-expression.ts';
import type { Rule } from './rule.ts';

export const simplifyFilters: Rule = {
  name: 'simplify-filters',
  apply: (root) => mapPlan(root, simplify),
};

function simplify(node: PlanNode): PlanNode {
  if (node.kind !== 'filter') return node;
  const parts = conjunctsOf(node.condition)
    .flatMap(commonFactors)
    .filter((part) => !isAlwaysTrue(part));
  const { input } = node;
  if (input.kind === 'filter') {
    // The lower filter comes first: its parts guard the upper ones against errors.
    parts.unshift(...conjunctsOf(input.condition));
    return withFilter(input.input, parts);
  }
  return withFilter(input, parts);
}

/** A node with the parts of a condition on top, if there are any. */
export function withFilter(input: PlanNode, parts: readonly BoundExpression[]): PlanNode {
  const condition = conjunctionOf(parts);
  return condition === undefined ? input : { kind: 'filter', input, condition };
}

function isAlwaysTrue(expression: BoundExpression): boolean {
  return (
    expression.kind === 'constant' &&
    expression.value instanceof Scalar &&
    isTrue(expression.value.atom)
  );
}

/** `(a AND x) OR (a AND y)` as `a` and `x OR y`: what holds in every case stands alone. */
function commonFactors(part: BoundExpression): readonly BoundExpression[] {
  if (part.kind !== 'or') return [part];
  const cases = part.operands.map((operand) =>
    conjunctsOf(operand).map((factor) => ({ factor, text: textOfExpression(factor) })),
  );
  const [first = [], ...others] = cases;
  const common = first.filter(({ text }) =>
    others.every((factors) => factors.some((factor) => factor.text === text)),
  );
  if (common.length === 0) return [part];
  const texts = new Set(common.map(({ text }) => text));
  const rest = cases.map((factors) =>
    conjunctionOf(factors.filter(({ text }) => !texts.has(text)).map(({ factor }) => factor)),
  );
  const factors = common.map(({ factor }) => factor);
  if (!rest.every((each) => each !== undefined)) return factors;
  return [...factors, { ...part, operands: rest }];
}
