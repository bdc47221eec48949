// Entities that parameters refer to: found, or created where a configuration is given. Afterwards
// each reference is `{ id }`.
import type { EntityKind, EntityType } from '../../dataset/entity-type.ts';
import type { EntityReference } from '../../schema/declare.ts';
import { type SchemaData, schemaData } from '../../schema/schema-data.ts';
import { failure } from '../../util/error.ts';

export type ReferenceRole = 'dataset' | 'table' | 'input-query' | 'function' | 'procedure';

export interface ReferenceContext {
  /** which references are wanted now; the others stay as they are */
  readonly roles: readonly ReferenceRole[];
  /** the procedure whose parameters these are: it cannot be its own step */
  readonly selfId?: string;
  obtain(kind: EntityKind, reference: EntityReference): Promise<{ readonly id: string }>;
}

export async function resolveReferences(
  type: EntityType,
  params: Readonly<Record<string, unknown>>,
  scope: ReferenceContext,
): Promise<Record<string, unknown>> {
  return (await resolve(schemaData(type.parameters), params, scope)) as Record<string, unknown>;
}

async function resolve(
  schema: SchemaData | undefined,
  value: unknown,
  scope: ReferenceContext,
): Promise<unknown> {
  if (schema === undefined || value === undefined || value === null) return value;
  const role = schema.rowan as ReferenceRole | undefined;
  if (role !== undefined && scope.roles.includes(role)) return resolveRole(role, value, scope);
  if (role !== undefined) return value;
  if (Array.isArray(value)) {
    const items = schema.items;
    const resolved: unknown[] = [];
    for (const [index, element] of value.entries()) {
      const item = Array.isArray(items) ? items[index] : items;
      resolved.push(await resolve(item as SchemaData | undefined, element, scope));
    }
    return resolved;
  }
  if (typeof value === 'object' && schema.properties !== undefined) {
    const out: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      out[key] = await resolve(schema.properties[key], member, scope);
    }
    return out;
  }
  return value;
}

async function resolveRole(
  role: ReferenceRole,
  value: unknown,
  scope: ReferenceContext,
): Promise<unknown> {
  switch (role) {
    case 'dataset':
      return obtained('dataset', typeof value === 'string' ? { id: value } : value, scope);
    case 'table':
      return typeof value === 'string' ? value : obtained('dataset', value, scope);
    case 'input-query': {
      if (typeof value === 'string') return value;
      const query = value as { readonly from?: unknown };
      if (typeof query.from !== 'object' || query.from === null) return value;
      return { ...query, from: await obtained('dataset', query.from, scope) };
    }
    case 'function':
      return obtained('function', value, scope);
    case 'procedure': {
      const { id } = value as EntityReference;
      if (id !== undefined && id === scope.selfId) {
        throw failure('INVALID_PARAMETER', 'Procedure contains itself as a child', {
          procedure: id,
        });
      }
      return obtained('procedure', value, scope);
    }
  }
}

/** Members that do not belong to the entity, such as the name of a step, are kept. */
async function obtained(
  kind: EntityKind,
  value: unknown,
  scope: ReferenceContext,
): Promise<Record<string, unknown>> {
  const { id, type, params, persistent, deterministic, ...others } = value as EntityReference &
    Record<string, unknown>;
  const reference: EntityReference = {
    ...(id === undefined ? {} : { id }),
    ...(type === undefined ? {} : { type }),
    ...(params === undefined ? {} : { params }),
    ...(persistent === undefined ? {} : { persistent }),
    ...(deterministic === undefined ? {} : { deterministic }),
  };
  const entity = await scope.obtain(kind, reference);
  return { ...others, id: entity.id };
}
