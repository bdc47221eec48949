// The types of the results of operators.
import type {
  ArithmeticOperator,
  BitwiseOperator,
  CastType,
  UnaryOperator,
} from '../../sql/node.ts';
import type { BoundCaseBranch, BoundExpression } from '../expression.ts';
import {
  ANY_TYPE,
  atomType,
  commonType,
  isAtomType,
  isNumericType,
  isStructuredType,
  OPEN_ROW_TYPE,
  type ValueType,
} from './type.ts';

/** 1, 0 or null. */
export const BOOLEAN_TYPE: ValueType = atomType('integer');

export function arithmeticType(
  operator: ArithmeticOperator | BitwiseOperator,
  left: ValueType,
  right: ValueType,
): ValueType {
  if (operator === '&' || operator === '|' || operator === '^') return atomType('integer');
  if (isNumericType(left) && isNumericType(right)) return atomType('number');
  if (isAtomType(left) && isAtomType(right)) return atomType('atom');
  if (left.kind === 'row' || right.kind === 'row') return OPEN_ROW_TYPE;
  if (left.kind === 'embedding' || right.kind === 'embedding') {
    const shaped = left.kind === 'embedding' ? left : right;
    const bothKnown = left.kind !== 'any' && right.kind !== 'any';
    return bothKnown && shaped.kind === 'embedding' ? { ...shaped, element: 'atom' } : ANY_TYPE;
  }
  return ANY_TYPE;
}

export function unaryType(operator: UnaryOperator, operand: ValueType): ValueType {
  switch (operator) {
    case '+':
      return operand;
    case '-':
      return isNumericType(operand) ? atomType('number') : atomType('atom');
    case '~':
      return atomType('integer');
    case 'not':
      return BOOLEAN_TYPE;
    case 'timestamp':
      return atomType('timestamp');
  }
}

export function castType(target: CastType): ValueType {
  if (target === 'boolean') return atomType('integer');
  return atomType(target === 'date' ? 'timestamp' : target);
}

export function caseType(
  branches: readonly BoundCaseBranch[],
  otherwise: BoundExpression | undefined,
): ValueType {
  let type: ValueType = otherwise?.type ?? atomType('null');
  for (const branch of branches) type = commonType(type, branch.result.type);
  const structured = branches.some((branch) => isStructuredType(branch.result.type));
  return structured && otherwise === undefined ? ANY_TYPE : type;
}

/** `[a, b]` of atoms is a vector, of embeddings of one shape a tensor; anything else is open. */
export function embeddingType(elements: readonly BoundExpression[]): ValueType {
  const [first] = elements;
  if (first === undefined) return atomType('null');
  if (elements.every((element) => isAtomType(element.type))) {
    const common = elements.reduce<ValueType>(
      (type, element) => commonType(type, element.type),
      first.type,
    );
    const element = common.kind === 'atom' ? common.atom : 'atom';
    return { kind: 'embedding', shape: [elements.length], element };
  }
  const inner = first.type;
  if (inner.kind === 'embedding' && inner.shape !== undefined) {
    return { kind: 'embedding', shape: [elements.length, ...inner.shape], element: 'atom' };
  }
  return { kind: 'embedding', element: 'atom' };
}
