// The fixed errors about entities: their texts are part of the interface.
import type { EntityKind } from '../../dataset/entity-type.ts';
import { failure, RowanError } from '../../util/error.ts';
import { hintAbout } from '../../util/nearest-word.ts';

function place(kind: string, id: string): Record<string, unknown> {
  return { collection: `${kind}s`, entry: id };
}

/** About the entity itself. `kind` is its noun, `known` the ids that there are. */
export function entityMissing(kind: string, id: string, known: Iterable<string> = []): RowanError {
  const message = `${kind} entry '${id}' doesn't exist${hintAbout(id, known)}`;
  return failure('ENTITY_NOT_FOUND', message, place(kind, id));
}

/** On a sub-route of an entity that is not there or not usable. */
export function entityUnavailable(
  kind: string,
  id: string,
  why: 'missing' | 'initializing' | 'executing' | 'error' | 'cancelled',
  progress?: unknown,
  known: Iterable<string> = [],
): RowanError {
  const text = {
    missing: `does not exist or has been deleted${hintAbout(id, known)}`,
    initializing: 'not available as it is still being created',
    executing: 'not available as it is still being created',
    error: 'not available due to error in creation',
    cancelled: 'not available due to cancellation',
  }[why];
  const state = why === 'missing' ? {} : { state: why };
  return new RowanError('ENTITY_NOT_FOUND', 404, `${kind} entry '${id}' ${text}`, place(kind, id), {
    kind,
    resource: id,
    ...state,
    ...(progress === undefined ? {} : { progress }),
  });
}

export function entityExists(kind: string, id: string): RowanError {
  return failure('ENTITY_EXISTS', `${kind} entry '${id}' already exists`, place(kind, id));
}

export function entityNotReady(kind: string, id: string): RowanError {
  return failure(
    'ENTITY_NOT_READY',
    `${kind} entry '${id}' exists but is not ready`,
    place(kind, id),
  );
}

export function entityBusy(kind: string, id: string): RowanError {
  return failure(
    'ENTITY_BUSY',
    `entry '${id}' in ${kind} could not be overwritten because it is being constructed`,
    place(kind, id),
  );
}

/** The construction ended without a result. */
export function entityNotObtained(kind: string, id: string): RowanError {
  return failure('CANCELLED', `${kind} entry '${id}' could not be obtained`, place(kind, id));
}

export function ambiguousId(
  kind: EntityKind,
  valueInUri: string,
  valueInConfig: string,
  config: unknown,
): RowanError {
  return failure(
    'INVALID_PARAMETER',
    `Ambiguous names between route and config for PUT to collection '${kind}s'. The path says '${valueInUri}', the configuration '${valueInConfig}'`,
    { valueInUri, valueInConfig, config, collection: `${kind}s` },
  );
}
