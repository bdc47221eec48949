// Configurations of learners: a tree of objects, one of which is chosen by its path.
import { failure } from '../util/error.ts';
import { COMMON_OPTIONS, type OptionSpec, type OptionValue, type OptionValues } from './learner.ts';

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

export interface ReadOptions {
  readonly options: OptionValues;
  /** full paths of keys of the root entry that the learner does not know */
  readonly unknownKeys: readonly string[];
}

/**
 * The options of an entry: its own keys, then those of the objects around it, then defaults.
 * Values may be written as texts. Keys that start with `_` are comments.
 * @param nested keys that hold other learners
 * @throws INVALID_PARAMETER for unknown keys unless the entry is the root, and for bad values
 */
export function readOptions(
  entry: ConfigurationEntry,
  specs: readonly OptionSpec[],
  nested: readonly string[] = [],
): ReadOptions {
  const all = [...specs, ...COMMON_OPTIONS];
  const keysOf = ({ key, aliases = [] }: OptionSpec) => [key, ...aliases];
  const known = new Set(['type', ...nested, ...all.flatMap(keysOf)]);
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
  const options: Record<string, OptionValue> = {};
  for (const spec of all) {
    const found = [entry.values, ...entry.enclosing].flatMap((values) =>
      keysOf(spec).flatMap((key) => (Object.hasOwn(values, key) ? [{ key, values }] : [])),
    );
    const [first] = found;
    options[spec.key] =
      first === undefined
        ? spec.default
        : readValue(first.values[first.key], spec, keyPath(entry.path, first.key));
  }
  return { options, unknownKeys };
}

function readValue(value: unknown, { value: range }: OptionSpec, path: string): OptionValue {
  const refuse = (accepted: string) =>
    failure(
      'INVALID_PARAMETER',
      `configuration key '${path}' must be ${accepted}: ${JSON.stringify(value)}`,
    );
  const text = String(value).trim();
  if (range.kind === 'boolean') {
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw refuse('true or false');
  }
  if (range.kind === 'choice') {
    if (range.choices.includes(text)) return text;
    throw refuse(`one of ${range.choices.join(', ')}`);
  }
  if (range.kind === 'text') {
    if (typeof value !== 'object' && range.pattern.test(text)) return text;
    throw refuse(range.accepted);
  }
  if (range.kind === 'object') {
    const fits = (member: unknown) =>
      Number.isInteger(member) &&
      (member as number) >= range.low &&
      (member as number) <= range.high;
    if (isObject(value) && Object.values(value).every(fits)) return JSON.stringify(value);
    throw refuse(`an object of whole numbers from ${range.low} to ${range.high}`);
  }
  const isScalar = typeof value === 'number' || (typeof value === 'string' && text !== '');
  const number = isScalar ? Number(text) : Number.NaN;
  const { low, isLowOpen = false, high = Number.POSITIVE_INFINITY } = range;
  const fits = number <= high && (isLowOpen ? number > low : number >= low);
  if (fits && (range.kind === 'number' || Number.isInteger(number))) return number;
  const what = range.kind === 'integer' ? 'a whole number' : 'a number';
  const from = isLowOpen ? `above ${low}` : `from ${low}`;
  throw refuse(Number.isFinite(high) ? `${what} ${from} to ${high}` : `${what} ${from}`);
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
