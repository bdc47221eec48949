// The entities of the service: a collection of each kind, and how they are built, kept and published.
import type { EntityKind } from '../../dataset/entity-type.ts';
import type { EntityReference } from '../../schema/declare.ts';
import { failure, RowanError } from '../../util/error.ts';
import { NOT_A_DATE, parseTimestamp } from '../../value/timestamp.ts';
import type { Engine } from '../engine/engine.ts';
import type { Logger } from '../logger.ts';
import type { Persistence } from '../persist/persistence.ts';
import type { RestoreTarget } from '../persist/restore.ts';
import { callerRole, requireEntityRole } from '../route/caller-role.ts';
import { callContext } from '../route/request-context.ts';
import { type CollectionHooks, EntityCollection, type LiveEntity } from './collection.ts';
import { ContentEviction } from './content-eviction.ts';
import { ContinuousDataset, type ContinuousHost } from './continuous-dataset.ts';
import { DatasetEntity } from './dataset-entity.ts';
import { type BuilderHost, EntityBuilder, typeName } from './entity-builder.ts';
import type { FunctionEntity } from './function-entity.ts';
import { checkFunctionName } from './function-name.ts';
import type { PendingCommits } from './pending-commits.ts';
import type { PluginEntity } from './plugin-type.ts';
import type { ProcedureEntity, ProcedureHost } from './procedure-entity.ts';
import type { TypeRegistry } from './type-registry.ts';

export interface EntitiesOptions {
  readonly types: TypeRegistry;
  readonly engine: Engine;
  readonly persistence: Persistence;
  readonly logger: Logger;
  readonly pendingCommits: PendingCommits;
  readonly procedureHost: ProcedureHost;
  readonly compute: BuilderHost['compute'];
}

export class Entities {
  readonly types: TypeRegistry;
  readonly builder: EntityBuilder;
  readonly datasets: EntityCollection<DatasetEntity>;
  readonly functions: EntityCollection<FunctionEntity>;
  readonly procedures: EntityCollection<ProcedureEntity>;
  readonly plugins: EntityCollection<PluginEntity>;
  readonly sensors: EntityCollection<LiveEntity>;
  readonly #options: EntitiesOptions;

