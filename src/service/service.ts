// The service: entity collections over the engine and the store. Knows no routes and no transport.
import { builtinCatalog } from '../builtin/index.ts';
import type { EntityKind } from '../dataset/entity-type.ts';
import type { TaskOptions } from '../exec/pool/engine-pool.ts';
import { FileSystem } from '../file/file-system.ts';
import { MapMemoryStore } from '../file/memory-scheme.ts';
import type { ProcedureParams, RunEffects } from '../procedure/procedure-type.ts';
import type { EntityReference } from '../schema/declare.ts';
import type { Catalogue } from '../store/catalogue.ts';
import { assert } from '../util/assert.ts';
import { failure, RowanError } from '../util/error.ts';
import type { CredentialStore } from './credential/credential-store.ts';
import { Engine } from './engine/engine.ts';
import type { EngineTasks } from './engine/engine-task.ts';
import { type FileLimits, fileHostCalls } from './engine/file-host.ts';
import type { HostHandler, HostRequest } from './engine/host-call.ts';
import { type CollectionHooks, EntityCollection, type LiveEntity } from './entity/collection.ts';
import { DatasetEntity, type DatasetHost } from './entity/dataset-entity.ts';
import { EntityBuilder, typeName } from './entity/entity-builder.ts';
import type { FunctionEntity } from './entity/function-entity.ts';
import { checkFunctionName } from './entity/function-name.ts';
import type { PluginEntity } from './entity/plugin-type.ts';
import type { ProcedureEntity, ProcedureHost, RunOutcome } from './entity/procedure-entity.ts';
import type { TypeRegistry } from './entity/type-registry.ts';
import { nowSeconds } from './id.ts';
import { type Logger, namingRequests } from './logger.ts';
import type { Persistence } from './persist/persistence.ts';
import { type RestoreTarget, restoreEntities } from './persist/restore.ts';
import { ProfileStore } from './profile-store.ts';
import {
  type CallContext,
  callContext,
  runForService,
  runWithAtMost,
} from './route/call-context.ts';
import { callerRole, requireEntityRole } from './route/caller-role.ts';
import type { Dispatcher } from './route/dispatcher.ts';
import { ReplySpool } from './route/reply-spool.ts';
import type { Reply, Role, RouteRequest } from './route/request.ts';
import type { PageTools } from './route/static-folder.ts';
import type { Run } from './run/run.ts';
import { runOnMain } from './run/service-procedure.ts';
import { ServiceTally } from './service-tally.ts';
import { UploadStore } from './upload-store.ts';

export interface ServiceOptions {
  readonly types: TypeRegistry;
  /** records that are no entities: credentials, keys */
  readonly catalogue: Catalogue;
  readonly persistence: Persistence;
  readonly logger: Logger;
  /** threads that one task may use */
  readonly threadCount: number;
  readonly taskCountMax: number;
  readonly memoryBytes: number | undefined;
  /** what `runOnCreation` means when it is not given */
  readonly runOnCreation: boolean;
  /** what is limited when files and addresses are read */
  readonly files: FileLimits;
  readonly credentials: CredentialStore;
  /** bytes that all uploads may take; default 10 GiB */
  readonly uploadQuotaBytes?: number | undefined;
  /** bytes on disk of replies whose clients are slow; default 4 GiB */
  readonly spoolBytesMax?: number | undefined;
  /** false: SQL functions that ask this thread for something are unknown; default true */
  readonly reachesHost?: boolean;
}

const SPOOL_BYTES_MAX = 4 * 2 ** 30;

export class Service {
  readonly types: TypeRegistry;
  readonly catalogue: Catalogue;
  readonly engine: Engine;
  readonly logger: Logger;
  /** files as this thread sees them; mem:// is kept here */
  readonly files: FileSystem;
  /** files that whoever starts the service names, without the limits of users' URLs */
  readonly startFiles: FileSystem;
  readonly options: ServiceOptions;
  readonly credentials: CredentialStore;
  readonly uploads: UploadStore;
  readonly profiles: ProfileStore;
  readonly tally = new ServiceTally();
  /** what slow clients have not taken */
  readonly spool: ReplySpool;
  readonly datasets: EntityCollection<DatasetEntity>;
  readonly functions: EntityCollection<FunctionEntity>;
  readonly procedures: EntityCollection<ProcedureEntity>;
  readonly plugins: EntityCollection<PluginEntity>;
  readonly sensors: EntityCollection<LiveEntity>;
  readonly #persistence: Persistence;
  readonly #builder: EntityBuilder;
  readonly #hostHandlers = new Map<string, HostHandler>();
  /** runs that compute, by the number that their messages bear */
  readonly #computingRuns = new Map<
    number,
    { readonly run: Run; readonly about: Readonly<Record<string, unknown>> }
  >();
  #nextRunNumber = 1;
  #dispatcher: Dispatcher | undefined;
  #phase: 'ok' | 'starting' | 'stopping' = 'starting';
  /** datasets with rows that the next reader must see */
  readonly #uncommitted = new Set<DatasetEntity>();
  #settled: Promise<unknown> = Promise.resolve();
  #settlingCount = 0;
  /** Tools for pages of a folder; who has documentation sets it. */
  pageTools: (root: string) => Promise<PageTools> = async () => ({});
  /** What stands before `/doc` in addresses; set by what serves the documentation. */
  documentationBase: () => string = () => '';
  readonly #healthMembers = new Map<string, () => unknown>();
  #isTryingStorage = false;

