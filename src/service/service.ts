// The service: what its parts are and how they are connected. Knows no routes and no transport.
import { builtinNamespace } from '../builtin/index.ts';
import type { EntityKind } from '../dataset/entity-type.ts';
import { FileSystem } from '../file/file-system.ts';
import { MapMemoryStore } from '../file/memory-scheme.ts';
import type { EntityReference } from '../schema/declare.ts';
import { OPEN_OPTIONS } from '../schema/server-options.ts';
import type { Catalogue } from '../store/catalogue.ts';
import { assert } from '../util/assert.ts';
import { failure } from '../util/error.ts';
import type { CredentialStore } from './credential/credential-store.ts';
import { Engine, type EngineTaskOptions } from './engine/engine.ts';
import type { EngineTasks } from './engine/engine-task.ts';
import { type FileLimits, fileHostCalls } from './engine/file-host.ts';
import type { HostHandler, HostRequest } from './engine/host-call.ts';
import type { EntityCollection, LiveEntity } from './entity/collection.ts';
import type { DatasetEntity } from './entity/dataset-entity.ts';
import { Entities } from './entity/entities.ts';
import type { FunctionEntity } from './entity/function-entity.ts';
import { PendingCommits } from './entity/pending-commits.ts';
import type { PluginEntity } from './entity/plugin-type.ts';
import type { ProcedureEntity } from './entity/procedure-entity.ts';
import type { TypeRegistry } from './entity/type-registry.ts';
import { Health, type HealthReport } from './health.ts';
import { type Logger, namingRequests } from './logger.ts';
import type { Persistence } from './persist/persistence.ts';
import { type RestoreTarget, restoreEntities } from './persist/restore.ts';
import { ProfileStore } from './profile-store.ts';
import type { Dispatcher } from './route/dispatcher.ts';
import { ReplySpool } from './route/reply-spool.ts';
import type { Role } from './route/request.ts';
import { runForService, runWithAtMost } from './route/request-context.ts';
import type { PageTools } from './route/static-folder.ts';
import type { Run } from './run/run.ts';
import { RunExecutor } from './run/run-executor.ts';
import { ServiceTally } from './service-tally.ts';
import { UploadStore } from './upload-store.ts';

/** What all queries of a service have in common. */
export interface SqlSettings {
  /** `name`: columns of answers in natural order, and only those that occur */
  readonly columnOrder: 'select' | 'name';
  /** whether queries are refused that are warned about, where they do not say */
  readonly strict: boolean;
}

