// Configuration documents of entities: their keys, their checks, and the document that is echoed.
import type { EntityKind, EntityType } from '../../dataset/entity-type.ts';
import { failure } from '../../util/error.ts';
import { previewJson } from '../../value/json.ts';
import { unknownField, validate } from './parameter-validation.ts';

/** A configuration as it was given, aliases of keys resolved, nothing filled in. */
export interface EntityConfig {
  readonly id?: string;
  readonly type?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly persistent?: boolean;
  readonly deterministic?: boolean;
}

const CONFIG_KEYS = ['id', 'type', 'params', 'parameters', 'persistent', 'deterministic'];

/**
 * Reads the document that creates an entity.
 * @throws UNKNOWN_FIELD, INVALID_PARAMETER
 */
export function parseConfig(json: unknown, path = ''): EntityConfig {
  const document = requireObject(json, path === '' ? 'configuration' : path);
  const prefix = path === '' ? '' : `${path}.`;
  for (const key of Object.keys(document)) {
    if (!CONFIG_KEYS.includes(key)) throw unknownField(`${prefix}${key}`, CONFIG_KEYS);
  }
  if (document.params !== undefined && document.parameters !== undefined) {
    throw failure(
      'INVALID_PARAMETER',
      `${prefix}parameters is another name of ${prefix}params; give only one`,
    );
  }
  const params = document.params ?? document.parameters;
  return {
    ...optional('id', textMember(document.id, `${prefix}id`)),
    ...optional('type', textMember(document.type, `${prefix}type`)),
    ...optional(
      'params',
      params === undefined || params === null
        ? undefined
        : requireObject(params, `${prefix}params`),
    ),
    ...optional('persistent', booleanMember(document.persistent, `${prefix}persistent`)),
    ...optional('deterministic', booleanMember(document.deterministic, `${prefix}deterministic`)),
  };
}

/** The parameters of an entity, checked and completed with defaults. */
export function completeParams(
  type: EntityType,
  params: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  return validate(type.parameters, params ?? {}, 'params') as Record<string, unknown>;
}

/** The plural path element of a kind's collection. */
export function pluralOf(kind: EntityKind): string {
  return `${kind}s`;
}

/** Objects merge key by key at every depth; everything else replaces. */
export function mergeParams(base: unknown, override: unknown): unknown {
  if (!isPlainObject(base) || !isPlainObject(override)) return override;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(override)) {
    merged[key] = Object.hasOwn(base, key) ? mergeParams(base[key], value) : value;
  }
  return merged;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requireObject(json: unknown, what: string): Record<string, unknown> {
  if (isPlainObject(json)) return json;
  throw failure(
    'INVALID_PARAMETER',
    `${what}: Object was expected; instead got '${previewJson(json)}'`,
  );
}

function textMember(json: unknown, path: string): string | undefined {
  if (json === undefined || json === null) return undefined;
  if (typeof json === 'string') return json;
  throw failure(
    'INVALID_PARAMETER',
    `${path}: String was expected; instead got '${previewJson(json)}'`,
  );
}

function booleanMember(json: unknown, path: string): boolean | undefined {
  if (json === undefined || json === null) return undefined;
  if (typeof json === 'boolean') return json;
  if (json === 0 || json === 1) return json === 1;
  throw failure(
    'INVALID_PARAMETER',
    `${path}: Boolean was expected; instead got '${previewJson(json)}'`,
  );
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
