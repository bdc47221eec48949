// JSON schemas of configurations and errors, as components of the description of routes.
import type { EntityType } from '../../dataset/entity-type.ts';
import { acceptsNull, type SchemaData } from '../../schema/schema-data.ts';
import { publishedSchema } from '../../service/entity/published-schema.ts';
import type { TypeRegistry } from '../../service/entity/type-registry.ts';
import { ERRORS } from '../../util/error-catalogue.ts';

type Json = Record<string, unknown>;
type ConfigKind = 'dataset' | 'function' | 'procedure' | 'plugin';

const CONFIG_KINDS: readonly ConfigKind[] = ['dataset', 'function', 'procedure', 'plugin'];

const ERROR: Json = {
  type: 'object',
  description: 'What was wrong',
  properties: {
    error: { type: 'string', description: 'for people' },
    httpCode: { type: 'integer', description: 'equal to the status' },
    code: {
      ...{ type: 'string', description: 'stable, for programs' },
      examples: Object.keys(ERRORS),
    },
    details: { type: 'object', description: 'what the code calls for' },
    requestId: { type: 'string', description: 'names the request in logs' },
  },
  required: ['error', 'httpCode', 'code'],
};

/** `DatasetConfig` and so on. */
export function configName(kind: ConfigKind): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Config`;
}

export function componentSchemas(types: TypeRegistry): Json {
  const schemas: Json = { Error: ERROR };
  for (const kind of CONFIG_KINDS) {
    const mapping: Record<string, string> = {};
    const members = new Set<string>();
    for (const name of types.names(kind)) {
      const type = types.get(kind, name);
      const component = `${kind}.${type.name}`;
      const reference = `#/components/schemas/${component}`;
      schemas[component] = configSchema(type);
      members.add(reference);
      mapping[name] = reference;
    }
    schemas[configName(kind)] = {
      oneOf: [...members].map(($ref) => ({ $ref })),
      discriminator: { propertyName: 'type', mapping },
    };
  }
  return schemas;
}

function configSchema(type: EntityType): Json {
  return acceptedSchema({
    type: 'object',
    description: type.summary,
    properties: {
      id: { type: 'string', minLength: 1, description: 'made up when it is absent' },
      type: { type: 'string', enum: [type.name, ...(type.aliases ?? [])] },
      params: publishedSchema(type.parameters),
      persistent: { type: 'boolean', description: 'whether it comes back after a restart' },
      deterministic: { type: 'boolean', default: true },
    },
    required: ['type'],
    additionalProperties: false,
  });
}

/**
 * What a body may hold where a schema is declared: null stands for a member that is absent, 0 and 1
 * are truth values (`schema/complete.ts`).
 */
export function acceptedSchema(schema: SchemaData): Json {
  const { properties, items, anyOf, additionalProperties, required = [] } = schema;
  const accepted: Record<string, unknown> = { ...schema };
  if (schema.type === 'boolean') {
    Object.assign(accepted, { type: ['boolean', 'integer'], minimum: 0, maximum: 1 });
  }
  if (anyOf !== undefined) accepted.anyOf = anyOf.map(acceptedSchema);
  if (Array.isArray(items)) accepted.items = items.map(acceptedSchema);
  else if (items !== undefined) accepted.items = acceptedSchema(items as SchemaData);
  if (typeof additionalProperties === 'object') {
    accepted.additionalProperties = acceptedSchema(additionalProperties);
  }
  if (properties !== undefined) {
    accepted.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        const member = acceptedSchema(property);
        return [name, required.includes(name) || acceptsNull(property) ? member : orNull(member)];
      }),
    );
  }
  return accepted;
}

function orNull({ description, default: value, ...schema }: Json): Json {
  const about = {
    ...(description === undefined ? {} : { description }),
    ...(value === undefined ? {} : { default: value }),
  };
  if (schema.anyOf !== undefined) {
    return { ...about, ...schema, anyOf: [...(schema.anyOf as Json[]), { type: 'null' }] };
  }
  if (schema.type === undefined || 'const' in schema) {
    return { ...about, anyOf: [schema, { type: 'null' }] };
  }
  return {
    ...about,
    ...schema,
    type: [schema.type, 'null'].flat(),
    ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}),
  };
}
