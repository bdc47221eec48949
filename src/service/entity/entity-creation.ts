// Creating an entity as a caller from outside does: reserved names, roles, first runs.
import type { EntityKind } from '../../dataset/entity-type.ts';
import { errorBody, RowanError } from '../../util/error.ts';
import { errorText } from '../../util/error-text.ts';
import { requireEntityRole } from '../route/caller-role.ts';
import type { Role } from '../route/request.ts';
import type { Run } from '../run/run.ts';
import type { Service } from '../service.ts';
import type { EntityConfig } from './config.ts';
import { checkFunctionName } from './function-name.ts';

export interface CreationOptions {
  readonly isAsync?: boolean;
  readonly mustBeNew?: boolean;
  readonly role: Role;
}

export interface Created {
  readonly id: string;
  /** the run that `runOnCreation` asked for */
  readonly firstRun: Run | undefined;
}

/** @throws what construction and the first run throw */
export async function createEntity(
  service: Service,
  kind: EntityKind,
  config: EntityConfig,
  { isAsync = false, mustBeNew = false, role }: CreationOptions,
): Promise<Created> {
  if (kind === 'function' && config.id !== undefined) {
    checkFunctionName(service.engine.mirror, config.id);
  }
  requireEntityRole(service.types, { kind, type: config.type }, role, 'creating');
  // A procedure itself is always built at once; only its run may go on.
  const id = await service
    .collection(kind)
    .put(config, { isAsync: isAsync && kind !== 'procedure', mustBeNew });
  if (kind !== 'procedure' || !wantsRun(service, config)) return { id, firstRun: undefined };
  return { id, firstRun: await runFirst(service, id, isAsync) };
}

function wantsRun(service: Service, config: EntityConfig): boolean {
  const wanted = config.params?.runOnCreation;
  return wanted === undefined || wanted === null
    ? service.options.runOnCreation
    : wanted === true || wanted === 1;
}

async function runFirst(service: Service, id: string, isAsync: boolean): Promise<Run> {
  const procedure = service.procedures.use(id);
  const run = procedure.startRun(undefined, {});
  if (isAsync) {
    await run.known;
    return run;
  }
  try {
    await procedure.finished(run);
  } catch (thrown) {
    const runError = errorBody(thrown);
    throw new RowanError(
      'FIRST_RUN_FAILED',
      runError.httpCode,
      errorText('FIRST_RUN_FAILED', { error: runError.error }),
      {
        entry: id,
        runError,
      },
    );
  }
  return run;
}
