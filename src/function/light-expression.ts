// Tells whether a call is cheap enough for the main thread, where nothing can stop it: no data is
// read, nothing outside is called, and the cost is bounded before the call, by the operators of the
// expression and the size of the input.
import { childrenOf, itemExpressions } from '../plan/children.ts';
import type { BoundExpression, ProjectItem } from '../plan/expression.ts';
import type { FunctionNamespace } from '../plan/function.ts';
import { Scalar } from '../value/value.ts';

/** Operators, each of which may look at all of the input. */
const LIGHT_OPERATOR_COUNT_MAX = 512;
/** Texts of constants count like input. */
const LIGHT_TEXT_LENGTH_MAX = 1 << 14;
/** A pattern is looked for at each place of a text. */
const LIGHT_PATTERN_LENGTH_MAX = 64;
/** Bytes of an input, as JSON. */
export const LIGHT_INPUT_SIZE_MAX = 1 << 14;

/** @param text the select list itself: its constants are no longer than it is */
export function areLightItems(
  items: readonly ProjectItem[],
  text: string,
  builtins: FunctionNamespace,
): boolean {
  if (text.length > LIGHT_TEXT_LENGTH_MAX) return false;
  if (items.some(({ kind }) => kind === 'column-expression')) return false;
  let operatorCount = 0;
  const rest = items.flatMap(itemExpressions);
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    operatorCount++;
    if (operatorCount > LIGHT_OPERATOR_COUNT_MAX || !isLightOperator(next, builtins)) return false;
    rest.push(...childrenOf(next));
  }
  return true;
}

function isLightOperator(expression: BoundExpression, builtins: FunctionNamespace): boolean {
  switch (expression.kind) {
    case 'user-call':
    case 'in-query':
      return false;
    case 'call':
      return builtins.findFunction(expression.name)?.isLinear === true;
    case 'like': {
      const { pattern } = expression;
      if (pattern.kind !== 'constant' || !(pattern.value instanceof Scalar)) return false;
      return String(pattern.value.atom).length <= LIGHT_PATTERN_LENGTH_MAX;
    }
    default:
      return true;
  }
}

/** Whether an input, as it was read from JSON, is small enough for the main thread. */
export function isLightInput(input: unknown): boolean {
  return sizeUpTo(input, LIGHT_INPUT_SIZE_MAX) <= LIGHT_INPUT_SIZE_MAX;
}

const ATOM_SIZE = 8;

/** About the bytes of the JSON of a value; counting ends soon after the limit. */
function sizeUpTo(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + ATOM_SIZE;
  if (typeof value !== 'object' || value === null) return ATOM_SIZE;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let size = ATOM_SIZE;
  for (const key in value) {
    size += key.length + sizeUpTo((value as Record<string, unknown>)[key], limit - size);
    if (size > limit) break;
  }
  return size;
}

/** Whether all lines of a block are small enough; the block itself may be longer. */
export function hasLightLines(block: Uint8Array): boolean {
  for (let start = 0; block.length - start > LIGHT_INPUT_SIZE_MAX; ) {
    const end = block.lastIndexOf(LF, start + LIGHT_INPUT_SIZE_MAX);
    if (end < start) return false;
    start = end + 1;
  }
  return true;
}

const LF = 10;
