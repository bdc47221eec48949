// Conditions that another system can test before it sends rows. Rowan tests the whole WHERE again,
// so a condition may let more rows pass than are wanted, but must never hold one back.
import type { BoundExpression } from '../plan/expression.ts';
import type { Atom } from '../value/atom.ts';
import { Scalar } from '../value/value.ts';

export type ComparisonSign = '=' | '<' | '<=' | '>' | '>=';

export type Condition =
  | {
      readonly kind: 'compare';
      readonly path: readonly string[];
      readonly sign: ComparisonSign;
      /** never null */
      readonly atom: Atom;
    }
  | { readonly kind: 'null'; readonly path: readonly string[]; readonly negated: boolean }
  | { readonly kind: 'like'; readonly path: readonly string[]; readonly pattern: string }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] };

/** The part of a condition on rows that can be told to another system; undefined: none of it. */
export function conditionOf(expression: BoundExpression): Condition | undefined {
  switch (expression.kind) {
    case 'and':
      return together('and', expression.operands.map(conditionOf).filter(isKnown));
    case 'or': {
      const parts = expression.operands.map(conditionOf);
      return parts.every(isKnown) ? together('or', parts) : undefined;
    }
    case 'comparison': {
      const { operator, left, right } = expression;
      if (operator === '!=') return undefined;
      if (!isSign(operator)) return undefined;
      return comparison(left, operator, right) ?? comparison(right, FLIPPED[operator], left);
    }
    case 'between': {
      if (expression.negated) return undefined;
      const { operand, low, high } = expression;
      const parts = [comparison(operand, '>=', low), comparison(operand, '<=', high)];
      return together('and', parts.filter(isKnown));
    }
    case 'in-list': {
      if (expression.negated) return undefined;
      const parts = expression.choices
        .filter((choice) => !isNullConstant(choice))
        .map((choice) => comparison(expression.operand, '=', choice));
      return parts.every(isKnown) ? together('or', parts) : undefined;
    }
    case 'is': {
      const { operand, test, negated } = expression;
      if (test !== 'null' || operand.kind !== 'column') return undefined;
      return { kind: 'null', path: operand.path, negated };
    }
    case 'like': {
      const { operand, pattern, negated } = expression;
      const atom = constantOf(pattern);
      if (negated || operand.kind !== 'column' || typeof atom !== 'string') return undefined;
      return { kind: 'like', path: operand.path, pattern: atom };
    }
    default:
      return undefined;
  }
}

/** As `conditionOf` for several that must all hold. */
export function conditionOfAll(parts: readonly BoundExpression[]): Condition | undefined {
  return together('and', parts.map(conditionOf).filter(isKnown));
}

const FLIPPED: Readonly<Record<ComparisonSign, ComparisonSign>> = {
  '=': '=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function isSign(operator: string): operator is ComparisonSign {
  return operator in FLIPPED;
}

function comparison(
  column: BoundExpression,
  sign: ComparisonSign,
  value: BoundExpression,
): Condition | undefined {
  const atom = constantOf(value);
  if (column.kind !== 'column' || atom === undefined || atom === null) return undefined;
  return { kind: 'compare', path: column.path, sign, atom };
}

function constantOf(expression: BoundExpression): Atom | undefined {
  if (expression.kind !== 'constant' || !(expression.value instanceof Scalar)) return undefined;
  return expression.value.atom;
}

function isNullConstant(expression: BoundExpression): boolean {
  return constantOf(expression) === null;
}

function isKnown(condition: Condition | undefined): condition is Condition {
  return condition !== undefined;
}

function together(kind: 'and' | 'or', parts: readonly Condition[]): Condition | undefined {
  const [first] = parts;
  return parts.length < 2 ? first : { kind, parts };
}
