// The life of the entities of one kind: construction, replacement beside the old one, removal.
import type { EntityKind } from '../../dataset/entity-type.ts';
import type { EntityReference } from '../../schema/declare.ts';
import { errorBody, failure, type RowanError } from '../../util/error.ts';
import { automaticId, checkId } from '../id.ts';
import type { Role } from '../route/request.ts';
import { isCancellation } from '../run/cancellation.ts';
import type { EntityConfig } from './config.ts';
import {
  entityBusy,
  entityExists,
  entityMissing,
  entityNotObtained,
  entityNotReady,
  entityUnavailable,
} from './entity-error.ts';

/** An entity that works. */
export interface LiveEntity {
  readonly id: string;
  readonly type: string;
  /** the configuration as it was given, with the id */
  readonly config: EntityConfig;
  /** the role of its creator; default admin */
  readonly creatorRole?: Role;
  /** parameters with references resolved, for a restart; default those of the configuration */
  readonly resolved?: Readonly<Record<string, unknown>>;
  /** the type-specific member of the status document */
  status(): unknown;
  /** Brings what `status` tells up to date. @throws when that fails */
  refresh?(): Promise<void>;
  /** Called once when it was replaced or removed. */
  dispose(): void;
}

export interface ConstructionContext {
  readonly signal: AbortSignal;
  /** Reports progress; the first report ends `initializing`. */
  progress(document: unknown): void;
}

export type ConstructionState = 'initializing' | 'executing' | 'ok' | 'error' | 'cancelled';

/** What the collection asks of the service. */
export interface CollectionHooks<Entity extends LiveEntity> {
  construct(config: EntityConfig & { id: string }, scope: ConstructionContext): Promise<Entity>;
  /** The entity that other threads may use has changed. */
  publish(id: string, state: Entity | 'not-ready' | undefined): void;
  /** Makes the entity durable. Resolves when it is. */
  save(entity: Entity): Promise<void>;
  /** Makes durable that an asynchronous construction was asked for. */
  saveRequest(config: EntityConfig & { id: string }): Promise<void>;
  /** Makes the removal durable. */
  forget(id: string): Promise<void>;
  /** A construction that nobody waits for failed. */
  onFailure(id: string, error: unknown): void;
}

interface Build {
  readonly config: EntityConfig & { id: string };
  readonly abort: AbortController;
  state: ConstructionState;
  progress: unknown;
  error: unknown;
  /** settles when the work has stopped; never rejects */
  done: Promise<void>;
}

interface Entry<Entity> {
  readonly id: string;
  current: Entity | undefined;
  /** the build that GET shows: the latest one */
  shown: Build;
  readonly active: Set<Build>;
  isRemoved: boolean;
}

/**
 * Told of entries: `new` when one appears, `updated` when another entity has taken the place of
 * its own, `state` when its construction has got further, `deleted`.
 */
export type CollectionObserver = (
  change: 'new' | 'updated' | 'state' | 'deleted',
  id: string,
) => void;

export class EntityCollection<Entity extends LiveEntity> {
  readonly kind: EntityKind;
  readonly #hooks: CollectionHooks<Entity>;
  readonly #entries = new Map<string, Entry<Entity>>();
  readonly #observers = new Set<CollectionObserver>();

  constructor(kind: EntityKind, hooks: CollectionHooks<Entity>) {
    this.kind = kind;
    this.#hooks = hooks;
  }

