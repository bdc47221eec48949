// Entities as objects of the in-process API.

import type { ProcedureResult } from '../procedure/procedure-type.ts';
import { failure } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';
import { Path } from '../value/path.ts';
import type { LiveEntity } from './collection.ts';
import type { EntityConfig } from './config.ts';
import { MAIN_THREAD_SCOPE } from './engine.ts';
import type { Service } from './service.ts';
import { applyFunction } from './task/function.ts';

export interface EntityObjectHost {
  readonly service: Service;
  /** @returns the JSON of the reply. @throws RowanError for a failure */
  perform(verb: string, path: string, body?: unknown): Promise<unknown>;
}

/** A name as the recording routes take it: text is a printed path, an array its elements. */
export type Name = string | number | readonly string[];
export type CellTuple = readonly [name: Name, value: unknown, timestamp: unknown];

abstract class EntityObject<Entity extends LiveEntity> {
  readonly #id: string;
  protected readonly host: EntityObjectHost;

  constructor(id: string, host: EntityObjectHost) {
    this.#id = id;
    this.host = host;
  }

  protected abstract entity(): Entity;
  protected abstract readonly plural: string;

  id(): string {
    return this.#id;
  }

  async type(): Promise<string> {
    return this.entity().type;
  }

  async config(): Promise<EntityConfig> {
    return this.entity().config;
  }

  async status(): Promise<unknown> {
    await this.host.service.settle();
    const entity: LiveEntity = this.entity();
    await entity.refresh?.();
    return entity.status();
  }

  protected request(verb: string, subPath: string, body?: unknown): Promise<unknown> {
    const path = `/v1/${this.plural}/${encodeURIComponent(this.#id)}${subPath}`;
    return this.host.perform(verb, path, body);
  }
}

export class DatasetObject extends EntityObject<ReturnType<Service['datasets']['get']>> {
  protected readonly plural = 'datasets';

  protected entity() {
    return this.host.service.datasets.get(this.id());
  }

  async recordRow(rowName: Name, columns: readonly CellTuple[]): Promise<this> {
    await this.request('POST', '/rows', { rowName, columns: columns.map(jsonTuple) });
    return this;
  }

  async recordRows(rows: readonly (readonly [Name, readonly CellTuple[]])[]): Promise<this> {
    const body = rows.map(([name, cells]) => [name, cells.map(jsonTuple)]);
    await this.request('POST', '/multirows', body);
    return this;
  }

  async recordColumn(columnName: Name, rows: readonly CellTuple[]): Promise<this> {
    await this.request('POST', '/columns', { columnName, rows: rows.map(jsonTuple) });
    return this;
  }

  async recordColumns(columns: readonly (readonly [Name, readonly CellTuple[]])[]): Promise<this> {
    const body = columns.map(([name, cells]) => [name, cells.map(jsonTuple)]);
    await this.request('POST', '/multicolumns', body);
    return this;
  }

  async commit(): Promise<this> {
    await this.request('POST', '/commit', {});
    return this;
  }

  async getColumnPaths(): Promise<string[][]> {
    const names = (await this.request('GET', '/columns')) as string[];
    return names.map((name) => [...Path.parse(name).elements]);
  }

  async getTimestampRange(): Promise<[Date, Date]> {
    const [earliest, latest] = (await this.request('GET', '/timestampRange')) as [string, string];
    return [new Date(earliest), new Date(latest)];
  }
}

/** Dates of JavaScript become timestamps. */
function jsonTuple([name, value, ts]: CellTuple): unknown[] {
  return [
    name,
    value instanceof Date ? { ts: value.toISOString() } : value,
    ts instanceof Date ? ts.getTime() / 1000 : ts,
  ];
}

export class FunctionObject extends EntityObject<ReturnType<Service['functions']['get']>> {
  protected readonly plural = 'functions';

  protected entity() {
    return this.host.service.functions.get(this.id());
  }

  /**
   * Applies a prepared function at once. @returns plain JSON of the output
   * @throws INVALID_PARAMETER for a function that reads data; use `call` for those
   */
  callJson(input: Readonly<Record<string, unknown>>): unknown {
    if (!this.entity().isLight) {
      throw failure(
        'INVALID_PARAMETER',
        `function '${this.id()}' cannot be called synchronously: it is not prepared, or reads data`,
      );
    }
    const compiled = this.host.service.engine.mirror.compiledFunction(this.id());
    const call = { input, keepValues: [], format: 'json' } as const;
    return parseJson(applyFunction(compiled, call, MAIN_THREAD_SCOPE));
  }

  /** Applies any function. @returns plain JSON of the output */
  call(input: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.request('POST', '/application', { input, outputFormat: 'json' });
  }

  details(): Promise<unknown> {
    return this.request('GET', '/details');
  }
}

export class ProcedureObject extends EntityObject<ReturnType<Service['procedures']['get']>> {
  protected readonly plural = 'procedures';

  protected entity() {
    return this.host.service.procedures.get(this.id());
  }

  /** Runs it without an entry among its runs. @throws the failure of the run */
  async run(
    config: { readonly params?: Readonly<Record<string, unknown>> } = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<{ results?: unknown; details?: unknown }> {
    const { result, details }: ProcedureResult = await this.entity().runDetached(
      config.params ?? {},
      signal,
    );
    return {
      ...(result === undefined || result === null ? {} : { results: result }),
      ...(details === undefined || details === null ? {} : { details }),
    };
  }
}