  constructor(options: EntitiesOptions) {
    const { types, engine, persistence, procedureHost, compute } = options;
    this.#options = options;
    this.types = types;
    this.builder = new EntityBuilder({
      types,
      engine,
      datasetHost: this.#makeDatasetHost(),
      procedureHost,
      compute,
      obtain: (kind, reference) => this.obtain(kind, reference),
      nextStoreId: () => persistence.nextStoreId(),
    });
    this.datasets = new EntityCollection('dataset', {
      ...this.#storeHooks<DatasetEntity>('dataset'),
      construct: async (config, scope) => {
        const dataset = await this.builder.dataset(config, scope);
        const isKept =
          config.persistent !== false &&
          dataset.datasetType.view === undefined &&
          dataset.datasetType.pieces === undefined &&
          !dataset.isExternal;
        if (isKept && dataset.hasLoadedContent) await persistence.saveContent(dataset);
        return dataset;
      },
      publish: (id, state) => {
        const definition =
          state === 'not-ready' ? ({ ready: false } as const) : state?.definition();
        engine.publish({ type: 'dataset', id, definition });
      },
    });
    const eviction = new ContentEviction({
      uses: engine.uses,
      datasets: () => this.datasets.live(),
      onEvicted: ({ id }, sizeBytes) =>
        options.logger.info(
          { logger: 'dataset', id, sizeBytes },
          `memory is short: dataset '${id}' is read again at its next use`,
        ),
    });
    engine.makeRoom = (sizeBytes, before) => eviction.evict(sizeBytes, before);
    engine.onUnreadableFile = (file) => {
      for (const dataset of this.datasets.live()) dataset.reopen(file);
    };
    this.functions = new EntityCollection('function', {
      ...this.#storeHooks<FunctionEntity>('function'),
      construct: (config, scope) => this.builder.function(config, scope),
      publish: (id, state) => {
        const definition =
          state === 'not-ready' ? ({ ready: false } as const) : state?.definition();
        engine.publish({ type: 'function', id, definition });
      },
    });
    this.procedures = new EntityCollection('procedure', {
      ...this.#storeHooks<ProcedureEntity>('procedure'),
      construct: (config) => this.builder.procedure(config),
      publish() {},
    });
    this.plugins = new EntityCollection('plugin', {
      ...this.#storeHooks<PluginEntity>('plugin'),
      construct: (config, scope) => this.builder.plugin(config, scope),
      publish() {},
    });
    this.sensors = new EntityCollection('sensor', {
      ...this.#storeHooks<LiveEntity>('sensor'),
      construct: async (config) => {
        const type = types.get('sensor', typeName('sensor', config));
        throw failure('UNKNOWN_TYPE', { form: 'sensor', type: type.name });
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

  async obtain(kind: EntityKind, reference: EntityReference): Promise<LiveEntity> {
    const { id, type } = reference;
    const exists = id !== undefined && this.collection(kind).find(id) !== undefined;
    if (!exists) {
      requireEntityRole(this.types, { kind, type }, callerRole(), 'creating');
      // A name that cannot be had leaves no entry behind.
      const isNamedFunction = kind === 'function' && id !== undefined && type !== undefined;
      if (isNamedFunction) checkFunctionName(this.#options.engine.mirror, id);
    }
    return this.collection(kind).obtain(reference);
  }

  /** Removes an entity; a procedure's runs are cancelled first. */
  async remove(kind: EntityKind, id: string): Promise<void> {
    if (kind === 'procedure') await this.procedures.find(id)?.stopRuns();
    await this.collection(kind).delete(id);
  }

  /** Stops all constructions and runs, and lets plugins end. */
  async stop(): Promise<void> {
    const kinds: EntityKind[] = ['procedure', 'dataset', 'function', 'plugin', 'sensor'];
    await Promise.all([...this.procedures.live()].map((procedure) => procedure.stopRuns()));
    await Promise.all(kinds.map((kind) => this.collection(kind).stop()));
    for (const plugin of this.plugins.live()) plugin.dispose();
    for (const dataset of this.datasets.live()) {
      if (dataset instanceof ContinuousDataset) await dataset.stop();
    }
  }

  get restoreTarget(): RestoreTarget {
    return {
      types: this.types,
      builder: this.builder,
      datasets: this.datasets,
      functions: this.functions,
      procedures: this.procedures,
      plugins: this.plugins,
      collection: (kind) => this.collection(kind),
      saveRun: (procedureId, run) => this.#options.persistence.saveRun(procedureId, run),
      onFailure: (kind, id, error) =>
        this.#options.logger.warn(
          { logger: kind, id, err: error },
          `${kind} '${id}' could not be restored`,
        ),
    };
  }

  #storeHooks<Entity extends LiveEntity>(
    kind: EntityKind,
  ): Pick<CollectionHooks<Entity>, 'save' | 'saveRequest' | 'forget' | 'onFailure'> {
    const { persistence, logger } = this.#options;
    return {
      save: (entity) =>
        entity.config.persistent === false
          ? persistence.forgetEntity(kind, entity.id)
          : persistence.saveEntity(kind, {
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
          : persistence.saveEntity(kind, {
              config,
              resolved: config.params ?? {},
              isPending: true,
            }),
      forget: (id) => persistence.forgetEntity(kind, id),
      onFailure: (id, error) =>
        logger.warn({ logger: kind, id, err: error }, `construction of ${kind} '${id}' failed`),
    };
  }

  #makeDatasetHost(): ContinuousHost {
    const { engine, persistence, pendingCommits, logger, compute } = this.#options;
    const obtain = (kind: EntityKind, reference: EntityReference) => this.obtain(kind, reference);
    return {
      engine,
      appendRows: (dataset, batch, state) => persistence.appendRows(dataset, batch, state),
      markCommitted: (dataset) => persistence.markCommitted(dataset),
      keptSource: (dataset) => {
        const kept = persistence.keptContent(dataset);
        if (kept === undefined) return undefined;
        const { datasetType: type, params, storeId } = dataset;
        return this.builder.keptSource({ type, params, storeId }, kept);
      },
      needsCommit: (dataset) => pendingCommits.add(dataset),
      unreadable: (dataset, error) => {
        // A lack of memory passes; what is damaged stays so.
        if (!(error instanceof RowanError) || error.code !== 'DATA_ERROR') return;
        if (!this.datasets.fail(dataset, error)) return;
        const about = { logger: 'dataset', id: dataset.id, err: error };
        logger.warn(about, `dataset '${dataset.id}' could not be read`);
      },
      async runProcedure(id, overrides) {
        const signal = callContext()?.signal ?? new AbortController().signal;
        const procedure = (await obtain('procedure', { id })) as ProcedureEntity;
        return (await procedure.runDetached({ ...overrides }, signal)).result;
      },
      obtainDataset: async (reference) => (await obtain('dataset', reference)) as DatasetEntity,
      findDataset: (id) => this.datasets.find(id),
      removeDataset: (id) => this.datasets.delete(id),
      keep: (dataset) => this.#storeHooks<DatasetEntity>('dataset').save(dataset),
      async timeRange({ id }) {
        const chunks: Uint8Array[] = [];
        const reading = { what: 'timestampRange' } as const;
        const onChunk = (bytes: Uint8Array) => void chunks.push(bytes.slice());
        await compute('read', { dataset: id, reading }, { onChunk });
        const [earliest, latest] = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        return [
          parseTimestamp(earliest ?? '') ?? NOT_A_DATE,
          parseTimestamp(latest ?? '') ?? NOT_A_DATE,
        ];
      },
      onRotationFailure: (dataset, error) =>
        logger.warn(
          { logger: 'dataset', id: dataset.id, err: error },
          `a piece of dataset '${dataset.id}' could not be saved; it is tried again`,
        ),
      published: (dataset) => {
        if (this.datasets.find(dataset.id) !== dataset) return;
        const definition = dataset.definition();
        engine.publish({ type: 'dataset', id: dataset.id, definition });
      },
    };
  }
}
