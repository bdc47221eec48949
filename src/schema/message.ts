// What is wrong with a value, in words: where, what was expected, what came, what is accepted.
import type { TLocalizedValidationError } from 'typebox/error';
import { assert } from '../util/assert.ts';
import { failure, type RowanError } from '../util/error.ts';
import { findNearestWord } from '../util/nearest-word.ts';
import { previewJson } from '../value/json.ts';
import type { SchemaData } from './schema-data.ts';

/** Where a member of an object stands; the root of a document has no name. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** UNKNOWN_FIELD for a name that an object does not have, with the nearest that it has. */
export function unknownField(path: string, name: string, accepted: readonly string[]): RowanError {
  const near = findNearestWord(name, accepted);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const field = memberPath(path, name);
  return failure(
    'UNKNOWN_FIELD',
    `unknown field ${field}; accepted are ${accepted.join(', ')}${hint}`,
    { path: field, accepted },
  );
}

/**
 * MISSING_PARAMETER for a name that has to be given.
 * @param description what the field is
 */
export function missingField(
  path: string,
  name: string,
  description: string | undefined,
): RowanError {
  const about = description === undefined ? '' : `: ${description}`;
  const field = memberPath(path, name);
  return failure('MISSING_PARAMETER', `${field} is required${about}`, { path: field });
}

/** INVALID_PARAMETER for two names of one field that are both given. */
export function duplicateField(path: string, name: string, other: string): RowanError {
  const [first, second] = [memberPath(path, name), memberPath(path, other)];
  return invalid(`${second} is another name of ${first}; give only one`, path);
}

function wrongKind(expected: string, value: unknown, path: string): RowanError {
  return invalid(`${path}: ${expected} was expected; instead got '${previewJson(value)}'`, path);
}

/**
 * The failure for the first of TypeBox's errors that says what a caller must mend.
 * @param schema what `root` was checked against
 * @param path where `root` stands
 */
export function explainErrors(
  errors: readonly TLocalizedValidationError[],
  schema: SchemaData,
  root: unknown,
  path: string,
): RowanError {
  const error = errors.find((each) => errors.every((other) => !isOtherAlternative(each, other)));
  assert(error !== undefined, 'a value that was refused has an error');
  const { keys, value } = descend(root, error.instancePath);
  const place = descend(schema, error.schemaPath.replace(/^#/, '')).value;
  return explain(error, place as SchemaData, value, placeOf(path, keys));
}

/**
 * Whether an error only says that the value is none of one alternative. Errors further inside a
 * value come from the alternative that was meant.
 */
function isOtherAlternative(
  { schemaPath, instancePath, keyword }: TLocalizedValidationError,
  other: TLocalizedValidationError,
): boolean {
  return (
    other.keyword === 'anyOf' &&
    schemaPath.startsWith(`${other.schemaPath}/anyOf/`) &&
    instancePath === other.instancePath &&
    ['type', 'const', 'enum', 'anyOf'].includes(keyword)
  );
}

function explain(
  error: TLocalizedValidationError,
  schema: SchemaData,
  value: unknown,
  path: string,
): RowanError {
  switch (error.keyword) {
    case 'type':
    case 'anyOf':
    case 'const':
    case 'enum': {
      const choices = choicesOf(schema);
      if (choices === undefined) return wrongKind(kindName(schema), value, path);
      const list = choices.map((choice) => previewJson(choice)).join(', ');
      return invalid(
        `${path} is ${previewJson(value)}; accepted are ${list}${hintOf(value, choices)}`,
        path,
      );
    }
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum': {
      const name = path.slice(path.lastIndexOf('.') + 1);
      const { comparison, limit } = error.params;
      return invalid(`${name} must be ${comparison} ${limit}; ${path} is ${value}`, path);
    }
    case 'minItems':
    case 'maxItems': {
      const { minItems = 0, maxItems } = schema;
      const wanted =
        maxItems === undefined
          ? `at least ${minItems}`
          : minItems === maxItems
            ? `${minItems}`
            : `${minItems} to ${maxItems}`;
      const count = (value as readonly unknown[]).length;
      return invalid(`${path} has ${count} elements; expected are ${wanted}`, path);
    }
    case 'minLength':
      return invalid(`${path} must not be empty`, path);
    default:
      return invalid(`${path} ${error.message}; it is ${previewJson(value)}`, path);
  }
}

/** The accepted values where there are only some. */
function choicesOf({
  enum: choices,
  anyOf,
  ...schema
}: SchemaData): readonly unknown[] | undefined {
  if (choices !== undefined) return choices;
  if ('const' in schema) return [schema.const];
  const all = anyOf?.map(choicesOf);
  if (all === undefined || all.includes(undefined)) return undefined;
  return all.flatMap((some) => some as readonly unknown[]);
}

function hintOf(value: unknown, choices: readonly unknown[]): string {
  if (typeof value !== 'string') return '';
  const near = findNearestWord(
    value,
    choices.filter((choice) => typeof choice === 'string'),
  );
  return near === undefined ? '' : `; did you mean ${previewJson(near)}?`;
}

/** `String or Object`. */
function kindName(schema: SchemaData): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(kindName))].join(' or ');
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.map((choice) => previewJson(choice)).join(' or ');
  const { type = 'value' } = schema;
  return type.charAt(0).toUpperCase() + type.slice(1);
}

function placeOf(path: string, keys: readonly string[]): string {
  const place = `${path}${keys.join('')}`.replace(/^\./, '');
  return place === '' ? 'document' : place;
}

/** Follows a JSON pointer. @returns what is there, and the way to it as `.key` and `[index]` */
function descend(
  root: unknown,
  pointer: string,
): { readonly keys: string[]; readonly value: unknown } {
  const keys: string[] = [];
  let value = root;
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    keys.push(Array.isArray(value) ? `[${key}]` : `.${key}`);
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return { keys, value };
}

function invalid(message: string, path: string): RowanError {
  return failure('INVALID_PARAMETER', message, { path });
}
