// Keys of tables: values as texts.
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';

/** The text under which a value is counted; null and the empty text share one. */
export function keyText(atom: Atom): string {
  return atom === null ? '' : atomText(atom);
}
