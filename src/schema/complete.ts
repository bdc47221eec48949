// Brings JSON into the form that a schema describes, before it is checked: other names become the
// names, absent members their defaults, 0 and 1 truth values.
import { duplicateField, memberPath, missingField, unknownField } from './message.ts';
import { acceptsNull, alternativeFor, memberSchema, type SchemaData } from './schema-data.ts';

/**
 * A copy of the value in canonical form. Values of a wrong type are left as they are.
 * @throws UNKNOWN_FIELD, MISSING_PARAMETER; INVALID_PARAMETER when a member is given by two names
 */
export function complete(schema: SchemaData, value: unknown, path: string): unknown {
  if (schema.anyOf !== undefined) {
    const option = alternativeFor(schema.anyOf, value);
    return option === undefined ? value : complete(option, value, path);
  }
  switch (schema.type) {
    case 'object':
      return isObject(value) ? completeObject(schema, value, path) : value;
    case 'array':
      if (!Array.isArray(value)) return value;
      return value.map((element, index) => {
        const item = memberSchema(schema, index);
        return item === undefined ? element : complete(item, element, `${path}[${index}]`);
      });
    case 'boolean':
      return value === 0 || value === 1 ? value === 1 : value;
    case 'integer':
    case 'number':
      return typeof value === 'bigint' ? Number(value) : value;
    default:
      return value;
  }
}

/**
 * The members of an object under their names instead of other names, at every depth; nothing is
 * filled in and nothing refused but two names of one member.
 * @throws INVALID_PARAMETER
 */
export function withoutAliases(schema: SchemaData, value: unknown, path: string): unknown {
  if (schema.anyOf !== undefined) {
    const option = alternativeFor(schema.anyOf, value);
    return option === undefined ? value : withoutAliases(option, value, path);
  }
  if (schema.properties === undefined || !isObject(value)) return value;
  const names = canonicalNames(schema.properties, value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const name = names.get(key) ?? key;
      const property = memberSchema(schema, name);
      return [
        name,
        property === undefined ? member : withoutAliases(property, member, memberPath(path, name)),
      ];
    }),
  );
}

type Members = Readonly<Record<string, unknown>>;

function completeObject(schema: SchemaData, given: Members, path: string): unknown {
  const { properties, additionalProperties } = schema;
  if (properties === undefined) return completeMap(schema, given, path);
  const names = canonicalNames(properties, given, path);
  if (additionalProperties !== true) {
    for (const key of Object.keys(given)) {
      if (!names.has(key)) throw unknownField(path, key, Object.keys(properties));
    }
  }
  const members = new Map(
    Object.entries(given).map(([key, value]) => [names.get(key) ?? key, value]),
  );
  const out: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const member = members.get(name);
    members.delete(name);
    if (member !== undefined && (member !== null || acceptsNull(property))) {
      out[name] = complete(property, member, memberPath(path, name));
    } else if (property.default !== undefined) out[name] = structuredClone(property.default);
    else if (schema.required?.includes(name) === true) {
      throw missingField(path, name, property.description);
    }
  }
  for (const [key, member] of members) out[key] = member;
  return out;
}

/** An object whose keys are free. */
function completeMap(schema: SchemaData, given: Members, path: string): unknown {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      const member = memberSchema(schema, key);
      return [key, member === undefined ? value : complete(member, value, memberPath(path, key))];
    }),
  );
}

/** The property that each known key of the object stands for. */
function canonicalNames(
  properties: Readonly<Record<string, SchemaData>>,
  given: Members,
  path: string,
): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, property] of Object.entries(properties)) {
    const keys = [name, ...(property.aliases ?? [])].filter((key) => Object.hasOwn(given, key));
    const [first, second] = keys;
    if (second !== undefined) throw duplicateField(path, first as string, second);
    if (first !== undefined) names.set(first, name);
  }
  return names;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
