import { Type } from 'typebox';
import type { EntityKind } from '../dataset/entity-type.ts';
import { failure } from '../util/error.ts';
import { runOnCreation } from './parameter.ts';
import { serviceProcedure } from './procedure-type.ts';

const KINDS: readonly string[] = ['dataset', 'function', 'procedure', 'plugin'];

/** Creates an entity, or takes the existing one. */
export const createEntity = serviceProcedure({
  name: 'createEntity',
  summary: 'Creates an entity of any kind unless one of its id exists.',
  flags: ['INTERNAL_ENTITY'],
  parameters: Type.Object({
    kind: Type.String({ description: 'dataset, function, procedure or plugin' }),
    id: Type.Optional(Type.String({ description: 'id of the entity; default a generated one' })),
    type: Type.Optional(Type.String({ description: 'type of the entity' })),
    params: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'parameters of the entity',
        aliases: ['parameters'],
      }),
    ),
    persistent: Type.Optional(Type.Boolean({ description: 'whether it survives a restart' })),
    deterministic: Type.Optional(
      Type.Boolean({ description: 'whether constant calls may be evaluated once a query' }),
    ),
    ...runOnCreation,
  }),
  async run(context, params) {
    const { kind, runOnCreation: _, ...config } = params;
    if (!KINDS.includes(kind)) {
      throw failure(
        'INVALID_PARAMETER',
        `Attempt to create unknown entity kind '${kind}'; accepted are ${KINDS.join(', ')}`,
      );
    }
    const entity = await context.obtain(kind as EntityKind, config);
    return { result: { kind, config: entity.config, status: entity.status() ?? null } };
  },
});
