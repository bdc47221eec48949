// The service: entity collections over the engine and the store. Knows no routes and no transport.
import { builtinCatalog } from '../builtin/index.ts';
import type { Params } from '../dataset/dataset-type.ts';
import type { EntityKind } from '../dataset/entity-type.ts';
import type { EntityReference } from '../dataset/parameter.ts';
import type { TaskOptions } from '../exec/pool/engine-pool.ts';
import { FileSystem } from '../file/file-system.ts';
import { MapMemoryStore } from '../file/memory-scheme.ts';
import type { ProcedureParams, ProcedureResult } from '../procedure/procedure-type.ts';
import { assert } from '../util/assert.ts';
import { failure } from '../util/error.ts';
import {
  type CollectionHooks,
  type ConstructionScope,
  EntityCollection,
  type LiveEntity,
  nonexistent,
} from './collection.ts';
import { completeParams, type EntityConfig } from './config.ts';
import { DatasetEntity, type DatasetHost } from './dataset-entity.ts';
import type { Dispatcher } from './dispatcher.ts';
import { Engine } from './engine.ts';
import type { EngineTasks } from './engine-task.ts';
import { type FileLimits, fileHostCalls } from './file-host.ts';
import { FunctionEntity } from './function-entity.ts';
import type { HostHandler } from './host-call.ts';
import type { Logger } from './logger.ts';
import type { Persistence } from './persistence.ts';
import type { PluginEntity, PluginType } from './plugin-type.ts';
import { ProcedureEntity, type ProcedureHost } from './procedure-entity.ts';
import { type ReferenceRole, resolveReferences } from './references.ts';
import type { Reply, RouteRequest } from './request.ts';
import type { Run } from './run.ts';
import { runOnMain } from './service-procedure.ts';
import type { TypeRegistry } from './type-registry.ts';

export interface ServiceOptions {
  readonly types: TypeRegistry;
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
}

/** An entity that has a place in the store. */
interface StoredEntity extends LiveEntity {
  readonly resolved: Readonly<Record<string, unknown>>;
}

export class Service {
  readonly types: TypeRegistry;
  readonly engine: Engine;
  readonly logger: Logger;
  /** files as this thread sees them; mem:// is kept here */
  readonly files: FileSystem;
  readonly options: ServiceOptions;
  readonly datasets: EntityCollection<DatasetEntity>;
  readonly functions: EntityCollection<FunctionEntity>;
  readonly procedures: EntityCollection<ProcedureEntity>;
  readonly plugins: EntityCollection<PluginEntity>;
  readonly sensors: EntityCollection<LiveEntity>;
  readonly #persistence: Persistence;
  readonly #hostHandlers = new Map<string, HostHandler>();
  #dispatcher: Dispatcher | undefined;
  #phase: 'ok' | 'starting' | 'stopping' = 'starting';
  /** datasets with rows that the next reader must see */
  readonly #uncommitted = new Set<DatasetEntity>();

