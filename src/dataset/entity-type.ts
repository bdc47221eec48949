// What every entity type says about itself, whatever its kind.
import type { TObject } from 'typebox';

export const ENTITY_KINDS = ['plugin', 'dataset', 'function', 'procedure', 'sensor'] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

export interface EntityType {
  readonly kind: EntityKind;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** schema of `params`: types, defaults, descriptions, units */
  readonly parameters: TObject;
  /** INTERNAL_ENTITY: meant for tests and tools */
  readonly flags?: readonly 'INTERNAL_ENTITY'[];
  /** the role that may create entities of the type; default editor */
  readonly creationRole?: 'editor' | 'admin';
}
