// Entities, runs and recorded rows in the catalogue of a data directory, committed content in files
// beside it.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityKind } from '../../dataset/entity-type.ts';
import type { Catalogue, Change } from '../../store/catalogue.ts';
import { LOST_AND_FOUND } from '../../store/data-directory.ts';
import { moveOtherFiles, removeFile } from '../../store/durable-file.ts';
import { assert } from '../../util/assert.ts';
import { parseJson, stringifyJson } from '../../util/exact-json.ts';
import type { Engine } from '../engine/engine.ts';
import type { DatasetEntity } from '../entity/dataset-entity.ts';
import type { RunRecord } from '../run/run.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { KeptContent } from './kept-content.ts';
import type { EntityRecord, KeptEntities, KeptRows, Persistence } from './persistence.ts';
import {
  type ContentRecord,
  contentKey,
  decodeEntry,
  encodeEntry,
  logName,
  NO_CONTENT,
  type StoredEntity,
  StoredRecords,
  storeIdOf,
} from './stored-records.ts';

interface DatasetLog {
  /** bytes of the entries that no file has taken over */
  sizeBytes: number;
  content: ContentRecord;
  /** JSON of what the type remembers; a log entry holds it where it changes */
  stateText: string;
  readonly checkpoints: SerialQueue;
}

/** A log longer than this is replaced by a file. */
const LOG_SIZE_MAX = 32 * 2 ** 20;

export class StoredPersistence implements Persistence {
  readonly #catalogue: Catalogue;
  readonly #records: StoredRecords;
  readonly #directory: string;
  readonly #logs = new Map<number, DatasetLog>();
  readonly #storeIds = new Map<string, number>();
  #together: { readonly changes: Change[]; readonly written: Promise<void> } | undefined;
  #engine: Engine | undefined;
  #lastStoreId = 0;
  #lastOrder = 0;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
    this.#records = new StoredRecords(catalogue);
    this.#directory = this.#records.directory;
    mkdirSync(this.#directory, { recursive: true });
  }

  connect(engine: Engine): void {
    this.#engine = engine;
  }

