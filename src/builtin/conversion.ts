// What functions and operators require of their arguments, and how they say so.
import { failure, type RowanError } from '../util/error.ts';
import { type Atom, atomTypeName, isInteger } from '../value/atom.ts';
import { atomText } from '../value/text.ts';
import { Embedding, Scalar, type Value } from '../value/value.ts';

/** Longer texts are cut in messages. */
const MESSAGE_TEXT_LENGTH_MAX = 200;

/** `Can't convert value 'V' of type 'T' to TARGET` */
export function conversionError(atom: Atom, target: string): RowanError {
  const message = `Can't convert value '${messageText(atom)}' of type '${atomTypeName(atom)}' to ${target}`;
  return failure('SQL_EXECUTION', message);
}

function messageText(atom: Atom): string {
  if (atom === null) return 'null';
  if (atom instanceof Uint8Array) return `<${atom.length} bytes>`;
  const text = atomText(atom);
  if (text.length <= MESSAGE_TEXT_LENGTH_MAX) return text;
  return `${text.slice(0, MESSAGE_TEXT_LENGTH_MAX)}... (trimmed)`;
}

/** `Cannot convert value of type 'structured' to 'atomic value'` */
export function structuredError(value: Value): RowanError {
  const type = value instanceof Embedding ? 'embedding' : 'structured';
  return failure('SQL_EXECUTION', `Cannot convert value of type '${type}' to 'atomic value'`);
}

/** @throws SQL_EXECUTION for rows and embeddings */
export function requireAtom(value: Value | undefined): Atom {
  if (value instanceof Scalar) return value.atom;
  if (value === undefined) return null;
  throw structuredError(value);
}

/** The number as a double. @throws SQL_EXECUTION for anything else, null included */
export function requireDouble(atom: Atom): number {
  if (typeof atom === 'number') return atom;
  if (typeof atom === 'bigint') return Number(atom);
  throw conversionError(atom, 'double');
}

/** An integer of any size; an integral double is one. */
export function requireInteger(atom: Atom): number | bigint {
  if (isInteger(atom)) return atom;
  throw conversionError(atom, 'integer');
}

/** An integer that is used as an index or a count: beyond 2^53 precision does not matter. */
export function requireIndex(atom: Atom): number {
  return Number(requireInteger(atom));
}

/** @throws SQL_EXECUTION for negative integers and everything that is not an integer */
export function requireUnsigned(atom: Atom): number {
  const isUnsigned = isInteger(atom) && atom >= 0;
  if (!isUnsigned) throw conversionError(atom, 'unsigned integer');
  return Number(atom);
}

/** The text form of a non-null atom. */
export function requireText(atom: Atom): string {
  if (atom === null) throw conversionError(atom, 'string');
  return atomText(atom);
}

/** The double as an atom: there is no negative zero. */
export function numberAtom(value: number): number {
  return value === 0 ? 0 : value;
}

export function truthAtom(truth: boolean): number {
  return truth ? 1 : 0;
}

/** An integral double in the 64-bit range as a bigint. */
export function toBigint(value: number | bigint): bigint {
  return typeof value === 'bigint' ? value : BigInt(value);
}

/** Leaves room for what formats add to a text, six characters for one of control at most. */
const JOINED_LENGTH_MAX = 2 ** 26;

/** @throws OUT_OF_MEMORY for a text of more than 67,108,864 characters */
export function joinTexts(name: string, texts: readonly string[], separator: string): string {
  let length = Math.max(0, texts.length - 1) * separator.length;
  for (const text of texts) length += text.length;
  if (length <= JOINED_LENGTH_MAX) return texts.join(separator);
  throw failure(
    'OUT_OF_MEMORY',
    `Out of memory. ${name} makes a text of at most ${JOINED_LENGTH_MAX} characters; this one would have ${length}`,
    { length, lengthMax: JOINED_LENGTH_MAX },
  );
}
