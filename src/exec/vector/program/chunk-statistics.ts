// What the statistics of a chunk tell without a look at its rows.
import { COMPARE, TRUTH } from '../../../kernel/generated.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import type { NumberProgram, TruthProgram } from './program.ts';

/** False when no row of a chunk can pass a condition. */
export function mayPass(
  condition: TruthProgram,
  columns: readonly ColumnSnapshot[],
  chunkIndex: number,
): boolean {
  switch (condition.op) {
    case 'always':
      return condition.truth === TRUTH.isTrue;
    case 'and':
      return condition.operands.every((operand) => mayPass(operand, columns, chunkIndex));
    case 'or':
      return condition.operands.some((operand) => mayPass(operand, columns, chunkIndex));
    case 'compare': {
      const { left, right, operator } = condition;
      if (right.op === 'constant') return mayCompare(left, operator, right.value);
      const mirrored = MIRRORED[operator];
      if (left.op !== 'constant' || mirrored === undefined) return true;
      return mayCompare(right, mirrored, left.value);
    }
    case 'table-truth':
    case 'domain-truth':
      return condition.canHold;
    default:
      return true;
  }

  function mayCompare(numbers: NumberProgram, operator: number, value: number): boolean {
    const chunk = numbers.op === 'column' ? columns[numbers.column]?.chunks[chunkIndex] : undefined;
    if (chunk === undefined || !('min' in chunk) || Number.isNaN(value)) return true;
    const { min, max, kind } = chunk;
    if (min === undefined || max === undefined) return true;
    // NaN is below every other number, and statistics know nothing of it.
    const hasNoNaN = kind === 'int32';
    switch (operator) {
      case COMPARE.equal:
        return min <= value && value <= max;
      case COMPARE.greater:
        return max > value;
      case COMPARE.greaterOrEqual:
        return max >= value;
      case COMPARE.less:
        return !hasNoNaN || min < value;
      case COMPARE.lessOrEqual:
        return !hasNoNaN || min <= value;
      default:
        return true;
    }
  }
}

const MIRRORED: Readonly<Record<number, number>> = {
  [COMPARE.equal]: COMPARE.equal,
  [COMPARE.less]: COMPARE.greater,
  [COMPARE.lessOrEqual]: COMPARE.greaterOrEqual,
  [COMPARE.greater]: COMPARE.less,
  [COMPARE.greaterOrEqual]: COMPARE.lessOrEqual,
};
