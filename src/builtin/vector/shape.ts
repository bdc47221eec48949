// Values seen as rows, as embeddings, as lists of numbers.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import {
  cellsOf,
  Embedding,
  effectiveTs,
  embeddingAsRow,
  Row,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { requireDouble, requireIndex } from '../conversion.ts';

/** The members of a row or embedding; undefined for an atom. */
export function rowOf(value: Value): Row | undefined {
  if (value instanceof Row) return value;
  return value instanceof Embedding ? embeddingAsRow(value) : undefined;
}

/**
 * The embedding that a value is: itself, or a row whose names are 0, 1, … and whose members are
 * atoms or embeddings of one shape. Undefined for everything else.
 */
export function embeddingOf(value: Value): Embedding | undefined {
  if (value instanceof Embedding) return value;
  if (!(value instanceof Row) || value.length === 0) return undefined;
  const atoms: Atom[] = [];
  let inner: readonly number[] | undefined;
  for (let i = 0; i < value.length; i++) {
    if (value.names[i] !== String(i)) return undefined;
    const member = value.values[i] as Value;
    const part = member instanceof Scalar ? undefined : embeddingOf(member);
    if (part === undefined && !(member instanceof Scalar)) return undefined;
    const shape = part?.shape ?? [];
    inner ??= shape;
    if (!sameShape(inner, shape)) return undefined;
    if (part === undefined) atoms.push((member as Scalar).atom);
    else for (const atom of part.atoms) atoms.push(atom);
  }
  return new Embedding([value.length, ...(inner ?? [])], atoms, effectiveTs(value));
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, index) => size === b[index]);
}

/** All atoms of a value, rows in natural order of their full paths. */
export function atomsOf(value: Value): readonly Atom[] {
  if (value instanceof Embedding) return value.atoms;
  return value instanceof Scalar ? [value.atom] : cellsOf(value).map((cell) => cell.atom);
}

/** All atoms as doubles. @throws SQL_EXECUTION for anything but numbers, null included */
export function numbersOf(value: Value): number[] {
  return atomsOf(value).map(requireDouble);
}

/** More elements than any embedding should have. */
const ELEMENT_COUNT_MAX = 100_000_000;

/** The sizes that an embedding of integers names. @throws SQL_EXECUTION for negative ones */
export function shapeOf(sizes: Embedding): number[] {
  const shape = sizes.atoms.map(requireIndex);
  const negative = shape.find((size) => size < 0);
  if (negative !== undefined) {
    throw failure('SQL_EXECUTION', `size ${negative} of an embedding is negative`);
  }
  if (elementCount(shape) > ELEMENT_COUNT_MAX) {
    const message = `an embedding of shape [${shape}] has more than ${ELEMENT_COUNT_MAX} elements`;
    throw failure('SQL_EXECUTION', message);
  }
  return shape;
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((count, size) => count * size, 1);
}