  constructor(options: ServiceOptions) {
    const { types, persistence, logger } = options;
    this.types = types;
    this.catalogue = options.catalogue;
    this.logger = namingRequests(logger);
    this.options = options;
    this.#persistence = persistence;
    this.spool = new ReplySpool(options.spoolBytesMax ?? SPOOL_BYTES_MAX);
    this.spool.onLoss = () =>
      logger.warn({ logger: 'http' }, 'a slow client lost its reply: --spool-bytes is used up');
    this.credentials = options.credentials;
    this.uploads = new UploadStore(options.files.dataDirectory, options.uploadQuotaBytes);
    this.profiles = new ProfileStore(this);
    const memoryFiles = new MapMemoryStore();
    const { credentials } = this;
    this.files = new FileSystem({ ...options.files, memory: memoryFiles, credentials });
    this.startFiles = new FileSystem({ memory: memoryFiles, credentials });
    const hostCalls = fileHostCalls(this.files, memoryFiles, credentials);
    for (const [kind, handler] of Object.entries(hostCalls)) this.onHostCall(kind, handler);
    this.onHostCall('log', async (call: HostRequest & { kind: 'log' }) => this.#logRun(call));
    this.engine = new Engine({
      types,
      files: options.files,
      reachesHost: options.reachesHost ?? true,
      builtins: builtinCatalog,
      threadCount: options.threadCount,
      taskCountMax: options.taskCountMax,
      memoryBytes: options.memoryBytes,
      onHostCall: (request) => this.#answerHostCall(request),
      onDefect: (message, stack) => logger.error({ logger: 'engine', stack }, message),
    });
    this.onHostCall('dataset-content', ({ dataset }: { readonly dataset: string }) =>
      this.datasets.use(dataset).loaded(),
    );
    persistence.connect(this.engine);
    this.#builder = new EntityBuilder({
      types,
      engine: this.engine,
      datasetHost: this.#makeDatasetHost(),
      procedureHost: this.#makeProcedureHost(),
      compute: (kind, args, options) => this.compute(kind, args, options),
      obtain: (kind, reference) => this.obtain(kind, reference),
      nextStoreId: () => persistence.nextStoreId(),
    });
    this.datasets = new EntityCollection('dataset', {
      ...this.#storeHooks<DatasetEntity>('dataset'),
      construct: async (config, scope) => {
        const dataset = await this.#builder.dataset(config, scope);
        const isKept =
          config.persistent !== false &&
          dataset.datasetType.view === undefined &&
          !dataset.isExternal;
        if (isKept && dataset.hasLoadedContent) await persistence.saveContent(dataset);
        return dataset;
      },
      publish: (id, state) => {
        const definition =
          state === 'not-ready' ? ({ ready: false } as const) : state?.definition();
        this.engine.publish({ type: 'dataset', id, definition });
      },
    });
    this.functions = new EntityCollection('function', {
      ...this.#storeHooks<FunctionEntity>('function'),
      construct: (config, scope) => this.#builder.function(config, scope),
      publish: (id, state) => {
        const definition =
          state === 'not-ready' ? ({ ready: false } as const) : state?.definition();
        this.engine.publish({ type: 'function', id, definition });
      },
    });
    this.procedures = new EntityCollection('procedure', {
      ...this.#storeHooks<ProcedureEntity>('procedure'),
      construct: (config) => this.#builder.procedure(config),
      publish() {},
    });
    this.plugins = new EntityCollection('plugin', {
      ...this.#storeHooks<PluginEntity>('plugin'),
      construct: (config, scope) => this.#builder.plugin(config, scope),
      publish() {},
    });
    this.sensors = new EntityCollection('sensor', {
      ...this.#storeHooks<LiveEntity>('sensor'),
      construct: async (config) => {
        const type = this.types.get('sensor', typeName('sensor', config));
        throw failure('UNKNOWN_TYPE', `sensors of type '${type.name}' cannot be created`);
      },
      publish() {},
    });
  }

  collection(kind: EntityKind): EntityCollection<LiveEntity> {
    switch (kind) {
      case 'dataset':
        return this.datasets as unknown as EntityCollection<LiveEntity>;
      case 'function':
        return this.functions as unknown as EntityCollection<LiveEntity>;
      case 'procedure':
        return this.procedures as unknown as EntityCollection<LiveEntity>;
      case 'plugin':
        return this.plugins as unknown as EntityCollection<LiveEntity>;
      case 'sensor':
        return this.sensors;
    }
  }

  /** Requests to the service itself. */
  get dispatcher(): Dispatcher {
    assert(this.#dispatcher !== undefined, 'routes are connected before the first request');
    return this.#dispatcher;
  }

  connect(dispatcher: Dispatcher): void {
    this.#dispatcher = dispatcher;
  }

  /** Answers one kind of question that workers ask. */
  onHostCall(kind: string, handler: HostHandler): void {
    this.#hostHandlers.set(kind, handler);
  }

  async #answerHostCall(request: unknown): Promise<unknown> {
    const { kind, roleMax } = request as { readonly kind: string; readonly roleMax?: Role };
    const handler = this.#hostHandlers.get(kind);
    if (handler === undefined) {
      throw failure('SQL_EXECUTION', `${kind} is not available in this service`);
    }
    const answer = () => handler(request as never);
    return roleMax === undefined ? answer() : runWithAtMost(roleMax, answer);
  }

  /**
   * Runs a task that reads data, after everything that must be visible to it is.
   * @throws the task's failure
   */
  async compute<Kind extends keyof EngineTasks>(
    kind: Kind,
    args: EngineTasks[Kind]['args'],
    options: TaskOptions = {},
  ): Promise<EngineTasks[Kind]['result']> {
    if (this.#uncommitted.size > 0 || this.#settlingCount > 0) await this.settle();
    return this.engine.run(kind, args, options);
  }

  /** Commits what was recorded into datasets that show rows without a commit. */
  async settle(): Promise<void> {
    const commits = [...this.#uncommitted].map((dataset) => dataset.show());
    this.#uncommitted.clear();
    // Who comes while others commit waits for them too.
    const settled = Promise.all([this.#settled.catch(() => undefined), ...commits]);
    this.#settled = settled;
    this.#settlingCount++;
    try {
      await settled;
    } finally {
      this.#settlingCount--;
    }
  }

  /** Removes an entity; a procedure's runs are cancelled first. */
  async remove(kind: EntityKind, id: string): Promise<void> {
    if (kind === 'procedure') await this.procedures.find(id)?.stopRuns();
    await this.collection(kind).delete(id);
  }

  /** A route of a dataset's type. @throws INVALID_PARAMETER when the type has none of that path */
  async datasetRoute(dataset: DatasetEntity, rest: string, request: RouteRequest): Promise<Reply> {
    const { file } = dataset.datasetType;
    const hasSaves = file !== undefined && file.hasSaves !== false;
    if (hasSaves && rest === '/saves' && request.verb === 'POST') {
      const dataFileUrl = savesUrl(request.body.json());
      await dataset.freeze();
      await dataset.saveTo(dataFileUrl);
      return { status: 200, json: { type: file.loadedAs, params: { dataFileUrl } } };
    }
    throw failure(
      'INVALID_PARAMETER',
      `Dataset of type '${dataset.type}' does not respond to custom route '${rest}'`,
      { verb: request.verb, resource: request.path },
    );
  }

  /** Brings back what was kept; what cannot be is listed in state `error`. */
  restore(): Promise<void> {
    return runForService(() => restoreEntities(this.#persistence.load(), this.restoreTarget));
  }

  get restoreTarget(): RestoreTarget {
    return {
      types: this.types,
      builder: this.#builder,
      datasets: this.datasets,
      functions: this.functions,
      procedures: this.procedures,
      plugins: this.plugins,
      collection: (kind) => this.collection(kind),
      saveRun: (procedureId, run) => this.#persistence.saveRun(procedureId, run),
      onFailure: (kind, id, error) =>
        this.logger.warn({ logger: kind, id, err: error }, `${kind} '${id}' could not be restored`),
    };
  }

  async obtain(kind: EntityKind, reference: EntityReference): Promise<LiveEntity> {
    const { id, type } = reference;
    const exists = id !== undefined && this.collection(kind).find(id) !== undefined;
    if (!exists) {
      requireEntityRole(this.types, { kind, type }, callerRole(), 'creating');
      // A name that cannot be had leaves no entry behind.
      const isNamedFunction = kind === 'function' && id !== undefined && type !== undefined;
      if (isNamedFunction) checkFunctionName(this.engine.mirror, id);
    }
    return this.collection(kind).obtain(reference);
  }

  /** Adds a member to what `health` tells. */
  tellInHealth(name: string, value: () => unknown): void {
    this.#healthMembers.set(name, value);
  }

  becomeReady(): void {
    this.#phase = 'ok';
  }

  /** `degraded`: the last write failed, and so did each that was tried since somebody asked. */
  health(): {
    status: 'ok' | 'starting' | 'stopping' | 'degraded';
    members: Record<string, unknown>;
  } {
    const members = [...this.#healthMembers].map(([name, value]) => [name, value()]);
    const { failure: storage } = this.catalogue;
    if (storage === undefined || this.#phase !== 'ok') {
      return { status: this.#phase, members: Object.fromEntries(members) };
    }
    this.#tryStorage();
    const details = { storage: storage.message };
    return { status: 'degraded', members: { ...Object.fromEntries(members), details } };
  }

  /** Writes something small: nobody else may write while the service says that it cannot. */
  #tryStorage(): void {
    if (this.#isTryingStorage) return;
    this.#isTryingStorage = true;
    const value = nowSeconds();
    this.catalogue
      .write([{ type: 'put', table: 'settings', key: ['last try to write'], value }])
      .catch(() => undefined)
      .finally(() => {
        this.#isTryingStorage = false;
      });
  }

  /**
   * Health turns to stopping, and those who follow runs are told.
   * @param cancelsRuns false: runs may go on until `close`
   */
  announceStop({ cancelsRuns }: { readonly cancelsRuns: boolean }): void {
    this.#phase = 'stopping';
    for (const run of this.#activeRuns()) {
      run.announceShutdown();
      if (cancelsRuns) run.abort.abort();
    }
  }

  /** Resolves when every run that works now has ended. */
  async runsEnded(): Promise<void> {
    await Promise.all(this.#activeRuns().map((run) => run.done));
  }

  #activeRuns(): Run[] {
    const runs = [...this.procedures.live()].flatMap((procedure) => [...procedure.runs()]);
    return runs.filter((run) => run.isActive);
  }

  async close(): Promise<void> {
    this.#phase = 'stopping';
    const kinds: EntityKind[] = ['procedure', 'dataset', 'function', 'plugin', 'sensor'];
    await Promise.all([...this.procedures.live()].map((procedure) => procedure.stopRuns()));
    await Promise.all(kinds.map((kind) => this.collection(kind).stop()));
    for (const plugin of this.plugins.live()) plugin.dispose();
    await this.engine.close();
    this.spool.close();
    await this.catalogue.close();
  }

  #storeHooks<Entity extends LiveEntity>(
    kind: EntityKind,
  ): Pick<CollectionHooks<Entity>, 'save' | 'saveRequest' | 'forget' | 'onFailure'> {
    return {
      save: (entity) =>
        entity.config.persistent === false
          ? this.#persistence.forgetEntity(kind, entity.id)
          : this.#persistence.saveEntity(kind, {
              config: { ...entity.config, id: entity.id },
              resolved: entity.resolved ?? entity.config.params ?? {},
              ...(entity.creatorRole === undefined || entity.creatorRole === 'admin'
                ? {}
                : { creatorRole: entity.creatorRole }),
              ...(entity instanceof DatasetEntity ? { storeId: entity.storeId } : {}),
            }),
      saveRequest: (config) =>
        config.persistent === false
          ? Promise.resolve()
          : this.#persistence.saveEntity(kind, {
              config,
              resolved: config.params ?? {},
              isPending: true,
            }),
      forget: (id) => this.#persistence.forgetEntity(kind, id),
      onFailure: (id, error) =>
        this.logger.warn(
          { logger: kind, id, err: error },
          `construction of ${kind} '${id}' failed`,
        ),
    };
  }

  #makeDatasetHost(): DatasetHost {
    const { engine } = this;
    return {
      engine,
      appendRows: (dataset, batch, state) => this.#persistence.appendRows(dataset, batch, state),
      markCommitted: (dataset) => this.#persistence.markCommitted(dataset),
      needsCommit: (dataset) => this.#uncommitted.add(dataset),
      unreadable: (dataset, error) => {
        // A lack of memory passes; what is damaged stays so.
        if (!(error instanceof RowanError) || error.code !== 'DATA_ERROR') return;
        if (!this.datasets.fail(dataset, error)) return;
        const about = { logger: 'dataset', id: dataset.id, err: error };
        this.logger.warn(about, `dataset '${dataset.id}' could not be read`);
      },
      published: (dataset) => {
        if (this.datasets.find(dataset.id) !== dataset) return;
        const definition = dataset.definition();
        engine.publish({ type: 'dataset', id: dataset.id, definition });
      },
    };
  }

  #makeProcedureHost(): ProcedureHost {
    return {
      execute: (procedure, run, params, overrides) =>
        runWithAtMost(procedure.creatorRole, () =>
          this.#executeRun(procedure, run, params, overrides),
        ),
      together: (work) => this.#persistence.together(work),
      saveRun: (procedure, run) =>
        procedure.config.persistent === false
          ? Promise.resolve()
          : this.#persistence.saveRun(procedure.id, run.record()),
      forgetRun: (procedure, run) => this.#persistence.forgetRun(procedure.id, run.id),
      onRunEnd: (procedure, run) => {
        this.tally.countRun(procedure.type, run.state);
        if (run.state !== 'error') return;
        const names = { logger: procedure.type, procedure: procedure.id, run: run.id };
        this.logger.warn(
          { ...names, err: run.error },
          `run '${run.id}' of procedure '${procedure.id}' failed`,
        );
      },
    };
  }

  async #executeRun(
    procedure: ProcedureEntity,
    run: Run,
    params: ProcedureParams,
    overrides: ProcedureParams,
  ): Promise<RunOutcome> {
    const type = procedure.procedureType;
    requireEntityRole(this.types, { kind: 'procedure', type: type.name }, callerRole(), 'running');
    if (type.execution === 'service') {
      const result = await runOnMain(this, { procedure, type, run, params, overrides });
      return { result, register: async () => {} };
    }
    const resolved = await this.#builder.runParams(type, params);
    assert(run.startedAt !== undefined, 'a run that works was started');
    const number = this.#nextRunNumber++;
    // The worker's messages come outside the request's own work.
    const about = { logger: type.name, procedure: procedure.id, run: run.id };
    this.#computingRuns.set(number, { run, about: { ...about, ...requestOf(callContext()) } });
    try {
      const { effects, ...result } = await this.compute(
        'procedure',
        { type: type.name, params: resolved, startedAt: run.startedAt, run: number },
        { signal: run.abort.signal, onProgress: (progress) => run.report(progress) },
      );
      const register = await this.#prepareEffects(effects, run.abort.signal);
      return { result, register };
    } finally {
      this.#computingRuns.delete(number);
    }
  }

  #logRun({ run: number, message }: { readonly run: number; readonly message: string }): void {
    const computing = this.#computingRuns.get(number);
    if (computing === undefined) return;
    computing.run.log(message);
    this.logger.info(computing.about, message);
  }

  /** Makes ready what a run has made. @returns what registers it, all or nothing */
  async #prepareEffects(effects: RunEffects, signal: AbortSignal): Promise<() => Promise<void>> {
    const datasets = effects.datasets.map((effect) => this.#builder.datasetOfRun(effect));
    const kept = datasets.filter(({ config }) => config.persistent !== false);
    let functions: FunctionEntity[];
    try {
      functions = await this.#builder.functionsOfRun(effects);
      await Promise.all(kept.map((dataset) => this.#persistence.saveContent(dataset, signal)));
      for (const dataset of datasets) await dataset.saveFile();
      if (signal.aborted) throw failure('CANCELLED', 'the run was cancelled');
    } catch (thrown) {
      for (const dataset of datasets) dataset.dispose();
      await Promise.allSettled(kept.map((dataset) => this.#persistence.discardContent(dataset)));
      throw thrown;
    }
    return async () => {
      await Promise.all([
        ...datasets.map((dataset) => this.datasets.install(dataset)),
        ...functions.map((entity) => this.functions.install(entity)),
      ]);
    };
  }
}

function requestOf(context: CallContext | undefined): Readonly<Record<string, unknown>> {
  return context === undefined ? {} : { requestId: context.requestId };
}

/** The body of …/routes/saves: where to save. */
function savesUrl(json: unknown): string {
  const url = (json as { readonly dataFileUrl?: unknown } | null | undefined)?.dataFileUrl;
  if (typeof url === 'string' && url !== '') return url;
  throw failure('MISSING_PARAMETER', 'dataFileUrl is required: the URL to save to');
}
