// Values as names of rows and columns.
import { castValue } from '../../builtin/operator/cast.ts';
import { Path } from '../../value/path.ts';
import { Row, type Value } from '../../value/value.ts';

/**
 * A path is itself, another atom one element with its text, a vector of atoms one element a value.
 * Undefined: null, rows, and embeddings that are not vectors of non-null atoms.
 */
export function pathOfValue(value: Value): Path | undefined {
  if (value instanceof Row) return undefined;
  const { atom } = castValue(value, 'path');
  return atom instanceof Path ? atom : undefined;
}
