// Configurations of learners: a tree of objects, one of which is chosen by its path.
import type { TObject, TSchema } from 'typebox';
import { acceptedText } from '../schema/accepted.ts';
import { fromText } from '../schema/from-text.ts';
import { matches } from '../schema/parse.ts';
import { schemaData } from '../schema/schema-data.ts';
import { failure } from '../util/error.ts';
import { previewJson } from '../value/json.ts';
import { COMMON_OPTIONS, type OptionsOf } from './learner.ts';

/** An object of a configuration and where it stands. */
export interface ConfigurationEntry {
  /** keys from the root, joined by dots; empty for the root */
  readonly path: string;
  readonly type: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** the objects around it, nearest first, whose keys it inherits */
  readonly enclosing: readonly Readonly<Record<string, unknown>>[];
}

/** Aliases may lead to aliases this many times. */
const ALIAS_DEPTH_MAX = 10;

/**
 * Finds the learner at a dot path; a text in place of an object names another entry.
 * @throws INVALID_PARAMETER when there is nothing with a type
 */
export function resolveEntry(document: unknown, algorithm: string): ConfigurationEntry {
  let path = algorithm;
  for (let depth = 0; depth <= ALIAS_DEPTH_MAX; depth++) {
    const found = entryAt(document, path);
    if (typeof found === 'string') {
      path = found;
      continue;
    }
    if (!isObject(found) || found.type === undefined) throw noType(path, algorithm, document);
    return { path, type: readType(found.type, path), values: found, enclosing: [] };
  }
  throw failure(
    'INVALID_PARAMETER',
    `configuration entry '${algorithm}' leads through more than ${ALIAS_DEPTH_MAX} aliases`,
  );
}

/** The learner inside another one. @throws INVALID_PARAMETER when it is absent or has no type */
export function nestedEntry(outer: ConfigurationEntry, key = 'weak_learner'): ConfigurationEntry {
  const path = keyPath(outer.path, key);
  const values = outer.values[key];
  if (!isObject(values) || values.type === undefined) throw noType(path, path, undefined);
  const enclosing = [outer.values, ...outer.enclosing];
  return { path, type: readType(values.type, path), values, enclosing };
}

export interface ReadOptions<Schema extends TObject> {
  readonly options: OptionsOf<Schema>;
  /** full paths of keys of the root entry that the learner does not know */
  readonly unknownKeys: readonly string[];
}

/**
 * The options of an entry: its own keys, then those of the objects around it, then defaults.
 * Values may be written as texts. Keys that start with `_` are comments.
 * @param schema the learner's own options; the common ones are added
 * @param nested keys that hold other learners
 * @throws INVALID_PARAMETER for unknown keys unless the entry is the root, and for bad values
 */
export function readOptions<Schema extends TObject>(
  entry: ConfigurationEntry,
  schema: Schema,
  nested: readonly string[] = [],
): ReadOptions<Schema> {
  const all = Object.entries({ ...schema.properties, ...COMMON_OPTIONS.properties }).map(
    ([name, option]) => {
      const { aliases = [], default: initial } = schemaData(option);
      return { name, option, keys: [name, ...aliases], initial };
    },
  );
  const known = new Set(['type', ...nested, ...all.flatMap(({ keys }) => keys)]);
  const isSetting = (key: string) =>
    // At the root, objects are the other entries.
    !key.startsWith('_') && !known.has(key) && !(entry.path === '' && isObject(entry.values[key]));
  const unknownKeys = Object.keys(entry.values)
    .filter(isSetting)
    .map((key) => keyPath(entry.path, key));
  if (unknownKeys.length > 0 && entry.path !== '') {
    throw failure(
      'INVALID_PARAMETER',
      `Unknown key(s) encountered in config: ${unknownKeys.join(' ')}`,
    );
  }
  const options = all.map(({ name, option, keys, initial }) => {
    const given = [entry.values, ...entry.enclosing].flatMap((values) =>
      keys.flatMap((key) => (Object.hasOwn(values, key) ? [{ key, value: values[key] }] : [])),
    );
    const [first] = given;
    if (first === undefined) return [name, initial];
    return [name, readValue(first.value, option, keyPath(entry.path, first.key))];
  });
  return { options: Object.fromEntries(options) as OptionsOf<Schema>, unknownKeys };
}

function readValue(value: unknown, option: TSchema, path: string): unknown {
  const schema = schemaData(option);
  const read = fromText(schema, value);
  if (matches(option, read)) return read;
  throw failure(
    'INVALID_PARAMETER',
    `configuration key '${path}' must be ${acceptedText(schema)}: ${previewJson(value)}`,
  );
}

function entryAt(document: unknown, path: string): unknown {
  let at: unknown = document;
  for (const key of path === '' ? [] : path.split('.')) {
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function noType(path: string, initial: string, document: unknown): Error {
  const entries = isObject(document)
    ? Object.keys(document).filter((key) => entryAt(document, `${key}.type`) !== undefined)
    : [];
  const choice = entries.length === 0 ? '' : `algorithm as one of ${entries.join(', ')}, or `;
  return failure(
    'INVALID_PARAMETER',
    `key ${keyPath(path, 'type')} not found in config (initial was ${keyPath(initial, 'type')}); give ${choice}a configuration with a type, for instance {"type": "decision_tree"}`,
  );
}

function readType(type: unknown, path: string): string {
  if (typeof type === 'string') return type;
  throw failure('INVALID_PARAMETER', `configuration key '${keyPath(path, 'type')}' must be a text`);
}

function keyPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
