// Rows that lie in columns: whoever understands columns reads them without a row being made.
import type { RelationRow } from '../plan/catalog.ts';
import type { Atom } from '../value/atom.ts';
import { Path } from '../value/path.ts';
import { Row, Scalar } from '../value/value.ts';

/** The values of a column by row number. */
export type ColumnValues =
  /** few distinct values: a code a row */
  | { readonly kind: 'codes'; readonly codes: ArrayLike<number>; atom(code: number): Atom }
  | {
      readonly kind: 'numbers';
      readonly values: ArrayLike<number>;
      /** 1: NULL instead of the number; absent: nowhere */
      readonly nulls?: Uint8Array | undefined;
    }
  | { readonly kind: 'atoms'; atomAt(index: number): Atom };

export interface RowColumn {
  /** the one element of its path */
  readonly name: string;
  readonly values: ColumnValues;
  /** the timestamp of a cell, in seconds */
  tsAt(index: number): number;
}

export class ColumnRows implements Iterable<RelationRow> {
  readonly rowCount: number;
  /** in natural order of their names, which differ; every row has all of them */
  readonly columns: readonly RowColumn[];
  readonly nameAt: (index: number) => Path;

  constructor(rowCount: number, columns: readonly RowColumn[], nameAt: (index: number) => Path) {
    this.rowCount = rowCount;
    this.columns = columns;
    this.nameAt = nameAt;
  }

  /** Printed paths of the columns. */
  get printedNames(): string[] {
    return this.columns.map(({ name }) => new Path([name]).toString());
  }

  *[Symbol.iterator](): Iterator<RelationRow> {
    const names = this.columns.map(({ name }) => name);
    const readers = this.columns.map(({ values }) => atomReader(values));
    for (let index = 0; index < this.rowCount; index++) {
      const cells = this.columns.map(
        ({ tsAt }, column) =>
          new Scalar((readers[column] as (index: number) => Atom)(index), tsAt(index)),
      );
      yield { name: this.nameAt(index), row: new Row(names, cells) };
    }
  }
}

export function atomReader(values: ColumnValues): (index: number) => Atom {
  switch (values.kind) {
    case 'codes':
      return (index) => values.atom(values.codes[index] as number);
    case 'numbers': {
      const { nulls } = values;
      return (index) => (nulls?.[index] === 1 ? null : (values.values[index] as number));
    }
    case 'atoms':
      return (index) => values.atomAt(index);
  }
}

/** The text of each value; that of a code is made once. */
export function textReader(
  values: ColumnValues,
  print: (atom: Atom) => string,
): (index: number) => string {
  if (values.kind === 'codes') {
    const texts: (string | undefined)[] = [];
    return (index) => {
      const code = values.codes[index] as number;
      let text = texts[code];
      if (text === undefined) {
        text = print(values.atom(code));
        texts[code] = text;
      }
      return text;
    };
  }
  if (values.kind === 'numbers') {
    const { nulls, values: numbers } = values;
    return (index) => {
      if (nulls?.[index] === 1) return print(null);
      const value = numbers[index] as number;
      // Small integers are most of all numbers, and print alike everywhere.
      return (value | 0) === value ? `${value | 0}` : print(value);
    };
  }
  return (index) => print(values.atomAt(index));
}
