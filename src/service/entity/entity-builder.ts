// Builds entities from their configurations, from what a run has made, and from what was kept.
import type { DatasetContent, DatasetType, Params, View } from '../../dataset/dataset-type.ts';
import type { EntityKind, EntityType } from '../../dataset/entity-type.ts';
import { DEFAULT_OUTPUT } from '../../exec/output/options.ts';
import type { TaskOptions } from '../../exec/pool/engine-pool.ts';
import type { RunEffects } from '../../procedure/procedure-type.ts';
import type { EntityReference } from '../../schema/declare.ts';
import { assert } from '../../util/assert.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { Engine, EngineTaskOptions } from '../engine/engine.ts';
import type { EngineTasks } from '../engine/engine-task.ts';
import { automaticId } from '../id.ts';
import type { KeptContent } from '../persist/kept-content.ts';
import type { LastContents } from '../persist/last-contents.ts';
import type { EntityRecord } from '../persist/persistence.ts';
import { callerRole } from '../route/caller-role.ts';
import { runWithAtMost } from '../route/request-context.ts';
import { type ConstructionContext, type LiveEntity, nonexistent } from './collection.ts';
import { type EntityConfig, parseParams } from './config.ts';
import {
  ContinuousDataset,
  type ContinuousHost,
  nextPiece,
  type Pieces,
} from './continuous-dataset.ts';
import { type ContentSource, DatasetEntity, type DatasetOptions } from './dataset-entity.ts';
import { FunctionEntity } from './function-entity.ts';
import { checkFunctionName } from './function-name.ts';
import type { PluginEntity, PluginType } from './plugin-type.ts';
import { ProcedureEntity, type ProcedureHost } from './procedure-entity.ts';
import { type ReferenceRole, resolveReferences } from './references.ts';
import type { TypeRegistry } from './type-registry.ts';

export type NamedConfig = EntityConfig & { readonly id: string };

export interface BuilderHost {
  readonly types: TypeRegistry;
  readonly engine: Engine;
  readonly datasetHost: ContinuousHost;
  readonly procedureHost: ProcedureHost;
  compute<Kind extends keyof EngineTasks>(
    kind: Kind,
    args: EngineTasks[Kind]['args'],
    options?: EngineTaskOptions,
  ): Promise<EngineTasks[Kind]['result']>;
  obtain(kind: EntityKind, reference: EntityReference): Promise<LiveEntity>;
  nextStoreId(): number;
}

/** What the store knows better than the configuration. */
export interface Kept {
  /** parameters with references resolved */
  readonly params?: Params | undefined;
  readonly storeId?: number | undefined;
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
const STEP_ROLES: readonly ReferenceRole[] = ['function', 'procedure'];

/** Tasks wait until the content that they need is there, so it must not wait for them to end. */
const URGENT: TaskOptions = { isUrgent: true };

export class EntityBuilder {
  readonly #host: BuilderHost;

  constructor(host: BuilderHost) {
    this.#host = host;
  }

  /** @throws UNKNOWN_TYPE, and what is wrong with the parameters */
  async dataset(
    config: NamedConfig,
    scope: ConstructionContext,
    kept: Kept = {},
  ): Promise<DatasetEntity> {
    const type = this.#host.types.datasetType(typeName('dataset', config));
    const params = parseParams(type, kept.params ?? config.params);
    type.check?.(params);
    if (type.pieces !== undefined) return this.#stream(config, type, params);
    const resolved = await this.#resolve(type, params, ALL_ROLES);
    const content =
      type.view === undefined
        ? await this.#loadFile(type, resolved)
        : await this.#view(type, type.view, resolved, scope);
    const dataset = this.#datasetEntity(config, resolved, content, kept.storeId);
    if (kept.params === undefined) await dataset.prepare();
    return dataset;
  }

  async #view(
    type: DatasetType,
    view: View,
    params: Params,
    scope: ConstructionContext,
  ): Promise<DatasetContent> {
    const parts: DatasetEntity[] = [];
    try {
      for (const config of await this.#partsOf(view, params, scope)) {
        parts.push(await this.#part(config, scope));
      }
      const contents = await Promise.all(parts.map((part) => part.loaded()));
      return await this.#host.compute(
        'view',
        { type: type.name, params, parts: contents },
        { signal: scope.signal, onProgress: scope.progress },
      );
    } finally {
      for (const part of parts) part.dispose();
    }
  }