  constructor(options: ServiceOptions) {
    const { types, persistence, logger } = options;
    this.types = types;
    this.logger = logger;
    this.options = options;
    this.#persistence = persistence;
    const memoryFiles = new MapMemoryStore();
    this.files = new FileSystem({ ...options.files, memory: memoryFiles });
    for (const [kind, handler] of Object.entries(fileHostCalls(this.files, memoryFiles))) {
      this.onHostCall(kind, handler);
    }
    this.engine = new Engine({
      types,
      files: options.files,
      builtins: builtinCatalog,
      threadCount: options.threadCount,
      taskCountMax: options.taskCountMax,
      memoryBytes: options.memoryBytes,
      onHostCall: (request) => this.#answerHostCall(request),
      onDefect: (message, stack) => logger.error({ stack }, message),
    });
    this.datasets = new EntityCollection('dataset', {
      ...this.#storeHooks<DatasetEntity>('dataset'),
      construct: (config, scope) => this.#constructDataset(config, scope),
      publish: (id, state) => {
        const definition =
          state === 'not-ready' ? ({ ready: false } as const) : state?.definition();
        this.engine.publish({ type: 'dataset', id, definition });
      },
    });
    this.functions = new EntityCollection('function', {
      ...this.#storeHooks<FunctionEntity>('function'),
      construct: (config, scope) => this.#constructFunction(config, scope),
      publish: (id, state) => {
        const definition =
          state === 'not-ready' ? ({ ready: false } as const) : state?.definition();
        this.engine.publish({ type: 'function', id, definition });
      },
    });
    this.procedures = new EntityCollection('procedure', {
      ...this.#storeHooks<ProcedureEntity>('procedure'),
      construct: (config) => this.#constructProcedure(config),
      publish() {},
    });
    this.plugins = new EntityCollection('plugin', {
      ...this.#storeHooks<PluginEntity & StoredEntity>('plugin'),
      construct: (config, scope) => this.#constructPlugin(config, scope),
      publish() {},
    });
    this.sensors = new EntityCollection('sensor', {
      ...this.#storeHooks<StoredEntity>('sensor'),
      construct: async (config) => {
        const type = this.types.get('sensor', this.#typeName('sensor', config));
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
    const { kind } = request as { readonly kind: string };
    const handler = this.#hostHandlers.get(kind);
    if (handler === undefined) {
      throw failure('SQL_EXECUTION', `${kind} is not available in this service`);
    }
    return handler(request as never);
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
    if (this.#uncommitted.size > 0) await this.settle();
    return this.engine.run(kind, args, options);
  }

  /** Commits what was recorded into datasets that show rows without a commit. */
  async settle(): Promise<void> {
    const datasets = [...this.#uncommitted];
    this.#uncommitted.clear();
    await Promise.all(datasets.map((dataset) => dataset.commit()));
  }

  /** Removes an entity; a procedure's runs are cancelled first. */
  async remove(kind: EntityKind, id: string): Promise<void> {
    if (kind === 'procedure') await this.procedures.find(id)?.stopRuns();
    await this.collection(kind).delete(id);
  }

  /** A route of a dataset's type. @throws INVALID_PARAMETER when the type has none of that path */
  async datasetRoute(dataset: DatasetEntity, rest: string, request: RouteRequest): Promise<Reply> {
    throw failure(
      'INVALID_PARAMETER',
      `Dataset of type '${dataset.type}' does not respond to custom route '${rest}'`,
      { verb: request.verb, resource: request.path },
    );
  }

  async obtain(kind: EntityKind, reference: EntityReference): Promise<LiveEntity> {
    return this.collection(kind).obtain(reference);
  }

  becomeReady(): void {
    this.#phase = 'ok';
  }

  health(): { status: 'ok' | 'starting' | 'stopping'; details?: Record<string, unknown> } {
    return { status: this.#phase };
  }

  async close(): Promise<void> {
    this.#phase = 'stopping';
    const kinds: EntityKind[] = ['procedure', 'dataset', 'function', 'plugin', 'sensor'];
    await Promise.all([...this.procedures.live()].map((procedure) => procedure.stopRuns()));
    await Promise.all(kinds.map((kind) => this.collection(kind).stop()));
    for (const plugin of this.plugins.live()) plugin.dispose();
    await this.engine.close();
    await this.#persistence.close();
  }

  #storeHooks<Entity extends StoredEntity>(
    kind: EntityKind,
  ): Pick<CollectionHooks<Entity>, 'save' | 'saveRequest' | 'forget' | 'onFailure'> {
    return {
      save: (entity) =>
        entity.config.persistent === false
          ? this.#persistence.forgetEntity(kind, entity.id)
          : this.#persistence.saveEntity(kind, {
              config: { ...entity.config, id: entity.id },
              resolved: entity.resolved,
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
        this.logger.warn({ kind, id, err: error }, `construction of ${kind} '${id}' failed`),
    };
  }

  /** @throws UNKNOWN_TYPE when there is none */
  #typeName(kind: EntityKind, config: EntityConfig & { id: string }): string {
    if (config.type === undefined || config.type === '') throw nonexistent(kind, config.id);
    return config.type;
  }

  #resolve(
    type: Parameters<typeof resolveReferences>[0],
    params: Params,
    roles: readonly ReferenceRole[],
    selfId?: string,
  ): Promise<Record<string, unknown>> {
    return resolveReferences(type, params, {
      roles,
      ...(selfId === undefined ? {} : { selfId }),
      obtain: (kind, reference) => this.obtain(kind, reference),
    });
  }

  async #constructDataset(
    config: EntityConfig & { id: string },
    scope: ConstructionScope,
  ): Promise<DatasetEntity> {
    const type = this.types.datasetType(this.#typeName('dataset', config));
    const params = completeParams(type, config.params);
    type.check?.(params);
    const resolved = await this.#resolve(type, params, ALL_ROLES);
    const content =
      type.view === undefined
        ? undefined
        : await this.compute(
            'view',
            { type: type.name, params: resolved },
            { signal: scope.signal, onProgress: scope.progress },
          );
    return new DatasetEntity(
      {
        id: config.id,
        config,
        type,
        params: resolved,
        resolved,
        storeId: this.#persistence.nextStoreId(),
        ...(content === undefined ? {} : { content }),
      },
      this.#datasetHost,
    );
  }

  readonly #datasetHost: DatasetHost = this.#makeDatasetHost();

  #makeDatasetHost(): DatasetHost {
    const service = this;
    return {
      get engine() {
        return service.engine;
      },
      appendRows: (dataset, batch, state) => this.#persistence.appendRows(dataset, batch, state),
      markCommitted: (dataset) => this.#persistence.markCommitted(dataset),
      needsCommit: (dataset) => this.#uncommitted.add(dataset),
      published: (dataset) => {
        if (this.datasets.find(dataset.id) !== dataset) return;
        const definition = dataset.definition();
        this.engine.publish({ type: 'dataset', id: dataset.id, definition });
      },
    };
  }

  async #constructFunction(
    config: EntityConfig & { id: string },
    scope: ConstructionScope,
  ): Promise<FunctionEntity> {
    const type = this.types.functionType(this.#typeName('function', config));
    const completed = completeParams(type, config.params);
    type.check?.(completed);
    const params = await this.#resolve(type, completed, ALL_ROLES);
    const bound =
      type.binding(params) === 'creation'
        ? await this.compute('bind', { type: type.name, params }, { signal: scope.signal })
        : undefined;
    return new FunctionEntity({
      id: config.id,
      config,
      type,
      params,
      interface: bound?.interface,
      artifact: bound?.artifact,
      retire: (spans) => this.engine.snapshots.retireSpans(spans),
    });
  }

  async #constructProcedure(config: EntityConfig & { id: string }): Promise<ProcedureEntity> {
    const type = this.types.procedureType(this.#typeName('procedure', config));
    const params = completeParams(type, config.params);
    type.check?.(params);
    const given = config.params ?? {};
    const resolved = await this.#resolve(type, given, ['function', 'procedure'], config.id);
    return new ProcedureEntity({ id: config.id, config, type, resolved }, this.#procedureHost);
  }

  async #constructPlugin(
    config: EntityConfig & { id: string },
    scope: ConstructionScope,
  ): Promise<PluginEntity & StoredEntity> {
    const type = this.types.get('plugin', this.#typeName('plugin', config)) as PluginType;
    const params = completeParams(type, config.params);
    const plugin = await type.create(config, params, scope);
    return Object.assign(plugin, { resolved: config.params ?? {} });
  }

  readonly #procedureHost: ProcedureHost = {
    execute: (procedure, run, params, overrides) =>
      this.#executeRun(procedure, run, params, overrides),
    saveRun: (procedure, run) =>
      procedure.config.persistent === false
        ? Promise.resolve()
        : this.#persistence.saveRun(procedure.id, run.record()),
    forgetRun: (procedure, run) => this.#persistence.forgetRun(procedure.id, run.id),
    onRunEnd: (procedure, run) => {
      if (run.state !== 'error') return;
      const about = { procedure: procedure.id, run: run.id, err: run.error };
      this.logger.warn(about, `run '${run.id}' of procedure '${procedure.id}' failed`);
    },
  };

  async #executeRun(
    procedure: ProcedureEntity,
    run: Run,
    params: ProcedureParams,
    overrides: ProcedureParams,
  ): Promise<ProcedureResult> {
    const type = procedure.procedureType;
    if (type.execution === 'service') {
      return runOnMain(this, { procedure, type, run, params, overrides });
    }
    const resolved = await this.#resolve(type, params, RUN_ROLES);
    assert(run.startedAt !== undefined, 'a run that works was started');
    const { effects, ...outcome } = await this.compute(
      'procedure',
      { type: type.name, params: resolved, startedAt: run.startedAt },
      { signal: run.abort.signal, onProgress: (progress) => run.report(progress) },
    );
    await this.#applyEffects(effects);
    return outcome;
  }

  /** Registers everything that a run has made, or nothing. */
  async #applyEffects(effects: EngineTasks['procedure']['result']['effects']): Promise<void> {
    const datasets = effects.datasets.map(({ id, type, params, persistent, content }) => {
      const datasetType = this.types.datasetType(type);
      const completed = completeParams(datasetType, params);
      const config: EntityConfig & { id: string } = {
        id,
        type,
        ...(params === undefined ? {} : { params }),
        ...(persistent === undefined ? {} : { persistent }),
      };
      return new DatasetEntity(
        {
          id,
          config,
          type: datasetType,
          params: completed,
          resolved: completed,
          storeId: this.#persistence.nextStoreId(),
          content,
        },
        this.#datasetHost,
      );
    });
    const functions: FunctionEntity[] = [];
    try {
      for (const { id, ...config } of effects.functions) {
        assert(id !== undefined, 'a function that a run makes has an id');
        const scope = { signal: new AbortController().signal, progress() {} };
        functions.push(await this.#constructFunction({ ...config, id }, scope));
      }
      const kept = datasets.filter(({ config }) => config.persistent !== false);
      await Promise.all(kept.map((dataset) => this.#persistence.saveContent(dataset)));
    } catch (thrown) {
      for (const dataset of datasets) dataset.dispose();
      throw thrown;
    }
    await Promise.all([
      ...datasets.map((dataset) => this.datasets.install(dataset)),
      ...functions.map((entity) => this.functions.install(entity)),
    ]);
  }
}

const ALL_ROLES: readonly ReferenceRole[] = [
  'dataset',
  'table',
  'input-query',
  'function',
  'procedure',
];
/** What a procedure looks up when it runs; its steps it has looked up when it was created. */
const RUN_ROLES: readonly ReferenceRole[] = ['dataset', 'table', 'input-query'];
