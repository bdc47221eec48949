// Options of functions, given as a row: `tokenize(x, {splitChars: ' ', limit: 3})`.
import type { BoundArgument } from '../plan/function.ts';
import { failure } from '../util/error.ts';
import { type Atom, isTrue } from '../value/atom.ts';
import { Embedding, embeddingAsRow, Row, Scalar, type Value } from '../value/value.ts';
import { conversionError, requireAtom, requireIndex, requireText } from './conversion.ts';

/** A reader for every accepted key; several keys may set one option. */
export type OptionReaders<T> = Readonly<Record<string, (value: Value, options: T) => void>>;

/**
 * The options of a call: defaults with what the row says.
 * @throws SQL_EXECUTION for an unknown key or a value that the option does not take
 */
export function readOptions<T extends object>(
  defaults: Readonly<T>,
  readers: OptionReaders<T>,
  value: Value | undefined,
): T {
  const options = { ...defaults };
  if (value === undefined) return options;
  const row = value instanceof Embedding ? embeddingAsRow(value) : value;
  if (!(row instanceof Row)) throw failure('SQL_EXECUTION', 'options must be given as a row');
  row.names.forEach((name, index) => {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read === undefined) {
      const accepted = Object.keys(readers).join(', ');
      throw failure('SQL_EXECUTION', `Unknown field '${name}'; accepted are ${accepted}`);
    }
    read(row.values[index] as Value, options);
  });
  return options;
}

/**
 * Options that are the same in every call are read when the call is bound, so that their errors
 * come before any row is read.
 */
export function prepareOptions<T>(
  argument: BoundArgument | undefined,
  read: (value: Value | undefined) => T,
): (value: Value | undefined) => T {
  if (argument !== undefined && argument.constant === undefined) return read;
  const options = read(argument?.constant);
  return () => options;
}

export function textOption(value: Value): string {
  return requireText(requireAtom(value));
}

export function integerOption(value: Value): number {
  return requireIndex(requireAtom(value));
}

/** true, false, 1, 0. */
export function booleanOption(value: Value): boolean {
  const atom = requireAtom(value);
  if (typeof atom === 'number' || typeof atom === 'bigint') return isTrue(atom);
  if (atom === 'true') return true;
  if (atom === 'false') return false;
  throw conversionError(atom, 'boolean');
}

export function choiceOption<T extends string>(value: Value, choices: readonly T[]): T {
  const atom: Atom = requireAtom(value);
  if (atom === null) {
    throw failure('SQL_EXECUTION', `NULL value found; accepted are ${choices.join(', ')}`);
  }
  const choice = choices.find((candidate) => candidate === atom);
  if (choice !== undefined) return choice;
  const message = `unknown value '${requireText(atom)}'; accepted are ${choices.join(', ')}`;
  throw failure('SQL_EXECUTION', message);
}

/** Two integers, as an embedding or a row. */
export function integerPairOption(value: Value, name: string): readonly [number, number] {
  const row = value instanceof Embedding ? embeddingAsRow(value) : value;
  if (!(row instanceof Row) || row.length !== 2) {
    throw failure('SQL_EXECUTION', `${name} must be two integers [min, max]`);
  }
  const [first, second] = row.values as [Value, Value];
  return [integerOption(first), integerOption(second)];
}

/** True for the atom null. */
export function isNullValue(value: Value | undefined): boolean {
  return value instanceof Scalar && value.atom === null;
}