  /** The configurations of the datasets that a view is made of. */
  async #partsOf(
    view: View,
    params: Params,
    { signal }: ConstructionContext,
  ): Promise<EntityConfig[]> {
    const text = view.parts?.(params);
    if (text === undefined) return [];
    const chunks: Uint8Array[] = [];
    const output = { ...DEFAULT_OUTPUT, rowNames: false };
    await this.#host.compute(
      'query',
      { text, format: 'aos', output, columnOrder: 'name', strict: false },
      { signal, onChunk: (bytes) => void chunks.push(bytes.slice()) },
    );
    const rows = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { config: string }[];
    return rows.map(({ config }) => withLists(JSON.parse(config)) as EntityConfig);
  }

  /** A dataset that no name leads to. @throws FILE_NOT_FOUND when its file is missing */
  async #part({ type, params }: EntityConfig, scope: ConstructionContext): Promise<DatasetEntity> {
    const part = await this.dataset({ id: automaticId(), type, params } as NamedConfig, scope);
    const url = part.datasetType.file?.url(part.params);
    if (url === undefined || part.hasLoadedContent) return part;
    part.dispose();
    throw failure(
      'FILE_NOT_FOUND',
      { form: 'piece', url },
      {
        url,
      },
    );
  }

  /** A stream with its first piece. @throws what is wrong, with the part where */
  async #stream(config: NamedConfig, type: DatasetType, params: Params): Promise<DatasetEntity> {
    const step = async <Result>(part: string, work: () => Promise<Result>): Promise<Result> => {
      try {
        return await work();
      } catch (thrown) {
        throw withPrefix(thrown, `Error initializing continuous dataset in ${part}: `);
      }
    };
    const resolved: Record<string, unknown> = { ...params };
    for (const [name, part] of STREAM_PARAMETERS) {
      Object.assign(
        resolved,
        await step(part, () => this.#resolve(type, { [name]: params[name] }, ALL_ROLES)),
      );
    }
    const { datasetHost } = this.#host;
    const create = idOf(type.pieces?.(resolved).create);
    const live = await step('createStorageDataset initialization', () =>
      nextPiece(datasetHost, create),
    );
    return this.#streamEntity(config, type, resolved, { live: live.id, waiting: [] }, live);
  }

  /** A stream as it was kept. @throws while its live piece is not there */
  async keptStream({ config, resolved, storeId }: EntityRecord): Promise<DatasetEntity> {
    const type = this.#host.types.datasetType(typeName('dataset', config));
    const { pieces, ...params } = resolved as Params & { readonly pieces: Pieces };
    const live = await this.#host.datasetHost.obtainDataset({ id: pieces.live });
    return this.#streamEntity(config, type, params, pieces, live, storeId);
  }

  #streamEntity(
    config: NamedConfig,
    type: DatasetType,
    params: Params,
    pieces: Pieces,
    live: DatasetEntity,
    storeId = this.#host.nextStoreId(),
  ): DatasetEntity {
    assert(type.pieces !== undefined, `dataset type ${type.name} is a stream`);
    const { metadata, create, save, intervalMs } = type.pieces(params);
    return new ContinuousDataset(
      {
        ...{ id: config.id, config, type, params, storeId, creatorRole: callerRole() },
        ...{ pieces, live, intervalMs },
        metadata: idOf(metadata),
        createProcedure: idOf(create),
        saveProcedure: idOf(save),
      },
      this.#host.datasetHost,
    );
  }

  /** The content that a parameter says is in a file; none when the file is not there yet. */
  async #loadFile(type: DatasetType, params: Params): Promise<DatasetContent | undefined> {
    if (type.external?.url(params) !== undefined) {
      return this.#host.engine.run('loadExternal', { type: type.name, params });
    }
    const url = type.file?.url(params);
    if (type.file === undefined || type.file.isWrittenOnly === true || url === undefined) {
      return undefined;
    }
    return this.#host.engine.run('loadUrl', { type: type.name, url });
  }

  /**
   * A dataset whose content was saved; it is read at its first use.
   * @param last what was read before, which commits since are put on top of
   */
  keptDataset(
    record: EntityRecord,
    kept: KeptContent | undefined,
    last?: LastContents,
  ): DatasetEntity {
    const { config, resolved: params, storeId } = record;
    assert(storeId !== undefined, 'a dataset is kept under a number');
    const type = this.#host.types.datasetType(typeName('dataset', config));
    const source =
      kept === undefined ? undefined : this.keptSource({ type, params, storeId }, kept, last);
    return this.#datasetEntity(config, params, source, storeId);
  }

  /** Reads what was kept of a dataset, each time anew. */
  keptSource(
    { type, params, storeId }: Pick<DatasetOptions, 'type' | 'params' | 'storeId'>,
    kept: KeptContent,
    last?: LastContents,
  ): ContentSource {
    return {
      status: kept.status,
      load: async (isWhole) => {
        const known = last?.get(storeId);
        const { committed, isOnTop, ...parts } = kept.parts(known?.committed);
        const base = isOnTop ? known?.content : undefined;
        const args = {
          type: type.name,
          params,
          base,
          isWhole: isWhole || last !== undefined,
          ...parts,
        };
        const content = await this.#host.engine.run('open', args, URGENT);
        last?.keep(storeId, { content, committed });
        return content;
      },
    };
  }

  /** A dataset that a run has made. */
  datasetOfRun(effect: RunEffects['datasets'][number]): DatasetEntity {
    const { id, type, params, persistent, content } = effect;
    const config: NamedConfig = {
      id,
      type,
      ...(params === undefined ? {} : { params }),
      ...(persistent === undefined ? {} : { persistent }),
    };
    const completed = parseParams(this.#host.types.datasetType(type), params);
    return this.#datasetEntity(config, completed, content);
  }

  #datasetEntity(
    config: NamedConfig,
    params: Params,
    content: DatasetContent | ContentSource | undefined,
    storeId = this.#host.nextStoreId(),
  ): DatasetEntity {
    const type = this.#host.types.datasetType(typeName('dataset', config));
    return new DatasetEntity(
      {
        id: config.id,
        config,
        type,
        params,
        storeId,
        creatorRole: callerRole(),
        ...(content === undefined ? {} : 'load' in content ? { source: content } : { content }),
      },
      this.#host.datasetHost,
    );
  }

  /** @throws UNKNOWN_TYPE, what is wrong with the parameters, and what binding throws */
  async function(
    config: NamedConfig,
    { signal }: Pick<ConstructionContext, 'signal'>,
    kept: Kept = {},
  ): Promise<FunctionEntity> {
    const { types, engine } = this.#host;
    if (kept.params === undefined) checkFunctionName(engine.mirror, config.id);
    const type = types.functionType(typeName('function', config));
    const completed = parseParams(type, kept.params ?? config.params);
    type.check?.(completed);
    const params = await this.#resolve(type, completed, ALL_ROLES);
    const creatorRole = callerRole();
    const bind = (options?: TaskOptions) =>
      this.#host.compute('bind', { type: type.name, params }, options);
    const bound = type.binding(params) === 'creation' ? await bind({ signal }) : undefined;
    return new FunctionEntity({
      id: config.id,
      config,
      type,
      params,
      creatorRole,
      interface: bound?.interface,
      artifact: bound?.artifact,
      boundTo: bound?.met,
      bind: async () => (await runWithAtMost(creatorRole, bind)).interface,
      retire: (spans) => engine.snapshots.retireSpans(spans),
    });
  }

  /** @throws UNKNOWN_TYPE, and what is wrong with the parameters */
  async procedure(config: NamedConfig, kept: Kept = {}): Promise<ProcedureEntity> {
    const type = this.#host.types.procedureType(typeName('procedure', config));
    const params = parseParams(type, kept.params ?? config.params);
    type.check?.(params);
    const resolved = await this.#resolve(type, params, STEP_ROLES, config.id);
    return new ProcedureEntity(
      { id: config.id, config, type, resolved, creatorRole: callerRole() },
      this.#host.procedureHost,
    );
  }

  async plugin(config: NamedConfig, scope: ConstructionContext): Promise<PluginEntity> {
    const type = this.#host.types.get('plugin', typeName('plugin', config)) as PluginType;
    return type.create(config, parseParams(type, config.params), scope);
  }

  /** Parameters of a run with its datasets found or created. */
  runParams(type: EntityType, params: Params): Promise<Record<string, unknown>> {
    return this.#resolve(type, params, RUN_ROLES);
  }

  /** The functions that a run has made, each under its id. */
  async functionsOfRun({ functions }: RunEffects): Promise<FunctionEntity[]> {
    const { signal } = new AbortController();
    const entities: FunctionEntity[] = [];
    for (const { id, ...config } of functions) {
      assert(id !== undefined, 'a function that a run makes has an id');
      entities.push(await this.function({ ...config, id }, { signal }));
    }
    return entities;
  }

  #resolve(
    type: EntityType,
    params: Params,
    roles: readonly ReferenceRole[],
    selfId?: string,
  ): Promise<Record<string, unknown>> {
    return resolveReferences(type, params, {
      roles,
      ...(selfId === undefined ? {} : { selfId }),
      obtain: (kind, reference) => this.#host.obtain(kind, reference),
    });
  }
}

/** The parameters of a stream in the order in which they are looked up, with what messages say. */
const STREAM_PARAMETERS = [
  ['metadataDataset', 'metadata initialization'],
  ['createStorageDataset', 'createStorageDataset initialization'],
  ['saveStorageDataset', 'saveStorageDataset procedure initialization'],
] as const;

/** The id of a reference that was resolved. */
function idOf(reference: string | EntityReference | undefined): string {
  return typeof reference === 'string' ? reference : (reference?.id ?? '');
}

function withPrefix(thrown: unknown, prefix: string): unknown {
  if (!(thrown instanceof RowanError)) return thrown;
  const { code, httpCode, message, details, extra } = thrown;
  return new RowanError(code, httpCode, prefix + message, details, extra);
}

/** Lists that were flattened to columns are objects with keys from 0. */
function withLists(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json).map(([name, value]) => [name, withLists(value)] as const);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** @throws UNKNOWN_TYPE when there is none */
export function typeName(kind: EntityKind, config: NamedConfig): string {
  if (config.type === undefined || config.type === '') throw nonexistent(kind, config.id);
  return config.type;
}
