// What the driver of PostgreSQL is asked; plain data.

export type PostgresqlRequest =
  | {
      readonly kind: 'rows';
      /** a SELECT; `$1` and so on stand for the parameters */
      readonly sql: string;
      readonly parameters: readonly (string | null)[];
      /** true: the first column is the row's name and no other */
      readonly isNamed: boolean;
      readonly batchRowCount?: number | undefined;
    }
  | {
      readonly kind: 'table';
      readonly schema: string;
      readonly table: string;
    }
  | {
      readonly kind: 'prepare';
      readonly schema: string;
      readonly table: string;
      readonly drops: boolean;
      readonly creates: boolean;
    }
  | {
      readonly kind: 'insert';
      readonly schema: string;
      readonly table: string;
      readonly rows: readonly PostgresqlRow[];
    };

export type PostgresqlRow = readonly PostgresqlCell[];

export interface PostgresqlCell {
  readonly column: string;
  /** the type of the column where it must be added */
  readonly type: string;
  readonly text: string | null;
}

export interface PostgresqlTable {
  /** about */
  readonly rowCount: number;
  /** true: texts are compared as bytes of UTF-8 by COLLATE "C" */
  readonly isUtf8: boolean;
  readonly columns: readonly PostgresqlColumn[];
}

export interface PostgresqlColumn {
  readonly name: string;
  /** name of the type, without its modifiers */
  readonly type: string;
}

/** A name in double quotes. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
