// Values of queries as JSON has them.

/** Atoms that JSON has no form for are objects of one key. */
export type Cell =
  | null
  | string
  | number
  | bigint
  | { readonly ts: string }
  | { readonly interval: string }
  | { readonly num: string }
  | { readonly blob: readonly (string | number)[] }
  | { readonly path: readonly string[] };

/** A row when nothing is known of it; `_rowName` is one of the columns unless it is left out. */
export type ResultRow = Readonly<Record<string, Cell>>;

/** A name as recording takes it: text is a printed path, an array its elements. */
export type Name = string | number | readonly string[];

/** One value to record; a Date is a timestamp, a number as timestamp seconds since the epoch. */
export type CellTuple = readonly [name: Name, value: unknown, timestamp: Date | number | string];

/** A row or column to record. */
export type NamedCells = readonly [name: Name, cells: readonly CellTuple[]];
