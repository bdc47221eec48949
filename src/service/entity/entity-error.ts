// The fixed errors about entities: their texts are part of the interface.
import type { EntityKind } from '../../dataset/entity-type.ts';
import { failure, type RowanError, withExtra } from '../../util/error.ts';
import { findNearestWord } from '../../util/nearest-word.ts';

function place(kind: string, id: string): Record<string, unknown> {
  return { collection: `${kind}s`, entry: id };
}

/** About the entity itself. `kind` is its noun, `known` the ids that there are. */
export function entityMissing(kind: string, id: string, known: Iterable<string> = []): RowanError {
  const near = findNearestWord(id, known);
  return failure('ENTITY_NOT_FOUND', { kind, id, near }, place(kind, id));
}

const REASONS = {
  initializing: 'as it is still being created',
  executing: 'as it is still being created',
  error: 'due to error in creation',
  cancelled: 'due to cancellation',
};

/** On a sub-route of an entity that is not there or not usable. */
export function entityUnavailable(
  kind: string,
  id: string,
  why: 'missing' | keyof typeof REASONS,
  progress?: unknown,
  known: Iterable<string> = [],
): RowanError {
  const about = { kind, resource: id };
  if (why === 'missing') {
    const near = findNearestWord(id, known);
    const error = failure('ENTITY_NOT_FOUND', { form: 'deleted', kind, id, near }, place(kind, id));
    return withExtra(error, about);
  }
  const reason = REASONS[why];
  const parts = { form: 'unavailable', kind, id, reason } as const;
  return withExtra(failure('ENTITY_NOT_FOUND', parts, place(kind, id)), {
    ...about,
    state: why,
    ...(progress === undefined ? {} : { progress }),
  });
}

/** About a run itself. */
export function runMissing(id: string): RowanError {
  return failure('RUN_NOT_FOUND', { id }, place('run', id));
}

/** On a sub-route of a run that is not there. */
export function runDeleted(id: string): RowanError {
  const error = failure('RUN_NOT_FOUND', { form: 'deleted', id }, place('run', id));
  return withExtra(error, { kind: 'run', resource: id });
}

export function entityExists(kind: string, id: string): RowanError {
  return failure('ENTITY_EXISTS', { kind, id }, place(kind, id));
}

export function entityNotReady(kind: string, id: string): RowanError {
  return failure('ENTITY_NOT_READY', { kind, id }, place(kind, id));
}

export function entityBusy(kind: string, id: string): RowanError {
  return failure('ENTITY_BUSY', { kind, id }, place(kind, id));
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
