// Tells whether an expression is cheap enough for the main thread: no data is read, nothing outside
// is called.
import { childrenOf, itemExpressions } from '../plan/children.ts';
import type { BoundExpression, ProjectItem } from '../plan/expression.ts';

/** Builtins that wait for something outside the engine, or may compute for long. */
const HEAVY_CALLS = new Set(['fetcher', 'jseval', 'script']);

export function areLightItems(items: readonly ProjectItem[]): boolean {
  return items.flatMap(itemExpressions).every(isLightExpression);
}

export function isLightExpression(expression: BoundExpression): boolean {
  switch (expression.kind) {
    case 'user-call':
    case 'in-query':
      return false;
    case 'call':
      if (HEAVY_CALLS.has(expression.name)) return false;
  }
  return childrenOf(expression).every(isLightExpression);
}
