// Operators on whole values: rows and embeddings map over their atoms.
import type { ArithmeticOperator, BitwiseOperator } from '../../sql/node.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { laterOf } from '../../value/timestamp.ts';
import {
  type Cell,
  cellsOf,
  Embedding,
  Row,
  RowBuilder,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { structuredError } from '../conversion.ts';
import { ARITHMETIC, type AtomOperator, negateAtom } from './arithmetic.ts';
import { BITWISE, complementAtom } from './bitwise.ts';

/**
 * An atom meets every atom of a row or embedding; embeddings of one shape meet element by element;
 * rows (an embedding beside a row is one) are joined by their full column names, a column of only
 * one side giving null. Timestamps are the later of both.
 * @throws SQL_EXECUTION for embeddings of different shapes and bitwise operators on rows
 */
export function arithmeticOnValues(
  operator: ArithmeticOperator | BitwiseOperator,
  a: Value,
  b: Value,
): Value {
  if (isBitwise(operator)) {
    if (!(a instanceof Scalar)) throw structuredError(a);
    if (!(b instanceof Scalar)) throw structuredError(b);
    return new Scalar(BITWISE[operator](a.atom, b.atom), laterOf(a.ts, b.ts));
  }
  const apply = ARITHMETIC[operator];
  if (a instanceof Scalar && b instanceof Scalar) {
    return new Scalar(apply(a.atom, b.atom), laterOf(a.ts, b.ts));
  }
  if (b instanceof Scalar) return mapAtoms(a, b.ts, (atom) => apply(atom, b.atom));
  if (a instanceof Scalar) return mapAtoms(b, a.ts, (atom) => apply(a.atom, atom));
  if (a instanceof Embedding && b instanceof Embedding) return combineEmbeddings(a, b, apply);
  return joinRows(a, b, apply);
}

/** @throws SQL_EXECUTION for rows and embeddings */
export function negateValue(value: Value): Scalar {
  if (!(value instanceof Scalar)) throw structuredError(value);
  return new Scalar(negateAtom(value.atom), value.ts);
}

/** @throws SQL_EXECUTION for everything but integers and null */
export function complementValue(value: Value): Scalar {
  if (!(value instanceof Scalar)) throw structuredError(value);
  return new Scalar(complementAtom(value.atom), value.ts);
}

function isBitwise(operator: ArithmeticOperator | BitwiseOperator): operator is BitwiseOperator {
  return Object.hasOwn(BITWISE, operator);
}

function mapAtoms(value: Value, ts: number, apply: (atom: Atom) => Atom): Value {
  if (value instanceof Scalar) return new Scalar(apply(value.atom), laterOf(value.ts, ts));
  if (value instanceof Row) {
    const members = value.values.map((member) => mapAtoms(member, ts, apply));
    return new Row(value.names, members);
  }
  return new Embedding(value.shape, value.atoms.map(apply), laterOf(value.ts, ts));
}

function combineEmbeddings(a: Embedding, b: Embedding, apply: AtomOperator): Embedding {
  const sameShape =
    a.shape.length === b.shape.length && a.shape.every((size, index) => size === b.shape[index]);
  if (!sameShape) {
    const message = `Attempt to perform operation on incompatible shaped embeddings: [${a.shape}] and [${b.shape}]`;
    throw failure('SQL_EXECUTION', message);
  }
  const atoms = a.atoms.map((atom, index) => apply(atom, b.atoms[index] ?? null));
  return new Embedding(a.shape, atoms, laterOf(a.ts, b.ts));
}

/** Several points of a column combine each with each. */
function joinRows(a: Value, b: Value, apply: AtomOperator): Row {
  const left = cellsByName(a);
  const right = cellsByName(b);
  const builder = new RowBuilder();
  for (const [name, cells] of left) {
    for (const cell of cells) {
      for (const other of right.get(name) ?? [undefined]) {
        const atom = apply(cell.atom, other === undefined ? null : other.atom);
        const ts = other === undefined ? cell.ts : laterOf(cell.ts, other.ts);
        builder.addPath(cell.path, new Scalar(atom, ts));
      }
    }
  }
  for (const [name, cells] of right) {
    if (left.has(name)) continue;
    for (const cell of cells)
      builder.addPath(cell.path, new Scalar(apply(null, cell.atom), cell.ts));
  }
  return builder.build();
}

function cellsByName(value: Value): Map<string, Cell[]> {
  const cells = new Map<string, Cell[]>();
  for (const cell of cellsOf(value)) {
    const name = cell.path.toString();
    const sameName = cells.get(name);
    if (sameName === undefined) cells.set(name, [cell]);
    else sameName.push(cell);
  }
  return cells;
}
