// A string beside a timestamp is read as one, whatever compares them; what cannot be read is null.
import type { BoundExpression } from '../expression.ts';
import { fold } from '../fold.ts';
import { warnAboutNullCast } from '../suspicion.ts';
import { atomType } from '../type/type.ts';
import type { BindContext } from './context.ts';

export interface Sides {
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

/** The sides of a comparison, as timestamps when one of them is a timestamp and the other a string. */
export function timestampSides(
  left: BoundExpression,
  right: BoundExpression,
  context: BindContext,
): Sides {
  if (isOfType(left, 'timestamp') && isOfType(right, 'string')) {
    return { left, right: asTimestamp(right, context) };
  }
  if (isOfType(left, 'string') && isOfType(right, 'timestamp')) {
    return { left: asTimestamp(left, context), right };
  }
  return { left, right };
}

export function isOfType({ type }: BoundExpression, atom: 'timestamp' | 'string'): boolean {
  return type.kind === 'atom' && type.atom === atom;
}

export function asTimestamp(operand: BoundExpression, context: BindContext): BoundExpression {
  const { start, end } = operand;
  const type = atomType('timestamp');
  const target = 'readable-timestamp' as const;
  const cast = { kind: 'cast' as const, operand, target, type, start, end };
  const folded = fold(cast, context);
  warnAboutNullCast(operand, [operand], folded, context);
  return folded;
}
