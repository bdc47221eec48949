// The entity types and their parameters.
import { Type } from 'typebox';
import type { EntityKind, EntityType } from '../../../dataset/entity-type.ts';
import { failure } from '../../../util/error.ts';
import { entityMissing, entityUnavailable } from '../../entity/entity-error.ts';
import { publishedSchema } from '../../entity/published-schema.ts';
import {
  COMMON_TYPES,
  describeConfig,
  type TypeDescription,
} from '../../entity/type-description.ts';
import type { Service } from '../../service.ts';
import { parameterHelp } from '../parameter-binding.ts';
import { jsonReply } from '../request.ts';
import { type BoundRequest, type Route, route } from '../route.ts';

/** The classes of types; those of plugins' setups and start-ups are empty here. */
const CLASSES: Readonly<Record<string, EntityKind | undefined>> = {
  datasets: 'dataset',
  functions: 'function',
  'plugin.setups': undefined,
  'plugin.startups': undefined,
  plugins: 'plugin',
  procedures: 'procedure',
};

function classOf(request: BoundRequest): { noun: string; kind: EntityKind | undefined } {
  const name = request.params.class as string;
  if (!Object.hasOwn(CLASSES, name)) {
    throw failure('UNKNOWN_RESOURCE', { verb: request.verb, path: request.path });
  }
  return { noun: name.replace(/s$/, ''), kind: CLASSES[name] };
}

function findType(request: BoundRequest, service: Service): EntityType | undefined {
  const { kind } = classOf(request);
  return kind === undefined ? undefined : service.types.find(kind, request.params.type as string);
}

/** @throws ENTITY_NOT_FOUND as sub-routes do */
function getType(request: BoundRequest, service: Service): EntityType {
  const type = findType(request, service);
  if (type !== undefined) return type;
  throw entityUnavailable(classOf(request).noun, request.params.type as string, 'missing');
}

function typeInfo(type: EntityType, className: string): Record<string, unknown> {
  return {
    configType: describeConfig(type),
    configSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...publishedSchema(type.parameters),
    },
    docRoute: docRoute(className, type),
    description: type.summary,
    flags: type.flags ?? [],
  };
}

function docRoute(className: string, type: EntityType): string {
  return `/v1/types/${className}/${encodeURIComponent(type.name)}/doc`;
}

function describeNamed(name: string, service: Service): TypeDescription | null {
  const common = COMMON_TYPES.find(({ typeName }) => typeName === name);
  if (common !== undefined) return common;
  for (const kind of ['dataset', 'function', 'procedure', 'plugin'] as const) {
    for (const typeName of service.types.names(kind)) {
      const description = describeConfig(service.types.get(kind, typeName));
      if (description.typeName === name) return description;
    }
  }
  return null;
}

export const TYPE_ROUTES: readonly Route[] = [
  route({
    verb: 'GET',
    path: '/v1/types',
    summary: 'Lists the classes of types',
    role: 'reader',
    lenient: true,
    handle: () => jsonReply(Object.keys(CLASSES)),
  }),
  route({
    verb: 'GET',
    path: '/v1/types/:class',
    summary: 'Lists the types of a class',
    role: 'reader',
    query: {
      details: Type.Optional(Type.String({ description: 'true: with a description of each' })),
    },
    handle(request, service) {
      const { kind } = classOf(request);
      const { details } = request.values;
      if (details !== undefined && details !== 'true') {
        throw failure(
          'UNKNOWN_PARAMETER',
          {},
          {
            unknownParameters: [{ paramName: 'details', paramValue: details }],
            verb: request.verb,
            resource: request.path,
            help: parameterHelp(request.route),
          },
        );
      }
      const names = kind === undefined ? [] : service.types.names(kind);
      if (details === undefined || kind === undefined) return jsonReply(names);
      const className = request.params.class as string;
      return jsonReply(
        names.map((name) => [name, typeInfo(service.types.get(kind, name), className)]),
      );
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/types/:class/:type',
    summary: 'Tells whether a type exists',
    role: 'reader',
    handle(request, service) {
      if (findType(request, service) !== undefined) return jsonReply({ state: 'ok' });
      throw entityMissing(classOf(request).noun, request.params.type as string);
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/types/:class/:type/info',
    summary: 'Describes a type and its parameters',
    role: 'reader',
    lenient: true,
    handle: (request, service) =>
      jsonReply(typeInfo(getType(request, service), request.params.class as string)),
  }),
  route({
    verb: 'GET',
    path: '/v1/types/:class/:type/doc',
    summary: 'Redirects to the documentation of a type',
    role: 'reader',
    lenient: true,
    handle(request, service) {
      const type = getType(request, service);
      const page = `${request.params.class}/${encodeURIComponent(type.name)}.html`;
      return {
        status: 301,
        headers: { Location: `${service.documentationBase()}/doc/reference/${page}` },
      };
    },
  }),
  ...(['GET', 'POST', 'PUT', 'DELETE'] as const).map((verb) =>
    route({
      verb,
      path: '/v1/types/:class/:type/routes/*',
      summary: 'Routes of a type itself',
      role: verb === 'GET' ? 'reader' : 'editor',
      lenient: true,
      handle(request, service) {
        const type = getType(request, service);
        throw failure(
          'UNKNOWN_RESOURCE',
          { form: 'handler', type: type.name },
          { verb, resource: request.path },
        );
      },
    }),
  ),
  route({
    verb: 'GET',
    path: '/v1/typeInfo',
    summary: 'Describes a type by its name',
    role: 'reader',
    query: { type: Type.String({ description: 'name of the type' }) },
    handle: (request, service) => jsonReply(describeNamed(request.values.type, service)),
  }),
];
