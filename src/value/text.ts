// The text form of atoms: CAST to string, string `+`, LIKE patterns, exports.
import { failure } from '../util/error.ts';
import type { Atom } from './atom.ts';
import { printNumber } from './number-text.ts';
import { Path } from './path.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws SQL_EXECUTION when a blob is not UTF-8 */
export function atomText(atom: Exclude<Atom, null>): string {
  switch (typeof atom) {
    case 'string':
      return atom;
    case 'number':
    case 'bigint':
      return printNumber(atom);
  }
  if (atom instanceof Path) return atom.toText();
  if (atom instanceof Uint8Array) return decodeUtf8(atom);
  return atom.toString();
}

/**
 * The text of UTF-8 bytes.
 * @throws SQL_EXECUTION when they are no UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw failure('SQL_EXECUTION', `blob of ${bytes.length} bytes is not valid UTF-8`);
  }
}
