// What labels of two classes must be.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import { atomToJsonText } from '../../value/json.ts';

/** @throws DATA_ERROR when all rows are of one class */
export function requireTwoClasses(positives: number, rowCount: number): void {
  if (positives > 0 && positives < rowCount) return;
  throw failure(
    'DATA_ERROR',
    `the label is ${positives === 0 ? 'false' : 'true'} in all ${rowCount} rows; two classes are needed to train`,
  );
}

/** @throws DATA_ERROR when a label of two classes has more than two values */
export function refuseManyClasses(
  labels: readonly Atom[],
  labelText: string,
  look: () => void = () => undefined,
): void {
  const distinct = new Map<unknown, Atom>();
  for (const label of labels) {
    look();
    if (label !== null) distinct.set(keyOfAtom(label), label);
    if (distinct.size > 2) {
      const values = [...distinct.values()];
      const shown = values.map(atomToJsonText).join(', ');
      throw failure(
        'DATA_ERROR',
        `the label has more than two values (${shown}, ...); compare it with one of them, for example ${labelText} = ${literalText(values[0] as Atom)} AS label, or use mode categorical of classifier.train`,
      );
    }
  }
}

/** As SQL writes it. */
function literalText(atom: Atom): string {
  return typeof atom === 'string' ? `'${atom.replaceAll("'", "''")}'` : atomToJsonText(atom);
}
