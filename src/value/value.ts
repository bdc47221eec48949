// Values of expressions: an atom with its timestamp, a row of named values, or an embedding.
import type { Atom } from './atom.ts';
import { compareAtoms } from './atom.ts';
import { compareElements } from './natural-order.ts';
import { Path } from './path.ts';
import { compareSeconds, laterOf, MINUS_INFINITY, NOT_A_DATE } from './timestamp.ts';

export type Value = Scalar | Row | Embedding;

/** One atom and the timestamp (seconds, NaN = not a date) at which it was true. */
export class Scalar {
  readonly atom: Atom;
  readonly ts: number;

  constructor(atom: Atom, ts: number) {
    this.atom = atom;
    this.ts = ts;
  }
}

/** A literal: true since ever. */
export function constant(atom: Atom): Scalar {
  return new Scalar(atom, MINUS_INFINITY);
}

export const NULL_VALUE: Scalar = constant(null);

/**
 * Named values in natural order of their names, which are single path elements. One name may occur
 * several times: several points of one cell, or an atom beside a nested row.
 */
export class Row {
  readonly names: readonly string[];
  readonly values: readonly Value[];

  /** The caller promises natural order of `names`; see RowBuilder when it has none. */
  constructor(names: readonly string[], values: readonly Value[]) {
    this.names = names;
    this.values = values;
  }

  get length(): number {
    return this.names.length;
  }

  /** The first position of a name, or -1. */
  indexOf(name: string): number {
    const { names } = this;
    if (names.length < 16) return names.indexOf(name);
    let low = 0;
    let high = names.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareElements(names[middle] as string, name) < 0) low = middle + 1;
      else high = middle;
    }
    return names[low] === name ? low : -1;
  }

  /** All values under one name. */
  all(name: string): Value[] {
    const first = this.indexOf(name);
    if (first === -1) return [];
    let end = first + 1;
    while (this.names[end] === name) end++;
    return this.values.slice(first, end);
  }
}

export const EMPTY_ROW: Row = new Row([], []);

/** A dense n-dimensional array of atoms, row-major, with one timestamp for all of them. */
export class Embedding {
  readonly shape: readonly number[];
  readonly atoms: readonly Atom[];
  readonly ts: number;

  constructor(shape: readonly number[], atoms: readonly Atom[], ts: number) {
    this.shape = shape;
    this.atoms = atoms;
    this.ts = ts;
  }

  get length(): number {
    return this.shape[0] ?? 0;
  }

  /** The element `index` of the first dimension: an atom, or an embedding of one dimension less. */
  at(index: number): Scalar | Embedding {
    if (this.shape.length === 1) return new Scalar(this.atoms[index] as Atom, this.ts);
    const inner = this.shape.slice(1);
    const size = inner.reduce((a, b) => a * b, 1);
    return new Embedding(inner, this.atoms.slice(index * size, (index + 1) * size), this.ts);
  }
}

/** Collects members in any order and nests paths; `build` sorts once. */
export class RowBuilder {
  readonly #names: string[] = [];
  readonly #values: Value[] = [];
  #nested: Map<string, RowBuilder> | undefined;

  /** Adds a value under one element. */
  add(name: string, value: Value): void {
    this.#names.push(name);
    this.#values.push(value);
  }

  /** Adds a value at a path, nesting it below the path's leading elements. */
  addPath(path: Path, value: Value, from = 0): void {
    const name = path.elements[from] as string;
    if (from === path.length - 1) {
      this.add(name, value);
      return;
    }
    this.#nested ??= new Map();
    let child = this.#nested.get(name);
    if (child === undefined) {
      child = new RowBuilder();
      this.#nested.set(name, child);
    }
    child.addPath(path, value, from + 1);
  }

