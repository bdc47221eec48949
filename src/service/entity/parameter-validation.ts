// Checks JSON against the schema of a type's parameters and fills in the defaults. Messages name
// the path, what was expected and what came.
import type { TSchema } from 'typebox';
import { failure, type RowanError } from '../../util/error.ts';
import { previewJson } from '../../value/json.ts';

/** The part of JSON Schema that parameter schemas use, read from plain data. */
export interface SchemaData {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaData>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, SchemaData>>;
  readonly additionalProperties?: boolean | SchemaData;
  readonly items?: SchemaData | readonly SchemaData[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly SchemaData[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly default?: unknown;
  readonly description?: string;
  /** values that show in the documentation what the parameter is for */
  readonly examples?: readonly unknown[];
  /** other names of a property */
  readonly aliases?: readonly string[];
  readonly rowan?: string;
  readonly defaultType?: string;
  readonly rename?: string;
}

export function schemaData(schema: TSchema): SchemaData {
  return schema as unknown as SchemaData;
}

/**
 * The value with defaults filled in at every depth.
 * @throws UNKNOWN_FIELD, MISSING_PARAMETER, INVALID_PARAMETER
 */
export function validate(schema: TSchema, value: unknown, path: string): unknown {
  return check(schemaData(schema), value, path);
}

function check(schema: SchemaData, value: unknown, path: string): unknown {
  if (schema.anyOf !== undefined) return checkAnyOf(schema, schema.anyOf, value, path);
  if (schema.enum !== undefined || 'const' in schema) return checkChoice(schema, value, path);
  switch (schema.type) {
    case 'object':
      return checkObject(schema, value, path);
    case 'array':
      return checkArray(schema, value, path);
    case 'string':
      if (typeof value !== 'string') throw wrongKind('String', value, path);
      if (value.length < (schema.minLength ?? 0)) {
        throw invalid(`${path} must not be empty`, path);
      }
      return value;
    case 'integer':
      if (!isIntegerJson(value)) throw wrongKind('Integer', value, path);
      checkRange(schema, value, path);
      return value;
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint') {
        throw wrongKind('Number', value, path);
      }
      checkRange(schema, value, path);
      return value;
    case 'boolean':
      if (value === 0 || value === 1) return value === 1;
      if (typeof value !== 'boolean') throw wrongKind('Boolean', value, path);
      return value;
    case 'null':
      if (value !== null) throw wrongKind('Null', value, path);
      return value;
    default:
      return value;
  }
}

function isIntegerJson(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

function checkRange(schema: SchemaData, value: number | bigint, path: string): void {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const bounds: [number | undefined, string, (bound: number) => boolean][] = [
    [schema.minimum, '>=', (bound) => value >= bound],
    [schema.maximum, '<=', (bound) => value <= bound],
    [schema.exclusiveMinimum, '>', (bound) => value > bound],
    [schema.exclusiveMaximum, '<', (bound) => value < bound],
  ];
  for (const [bound, operator, holds] of bounds) {
    if (bound === undefined || holds(bound)) continue;
    throw invalid(`${name} must be ${operator} ${bound}; ${path} is ${value}`, path);
  }
}

function checkChoice(schema: SchemaData, value: unknown, path: string): unknown {
  const accepted = schema.enum ?? [schema.const];
  if (accepted.includes(value)) return value;
  const list = accepted.map((choice) => previewJson(choice)).join(', ');
  throw invalid(`${path} is ${previewJson(value)}; accepted are ${list}`, path);
}

function checkArray(schema: SchemaData, value: unknown, path: string): unknown {
  if (!Array.isArray(value)) throw wrongKind('Array', value, path);
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minItems || value.length > maxItems) {
    const wanted = minItems === maxItems ? `${minItems}` : `${minItems} to ${maxItems}`;
    throw invalid(`${path} has ${value.length} elements; expected are ${wanted}`, path);
  }
  return value.map((item, index) => {
    const itemSchema = Array.isArray(items) ? (items as SchemaData[])[index] : items;
    return itemSchema === undefined
      ? item
      : check(itemSchema as SchemaData, item, `${path}[${index}]`);
  });
}

function checkObject(schema: SchemaData, value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongKind('Object', value, path);
  }
  const { properties } = schema;
  const given = value as Record<string, unknown>;
  if (properties === undefined) return checkOpenObject(schema, given, path);
  const out: Record<string, unknown> = {};
  const names = canonicalNames(properties, given, path, schema.additionalProperties);
  for (const [name, property] of Object.entries(properties)) {
    const key = names.get(name);
    const member = key === undefined ? undefined : given[key];
    if (member === undefined || (member === null && !acceptsNull(property))) {
      if (property.default !== undefined) out[name] = structuredClone(property.default);
      else if (schema.required?.includes(name) === true) throw missing(name, property, path);
      continue;
    }
    out[name] = check(property, member, `${path}.${name}`);
  }
  if (schema.additionalProperties === true) {
    for (const key of Object.keys(given)) if (!(key in out)) out[key] = given[key];
  }
  return out;
}

