// The collection routes, the same for every kind of entity.

import type { EntityKind } from '../../../dataset/entity-type.ts';
import { failure, type RowanError } from '../../../util/error.ts';
import { encodePathElement } from '../../../util/path-element.ts';
import { type EntityConfig, parseConfig } from '../../entity/config.ts';
import { createEntity } from '../../entity/entity-creation.ts';
import { ambiguousId } from '../../entity/entity-error.ts';
import type { Service } from '../../service.ts';
import { jsonReply, type Reply, type Role } from '../request.ts';
import { type BoundRequest, type Route, route } from '../route.ts';

const CONFIG_BODY = {
  description: 'configuration: id, type, params, persistent, deterministic',
};

/** Path of an entity as Location has it. */
export function entityPath(kind: EntityKind, id: string): Record<string, string> {
  const encoded = encodePathElement(id);
  return {
    Location: `/v1/${kind}s/${encoded}`,
    EntityPath: JSON.stringify([`${kind}s`, encoded]),
  };
}

export function emptyPayload(verb: string, plural: string): RowanError {
  return failure('EMPTY_PAYLOAD', { verb, collection: plural }, { collection: plural });
}

/** @throws the text of a trailing slash */
export function refuseTrailingSlash(verb: string, path: string): RowanError {
  if (verb !== 'GET') return failure('INVALID_PARAMETER', 'empty id', { path });
  return failure('UNKNOWN_RESOURCE', { form: 'slash', right: path.slice(0, -1), path });
}

export function entityRoutes(kind: EntityKind): Route[] {
  const plural = `${kind}s`;
  const writeRole: Role = kind === 'plugin' ? 'admin' : 'editor';
  const collectionPath = `/v1/${plural}`;
  const itemPath = `/v1/${plural}/:id`;

  async function create(request: BoundRequest, service: Service): Promise<Reply> {
    if (request.body.isEmpty) throw emptyPayload(request.verb, plural);
    const config = parseConfig(request.body.json());
    if (config.id === '') {
      throw failure('INVALID_PARAMETER', 'empty id', { path: request.path });
    }
    const isItem = idOfPath(request) !== undefined;
    return createReply(kind, withPathId(kind, config, request), request, service, isItem);
  }

  return [
    route({
      verb: 'GET',
      path: collectionPath,
      summary: `Lists the ids of the ${plural}`,
      role: 'reader',
      reply: { description: 'ids, sorted' },
      examples: [{ path: collectionPath }],
      handle: (_request, service) => jsonReply(service.collection(kind).ids()),
    }),
    route({
      verb: 'POST',
      path: collectionPath,
      summary: `Creates or replaces a ${kind}; without an id it gets one`,
      role: writeRole,
      work: 'construction',
      collectionOf: 'entity',
      body: CONFIG_BODY,
      handle: create,
    }),
    route({
      verb: 'PUT',
      path: collectionPath,
      summary: `Creates or replaces a ${kind}; without an id it gets one`,
      role: writeRole,
      work: 'construction',
      collectionOf: 'entity',
      body: CONFIG_BODY,
      handle: create,
    }),
    route({
      verb: 'GET',
      path: itemPath,
      summary: `Shows the configuration, state and status of a ${kind}`,
      role: 'reader',
      async handle(request, service) {
        const id = request.params.id as string;
        if (id === '') throw refuseTrailingSlash('GET', request.path);
        await service.settle();
        await service.collection(kind).find(id)?.refresh?.();
        return jsonReply(statusDocument(kind, id, service));
      },
    }),
    route({
      verb: 'PUT',
      path: itemPath,
      summary: `Creates or replaces a ${kind}`,
      role: writeRole,
      work: 'construction',
      body: CONFIG_BODY,
      handle: create,
    }),
    route({
      verb: 'DELETE',
      path: itemPath,
      summary: `Removes a ${kind}; no error when there is none`,
      role: writeRole,
      async handle(request, service) {
        const id = request.params.id as string;
        if (id === '') throw refuseTrailingSlash('DELETE', request.path);
        await service.remove(kind, id);
        return { status: 204 };
      },
    }),
  ];
}

/** A path that ends with the slash of its collection names no entity. */
function idOfPath({ params }: BoundRequest): string | undefined {
  return params.id === '' ? undefined : params.id;
}

function withPathId(kind: EntityKind, config: EntityConfig, request: BoundRequest): EntityConfig {
  const id = idOfPath(request);
  if (id === undefined) return config;
  if (config.id !== undefined && config.id !== id) {
    throw ambiguousId(kind, id, config.id, config);
  }
  return { ...config, id };
}

async function createReply(
  kind: EntityKind,
  config: EntityConfig,
  request: BoundRequest,
  service: Service,
  isPutOfItem: boolean,
): Promise<Reply> {
  const { isAsync, role } = request;
  const mustBeNew = request.headers['if-none-match']?.trim() === '*';
  const created = await createEntity(service, kind, config, { isAsync, mustBeNew, role });
  // Looking at a function takes a worker, which the creation of one does not wait for.
  const isLooked = !isAsync && kind !== 'function';
  if (isLooked) await service.collection(kind).find(created.id)?.refresh?.();
  const document = { ...statusDocument(kind, created.id, service, true) };
  if (created.firstRun !== undefined) {
    document.status = { firstRun: created.firstRun.document() };
  }
  const status = isAsync && isPutOfItem ? 202 : 201;
  return jsonReply(document, status, entityPath(kind, created.id));
}

/** While a run of a procedure works, the document shows that run. */
function statusDocument(
  kind: EntityKind,
  id: string,
  service: Service,
  isCreation = false,
): Record<string, unknown> {
  const document = service.collection(kind).statusDocument(id);
  if (kind !== 'procedure' || isCreation) return document;
  const run = service.procedures.find(id)?.activeRun();
  if (run === undefined) return document;
  const { progress } = run;
  return {
    ...document,
    id: run.id,
    state: run.state,
    ...(progress === undefined ? {} : { progress }),
  };
}