  load(): KeptEntities {
    const entities = this.#loadEntities();
    const runs = [...this.#catalogue.list('runs')].map(({ key, value }) => ({
      procedureId: key[0] as string,
      run: value as RunRecord,
    }));
    this.#removeOrphans(new Set(this.#storeIds.values()));
    return { entities, runs, rowsOf: (storeId) => this.#loadRows(storeId) };
  }

  #loadEntities(): StoredEntity[] {
    const entities = this.#records.entities();
    for (const { config, storeId, order } of entities) {
      this.#lastOrder = Math.max(this.#lastOrder, order);
      if (storeId === undefined) continue;
      this.#storeIds.set(config.id, storeId);
      this.#lastStoreId = Math.max(this.#lastStoreId, storeId);
    }
    return entities;
  }

  /**
   * Removes rows and files of datasets whose creation was never acknowledged. A file that the
   * catalogue does not know is moved away, never deleted.
   */
  #removeOrphans(kept: ReadonlySet<number>): void {
    const found = new Set<number>();
    const files = new Set<string>();
    for (const log of this.#catalogue.logs()) found.add(storeIdOf(log));
    for (const { key, value } of this.#catalogue.list('settings', ['content'])) {
      const storeId = Number(key[1]);
      found.add(storeId);
      const { file } = value as ContentRecord;
      if (kept.has(storeId) && file !== undefined) files.add(file);
    }
    for (const storeId of found) {
      this.#lastStoreId = Math.max(this.#lastStoreId, storeId);
      if (!kept.has(storeId)) void this.#dropRows(storeId);
    }
    const lostAndFound = join(this.#directory, '..', LOST_AND_FOUND);
    moveOtherFiles(this.#directory, files, lostAndFound);
  }

  /** Reads uncommitted rows at once; committed content is read at its first use. */
  #loadRows(storeId: number): KeptRows {
    const log = this.#logOf(storeId);
    const content = this.#records.kept(storeId);
    log.content = this.#records.content(storeId);
    const { committed, inFile, state, logSizeBytes = 0 } = log.content;
    const isDescribed = state !== undefined;
    log.sizeBytes = isDescribed ? logSizeBytes : 0;
    log.stateText = stringifyJson(isDescribed ? state : (log.content.fileState ?? null));
    const uncommitted: Uint8Array[] = [];
    for (const { sequence, bytes } of this.#records.entries(
      storeId,
      isDescribed ? committed : inFile,
    )) {
      const { batch, stateText } = decodeEntry(bytes);
      log.sizeBytes += bytes.length;
      log.stateText = stateText ?? log.stateText;
      if (sequence > committed) uncommitted.push(batch);
    }
    return { content, uncommitted, state: parseJson(log.stateText) };
  }

  keptContent({ config, storeId }: DatasetEntity): KeptContent | undefined {
    return config.persistent === false ? undefined : this.#records.kept(storeId);
  }

  nextStoreId(): number {
    return ++this.#lastStoreId;
  }

  async saveEntity(kind: EntityKind, record: EntityRecord): Promise<void> {
    const { id } = record.config;
    const replaced = kind === 'dataset' ? this.#storeIds.get(id) : undefined;
    // A construction that is only asked for leaves the entity that it may replace.
    if (record.isPending === true && this.#catalogue.get('entities', [kind, id]) !== undefined) {
      return;
    }
    if (kind === 'dataset' && record.storeId !== undefined) this.#storeIds.set(id, record.storeId);
    const value: EntityRecord = { ...record, order: ++this.#lastOrder };
    try {
      await this.#write([
        { type: 'put', table: 'entities', key: [kind, id], value },
        ...this.#removalOfRuns(kind, id),
      ]);
    } catch (thrown) {
      if (replaced === undefined) this.#storeIds.delete(id);
      else this.#storeIds.set(id, replaced);
      throw thrown;
    }
    if (replaced !== undefined && replaced !== record.storeId) await this.#dropRows(replaced);
  }

  async forgetEntity(kind: EntityKind, id: string): Promise<void> {
    const storeId = kind === 'dataset' ? this.#storeIds.get(id) : undefined;
    if (kind === 'dataset') this.#storeIds.delete(id);
    await this.#write([
      { type: 'remove', table: 'entities', key: [kind, id] },
      ...this.#removalOfRuns(kind, id),
    ]);
    if (storeId !== undefined) await this.#dropRows(storeId);
  }

  /** A procedure that is put again, or is gone, has no runs. */
  #removalOfRuns(kind: EntityKind, id: string): Change[] {
    if (kind !== 'procedure') return [];
    return [...this.#catalogue.list('runs', [id])].map(({ key }) => ({
      type: 'remove',
      table: 'runs',
      key,
    }));
  }

  async #dropRows(storeId: number): Promise<void> {
    const key = contentKey(storeId);
    const content = this.#catalogue.get('settings', key) as ContentRecord | undefined;
    this.#logs.delete(storeId);
    await this.#catalogue.write([
      { type: 'drop', log: logName(storeId) },
      { type: 'remove', table: 'settings', key },
    ]);
    await this.#removeFile(content?.file);
  }

  async appendRows(dataset: DatasetEntity, batch: Uint8Array, state: unknown): Promise<void> {
    if (dataset.config.persistent === false) return;
    const log = this.#logOf(dataset.storeId);
    const stateText = stringifyJson(state);
    const entry = encodeEntry(batch, stateText === log.stateText ? undefined : stateText);
    log.stateText = stateText;
    log.sizeBytes += entry.length;
    await this.#catalogue.append(logName(dataset.storeId), entry);
  }

  async markCommitted(dataset: DatasetEntity): Promise<void> {
    if (dataset.config.persistent === false) return;
    const { storeId } = dataset;
    const log = this.#logOf(storeId);
    const committed = this.#catalogue.lastSequence(logName(storeId));
    log.content = {
      ...log.content,
      committed,
      state: dataset.content.state,
      status: dataset.status(),
      logSizeBytes: log.sizeBytes,
    };
    if (log.sizeBytes > LOG_SIZE_MAX) {
      await this.#checkpoint(dataset, log);
      return;
    }
    await this.#catalogue.write([putContent(storeId, log.content)]);
  }

  async saveContent(dataset: DatasetEntity, signal?: AbortSignal): Promise<void> {
    await this.#checkpoint(dataset, this.#logOf(dataset.storeId), signal);
  }

  discardContent({ storeId }: DatasetEntity): Promise<void> {
    return this.#dropRows(storeId);
  }

  /** Writes the committed content to a file, which takes the place of its part of the log. */
  #checkpoint(dataset: DatasetEntity, log: DatasetLog, signal?: AbortSignal): Promise<void> {
    return log.checkpoints.run(async () => {
      const { storeId, content } = dataset;
      const status = dataset.status();
      const { committed, file: previous } = log.content;
      const file = `${storeId}-${committed}.arrow`;
      assert(this.#engine !== undefined, 'the engine is connected before content is saved');
      const path = join(this.#directory, file);
      await this.#engine.run('save', { content, path }, signal === undefined ? {} : { signal });
      const { state } = content;
      log.content = {
        ...{ committed, inFile: committed, file, fileState: state, state, status },
        fileSizeBytes: statSync(path).size,
      };
      log.sizeBytes = 0;
      log.stateText = stringifyJson(content.state);
      await this.#catalogue.write([
        putContent(storeId, log.content),
        { type: 'truncate', log: logName(storeId), through: committed },
      ]);
      if (previous !== file) await this.#removeFile(previous);
    });
  }

  /**
   * Waits, without its caller, for tasks that may still read columns from the file. A file that comes
   * back after a crash belongs to nobody, and is moved away at the next start.
   */
  async #removeFile(file: string | undefined): Promise<void> {
    if (file === undefined) return;
    const path = join(this.#directory, file);
    const snapshots = this.#engine?.snapshots;
    if (snapshots?.hasTasks !== true) await removeFile(path);
    else snapshots.afterTasks(() => void removeFile(path).catch(() => undefined));
  }

  saveRun(procedureId: string, run: RunRecord): Promise<void> {
    const key = [procedureId, run.id];
    return this.#write([{ type: 'put', table: 'runs', key, value: run }]);
  }

  forgetRun(procedureId: string, runId: string): Promise<void> {
    return this.#write([{ type: 'remove', table: 'runs', key: [procedureId, runId] }]);
  }

  together<Result>(work: () => Result): Result {
    assert(this.#together === undefined, 'what is written together is asked for at once');
    const changes: Change[] = [];
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = () => resolve(changes.length === 0 ? undefined : this.#catalogue.write(changes));
    });
    this.#together = { changes, written };
    try {
      return work();
    } finally {
      this.#together = undefined;
      write();
    }
  }

  #write(changes: readonly Change[]): Promise<void> {
    if (this.#together === undefined) return this.#catalogue.write(changes);
    this.#together.changes.push(...changes);
    return this.#together.written;
  }

  #logOf(storeId: number): DatasetLog {
    let log = this.#logs.get(storeId);
    if (log === undefined) {
      log = {
        sizeBytes: 0,
        content: NO_CONTENT,
        stateText: 'null',
        checkpoints: new SerialQueue(),
      };
      this.#logs.set(storeId, log);
    }
    return log;
  }
}

function putContent(storeId: number, value: ContentRecord): Change {
  return { type: 'put', table: 'settings', key: contentKey(storeId), value };
}