  build(): Row {
    if (this.#nested !== undefined) {
      for (const [name, child] of this.#nested) this.add(name, child.build());
      this.#nested = undefined;
    }
    return sortedRow(this.#names, this.#values);
  }
}

/** A row of members given in any order; rows that share a name are united into one. */
export function sortedRow(names: readonly string[], values: readonly Value[]): Row {
  if (isStrictlyOrdered(names)) return new Row(names, values);
  const order = names.map((_, index) => index);
  order.sort((a, b) => compareElements(names[a] as string, names[b] as string) || a - b);
  const outNames: string[] = [];
  const outValues: Value[] = [];
  for (const index of order) {
    const name = names[index] as string;
    const value = values[index] as Value;
    const previous = outValues.length - 1;
    if (value instanceof Row && outNames[previous] === name) {
      const sibling = findRowNamed(outNames, outValues, name);
      if (sibling !== -1) {
        outValues[sibling] = mergeRows(outValues[sibling] as Row, value);
        continue;
      }
    }
    outNames.push(name);
    outValues.push(value);
  }
  return new Row(outNames, outValues);
}

/** All members of both rows, nested rows of one name united. */
export function mergeRows(a: Row, b: Row): Row {
  return sortedRow([...a.names, ...b.names], [...a.values, ...b.values]);
}

function isStrictlyOrdered(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) {
    if (compareElements(names[i - 1] as string, names[i] as string) >= 0) return false;
  }
  return true;
}

function findRowNamed(names: readonly string[], values: readonly Value[], name: string): number {
  for (let i = names.length - 1; i >= 0 && names[i] === name; i--) {
    if (values[i] instanceof Row) return i;
  }
  return -1;
}

/** One atom of a flattened value. */
export interface Cell {
  readonly path: Path;
  readonly atom: Atom;
  readonly ts: number;
}

/** The atoms of a value at any depth, in natural order, below `prefix`. */
export function flatten(value: Value, prefix: readonly string[], visit: CellVisitor): void {
  if (value instanceof Scalar) {
    visit(new Path(prefix), value.atom, value.ts);
  } else if (value instanceof Row) {
    for (let i = 0; i < value.names.length; i++) {
      flatten(value.values[i] as Value, [...prefix, value.names[i] as string], visit);
    }
  } else {
    flattenEmbedding(value, prefix, visit);
  }
}

export type CellVisitor = (path: Path, atom: Atom, ts: number) => void;

/** The atoms of a value with their paths and timestamps, those of rows within rows too. */
export function cellsOf(value: Value): Cell[] {
  const cells: Cell[] = [];
  flatten(value, [], (path, atom, ts) => cells.push({ path, atom, ts }));
  return cells;
}

function flattenEmbedding(
  embedding: Embedding,
  prefix: readonly string[],
  visit: CellVisitor,
): void {
  const { shape, atoms, ts } = embedding;
  const position = shape.map(() => 0);
  for (const atom of atoms) {
    visit(new Path([...prefix, ...position.map(String)]), atom, ts);
    for (let d = shape.length - 1; d >= 0; d--) {
      position[d] = (position[d] as number) + 1;
      if ((position[d] as number) < (shape[d] as number)) break;
      position[d] = 0;
    }
  }
}

/** The row that an embedding reads as: index names, one level. */
export function embeddingAsRow(embedding: Embedding): Row {
  const names: string[] = [];
  const values: Value[] = [];
  for (let i = 0; i < embedding.length; i++) {
    names.push(String(i));
    values.push(embedding.at(i));
  }
  return new Row(names, values);
}

/** Effective timestamp: a scalar's or embedding's own, a row's latest (NaD when empty). */
export function effectiveTs(value: Value): number {
  if (!(value instanceof Row)) return value.ts;
  let latest = NOT_A_DATE;
  for (const member of value.values) latest = laterOf(latest, effectiveTs(member));
  return latest;
}

/**
 * The one value that most operators see of a cell with several points: the latest;
 * the smallest among equally late ones.
 */
export function latestOf(points: readonly Scalar[]): Scalar {
  let best = points[0] as Scalar;
  for (let i = 1; i < points.length; i++) {
    const point = points[i] as Scalar;
    const order = compareSeconds(point.ts, best.ts);
    if (order > 0 || (order === 0 && compareAtoms(point.atom, best.atom) < 0)) best = point;
  }
  return best;
}

/** The same value with every timestamp in it set to `ts`. */
export function withTimestamp(value: Value, ts: number): Value {
  if (value instanceof Scalar) return new Scalar(value.atom, ts);
  if (value instanceof Embedding) return new Embedding(value.shape, value.atoms, ts);
  return new Row(
    value.names,
    value.values.map((member) => withTimestamp(member, ts)),
  );
}

/**
 * Total order of values: null < atoms < rows < embeddings; rows pair by pair (name, then value),
 * embeddings by their atoms, then their length.
 */
export function compareValues(a: Value, b: Value): number {
  if (a instanceof Scalar && b instanceof Scalar) return compareAtoms(a.atom, b.atom);
  const rank = valueRank(a);
  const difference = rank - valueRank(b);
  if (difference !== 0) return difference;
  return a instanceof Row
    ? compareRows(a, b as Row)
    : compareEmbeddings(a as Embedding, b as Embedding);
}

function valueRank(value: Value): number {
  if (value instanceof Scalar) return value.atom === null ? 0 : 1;
  return value instanceof Row ? 2 : 3;
}

function compareRows(a: Row, b: Row): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order =
      compareElements(a.names[i] as string, b.names[i] as string) ||
      compareValues(a.values[i] as Value, b.values[i] as Value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareEmbeddings(a: Embedding, b: Embedding): number {
  const length = Math.min(a.atoms.length, b.atoms.length);
  for (let i = 0; i < length; i++) {
    const order = compareAtoms(a.atoms[i] as Atom, b.atoms[i] as Atom);
    if (order !== 0) return order;
  }
  return a.atoms.length - b.atoms.length || a.shape.length - b.shape.length;
}
