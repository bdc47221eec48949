// Configuration documents of entities: their keys, their checks, and the document that is echoed.
import type { Params } from '../../dataset/dataset-type.ts';
import type { EntityKind, EntityType } from '../../dataset/entity-type.ts';
import { ENTITY_CONFIG, type EntityReference } from '../../schema/declare.ts';
import { parse } from '../../schema/parse.ts';

/** A configuration as it was given, aliases of keys resolved, nothing filled in. */
export type EntityConfig = EntityReference;

/**
 * Reads the document that creates an entity.
 * @throws UNKNOWN_FIELD, INVALID_PARAMETER
 */
export function parseConfig(json: unknown, path = ''): EntityConfig {
  return parse(ENTITY_CONFIG, json, path);
}

/** The parameters of an entity of a type, with defaults. @throws as `parse` */
export function parseParams(type: EntityType, params: Params | undefined): Params {
  return parse(type.parameters, params ?? {}, 'params');
}

/** The plural path element of a kind's collection. */
export function pluralOf(kind: EntityKind): string {
  return `${kind}s`;
}