export const DEFAULT_SQL_SETTINGS: SqlSettings = { columnOrder: 'select', strict: false };

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
  readonly sql: SqlSettings;
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
  readonly entities: Entities;
  readonly datasets: EntityCollection<DatasetEntity>;
  readonly functions: EntityCollection<FunctionEntity>;
  readonly procedures: EntityCollection<ProcedureEntity>;
  readonly plugins: EntityCollection<PluginEntity>;
  readonly sensors: EntityCollection<LiveEntity>;
  readonly #persistence: Persistence;
  readonly #hostHandlers = new Map<string, HostHandler>();
  readonly #pendingCommits = new PendingCommits();
  readonly #health: Health;
  #dispatcher: Dispatcher | undefined;
  /** Tools for pages of a folder; who has documentation sets it. */
  pageTools: (root: string) => Promise<PageTools> = async () => ({});
  /** What stands before `/doc` in addresses; set by what serves the documentation. */
  documentationBase: () => string = () => '';

  constructor(options: ServiceOptions) {
    const { types, persistence, logger } = options;
    this.types = types;
    this.catalogue = options.catalogue;
    this.logger = namingRequests(logger);
    this.options = options;
    this.#persistence = persistence;
    this.spool = new ReplySpool(options.spoolBytesMax ?? OPEN_OPTIONS.spoolBytes.default);
    this.spool.onLoss = () =>
      logger.warn({ logger: 'http' }, 'a slow client lost its reply: --spool-bytes is used up');
    this.#health = new Health(options.catalogue);
    this.credentials = options.credentials;
    this.uploads = new UploadStore(options.files.dataDirectory, options.uploadQuotaBytes);
    this.profiles = new ProfileStore(this);
    const memoryFiles = new MapMemoryStore();
    const { credentials } = this;
    this.files = new FileSystem({ ...options.files, memory: memoryFiles, credentials });
    this.startFiles = new FileSystem({ memory: memoryFiles, credentials });
    this.engine = new Engine({
      types,
      files: options.files,
      reachesHost: options.reachesHost ?? true,
      builtins: builtinNamespace,
      threadCount: options.threadCount,
      taskCountMax: options.taskCountMax,
      memoryBytes: options.memoryBytes,
      onHostCall: (request) => this.#answerHostCall(request),
      onDefect: (message, stack) => logger.error({ logger: 'engine', stack }, message),
    });
    persistence.connect(this.engine);
    const compute: Service['compute'] = (kind, args, taskOptions) =>
      this.compute(kind, args, taskOptions);
    const runs = new RunExecutor({
      entities: () => this.entities,
      persistence,
      logger: this.logger,
      tally: this.tally,
      compute,
    });
    this.entities = new Entities({
      types,
      engine: this.engine,
      persistence,
      logger: this.logger,
      pendingCommits: this.#pendingCommits,
      procedureHost: runs,
      compute,
    });
    ({
      datasets: this.datasets,
      functions: this.functions,
      procedures: this.procedures,
      plugins: this.plugins,
      sensors: this.sensors,
    } = this.entities);
    const hostCalls = fileHostCalls(this.files, memoryFiles, credentials);
    for (const [kind, handler] of Object.entries(hostCalls)) this.onHostCall(kind, handler);
    this.onHostCall('log', async (call: HostRequest & { kind: 'log' }) => runs.log(call));
    this.onHostCall('dataset-content', ({ dataset }: { readonly dataset: string }) =>
      this.datasets.use(dataset).opened(),
    );
    this.onHostCall('dataset-column', (call: HostRequest & { kind: 'dataset-column' }) =>
      this.datasets.use(call.dataset).column(call),
    );
  }

  collection(kind: EntityKind): EntityCollection<LiveEntity> {
    return this.entities.collection(kind);
  }

  /** An entity by its id, or a new one of a configuration. @throws what creating it throws */
  obtain(kind: EntityKind, reference: EntityReference): Promise<LiveEntity> {
    return this.entities.obtain(kind, reference);
  }

  /** Removes an entity; a procedure's runs are cancelled first. */
  remove(kind: EntityKind, id: string): Promise<void> {
    return this.entities.remove(kind, id);
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
    options: EngineTaskOptions = {},
  ): Promise<EngineTasks[Kind]['result']> {
    if (this.#pendingCommits.arePending) await this.settle();
    return this.engine.run(kind, args, options);
  }

  /** Commits what was recorded into datasets that show rows without a commit. */
  settle(): Promise<void> {
    return this.#pendingCommits.settle();
  }

  /** Brings back what was kept; what cannot be is listed in state `error`. */
  restore(): Promise<void> {
    return runForService(() => restoreEntities(this.#persistence.load(), this.restoreTarget));
  }

  get restoreTarget(): RestoreTarget {
    return this.entities.restoreTarget;
  }

  /** Adds a member to what `health` tells. */
  tellInHealth(name: string, value: () => unknown): void {
    this.#health.add(name, value);
  }

  becomeReady(): void {
    this.#health.phase = 'ok';
  }

  health(): HealthReport {
    return this.#health.report();
  }

  /**
   * Health turns to stopping, and those who follow runs are told.
   * @param cancelsRuns false: runs may go on until `close`
   */
  announceStop({ cancelsRuns }: { readonly cancelsRuns: boolean }): void {
    this.#health.phase = 'stopping';
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
    this.#health.phase = 'stopping';
    await this.entities.stop();
    await this.engine.close();
    this.spool.close();
    await this.catalogue.close();
  }
}
