// Rows that lie in columns: writers that read columns need no row objects.
import type { RelationRow } from '../plan/namespace.ts';
import type { Atom } from '../value/atom.ts';
import type { Path } from '../value/path.ts';
import { Row, RowBuilder, Scalar } from '../value/value.ts';

/** The values of a column by row number. */
export type ColumnValues =
  /** few distinct values: a code a row; code 0 is null */
  | { readonly kind: 'codes'; codeAt(index: number): number; atom(code: number): Atom }
  | { readonly kind: 'numbers'; numberAt(index: number): number; isNull(index: number): boolean }
  | { readonly kind: 'atoms'; atomAt(index: number): Atom };

export interface RowColumn {
  /** no other column lies below it */
  readonly path: Path;
  readonly values: ColumnValues;
  /** rows without a value do not have the column; absent: all rows have it */
  readonly isOptional?: boolean | undefined;
  /** of an optional column: whether some row has it; undefined: nobody knows without a look */
  readonly occurs?: boolean | undefined;
  /** the timestamp of a cell, in seconds */
  tsAt(index: number): number;
  /** a few atoms that decide its type as all of them do; absent: nobody knows without a look */
  readonly typicalAtoms?: (() => readonly Atom[]) | undefined;
}

export class ColumnRows implements Iterable<RelationRow> {
  readonly rowCount: number;
  /** in natural order of their paths, which differ */
  readonly columns: readonly RowColumn[];
  readonly nameAt: (index: number) => Path;
  /** Throws when the query was cancelled; readers of many rows call it every few thousand. */
  readonly look: () => void;

  constructor(
    rowCount: number,
    columns: readonly RowColumn[],
    nameAt: (index: number) => Path,
    look: () => void = () => undefined,
  ) {
    this.rowCount = rowCount;
    this.columns = columns;
    this.nameAt = nameAt;
    this.look = look;
  }

  /** The rows from one to before another, at no cost. */
  slice(from: number, to: number): ColumnRows {
    const start = Math.min(from, this.rowCount);
    const count = Math.max(0, Math.min(to, this.rowCount) - start);
    if (count === this.rowCount) return this;
    const columns = this.columns.map(({ path, values, tsAt, typicalAtoms, isOptional }) => ({
      path,
      isOptional,
      // Only the rows that are left tell what an optional column is.
      typicalAtoms: isOptional === true ? undefined : typicalAtoms,
      values: start === 0 ? values : shiftValues(values, start),
      tsAt: start === 0 ? tsAt : (index: number) => tsAt(index + start),
    }));
    return new ColumnRows(count, columns, (index) => this.nameAt(index + start), this.look);
  }

  /** Printed paths of the columns. */
  get printedNames(): string[] {
    return this.columns.map(({ path }) => path.toString());
  }

  *[Symbol.iterator](): Iterator<RelationRow> {
    const rowAt = this.columns.some(({ isOptional }) => isOptional === true)
      ? partialRows(this.columns)
      : wholeRows(this.columns);
    for (let index = 0; index < this.rowCount; index++) {
      if (index % ROWS_PER_LOOK === 0) this.look();
      yield { name: this.nameAt(index), row: rowAt(index) };
    }
  }
}

/** Rows that have all columns share their names. */
function wholeRows(columns: readonly RowColumn[]): (index: number) => Row {
  const paths = columns.map(({ path }) => path);
  const isFlat = paths.every((path) => path.length === 1);
  const names = paths.map(({ elements: [name = ''] }) => name);
  const readers = columns.map(({ values }) => atomReader(values));
  return (index) => {
    const cells = columns.map(
      ({ tsAt }, column) =>
        new Scalar((readers[column] as (index: number) => Atom)(index), tsAt(index)),
    );
    return isFlat ? new Row(names, cells) : nestedRow(paths, cells);
  };
}

/** Rows that have the optional columns that they have values for. */
function partialRows(columns: readonly RowColumn[]): (index: number) => Row {
  const isFlat = columns.every(({ path }) => path.length === 1);
  const readers = columns.map(({ values }) => atomReader(values));
  return (index) => {
    const paths: Path[] = [];
    const names: string[] = [];
    const cells: Scalar[] = [];
    for (let i = 0; i < columns.length; i++) {
      const { path, isOptional, tsAt } = columns[i] as RowColumn;
      const atom = (readers[i] as (index: number) => Atom)(index);
      if (atom === null && isOptional === true) continue;
      if (isFlat) names.push(path.elements[0] as string);
      else paths.push(path);
      cells.push(new Scalar(atom, tsAt(index)));
    }
    return isFlat ? new Row(names, cells) : nestedRow(paths, cells);
  };
}

function nestedRow(paths: readonly Path[], cells: readonly Scalar[]): Row {
  const builder = new RowBuilder();
  paths.forEach((path, column) => {
    builder.addPath(path, cells[column] as Scalar);
  });
  return builder.build();
}

/** Rows between two looks at the cancel flag. */
export const ROWS_PER_LOOK = 256;

function shiftValues(values: ColumnValues, start: number): ColumnValues {
  switch (values.kind) {
    case 'codes':
      return { ...values, codeAt: (index) => values.codeAt(index + start) };
    case 'numbers':
      return {
        ...values,
        numberAt: (index) => values.numberAt(index + start),
        isNull: (index) => values.isNull(index + start),
      };
    case 'atoms':
      return { ...values, atomAt: (index) => values.atomAt(index + start) };
  }
}

/** Whether the values of rows are null. */
export function nullReader(values: ColumnValues): (index: number) => boolean {
  switch (values.kind) {
    case 'codes':
      return (index) => values.codeAt(index) === 0;
    case 'numbers':
      return (index) => values.isNull(index);
    case 'atoms':
      return (index) => values.atomAt(index) === null;
  }
}

export function atomReader(values: ColumnValues): (index: number) => Atom {
  switch (values.kind) {
    case 'codes':
      return (index) => values.atom(values.codeAt(index));
    case 'numbers':
      return (index) => (values.isNull(index) ? null : values.numberAt(index));
    case 'atoms':
      return (index) => values.atomAt(index);
  }
}

/** Codes whose texts are kept. */
const KEPT_CODE_COUNT = 65_536;

/** The text of each value; that of a code is made once, unless there are many. */
export function textReader(
  values: ColumnValues,
  print: (atom: Atom) => string,
): (index: number) => string {
  if (values.kind === 'codes') {
    const texts: (string | undefined)[] = [];
    return (index) => {
      const code = values.codeAt(index);
      let text = texts[code];
      if (text === undefined) {
        text = print(values.atom(code));
        if (code < KEPT_CODE_COUNT) texts[code] = text;
      }
      return text;
    };
  }
  if (values.kind === 'numbers') {
    return (index) => {
      if (values.isNull(index)) return print(null);
      const value = values.numberAt(index);
      // Small integers are most of all numbers, and print alike everywhere.
      return (value | 0) === value ? `${value | 0}` : print(value);
    };
  }
  return (index) => print(values.atomAt(index));
}
