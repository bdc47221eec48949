// API keys over REST.
import { Type } from 'typebox';
import { jsonReply, type RequestBody } from '../../service/route/request.ts';
import { type Route, route } from '../../service/route/route.ts';
import { failure, type RowanError } from '../../util/error.ts';
import { isExpired, KEY_ROLES, type KeyRequest, keyDocument, parseRole } from './api-key.ts';
import { presentedKey } from './authentication.ts';
import type { KeyStore } from './key-store.ts';

const REQUEST_SCHEMA = Type.Object({
  role: Type.Unsafe<string>({
    ...{ type: 'string', enum: [...KEY_ROLES] },
    description: 'what the holder may do; each role includes those before it',
  }),
  name: Type.Optional(Type.String({ description: 'a note on who holds it' })),
  expires: Type.Optional(Type.String({ description: 'date after which it is refused' })),
});

/**
 * @param mustKeepAdmin whether a last admin key is needed, as the service is open to others
 * @param hasOtherAdmin whether there is an admin key that is not stored
 */
export function keyRoutes(
  keys: KeyStore,
  mustKeepAdmin: () => boolean,
  hasOtherAdmin: () => boolean,
): Route[] {
  return [
    route({
      verb: 'GET',
      path: '/v1/keys',
      summary: 'Lists the API keys, without the keys themselves',
      role: 'admin',
      reply: { description: 'array of id, role, name, expires and created' },
      examples: [{ path: '/v1/keys' }],
      handle: () => jsonReply(keys.keys.map(keyDocument)),
    }),
    route({
      verb: 'POST',
      path: '/v1/keys',
      summary: 'Makes an API key; the reply shows it once',
      role: 'admin',
      body: { description: 'role, and optionally name and expires', schema: REQUEST_SCHEMA },
      reply: { description: 'id, role, name, expires and key' },
      examples: [{ path: '/v1/keys', body: { role: 'admin', name: 'operations' } }],
      async handle(request) {
        const { key, stored } = await keys.create(parseKeyRequest(request.body), {
          hasOtherAdmin: hasOtherAdmin(),
        });
        const { id, role, name, expires } = stored;
        const headers = { Location: `/v1/keys/${id}`, 'Cache-Control': 'no-store' };
        return jsonReply({ id, role, name, expires, key }, 201, headers);
      },
    }),
    route({
      verb: 'GET',
      path: '/v1/keys/current',
      summary: 'Shows the API key of the caller, without the key itself',
      role: 'reader',
      reply: { description: 'id, role, name and expires; the role alone when there are no keys' },
      examples: [{ path: '/v1/keys/current' }],
      handle({ role, headers }) {
        const key = presentedKey(headers);
        const stored = key === undefined ? undefined : keys.find(key);
        if (stored === undefined) return jsonReply({ role });
        const { id, name, expires } = stored;
        return jsonReply({ id, role, name, expires });
      },
    }),
    route({
      verb: 'GET',
      path: '/v1/keys/:id',
      summary: 'Shows an API key, without the key itself',
      role: 'admin',
      reply: { description: 'id, role, name, expires and created' },
      handle(request) {
        const id = request.params.id as string;
        const stored = keys.keys.find((key) => key.id === id);
        if (stored !== undefined) return jsonReply(keyDocument(stored));
        throw failure(
          'ENTITY_NOT_FOUND',
          { kind: 'key', id },
          {
            collection: 'keys',
            entry: id,
          },
        );
      },
    }),
    route({
      verb: 'DELETE',
      path: '/v1/keys/:id',
      summary: 'Revokes an API key; no error when there is none',
      role: 'admin',
      async handle(request) {
        await keys.revoke(request.params.id as string, (remaining) => {
          const hasAdmin = remaining.some((key) => key.role === 'admin' && !isExpired(key));
          if (!hasAdmin && mustKeepAdmin()) throw lastAdminKey();
        });
        return { status: 204 };
      },
    }),
  ];
}

function lastAdminKey(): RowanError {
  return failure('ENTITY_BUSY', { form: 'lastAdmin' });
}

/** @throws EMPTY_PAYLOAD, UNKNOWN_FIELD, INVALID_PARAMETER */
function parseKeyRequest(body: RequestBody): KeyRequest {
  if (body.isEmpty) throw failure('EMPTY_PAYLOAD', { form: 'key' });
  const json = body.json();
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw failure('INVALID_PARAMETER', 'a key is made from an object with role, name and expires');
  }
  const { role, name, expires, ...others } = json as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw failure('UNKNOWN_FIELD', `unknown field ${unknown}; accepted are role, name, expires`);
  }
  return {
    role: parseRole(role),
    name: optionalText('name', name),
    expires: optionalText('expires', expires),
  };
}

function optionalText(key: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw failure('INVALID_PARAMETER', `${key}: String was expected; instead got '${value}'`);
}
