// Rows as they flow between operators: what they are called, their columns, and where they are from.
import type { JoinSide } from '../../plan/expression.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { EMPTY_ROW, type Row, Scalar, type Value } from '../../value/value.ts';
import { valueToJsonText } from './json-text.ts';

export interface ExecRow {
  readonly name: Path;
  readonly row: Row;
}

/** A row of a dataset, a sub-select or a table function. */
export class TableRow implements ExecRow {
  readonly name: Path;
  readonly row: Row;

  constructor(name: Path, row: Row) {
    this.name = name;
    this.row = row;
  }
}

/** A row of which only the name is known. */
export const namedRow = (name: Path): ExecRow => new TableRow(name, EMPTY_ROW);

export const SINGLE_ROW: ExecRow = new TableRow(Path.of('result'), EMPTY_ROW);

/** A projected row that remembers the row it was made from. */
export class ProjectedRow extends TableRow {
  readonly input: ExecRow;

  constructor(name: Path, row: Row, input: ExecRow) {
    super(name, row);
    this.input = input;
  }
}

/** How many tables each side of a join is made of: it decides how names are put together. */
export interface JoinShape {
  readonly leftTableCount: number;
  readonly rightTableCount: number;
}

/** A pair of rows, or one row without partner. */
export class JoinedRow implements ExecRow {
  readonly left: ExecRow | undefined;
  readonly right: ExecRow | undefined;
  readonly row: Row;
  readonly #shape: JoinShape;
  #name: Path | undefined;

  constructor(left: ExecRow | undefined, right: ExecRow | undefined, row: Row, shape: JoinShape) {
    this.left = left;
    this.right = right;
    this.row = row;
    this.#shape = shape;
  }

  /** The same pair with other columns: what WHEN left of them. */
  withColumns(row: Row): JoinedRow {
    return new JoinedRow(this.left, this.right, row, this.#shape);
  }

  /** `[left]-[right]` as one element; a left side that is a join goes on without brackets. */
  get name(): Path {
    this.#name ??= new Path([`${this.#leftName()}-[${this.#rightName()}]`]);
    return this.#name;
  }

  #leftName(): string {
    const { leftTableCount } = this.#shape;
    if (this.left === undefined) return Array(leftTableCount).fill('[]').join('-');
    if (leftTableCount > 1) return this.left.name.elements[0] as string;
    return `[${this.left.name}]`;
  }

  #rightName(): string {
    if (this.right === undefined) return '';
    if (this.#shape.rightTableCount > 1) return this.right.name.elements[0] as string;
    return this.right.name.toString();
  }
}

/** A row with the results of window functions. */
export class WindowRow implements ExecRow {
  readonly input: ExecRow;
  readonly results: readonly Value[];

  constructor(input: ExecRow, results: readonly Value[]) {
    this.input = input;
    this.results = results;
  }

  get name(): Path {
    return this.input.name;
  }

  get row(): Row {
    return this.input.row;
  }
}

/** A group: its keys, its aggregates, and no columns of its own. */
export class GroupRow implements ExecRow {
  readonly keys: readonly Value[];
  readonly aggregates: readonly Value[];
  /** the positions of the keys of its grouping set; undefined: all */
  readonly set: readonly number[] | undefined;
  #name: Path | undefined;

  constructor(keys: readonly Value[], aggregates: readonly Value[], set?: readonly number[]) {
    this.keys = keys;
    this.aggregates = aggregates;
    this.set = set;
  }

  get row(): Row {
    return EMPTY_ROW;
  }

  /** The JSON array of the keys as one element. */
  get name(): Path {
    this.#name ??= new Path([`[${this.keys.map(keyToJsonText).join(',')}]`]);
    return this.#name;
  }
}

function keyToJsonText(key: Value): string {
  return key instanceof Scalar ? atomToJsonText(key.atom) : valueToJsonText(key);
}

/** The row that a side of a join contributed; undefined where an outer join found no partner. */
export function sideOf(row: ExecRow, side: readonly JoinSide[]): ExecRow | undefined {
  let current: ExecRow | undefined = row instanceof WindowRow ? row.input : row;
  for (const step of side) {
    if (!(current instanceof JoinedRow)) return undefined;
    current = current[step];
  }
  return current;
}
