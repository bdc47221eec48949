// What the driver of ClickHouse is asked; plain data.

export type ClickhouseRequest =
  | {
      readonly kind: 'rows';
      readonly query: ClickhouseQuery;
      /** what the columns of the answer are, in their order */
      readonly columns: readonly ClickhouseOutput[];
      /** rows above which the answer is refused */
      readonly rowCountMax: number;
    }
  /**
   * a statement that may take hours; its rows come twice a second and say how many rows the server has
   * read, and of how many
   */
  | { readonly kind: 'copy'; readonly query: ClickhouseQuery; readonly doing: string }
  | { readonly kind: 'table'; readonly source: ClickhouseSource }
  | { readonly kind: 'count'; readonly query: ClickhouseQuery }
  /** a statement without an answer: `doing` says in messages what it does */
  | { readonly kind: 'statement'; readonly query: ClickhouseQuery; readonly doing: string }
  | {
      readonly kind: 'insert';
      /** a table, quoted */
      readonly into: string;
      readonly columns: readonly string[];
      /** rows in the format TabSeparated */
      readonly text: string;
    };

/** SQL with `{p0:String}` and so on for texts that are no part of it. */
export interface ClickhouseQuery {
  readonly sql: string;
  readonly texts: readonly string[];
}

/** What a column of an answer is to a row. */
export type ClickhouseOutput =
  | { readonly kind: 'name' }
  /** seconds, the timestamp of the cells */
  | { readonly kind: 'ts' }
  /** nothing: what a server says when it fails behind rows is told from a row by its one field */
  | { readonly kind: 'pad' }
  | {
      readonly kind: 'cell';
      readonly path: readonly string[];
      /** true: seconds that stand for an instant */
      readonly isInstant: boolean;
    };

export type ClickhouseSource =
  | { readonly database: string; readonly table: string }
  | { readonly query: string };

export interface ClickhouseTable {
  /** undefined: there is no such table */
  readonly columns: readonly ClickhouseColumn[] | undefined;
  readonly hasDateTime64: boolean;
}

export interface ClickhouseColumn {
  readonly name: string;
  /** as the server writes it: `Nullable(Int32)` */
  readonly type: string;
}