  /** @returns what ends it */
  observe(observer: CollectionObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  #tell(change: Parameters<CollectionObserver>[0], id: string): void {
    for (const observer of this.#observers) observer(change, id);
  }

  /** Ids of all entries, whatever their state, sorted by bytes. */
  ids(): string[] {
    return [...this.#entries.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** Entities that work. */
  *live(): Iterable<Entity> {
    for (const { current } of this.#entries.values()) if (current !== undefined) yield current;
  }

  stateCounts(): Map<ConstructionState, number> {
    const counts = new Map<ConstructionState, number>();
    for (const { shown } of this.#entries.values()) {
      counts.set(shown.state, (counts.get(shown.state) ?? 0) + 1);
    }
    return counts;
  }

  find(id: string): Entity | undefined {
    return this.#entries.get(id)?.current;
  }

  /** The entity for a sub-route. @throws ENTITY_NOT_FOUND with the state that it is in */
  get(id: string): Entity {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      throw entityUnavailable(this.kind, id, 'missing', undefined, this.#entries.keys());
    }
    if (entry.current !== undefined) return entry.current;
    const { state } = entry.shown;
    const why = state === 'ok' ? 'missing' : state;
    throw entityUnavailable(this.kind, id, why, progressOf(entry.shown));
  }

  /** The entity for another entity or a query. @throws ENTITY_NOT_FOUND, ENTITY_NOT_READY */
  use(id: string): Entity {
    const entry = this.#entries.get(id);
    if (entry?.current !== undefined) return entry.current;
    if (entry !== undefined && entry.active.size > 0) throw entityNotReady(this.kind, id);
    throw entityMissing(this.kind, id, this.#entries.keys());
  }

  /**
   * Builds an entity, beside the one that has the id if there is one.
   * @returns the id, made up when the configuration has none: when built, or at once when `isAsync`
   * @throws ENTITY_BUSY; what construction throws; CANCELLED
   */
  async put(
    config: EntityConfig,
    options: { readonly isAsync?: boolean; readonly mustBeNew?: boolean } = {},
  ): Promise<string> {
    const id = config.id ?? automaticId();
    checkId(id);
    if (options.mustBeNew === true && this.#usable(id)) throw entityExists(this.kind, id);
    const build = this.#start({ ...config, id });
    if (options.isAsync === true) {
      await this.#hooks.saveRequest(build.config);
      void build.done.then(() => {
        if (build.state !== 'error') return;
        this.#hooks.onFailure(id, build.error);
        // What is kept would tell of an interruption that did not happen.
        if (this.#entries.get(id)?.current === undefined) void this.#hooks.forget(id);
      });
      return id;
    }
    await this.#finished(build);
    return id;
  }

  /** Finds an entity or, when a type is given, creates it. */
  async obtain(reference: EntityReference): Promise<Entity> {
    const { id, type } = reference;
    const entry = id === undefined ? undefined : this.#entries.get(id);
    if (entry?.current !== undefined) return entry.current;
    if (entry !== undefined && entry.active.size > 0) throw entityNotReady(this.kind, entry.id);
    if (type === undefined) {
      throw id === undefined
        ? failure(
            'INVALID_PARAMETER',
            `Attempt to obtain ${this.kind} without setting 'id' or 'type'`,
          )
        : nonexistent(this.kind, id);
    }
    const created = await this.put(reference);
    return this.use(created);
  }

  /** Registers an entity that a run has made, in place of any that has its id. */
  async install(entity: Entity): Promise<void> {
    checkId(entity.id);
    const build: Build = {
      config: { ...entity.config, id: entity.id },
      abort: new AbortController(),
      state: 'ok',
      progress: undefined,
      error: undefined,
      done: Promise.resolve(),
    };
    const entry = this.#entryFor(build);
    await this.#install(entry, build, entity);
  }

  /** Takes an entity that the store already has. */
  restore(entity: Entity): void {
    const build: Build = {
      config: { ...entity.config, id: entity.id },
      abort: new AbortController(),
      state: 'ok',
      progress: undefined,
      error: undefined,
      done: Promise.resolve(),
    };
    this.#entryFor(build).current = entity;
    this.#hooks.publish(entity.id, entity);
  }

  /** Restores an entry that cannot work, with the reason. */
  installFailure(config: EntityConfig & { id: string }, error: unknown): void {
    const build: Build = {
      config,
      abort: new AbortController(),
      state: 'error',
      progress: undefined,
      error,
      done: Promise.resolve(),
    };
    this.#entryFor(build);
  }

  /** An entity that worked has turned out not to. @returns false when it was not the current one */
  fail(entity: Entity, error: unknown): boolean {
    const entry = this.#entries.get(entity.id);
    if (entry?.current !== entity) return false;
    entry.current = undefined;
    if (entry.shown.state === 'ok') {
      entry.shown.state = 'error';
      entry.shown.error = error;
    }
    this.#hooks.publish(entity.id, undefined);
    this.#tell('state', entity.id);
    entity.dispose();
    return true;
  }

  /** Removes an entry; waits until the work of a first construction has stopped. */
  async delete(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const builds = [...entry.active];
    for (const build of builds) build.abort.abort();
    if (entry.current === undefined) await Promise.all(builds.map((build) => build.done));
    if (this.#entries.get(id) !== entry) return;
    this.#entries.delete(id);
    entry.isRemoved = true;
    const { current } = entry;
    entry.current = undefined;
    this.#hooks.publish(id, undefined);
    this.#tell('deleted', id);
    current?.dispose();
    await this.#hooks.forget(id);
  }

  /** Cancels every construction and waits for them. */
  async stop(): Promise<void> {
    const builds = [...this.#entries.values()].flatMap(({ active }) => [...active]);
    for (const build of builds) build.abort.abort();
    await Promise.all(builds.map((build) => build.done));
  }

  /** @throws ENTITY_NOT_FOUND about the entity itself */
  statusDocument(id: string): Record<string, unknown> {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw entityMissing(this.kind, id, this.#entries.keys());
    const { config, state } = entry.shown;
    const status = state === 'ok' ? entry.current?.status() : undefined;
    const progress = progressOf(entry.shown);
    return {
      id,
      ...(config.type === undefined ? {} : { type: config.type }),
      state,
      config,
      ...(status === undefined || status === null ? {} : { status }),
      ...(progress === undefined ? {} : { progress }),
    };
  }

  #usable(id: string): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && (entry.current !== undefined || entry.active.size > 0);
  }

  #entryFor(build: Build): Entry<Entity> {
    const { id } = build.config;
    const known = this.#entries.get(id);
    if (known !== undefined) {
      known.shown = build;
      return known;
    }
    const entry: Entry<Entity> = {
      id,
      current: undefined,
      shown: build,
      active: new Set(),
      isRemoved: false,
    };
    this.#entries.set(id, entry);
    this.#tell('new', id);
    return entry;
  }

  #start(config: EntityConfig & { id: string }): Build {
    const { id } = config;
    const known = this.#entries.get(id);
    if (known !== undefined && known.current === undefined && known.active.size > 0) {
      throw entityBusy(this.kind, id);
    }
    const build: Build = {
      config,
      abort: new AbortController(),
      state: 'initializing',
      progress: undefined,
      error: undefined,
      done: Promise.resolve(),
    };
    const entry = this.#entryFor(build);
    entry.active.add(build);
    if (entry.current === undefined) this.#hooks.publish(id, 'not-ready');
    build.done = this.#build(entry, build);
    return build;
  }

  async #build(entry: Entry<Entity>, build: Build): Promise<void> {
    const { signal } = build.abort;
    try {
      const entity = await this.#hooks.construct(build.config, {
        signal,
        progress: (document) => {
          const isFirst = build.state !== 'executing';
          build.state = 'executing';
          build.progress = document;
          if (isFirst) this.#tell('state', entry.id);
        },
      });
      if (signal.aborted || entry.isRemoved) {
        entity.dispose();
        throw entityNotObtained(this.kind, entry.id);
      }
      await this.#install(entry, build, entity);
    } catch (thrown) {
      build.state = isCancellation(thrown) ? 'cancelled' : 'error';
      build.error = thrown;
      if (entry.current === undefined && !entry.isRemoved) {
        this.#hooks.publish(entry.id, undefined);
      }
      if (!entry.isRemoved) this.#tell('state', entry.id);
    } finally {
      entry.active.delete(build);
    }
  }

  /** The new entity is visible before it is durable, and acknowledged after. */
  async #install(entry: Entry<Entity>, build: Build, entity: Entity): Promise<void> {
    const previous = entry.current;
    entry.current = entity;
    build.state = 'ok';
    this.#hooks.publish(entry.id, entity);
    this.#tell(previous === undefined ? 'state' : 'updated', entry.id);
    try {
      await this.#hooks.save(entity);
    } catch (thrown) {
      this.#takeBack(entry, entity, previous);
      throw thrown;
    }
    previous?.dispose();
  }

  /** What cannot be kept goes out of service again, for what there was before. */
  #takeBack(entry: Entry<Entity>, entity: Entity, previous: Entity | undefined): void {
    if (entry.current !== entity) {
      previous?.dispose();
      return;
    }
    entry.current = previous;
    this.#hooks.publish(entry.id, previous);
    entity.dispose();
  }

  async #finished(build: Build): Promise<void> {
    await build.done;
    if (build.state === 'error') throw build.error;
    if (build.state === 'cancelled') throw entityNotObtained(this.kind, build.config.id);
  }
}

export function nonexistent(kind: EntityKind, id: string): RowanError {
  return failure(
    'UNKNOWN_TYPE',
    { form: 'id', kind, id },
    {
      kind,
      id,
    },
  );
}

/** How far a build got and, when it failed, why. */
function progressOf({ state, progress, error }: Build): unknown {
  if (state === 'ok') return undefined;
  if (state !== 'error') return progress;
  return { ...asObject(progress), exception: errorBody(error) };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
