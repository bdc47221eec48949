// The names that functions may have.

import { failure } from '../../util/error.ts';
import type { CatalogMirror } from '../engine/catalog-mirror.ts';

/** @throws INVALID_PARAMETER for the names of SQL's own functions, which hide others */
export function checkFunctionName({ builtins }: Pick<CatalogMirror, 'builtins'>, id: string): void {
  if (builtins.findFunction(id) === undefined) return;
  throw failure('INVALID_PARAMETER', `SQL already has a built-in function named ${id}`, { id });
}
