// Schemas as plain data, for those who read them instead of checking values: documentation,
// references, defaults.
import type { TSchema } from 'typebox';

/** The part of JSON Schema that declarations use. */
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
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  /** what a text of the pattern is, in words */
  readonly accepted?: string;
  /** page of the documentation, below /doc, that says what the value may be */
  readonly page?: string;
  /** values that show in the documentation what the parameter is for */
  readonly examples?: readonly unknown[];
  /** other names of a property */
  readonly aliases?: readonly string[];
  /** true: must be given, as the type itself checks, though the schema has a default or none */
  readonly isNeeded?: boolean;
  readonly rowan?: string;
  readonly defaultType?: string;
  readonly rename?: string;
}

/** The same schema; TypeBox's types hide the keywords that it does not know. */
export function schemaData(schema: TSchema): SchemaData {
  return schema as unknown as SchemaData;
}

/** Whether `null` is a value of the schema, instead of standing for the default. */
export function acceptsNull(schema: SchemaData): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some(acceptsNull);
  if (schema.enum !== undefined) return schema.enum.includes(null);
  return schema.type === 'null' || (schema.type === undefined && !('const' in schema));
}

/** The schema of the values below a key or an index; undefined when there is none. */
export function memberSchema(schema: SchemaData, key: string | number): SchemaData | undefined {
  if (typeof key === 'number') {
    return Array.isArray(schema.items)
      ? (schema.items as readonly SchemaData[])[key]
      : (schema.items as SchemaData | undefined);
  }
  const property = schema.properties;
  if (property !== undefined) return Object.hasOwn(property, key) ? property[key] : undefined;
  const { additionalProperties: rest } = schema;
  return (
    Object.values(schema.patternProperties ?? {})[0] ??
    (typeof rest === 'object' ? rest : undefined)
  );
}

/** The first alternative that a value of this kind could belong to. */
export function alternativeFor(
  options: readonly SchemaData[],
  value: unknown,
): SchemaData | undefined {
  return options.find((option) => isOfKind(option, value));
}

function isOfKind(schema: SchemaData, value: unknown): boolean {
  if (schema.anyOf !== undefined) return alternativeFor(schema.anyOf, value) !== undefined;
  switch (schema.type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    default:
      return typeof value === schema.type;
  }
}
