// What a caller may choose about an output format, and the columns that choice adds.
import { type ColumnOrder, comparerOf } from '../../plan/column-order.ts';
import type { Atom } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import type { Path } from '../../value/path.ts';
import { hashPathHex } from '../../value/path-hash.ts';
import { Timestamp } from '../../value/timestamp.ts';

export interface OutputOptions {
  /** table, csv: a first row of names */
  readonly headers: boolean;
  /** adds `_rowName`; not in full and atom */
  readonly rowNames: boolean;
  /** adds `_rowHash`; not in full and atom */
  readonly rowHashes: boolean;
  /** columns in natural order instead of that of the select list */
  readonly sortColumns: boolean;
  /** aos, soa, ndjson: timestamps as `{"ts": text}`, the default, or as ISO text alone */
  readonly timestamps?: TimestampForm | undefined;
  /** the order of the columns; undefined: natural order, and only columns that occur */
  readonly order?: ColumnOrder | undefined;
  /** printed columns in their order where the query alone tells them: nothing is spooled then */
  readonly knownColumns?: readonly string[] | undefined;
}

export const TIMESTAMP_FORMS = ['object', 'iso'] as const;
export type TimestampForm = (typeof TIMESTAMP_FORMS)[number];

/** How the JSON of a format's cells is written. */
export function jsonWriter({ timestamps }: OutputOptions): (atom: Atom) => string {
  if (timestamps !== 'iso') return atomToJsonText;
  return (atom) => (atom instanceof Timestamp ? `"${atom.toString()}"` : atomToJsonText(atom));
}

export const DEFAULT_OUTPUT: OutputOptions = {
  headers: true,
  rowNames: true,
  rowHashes: false,
  sortColumns: false,
};

/** `_rowName` and `_rowHash`, as far as they are wanted. */
export function extraColumns(options: OutputOptions): string[] {
  return [...(options.rowNames ? ['_rowName'] : []), ...(options.rowHashes ? ['_rowHash'] : [])];
}

/** Their values for a row, as plain text. */
export function extraValues(name: Path, options: OutputOptions): string[] {
  return [
    ...(options.rowNames ? [name.toString()] : []),
    ...(options.rowHashes ? [hashPathHex(name)] : []),
  ];
}

/** Compares printed columns by the order that is asked for; undefined: natural order. */
export function columnComparer(
  options: OutputOptions,
): ((a: readonly string[], b: readonly string[]) => number) | undefined {
  const { order, sortColumns } = options;
  return order === undefined || sortColumns ? undefined : comparerOf(order);
}
