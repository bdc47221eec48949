// What the driver of document databases is asked; plain data.
import type { WireAtom } from '../../value/wire-value.ts';

export type DocdbRequest =
  | {
      readonly kind: 'find';
      readonly collection: string;
      /** extended JSON */
      readonly filter: string;
      /** top-level fields; undefined: all */
      readonly fields?: readonly string[] | undefined;
      readonly skip?: number | undefined;
      readonly limit?: number | undefined;
      /** how a text `_id` of the filter is read: as an object id where it can be one */
      readonly readsTextIds?: boolean;
    }
  | { readonly kind: 'count'; readonly collection: string }
  | {
      readonly kind: 'insert';
      readonly collection: string;
      readonly documents: readonly DocdbDocument[];
    };

export interface DocdbDocument {
  readonly id: string;
  readonly fields: readonly (readonly [name: string, atom: WireAtom])[];
}
