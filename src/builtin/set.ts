// Rows as sets of the columns that have a value.
import type { ValueFunction } from '../plan/function.ts';
import { failure } from '../util/error.ts';
import { MINUS_INFINITY } from '../value/timestamp.ts';
import { cellsOf, Scalar, type Value } from '../value/value.ts';
import { family, NUMBER_TYPE, parameter } from './declare.ts';

export const setFunctions: readonly ValueFunction[] = [
  family('set').value({
    name: 'jaccard_index',
    summary:
      'How alike two rows are: the columns that both have a value for, divided by those that either has.',
    parameters: [
      parameter('a', 'a row or embedding'),
      parameter('b', 'a row or embedding; two empty rows have the index 1'),
    ],
    examples: [
      ['jaccard_index({a: 1, b: 1}, {b: 1, c: 1, d: 1})', '0.25'],
      ['jaccard_index({a: 1, b: null}, {a: 2})', '1'],
    ],
    result: NUMBER_TYPE,
    evaluate: ([a, b]) => {
      if (a instanceof Scalar || b instanceof Scalar) {
        const message = 'The arguments passed to the jaccard_index must be two row expressions';
        throw failure('SQL_EXECUTION', message);
      }
      const index = jaccardIndex(namesWithValue(a as Value), namesWithValue(b as Value));
      return new Scalar(index, MINUS_INFINITY);
    },
  }),
];

/**
 * @see Paul Jaccard, "Étude comparative de la distribution florale dans une portion des Alpes et
 *   des Jura", Bulletin de la Société vaudoise des sciences naturelles 37, 1901
 */
export function jaccardIndex(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let common = 0;
  for (const name of a) if (b.has(name)) common++;
  return common / (a.size + b.size - common);
}

function namesWithValue(row: Value): Set<string> {
  const names = new Set<string>();
  for (const { path, atom } of cellsOf(row)) if (atom !== null) names.add(path.toString());
  return names;
}
