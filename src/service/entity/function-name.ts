// The names that functions may have.

import { failure } from '../../util/error.ts';
import type { NamespaceMirror } from '../engine/namespace-mirror.ts';

/** @throws INVALID_PARAMETER for the names of SQL's own functions, which hide others */
export function checkFunctionName(
  { builtins }: Pick<NamespaceMirror, 'builtins'>,
  id: string,
): void {
  if (builtins.findFunction(id) === undefined) return;
  throw failure('INVALID_PARAMETER', `SQL already has a built-in function named ${id}`, { id });
}
