// Runs of procedures: where they compute, what they log, and how what they made is registered.
import type { DatasetType } from '../../dataset/dataset-type.ts';
import type { ProcedureParams, RunEffects } from '../../procedure/procedure-type.ts';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';
import type { Entities } from '../entity/entities.ts';
import type { BuilderHost } from '../entity/entity-builder.ts';
import type { FunctionEntity } from '../entity/function-entity.ts';
import type { ProcedureEntity, ProcedureHost, RunOutcome } from '../entity/procedure-entity.ts';
import type { TypeRegistry } from '../entity/type-registry.ts';
import type { Logger } from '../logger.ts';
import type { Persistence } from '../persist/persistence.ts';
import { callerRole, requireEntityRole } from '../route/caller-role.ts';
import { callContext, type RequestContext, runWithAtMost } from '../route/request-context.ts';
import type { ServiceTally } from '../service-tally.ts';
import type { Run } from './run.ts';
import { runOnMain } from './service-procedure.ts';

export interface RunExecutorOptions {
  /** the entities, once they are there: they hold the procedures that run here */
  readonly entities: () => Entities;
  readonly persistence: Persistence;
  readonly logger: Logger;
  readonly tally: ServiceTally;
  readonly compute: BuilderHost['compute'];
}

export class RunExecutor implements ProcedureHost {
  readonly #options: RunExecutorOptions;
  /** runs that compute, by the number that their messages bear */
  readonly #computing = new Map<
    number,
    { readonly run: Run; readonly about: Readonly<Record<string, unknown>> }
  >();
  #nextNumber = 1;

  constructor(options: RunExecutorOptions) {
    this.#options = options;
  }

  /** What begins to be saved while `work` runs is durable as a whole or not at all. */
  together<Result>(work: () => Result): Result {
    return this.#options.persistence.together(work);
  }

  saveRun(procedure: ProcedureEntity, run: Run): Promise<void> {
    if (procedure.config.persistent === false) return Promise.resolve();
    return this.#options.persistence.saveRun(procedure.id, run.record());
  }

  forgetRun(procedure: ProcedureEntity, run: Run): Promise<void> {
    return this.#options.persistence.forgetRun(procedure.id, run.id);
  }

  onRunEnd(procedure: ProcedureEntity, run: Run): void {
    const { tally, logger } = this.#options;
    tally.countRun(procedure.type, run.state);
    if (run.state !== 'error') return;
    const names = { logger: procedure.type, procedure: procedure.id, run: run.id };
    logger.warn(
      { ...names, err: run.error },
      `run '${run.id}' of procedure '${procedure.id}' failed`,
    );
  }

  /**
   * Does the work of a run; nothing that it made is registered yet. It may do what both its caller
   * and the creator of the procedure may do.
   */
  execute(
    procedure: ProcedureEntity,
    run: Run,
    params: ProcedureParams,
    overrides: ProcedureParams,
  ): Promise<RunOutcome> {
    return runWithAtMost(procedure.creatorRole, () =>
      this.#execute(procedure, run, params, overrides),
    );
  }

  async #execute(
    procedure: ProcedureEntity,
    run: Run,
    params: ProcedureParams,
    overrides: ProcedureParams,
  ): Promise<RunOutcome> {
    const entities = this.#options.entities();
    const type = procedure.procedureType;
    requireEntityRole(
      entities.types,
      { kind: 'procedure', type: type.name },
      callerRole(),
      'running',
    );
    if (type.execution === 'service') {
      const result = await runOnMain(entities, { procedure, type, run, params, overrides });
      return { result, register: async () => {} };
    }
    const resolved = await entities.builder.runParams(type, params);
    assert(run.startedAt !== undefined, 'a run that works was started');
    const number = this.#nextNumber++;
    // The worker's messages come outside the request's own work.
    const about = { logger: type.name, procedure: procedure.id, run: run.id };
    this.#computing.set(number, { run, about: { ...about, ...requestOf(callContext()) } });
    try {
      const { effects, ...result } = await this.#options.compute(
        'procedure',
        {
          type: type.name,
          params: resolved,
          procedureId: procedure.id,
          runId: run.id,
          startedAt: run.startedAt,
          run: number,
        },
        {
          signal: run.abort.signal,
          onProgress: (progress) => run.report(progress),
          isRepeatable: !sendsRows(entities.types, resolved),
        },
      );
      const register = await this.#prepareEffects(effects, run.abort.signal);
      return { result, register };
    } finally {
      this.#computing.delete(number);
    }
  }

  /** A message of a run that computes in a worker. */
  log({ run: number, message }: { readonly run: number; readonly message: string }): void {
    const computing = this.#computing.get(number);
    if (computing === undefined) return;
    computing.run.log(message);
    this.#options.logger.info(computing.about, message);
  }

  /** Makes ready what a run has made. @returns what registers it, all or nothing */
  async #prepareEffects(effects: RunEffects, signal: AbortSignal): Promise<() => Promise<void>> {
    const entities = this.#options.entities();
    const { persistence } = this.#options;
    const datasets = effects.datasets.map((effect) => entities.builder.datasetOfRun(effect));
    const kept = datasets.filter(({ config }) => config.persistent !== false);
    let functions: FunctionEntity[];
    try {
      functions = await entities.builder.functionsOfRun(effects);
      await Promise.all(kept.map((dataset) => persistence.saveContent(dataset, signal)));
      for (const dataset of datasets) await dataset.saveFile();
      if (signal.aborted) throw failure('CANCELLED', 'the run was cancelled');
    } catch (thrown) {
      for (const dataset of datasets) dataset.dispose();
      await Promise.allSettled(kept.map((dataset) => persistence.discardContent(dataset)));
      throw thrown;
    }
    return async () => {
      await Promise.all([
        ...datasets.map((dataset) => entities.datasets.install(dataset)),
        ...functions.map((entity) => entities.functions.install(entity)),
      ]);
    };
  }
}

/** Whether a dataset of the parameters keeps its rows in another system. */
function sendsRows(types: TypeRegistry, params: ProcedureParams): boolean {
  return Object.values(params).some((value) => {
    const { type } = Object(value) as { readonly type?: unknown };
    if (typeof type !== 'string') return false;
    const found = types.find('dataset', type) as DatasetType | undefined;
    return found?.recording?.sends === true;
  });
}

function requestOf(context: RequestContext | undefined): Readonly<Record<string, unknown>> {
  return context === undefined ? {} : { requestId: context.requestId };
}
