// What a caller may do beyond the routes: create and run entities of types for administrators only,
// and read local files. Nested work is done with the rights of the original caller.
import type { EntityKind } from '../../dataset/entity-type.ts';
import { failure } from '../../util/error.ts';
import type { TypeRegistry } from '../entity/type-registry.ts';
import { ROLES, type Role } from './request.ts';
import { callContext } from './request-context.ts';

/** The role of the caller of the running work; `reader` for work without a caller. */
export function callerRole(): Role {
  return callContext()?.role ?? 'reader';
}

/**
 * @param what was asked for, for the message
 * @throws UNAUTHENTICATED where nobody said who asks, FORBIDDEN where the role is too low
 */
export function requireRole(role: Role, required: Role, what: string): void {
  if (isAtLeast(role, required)) return;
  if (role === 'open') {
    throw failure(
      'UNAUTHENTICATED',
      'an API key is required: Authorization: Bearer <key>, or X-API-Key',
    );
  }
  throw failure(
    'FORBIDDEN',
    `${what} needs the role ${required}; the caller has the role ${role}`,
    { requiredRole: required },
  );
}

export interface GuardedEntity {
  readonly kind: EntityKind;
  readonly type: string | undefined;
}

/** @throws FORBIDDEN when entities of the type are made, or run, by higher roles only */
export function requireEntityRole(
  types: TypeRegistry,
  { kind, type }: GuardedEntity,
  role: Role,
  doing: 'creating' | 'running',
): void {
  if (type === undefined) return;
  const required = types.find(kind, type)?.creationRole ?? 'editor';
  if (isAtLeast(role, required)) return;
  throw failure('FORBIDDEN', `${doing} a ${kind} of type '${type}' needs the role ${required}`, {
    requiredRole: required,
  });
}

/** Queries of readers, and scripts in them, see no local files. @throws FORBIDDEN */
export function requireReadableUrl(url: string, role: Role): void {
  if (isAtLeast(role, 'editor') || !/file:/i.test(url)) return;
  throw failure('FORBIDDEN', `reading ${url} needs the role editor`, { requiredRole: 'editor' });
}

function isAtLeast(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}
