// Rows of features as a model's inputs.
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, latestOf, Row, Scalar, type Value } from '../../value/value.ts';
import { atomFromJson } from '../plain-call.ts';

/** Puts the members of a row of features where the model's inputs are; nested ones by their path. */
export class FeatureReader {
  readonly values: (Atom | undefined)[];
  /** the latest timestamp of the values that were read, in seconds */
  ts = MINUS_INFINITY;
  readonly #positions: ReadonlyMap<string, number>;
  /** inputs that are one path element, by that element */
  readonly #topLevel = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.values = new Array<Atom | undefined>(names.length).fill(undefined);
    this.#positions = new Map(names.map((name, index) => [name, index]));
    for (const [name, index] of this.#positions) {
      const { elements } = Path.parse(name);
      if (elements.length === 1) this.#topLevel.set(elements[0] as string, index);
    }
  }

  read(features: Value | undefined): void {
    this.values.fill(undefined);
    this.ts = MINUS_INFINITY;
    if (features instanceof Row) this.#readRow(features);
    else if (features !== undefined && !(features instanceof Scalar))
      this.#readNested(features, []);
  }

  /** Reads a JSON object of atoms. @returns false for everything else, of which nothing is read */
  readPlain(features: unknown): boolean {
    if (typeof features !== 'object' || features === null || Array.isArray(features)) return false;
    this.values.fill(undefined);
    for (const [name, json] of Object.entries(features)) {
      const atom = atomFromJson(json);
      if (atom === undefined) return false;
      const position = this.#topLevel.get(name);
      if (position !== undefined && atom !== null) this.values[position] = atom;
    }
    return true;
  }

  #readRow(row: Row): void {
    const { names, values } = row;
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const value = values[i] as Value;
      if (!(value instanceof Scalar)) {
        this.#readNested(value, [name]);
        continue;
      }
      const position = this.#topLevel.get(name);
      if (position === undefined) continue;
      const point = names[i + 1] === name ? latestOf(scalarsOf(row, name)) : value;
      this.#set(position, point.atom, point.ts);
      while (names[i + 1] === name && values[i + 1] instanceof Scalar) i++;
    }
  }

  #readNested(value: Value, prefix: readonly string[]): void {
    flatten(value, prefix, (path, atom, ts) => {
      const position = this.#positions.get(path.toString());
      if (position !== undefined) this.#set(position, atom, ts);
    });
  }

  #set(position: number, atom: Atom, ts: number): void {
    if (atom === null) return;
    this.values[position] = atom;
    this.ts = laterOf(this.ts, ts);
  }
}

function scalarsOf(row: Row, name: string): Scalar[] {
  return row.all(name).filter((value) => value instanceof Scalar);
}
