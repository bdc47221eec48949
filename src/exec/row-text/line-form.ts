// What the lines of a text file look like.
import type { CsvDialect } from '../../format/csv/csv-field.ts';
import type { JsonMember } from './json-members.ts';

export type LineForm =
  | ({ readonly kind: 'csv' } & CsvDialect)
  | {
      readonly kind: 'json';
      readonly members: readonly JsonMember[];
      /** members without a value are null instead of absent */
      readonly includesNulls: boolean;
    };
