// What the page and the worker that holds results tell each other.

export type ColumnKind =
  | 'integer'
  | 'number'
  | 'text'
  | 'timestamp'
  | 'interval'
  | 'blob'
  | 'mixed';

export interface ResultColumn {
  /** as the service prints it: a path, quoted where it must be */
  readonly name: string;
  readonly kind: ColumnKind;
}

/** null: NULL; cut at CELL_LENGTH_MAX letters */
export type CellText = string | null;

export const CELL_LENGTH_MAX = 200;

export interface RunRequest {
  readonly kind: 'run';
  readonly result: number;
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sql: string;
  readonly rowNames: boolean;
  /** how many rows there are, where that is known before: then only those that are seen are asked for */
  readonly rowCount: number | undefined;
}

export const COPY_FORMATS = ['TSV', 'CSV', 'JSON', 'Markdown', 'SQL'] as const;
export type CopyFormat = (typeof COPY_FORMATS)[number];

export interface Range {
  readonly rowFrom: number;
  /** one past the last */
  readonly rowTo: number;
  readonly columns: readonly number[];
}

export type Question =
  | ({ readonly kind: 'cells' } & Range)
  | ({ readonly kind: 'copy'; readonly format: CopyFormat } & Range)
  | { readonly kind: 'value'; readonly row: number; readonly column: number }
  | { readonly kind: 'profile'; readonly column: number }
  | {
      readonly kind: 'points';
      readonly x: number;
      readonly y: number;
      readonly colour: number | undefined;
    };

export type ToWorker =
  | RunRequest
  | { readonly kind: 'cancel'; readonly result: number }
  | { readonly kind: 'drop'; readonly result: number }
  | {
      readonly kind: 'ask';
      readonly result: number;
      readonly number: number;
      readonly question: Question;
    };

/** What is probably wrong with a statement that runs all the same. */
export interface QueryWarning {
  readonly message: string;
  /** both from 1 */
  readonly line: number;
  readonly column: number;
  /** what to write instead */
  readonly suggestion: string | null;
}

/** @param header of the reply to a query */
export function warningsOf(header: string | null | undefined): readonly QueryWarning[] {
  return typeof header === 'string' ? (JSON.parse(header) as QueryWarning[]) : [];
}

export interface ErrorFacts {
  readonly message: string;
  readonly code: string;
  readonly httpCode: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly requestId: string | undefined;
}

export type FromWorker =
  | {
      readonly kind: 'reply';
      readonly result: number;
      readonly status: number;
      readonly requestId: string | undefined;
      readonly warnings: readonly QueryWarning[];
      readonly milliseconds: number;
    }
  | { readonly kind: 'columns'; readonly result: number; readonly columns: readonly ResultColumn[] }
  | {
      readonly kind: 'rows';
      readonly result: number;
      readonly rowCount: number;
      readonly sizeBytes: number;
    }
  | {
      readonly kind: 'end';
      readonly result: number;
      readonly rowCount: number;
      readonly milliseconds: number;
    }
  /** rows that came before stay */
  | {
      readonly kind: 'failed';
      readonly result: number;
      readonly error: ErrorFacts;
      readonly rowCount: number;
      readonly milliseconds: number;
    }
  | { readonly kind: 'answer'; readonly number: number; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly number: number; readonly message: string };

/** What a column holds. Numbers of rows are of those that were looked at. */
export interface ColumnProfile {
  readonly rows: number;
  /** false: the result has more rows than were looked at */
  readonly isWhole: boolean;
  readonly nulls: number;
  readonly distinct: number;
  readonly isDistinctExact: boolean;
  readonly top: readonly { readonly value: string; readonly count: number }[];
  readonly minimum?: string;
  readonly maximum?: string;
  readonly mean?: number;
  readonly quantiles?: readonly [number, number, number];
  readonly histogram?: {
    readonly from: number;
    readonly to: number;
    readonly counts: readonly number[];
  };
}

/** The points of a map, in the order of the rows. */
export interface MapPoints {
  readonly x: Float32Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
  readonly colours: PointColours;
}

export type PointColours =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'groups';
      readonly groups: readonly { readonly value: string | null; readonly rowCount: number }[];
      /** the group of each row; the number of groups for rows of none */
      readonly codes: Uint8Array<ArrayBuffer>;
      readonly otherCount: number;
    }
  | {
      readonly kind: 'scale';
      readonly values: Float32Array<ArrayBuffer>;
      /** the ends of the scale; values beyond have the colour of the end */
      readonly from: number;
      readonly to: number;
      readonly fromText: string;
      readonly toText: string;
    };
