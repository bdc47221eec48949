// A parameter that the tables of outcomes share.
import { Type } from 'typebox';
import { failure } from '../../util/error.ts';

export const outcomes = Type.Array(Type.Tuple([Type.String(), Type.String()]), {
  description: 'names with SQL expressions over the rows that trainingData reads',
  default: [],
});

/**
 * @param reserved a column that stands beside those of the outcomes
 * @throws INVALID_PARAMETER when two columns of the tables would have one name
 */
export function checkOutcomes(
  outcomes: readonly (readonly [name: string, expression: string])[],
  reserved?: string,
): void {
  const seen = new Set(reserved === undefined ? [] : [reserved]);
  for (const [name] of outcomes) {
    if (seen.has(name)) {
      const reason = name === reserved ? 'the counts of all rows have' : 'another outcome has';
      throw failure('INVALID_PARAMETER', `outcome '${name}' has the name that ${reason}`);
    }
    seen.add(name);
  }
}
