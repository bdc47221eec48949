// JSON schemas of configurations and errors, as components of the description of routes.
import type { EntityType } from '../../dataset/entity-type.ts';
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
  return {
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
  };
}
