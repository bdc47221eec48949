// Runs of procedures that orchestrate others on the main thread.
import { setImmediate } from 'node:timers/promises';
import type { EntityKind } from '../../dataset/entity-type.ts';
import type {
  ProcedureParams,
  ProcedureResult,
  ServiceProcedureType,
} from '../../procedure/procedure-type.ts';
import type { EntityReference } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { LiveEntity } from '../entity/collection.ts';
import type { ProcedureEntity } from '../entity/procedure-entity.ts';
import type { Run } from './run.ts';
import { StepProgress } from './step-progress.ts';

export interface ServiceRun {
  readonly procedure: ProcedureEntity;
  readonly type: ServiceProcedureType;
  readonly run: Run;
  readonly params: ProcedureParams;
  readonly overrides: ProcedureParams;
}

interface Removable {
  find(id: string): LiveEntity | undefined;
  delete(id: string): Promise<void>;
}

interface EntityAccess {
  obtain(kind: EntityKind, reference: EntityReference): Promise<LiveEntity>;
  collection(kind: EntityKind): Removable;
  readonly procedures: { use(id: string): ProcedureEntity };
}

export async function runOnMain(
  service: EntityAccess,
  { procedure, type, run, params, overrides }: ServiceRun,
): Promise<ProcedureResult> {
  const { signal } = run.abort;
  try {
    return await type.run(
      {
        signal,
        startedAt: run.startedAt ?? 0,
        overrides,
        procedureId: procedure.id,
        steps: (steps) => new StepProgress(steps, false, (document) => run.report(document)),
        log: (message, stream) => run.log(message, stream),
        async obtain(kind, reference) {
          const entity = await service.obtain(kind, reference);
          return {
            id: entity.id,
            config: { ...entity.config },
            status: () => entity.status(),
          };
        },
        async remove(kind, id) {
          const collection = service.collection(kind);
          if (collection.find(id) !== undefined) await collection.delete(id);
        },
        async runProcedure(id, childOverrides, onProgress) {
          // Many runs that take no time at all must let requests, and a cancel, through.
          await setImmediate();
          signal.throwIfAborted();
          return service.procedures.use(id).runDetached(childOverrides, signal, onProgress);
        },
      },
      params,
    );
  } catch (thrown) {
    if (signal.aborted) throw failure('CANCELLED', `run '${run.id}' was cancelled`);
    throw thrown;
  }
}
