// The collection of credentials. Replies never show more than that a rule exists.

import { unknownField } from '../../../schema/message.ts';
import { failure } from '../../../util/error.ts';
import { encodePathElement } from '../../../util/path-element.ts';
import {
  type CredentialRule,
  parseCredentialRule,
  shownRule,
} from '../../credential/credential.ts';
import type { Service } from '../../service.ts';
import { jsonReply, type Reply } from '../request.ts';
import { type BoundRequest, type Route, route } from '../route.ts';
import { emptyPayload, refuseTrailingSlash } from './entity.ts';

const PLURAL = 'credentials';
const COLLECTION_PATH = '/v1/credentials';
const ITEM_PATH = '/v1/credentials/:id';
const KEYS = ['id', 'store'];

const RULE_BODY = {
  description:
    'id (optional) and store: resourceType, resource (prefix of URLs), expiration, extra, and credential: id, secret, provider, protocol, location, extra, validUntil',
};

const creation = {
  role: 'admin' as const,
  body: RULE_BODY,
  reply: { description: 'stored: the rule without its secrets' },
  handle: create,
};

export const CREDENTIAL_ROUTES: readonly Route[] = [
  route({
    verb: 'GET',
    path: COLLECTION_PATH,
    summary: 'Lists the ids of the credentials',
    role: 'admin',
    reply: { description: 'ids, sorted' },
    examples: [{ path: COLLECTION_PATH }],
    handle: (_request, service) => jsonReply(service.credentials.ids()),
  }),
  route({
    ...creation,
    verb: 'POST',
    path: COLLECTION_PATH,
    summary: 'Adds credentials; without an id they get one that is made from the rule',
    examples: [
      {
        path: COLLECTION_PATH,
        body: {
          id: 'example-credential',
          store: {
            resourceType: 'aws:s3',
            resource: 's3://example-bucket/',
            credential: { id: 'key id', secret: 'secret key' },
          },
        },
      },
    ],
  }),
  route({
    ...creation,
    verb: 'PUT',
    path: COLLECTION_PATH,
    summary: 'Adds credentials; without an id they get one that is made from the rule',
  }),
  route({
    verb: 'GET',
    path: ITEM_PATH,
    summary: 'Shows a rule of credentials without its secrets',
    role: 'admin',
    reply: { description: 'stored: the rule without its secrets' },
    handle(request, service) {
      const id = request.params.id as string;
      if (id === '') throw refuseTrailingSlash('GET', request.path);
      return jsonReply({ stored: shownRule(service.credentials.get(id)) });
    },
  }),
  route({
    ...creation,
    verb: 'PUT',
    path: ITEM_PATH,
    summary: 'Adds credentials; existing ones are not overwritten',
  }),
  route({
    verb: 'DELETE',
    path: ITEM_PATH,
    summary: 'Removes credentials; no error when there are none',
    role: 'admin',
    async handle(request, service) {
      const id = request.params.id as string;
      if (id === '') throw refuseTrailingSlash('DELETE', request.path);
      await service.credentials.remove(id);
      return { status: 204 };
    },
  }),
];

async function create(request: BoundRequest, service: Service): Promise<Reply> {
  if (request.body.isEmpty) throw emptyPayload(request.verb, PLURAL);
  const { id: inBody, rule } = parseBody(request.body.json());
  const { id: inPath } = request.params;
  if (inPath === '' || inBody === '') {
    throw failure('INVALID_PARAMETER', 'empty id', { path: request.path });
  }
  if (inPath !== undefined && inBody !== undefined && inPath !== inBody) {
    // Not the error of other collections: theirs shows the whole configuration.
    throw failure(
      'INVALID_PARAMETER',
      `Ambiguous names between route and config for PUT to collection '${PLURAL}'. The path says '${inPath}', the configuration '${inBody}'`,
      { valueInUri: inPath, valueInConfig: inBody, collection: PLURAL },
    );
  }
  const id = await service.credentials.add(rule, inPath ?? inBody);
  const encoded = encodePathElement(id);
  return jsonReply({ stored: shownRule(rule) }, 201, {
    Location: `${COLLECTION_PATH}/${encoded}`,
    EntityPath: JSON.stringify([PLURAL, encoded]),
  });
}

function parseBody(json: unknown): { readonly id?: string; readonly rule: CredentialRule } {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw failure('INVALID_PARAMETER', 'credentials: Object was expected');
  }
  const unknown = Object.keys(json).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw unknownField('', unknown, KEYS);
  const { id, store } = json as { readonly id?: unknown; readonly store?: unknown };
  if (id !== undefined && id !== null && typeof id !== 'string') {
    throw failure('INVALID_PARAMETER', 'id: String was expected');
  }
  return { ...(typeof id === 'string' ? { id } : {}), rule: parseCredentialRule(store) };
}
