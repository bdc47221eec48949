// The one door for what comes from outside: JSON becomes the type that its schema describes.
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { complete, withoutAliases } from './complete.ts';
import { explainErrors } from './message.ts';
import { schemaData } from './schema-data.ts';

/** Checks are compiled when a schema is first used: few types are used between two starts. */
const validators = new WeakMap<TSchema, Validator>();

/**
 * The value with other names resolved and defaults filled in at every depth. Parsing a parsed
 * value gives an equal one.
 * @param path where the value stands, for messages
 * @throws UNKNOWN_FIELD, MISSING_PARAMETER, INVALID_PARAMETER
 */
export function parse<Schema extends TSchema>(
  schema: Schema,
  json: unknown,
  path: string,
): Static<Schema> {
  const completed = complete(schemaData(schema), json, path);
  const validator = validatorOf(schema);
  if (validator.Check(completed)) return completed as Static<Schema>;
  const [, errors] = validator.Errors(completed);
  throw explainErrors(errors, schemaData(schema), completed, path);
}

/** Whether a value is what the schema describes, as it stands. */
export function matches<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
): value is Static<Schema> {
  return validatorOf(schema).Check(value);
}

/**
 * A value whose members are replaced, at every depth, by those of an override, parsed once. Objects
 * merge; everything else is replaced.
 * @param parsed what `parse` gave
 * @param override the members to replace, as they come from outside
 * @throws as `parse`
 */
export function parseMerged<Schema extends TSchema>(
  schema: Schema,
  parsed: Static<Schema>,
  override: unknown,
  path: string,
): Static<Schema> {
  return parse(schema, mergeJson(parsed, withoutAliases(schemaData(schema), override, path)), path);
}

/** Objects merge key by key at every depth; everything else replaces. */
export function mergeJson(base: unknown, override: unknown): unknown {
  if (!isObject(base) || !isObject(override)) return override;
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    merged.set(key, Object.hasOwn(base, key) ? mergeJson(base[key], value) : value);
  }
  // Unlike an assignment this makes a member of `__proto__`.
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validator = Compile(schema);
  validators.set(schema, validator);
  return validator;
}
