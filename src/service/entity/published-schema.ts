// Parameter schemas as they are shown to others.

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
}

/**
 * A schema whose `required` names what a caller must give. The schemas that check parameters
 * require those with a default too, as they are there once defaults are filled in.
 */
export function publishedSchema(schema: object): object {
  const { properties, required, items, anyOf, ...rest } = schema as Schema;
  if (anyOf !== undefined) return { ...schema, anyOf: anyOf.map(publishedSchema) };
  if (Array.isArray(items)) return { ...schema, items: items.map(publishedSchema) };
  if (items !== undefined) return { ...schema, items: publishedSchema(items) };
  if (properties === undefined) return schema;
  const demanded = required?.filter((name) => properties[name]?.default === undefined) ?? [];
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, publishedSchema(property)]),
    ),
    ...(demanded.length === 0 ? {} : { required: demanded }),
  };
}
