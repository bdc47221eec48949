// The datasets and functions of a data directory as a process sees them that only reads it.
import { typeName } from '../service/entity/entity-builder.ts';
import type { FunctionEntity } from '../service/entity/function-entity.ts';
import { LastContents } from '../service/persist/last-contents.ts';
import { type StoredEntity, StoredRecords } from '../service/persist/stored-records.ts';
import { SerialQueue } from '../service/serial-queue.ts';
import type { Service } from '../service/service.ts';
import { type ChangedRecord, storedVersion } from '../store/announcing-catalogue.ts';
import { assert } from '../util/assert.ts';

export interface FollowerOptions {
  readonly service: Service;
  /** functions that were saved up to this number were bound when the primary started */
  readonly startOrder: number;
  /** API keys were made or revoked */
  onKeys(): void;
}

/** Takes up what the primary has written, entity by entity, in the order of its write numbers. */
export class EntityFollower {
  readonly #service: Service;
  readonly #records: StoredRecords;
  readonly #startOrder: number;
  readonly #onKeys: () => void;
  readonly #bindings = new SerialQueue();
  readonly #contents: LastContents;
  /** ids of datasets by the number of their content */
  readonly #datasetIds = new Map<number, string>();
  /** changes that came before an earlier one */
  readonly #early = new Map<number, readonly ChangedRecord[]>();
  #applied = 0;
  #bindingCount = 0;

  constructor({ service, startOrder, onKeys }: FollowerOptions) {
    this.#service = service;
    this.#records = new StoredRecords(service.catalogue);
    this.#startOrder = startOrder;
    this.#onKeys = onKeys;
    this.#contents = new LastContents(service.engine.snapshots);
  }

  /** Takes up everything that is there. Datasets are read when they are needed. */
  async start(): Promise<void> {
    const { catalogue } = this.#service;
    catalogue.refresh();
    this.#applied = storedVersion(catalogue);
    const entities = this.#records.entities();
    for (const { kind, config } of entities) if (kind === 'dataset') this.#takeDataset(config.id);
    let left = entities.filter(({ kind }) => kind === 'function').map(({ config }) => config.id);
    // What is bound to others comes after them, wherever it stands.
    for (let before = Number.POSITIVE_INFINITY; left.length < before; ) {
      before = left.length;
      const missing: string[] = [];
      for (const id of left) {
        if (!(await this.#bindings.run(() => this.#takeFunction(id)))) missing.push(id);
      }
      left = missing;
    }
  }

  /** The last write that is taken up. */
  get appliedVersion(): number {
    return this.#applied;
  }

  /** Whether everything that was acknowledged by now is taken up. */
  isCurrent(): boolean {
    if (this.#bindingCount > 0) return false;
    const { catalogue } = this.#service;
    catalogue.refresh();
    return storedVersion(catalogue) === this.#applied;
  }

  /** Takes up a write. Each number comes once; those of before the start say nothing new. */
  apply(version: number, changed: readonly ChangedRecord[]): void {
    if (version <= this.#applied) return;
    this.#early.set(version, changed);
    this.#service.catalogue.refresh();
    for (;;) {
      const next = this.#early.get(this.#applied + 1);
      if (next === undefined) return;
      this.#early.delete(++this.#applied);
      for (const { table, key } of next) this.#take(table, key);
    }
  }

  #take(table: ChangedRecord['table'], [first = '', second = '']: readonly string[]): void {
    if (table === 'keys') this.#onKeys();
    else if (table === 'settings' && first === 'content') {
      const id = this.#datasetIds.get(Number(second));
      if (id !== undefined) this.#takeDataset(id);
    } else if (table === 'entities' && first === 'dataset') this.#takeDataset(second);
    else if (table === 'entities' && first === 'function') void this.#bindFunction(second);
  }

  #takeDataset(id: string): void {
    const { datasets, restoreTarget } = this.#service;
    const previous = datasets.find(id);
    if (previous !== undefined) {
      this.#datasetIds.delete(previous.storeId);
      void datasets.delete(id);
    }
    const record = this.#records.entity('dataset', id);
    if (previous !== undefined && record?.storeId !== previous.storeId) {
      this.#contents.drop(previous.storeId);
    }
    if (record === undefined) return;
    try {
      if (!this.#isShared(record)) return;
      assert(record.storeId !== undefined, 'a dataset is kept under a number');
      const kept = this.#records.kept(record.storeId);
      datasets.restore(restoreTarget.builder.keptDataset(record, kept, this.#contents));
      this.#datasetIds.set(record.storeId, id);
    } catch (thrown) {
      this.#leaveToPrimary('dataset', id, thrown);
    }
  }

  /** Views, and rows that are visible without a commit, are known to the primary alone. */
  #isShared({ config, resolved, isPending }: StoredEntity): boolean {
    if (isPending === true) return false;
    const { recording } = this.#service.types.datasetType(typeName('dataset', config));
    return recording?.visibility(resolved) === 'commit';
  }

  /** While a function is bound, nothing is current: queries may mention it anywhere. */
  async #bindFunction(id: string): Promise<void> {
    this.#bindingCount++;
    try {
      await this.#bindings.run(() => this.#takeFunction(id));
    } finally {
      this.#bindingCount--;
    }
  }

  /** @returns false when the primary has to answer for the function */
  async #takeFunction(id: string): Promise<boolean> {
    const { functions, catalogue } = this.#service;
    catalogue.refresh();
    const record = this.#records.entity('function', id);
    const entity = record === undefined ? undefined : await this.#build(record);
    if (entity === undefined) {
      await functions.delete(id);
      return record === undefined;
    }
    const previous = functions.find(id);
    functions.restore(entity);
    previous?.dispose();
    return true;
  }

  async #build(record: StoredEntity): Promise<FunctionEntity | undefined> {
    const { config, resolved: params, isPending, order } = record;
    try {
      const type = this.#service.types.functionType(typeName('function', config));
      if (isPending === true || type.reachesHost === true) return undefined;
      const { signal } = new AbortController();
      const { builder } = this.#service.restoreTarget;
      const entity = await builder.function(config, { signal }, { params });
      // The primary bound it to what there was then, which is gone here.
      const boundAt = Math.max(order, this.#startOrder);
      const isSame = entity.boundTo.every((id) => {
        const met = this.#records.entity('function', id);
        return met !== undefined && met.order <= boundAt;
      });
      if (isSame) return entity;
      entity.dispose();
    } catch (thrown) {
      this.#leaveToPrimary('function', config.id, thrown);
    }
    return undefined;
  }

  #leaveToPrimary(kind: string, id: string, error: unknown): void {
    this.#service.logger.debug(
      { logger: 'replica', kind, id, err: error },
      `${kind} '${id}' is left to the primary`,
    );
  }
}