/** Which key of the object gives each property, by its name or an alias. */
function canonicalNames(
  properties: Readonly<Record<string, SchemaData>>,
  given: Readonly<Record<string, unknown>>,
  path: string,
  additional: unknown,
): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, property] of Object.entries(properties)) {
    for (const key of [name, ...(property.aliases ?? [])]) {
      if (!Object.hasOwn(given, key)) continue;
      const other = names.get(name);
      if (other !== undefined) {
        throw invalid(`${path}.${key} is another name of ${path}.${other}; give only one`, path);
      }
      names.set(name, key);
    }
  }
  if (additional === true) return names;
  const known = new Set(names.values());
  for (const key of Object.keys(given)) {
    if (!known.has(key)) throw unknownField(`${path}.${key}`, Object.keys(properties));
  }
  return names;
}

function checkOpenObject(
  schema: SchemaData,
  given: Readonly<Record<string, unknown>>,
  path: string,
): unknown {
  const pattern = Object.values(schema.patternProperties ?? {})[0];
  const member =
    pattern ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  if (member === undefined) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, check(member, value, `${path}.${key}`)]),
  );
}

function acceptsNull(schema: SchemaData): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some(acceptsNull);
  if (schema.enum !== undefined) return schema.enum.includes(null);
  return schema.type === 'null' || (schema.type === undefined && !('const' in schema));
}

function checkAnyOf(
  schema: SchemaData,
  options: readonly SchemaData[],
  value: unknown,
  path: string,
): unknown {
  const failures: unknown[] = [];
  for (const option of options) {
    try {
      return check(option, value, path);
    } catch (thrown) {
      // A value of the right kind with a fault inside: that fault is what the caller wants to know.
      if (isOfKind(option, value)) throw thrown;
      failures.push(thrown);
    }
  }
  if (failures.length === 1 || schema.anyOf?.every((option) => 'const' in option) !== true) {
    const kinds = options.map((option) => kindName(option));
    throw wrongKind([...new Set(kinds)].join(' or '), value, path);
  }
  const list = options.map((option) => previewJson(option.const)).join(', ');
  throw invalid(`${path} is ${previewJson(value)}; accepted are ${list}`, path);
}

function isOfKind(schema: SchemaData, value: unknown): boolean {
  switch (schema.type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    default:
      return false;
  }
}

function kindName(schema: SchemaData): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(kindName).join(' or ');
  if (schema.enum !== undefined)
    return schema.enum.map((choice) => previewJson(choice)).join(' or ');
  if ('const' in schema) return previewJson(schema.const);
  const { type = 'value' } = schema;
  return type.charAt(0).toUpperCase() + type.slice(1);
}

function wrongKind(expected: string, value: unknown, path: string): RowanError {
  return invalid(`${path}: ${expected} was expected; instead got '${previewJson(value)}'`, path);
}

function invalid(message: string, path: string): RowanError {
  return failure('INVALID_PARAMETER', message, { path });
}

function missing(name: string, property: SchemaData, path: string): RowanError {
  const about = property.description === undefined ? '' : `: ${property.description}`;
  return failure('MISSING_PARAMETER', `${path}.${name} is required${about}`, {
    path: `${path}.${name}`,
  });
}

export function unknownField(path: string, accepted: readonly string[]): RowanError {
  return failure('UNKNOWN_FIELD', `unknown field ${path}; accepted are ${accepted.join(', ')}`, {
    path,
    accepted,
  });
}
