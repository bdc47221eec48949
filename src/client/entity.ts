// What the objects of all entities share.

import { RowanError } from '../util/error.ts';
import { encodePathElement } from '../util/path-element.ts';
import type { CallOptions } from './call-limit.ts';
import type { Caller, PerformOptions } from './caller.ts';

/** How an entity is described, see the reference of its type. */
export interface EntityConfig {
  readonly id?: string;
  readonly type?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** false: it does not come back after a restart */
  readonly persistent?: boolean;
  /** functions in SQL; false: evaluated for every row, even with constant arguments */
  readonly deterministic?: boolean;
}

export interface StatusDocument {
  readonly id: string;
  readonly type?: string;
  readonly state: 'initializing' | 'executing' | 'ok' | 'error' | 'cancelled';
  readonly config?: EntityConfig;
  /** what the type says of the entity */
  readonly status?: unknown;
  readonly progress?: unknown;
}

export type Plural = 'datasets' | 'functions' | 'procedures';

/** An entity by its id, whether it exists or not; nothing is asked before a method is called. */
export abstract class Entity {
  protected readonly caller: Caller;
  readonly #id: string;
  readonly #path: string;

  constructor(plural: Plural, id: string, caller: Caller) {
    this.caller = caller;
    this.#id = id;
    this.#path = `/v1/${plural}/${encodePathElement(id)}`;
  }

  id(): string {
    return this.#id;
  }

  /** Where it is. @param rest below it, with a slash */
  path(rest = ''): string {
    return this.#path + rest;
  }

  /** @throws ENTITY_NOT_FOUND */
  document(options?: CallOptions): Promise<StatusDocument> {
    return this.request('GET', '', options);
  }

  async type(): Promise<string | undefined> {
    return (await this.document()).type;
  }

  async config(): Promise<EntityConfig | undefined> {
    return (await this.document()).config;
  }

  /** What its type says of it. */
  async status<Status = unknown>(): Promise<Status> {
    return (await this.document()).status as Status;
  }

  /** Removes it; no error when it is gone already. */
  async delete(options?: CallOptions): Promise<void> {
    await this.request('DELETE', '', options);
  }

  protected request<T>(verb: string, rest: string, options?: PerformOptions): Promise<T> {
    return this.caller.request<T>(verb, this.path(rest), options);
  }
}

/** The entities of one kind. */
export class Collection<Handle extends Entity> {
  readonly #plural: Plural;
  readonly #caller: Caller;
  readonly #make: (id: string) => Handle;

  constructor(plural: Plural, caller: Caller, make: (id: string) => Handle) {
    this.#plural = plural;
    this.#caller = caller;
    this.#make = make;
  }

  /** The object for an id; whether there is such an entity shows when it is used. */
  get(id: string): Handle {
    return this.#make(id);
  }

  /** All ids, sorted. */
  list(options?: CallOptions): Promise<string[]> {
    return this.#caller.request('GET', `/v1/${this.#plural}`, options);
  }

  /** Creates one, or puts it in the place of another. */
  async put(config: EntityConfig, options?: CallOptions): Promise<Handle> {
    return this.#make(await this.#send(config, {}, options));
  }

  /** @throws ENTITY_EXISTS when there is one of that id */
  async create(config: EntityConfig, options?: CallOptions): Promise<Handle> {
    return this.#make(await this.#send(config, { 'if-none-match': '*' }, options));
  }

  /** The one of that id, whatever its configuration, or a new one. */
  async obtain(config: EntityConfig | string, options?: CallOptions): Promise<Handle> {
    const wanted = typeof config === 'string' ? { id: config } : config;
    const { id, type } = wanted;
    if (id !== undefined && (type === undefined || (await this.#isThere(id, options)))) {
      const handle = this.#make(id);
      await handle.document(options);
      return handle;
    }
    try {
      return await this.create(wanted, options);
    } catch (thrown) {
      // Another caller has created it in the meantime.
      if (id === undefined || !isCode(thrown, 'ENTITY_EXISTS', 'ENTITY_BUSY')) throw thrown;
      return this.#make(id);
    }
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#make(id).delete(options);
  }

  /** An entity that could not be built does not count. */
  async #isThere(id: string, options?: CallOptions): Promise<boolean> {
    try {
      const { state } = await this.#make(id).document(options);
      return state !== 'error' && state !== 'cancelled';
    } catch (thrown) {
      if (isCode(thrown, 'ENTITY_NOT_FOUND')) return false;
      throw thrown;
    }
  }

  async #send(
    config: EntityConfig,
    headers: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<string> {
    const call = { ...options, body: config, headers };
    const path = `/v1/${this.#plural}`;
    return (await this.#caller.request<StatusDocument>('POST', path, call)).id;
  }
}

function isCode(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof RowanError && codes.includes(thrown.code);
}

/** A collection whose entities are properties too; those named like its methods are not. */
export type Named<Handle extends Entity, Entities = Collection<Handle>> = Entities & {
  readonly [id: string]: Handle;
};

/**
 * A collection whose entities can also be had as members, for instance `datasets.flights`; members
 * of its own come first.
 */
export function named<Handle extends Entity, Entities extends Collection<Handle>>(
  collection: Entities & Collection<Handle>,
): Named<Handle, Entities> {
  return new Proxy(collection, {
    get(target, key) {
      // A promise that resolves with the collection asks whether it is a promise too.
      if (key === 'then') return undefined;
      if (typeof key === 'string' && !(key in target)) return target.get(key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as Named<Handle, Entities>;
}
