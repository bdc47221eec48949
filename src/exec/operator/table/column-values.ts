// The values of a column as writers read them.
import type { ColumnView } from '../../../value/column/column-view.ts';
import type { ColumnValues } from '../../column-rows.ts';

/** The values of rows by their positions. */
export type Reader = Pick<ColumnView, 'atomAt' | 'codeAt' | 'isNull' | 'numberAt'>;

export function valuesOf({ dictionary, snapshot }: ColumnView, reader: Reader): ColumnValues {
  if (dictionary !== undefined) {
    return {
      kind: 'codes',
      codeAt: (index) => reader.codeAt(index),
      atom: (code) => dictionary.atom(code),
    };
  }
  if (snapshot.type === 'integer' || snapshot.type === 'number') {
    return {
      kind: 'numbers',
      numberAt: (index) => reader.numberAt(index),
      isNull: (index) => reader.isNull(index),
    };
  }
  return { kind: 'atoms', atomAt: (index) => reader.atomAt(index) };
}
