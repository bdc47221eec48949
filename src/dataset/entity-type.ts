// What every entity type says about itself, whatever its kind.
import type { Static, TObject } from 'typebox';

export const ENTITY_KINDS = ['plugin', 'dataset', 'function', 'procedure', 'sensor'] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

/** Parsed parameters of a type whose schema is `Schema`. */
export type ParamsOf<Schema extends TObject> = Readonly<Static<Schema>>;

export interface EntityType<Schema extends TObject = TObject> {
  readonly kind: EntityKind;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** schema of `params`: types, defaults, descriptions, units */
  readonly parameters: Schema;
  /** INTERNAL_ENTITY: meant for tests and tools */
  readonly flags?: readonly 'INTERNAL_ENTITY'[];
  /** the role that may create entities of the type; default editor */
  readonly creationRole?: 'editor' | 'admin';
}
