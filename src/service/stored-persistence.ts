// Entities, runs and recorded rows in a durable map, committed content in files beside it.
//
// Keys: entity/<kind>/<name>, run/<procedure>/<run>, and for each dataset number
//   rows/<number>/<sequence>  a recorded batch
//   state/<number>            what the dataset's type remembers after all batches
//   content/<number>          which batches are committed, and which of them a file has taken over
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityKind } from '../dataset/entity-type.ts';
import { assert } from '../util/assert.ts';
import { parseJson, stringifyJson } from '../util/exact-json.ts';
import type { DatasetEntity } from './dataset-entity.ts';
import type { Engine } from './engine.ts';
import type { EntityRecord, KeptEntities, KeptRows, Persistence } from './persistence.ts';
import type { RunRecord } from './run.ts';
import { SerialQueue } from './serial-queue.ts';

export interface DurableChange {
  readonly key: string;
  /** undefined: the key is removed */
  readonly value: Uint8Array | undefined;
}

/** An ordered map of which changes survive the process once they are acknowledged. */
export interface DurableMap {
  /** Applies all changes or none; changes of later calls come after. Resolves when on the disk. */
  write(changes: readonly DurableChange[]): Promise<void>;
  /** Entries whose keys begin with the prefix, in the order of their keys. */
  entries(prefix: string): Iterable<readonly [key: string, value: Uint8Array]>;
  close(): Promise<void>;
}

/** Which part of a dataset's log has become content. */
interface ContentRecord {
  /** batches up to this one are committed */
  readonly committed: number;
  /** batches up to this one are in the file */
  readonly inFile: number;
  readonly file?: string;
  readonly fileState?: unknown;
}

interface DatasetLog {
  nextSequence: number;
  /** bytes of the batches that no file has taken over */
  sizeBytes: number;
  content: ContentRecord;
  stateText: string;
  readonly checkpoints: SerialQueue;
}

interface StoredEntityRecord extends EntityRecord {
  readonly order: number;
}

const NO_CONTENT: ContentRecord = { committed: 0, inFile: 0 };
/** A log longer than this is replaced by a file. */
const LOG_SIZE_MAX = 32 * 2 ** 20;
const NAME_LENGTH_MAX = 200;

export class StoredPersistence implements Persistence {
  readonly #map: DurableMap;
  readonly #directory: string;
  readonly #logs = new Map<number, DatasetLog>();
  readonly #storeIds = new Map<string, number>();
  #engine: Engine | undefined;
  #lastStoreId = 0;
  #lastOrder = 0;

  /** @param directory where content files are kept */
  constructor(map: DurableMap, directory: string) {
    this.#map = map;
    this.#directory = directory;
  }

  connect(engine: Engine): void {
    this.#engine = engine;
  }

  load(): KeptEntities {
    const entities = this.#loadEntities();
    const runs = [...this.#map.entries('run/')].map(([, value]) => fromBytes(value)) as {
      procedureId: string;
      run: RunRecord;
    }[];
    const kept = new Set(entities.flatMap(({ storeId }) => (storeId === undefined ? [] : storeId)));
    this.#removeOrphans(kept);
    return { entities, runs, rowsOf: (storeId) => this.#loadRows(storeId) };
  }

  #loadEntities(): (StoredEntityRecord & { kind: EntityKind })[] {
    const entities: (StoredEntityRecord & { kind: EntityKind })[] = [];
    for (const [key, value] of this.#map.entries('entity/')) {
      const kind = key.split('/')[1] as EntityKind;
      const record = fromBytes(value) as StoredEntityRecord;
      this.#lastOrder = Math.max(this.#lastOrder, record.order);
      if (record.storeId !== undefined) {
        this.#storeIds.set(record.config.id, record.storeId);
        this.#lastStoreId = Math.max(this.#lastStoreId, record.storeId);
      }
      entities.push({ ...record, kind });
    }
    return entities.sort((a, b) => a.order - b.order);
  }

  /** Rows of datasets whose creation was never acknowledged. */
  #removeOrphans(kept: ReadonlySet<number>): void {
    const found = new Set<number>();
    for (const prefix of ['rows/', 'state/', 'content/']) {
      for (const [key] of this.#map.entries(prefix)) found.add(Number.parseInt(part(key, 1), 16));
    }
    for (const storeId of found) {
      this.#lastStoreId = Math.max(this.#lastStoreId, storeId);
      if (!kept.has(storeId)) void this.#dropRows(storeId);
    }
  }

  #loadRows(storeId: number): KeptRows {
    const number = hex(storeId);
    const [content] = this.#map.entries(`content/${number}`);
    const [state] = this.#map.entries(`state/${number}`);
    const log = this.#logOf(storeId);
    if (content !== undefined) log.content = fromBytes(content[1]) as ContentRecord;
    if (state !== undefined) log.stateText = new TextDecoder().decode(state[1]);
    const committed: Uint8Array[] = [];
    const uncommitted: Uint8Array[] = [];
    for (const [key, batch] of this.#map.entries(`rows/${number}/`)) {
      const sequence = Number.parseInt(part(key, 2), 16);
      log.nextSequence = Math.max(log.nextSequence, sequence + 1);
      if (sequence <= log.content.inFile) continue;
      log.sizeBytes += batch.length;
      (sequence <= log.content.committed ? committed : uncommitted).push(shared(batch));
    }
    log.nextSequence = Math.max(log.nextSequence, log.content.committed + 1);
    return {
      file: log.content.file === undefined ? undefined : join(this.#directory, log.content.file),
      committed,
      uncommitted,
      state: log.stateText === '' ? null : parseJson(log.stateText),
      fileState: log.content.fileState ?? null,
    };
  }

  nextStoreId(): number {
    return ++this.#lastStoreId;
  }

  async saveEntity(kind: EntityKind, record: EntityRecord): Promise<void> {
    const { id } = record.config;
    const stored: StoredEntityRecord = { ...record, order: ++this.#lastOrder };
    const replaced = kind === 'dataset' ? this.#storeIds.get(id) : undefined;
    // A construction that is only asked for leaves the entity that it may replace.
    if (record.isPending === true && replaced !== undefined) return;
    if (kind === 'dataset' && record.storeId !== undefined) {
      this.#storeIds.set(id, record.storeId);
    }
    const changes: DurableChange[] = [{ key: entityKey(kind, id), value: toBytes(stored) }];
    if (kind === 'procedure') changes.push(...this.#removalOf(`run/${nameKey(id)}/`));
    await this.#map.write(changes);
    if (replaced !== undefined && replaced !== record.storeId) await this.#dropRows(replaced);
  }

  async forgetEntity(kind: EntityKind, id: string): Promise<void> {
    const changes: DurableChange[] = [{ key: entityKey(kind, id), value: undefined }];
    if (kind === 'procedure') changes.push(...this.#removalOf(`run/${nameKey(id)}/`));
    const storeId = kind === 'dataset' ? this.#storeIds.get(id) : undefined;
    this.#storeIds.delete(kind === 'dataset' ? id : '');
    await this.#map.write(changes);
    if (storeId !== undefined) await this.#dropRows(storeId);
  }

  #removalOf(prefix: string): DurableChange[] {
    return [...this.#map.entries(prefix)].map(([key]) => ({ key, value: undefined }));
  }

  async #dropRows(storeId: number): Promise<void> {
    const number = hex(storeId);
    const file = this.#logs.get(storeId)?.content.file ?? this.#fileOf(storeId);
    this.#logs.delete(storeId);
    await this.#map.write([
      ...this.#removalOf(`rows/${number}/`),
      ...this.#removalOf(`state/${number}`),
      ...this.#removalOf(`content/${number}`),
    ]);
    if (file !== undefined) rmSync(join(this.#directory, file), { force: true });
  }

  #fileOf(storeId: number): string | undefined {
    const [entry] = this.#map.entries(`content/${hex(storeId)}`);
    return entry === undefined ? undefined : (fromBytes(entry[1]) as ContentRecord).file;
  }

  async appendRows(dataset: DatasetEntity, batch: Uint8Array, state: unknown): Promise<void> {
    if (dataset.config.persistent === false) return;
    const { storeId } = dataset;
    const log = this.#logOf(storeId);
    const sequence = log.nextSequence++;
    log.sizeBytes += batch.length;
    const changes: DurableChange[] = [
      { key: `rows/${hex(storeId)}/${hex(sequence)}`, value: Uint8Array.from(batch) },
    ];
    const stateText = stringifyJson(state);
    if (stateText !== log.stateText) {
      log.stateText = stateText;
      const value = new TextEncoder().encode(stateText);
      changes.push({ key: `state/${hex(storeId)}`, value });
    }
    await this.#map.write(changes);
  }

  async markCommitted(dataset: DatasetEntity): Promise<void> {
    if (dataset.config.persistent === false) return;
    const log = this.#logOf(dataset.storeId);
    log.content = { ...log.content, committed: log.nextSequence - 1 };
    if (log.sizeBytes > LOG_SIZE_MAX) await this.#checkpoint(dataset, log);
    else await this.#writeContent(dataset.storeId, log.content);
  }

  async saveContent(dataset: DatasetEntity): Promise<void> {
    await this.#checkpoint(dataset, this.#logOf(dataset.storeId));
  }

  /** Writes the committed content to a file, which takes the place of its part of the log. */
  #checkpoint(dataset: DatasetEntity, log: DatasetLog): Promise<void> {
    return log.checkpoints.run(async () => {
      const { storeId, content } = dataset;
      const { committed } = log.content;
      const file = `${hex(storeId)}-${hex(committed)}.arrow`;
      assert(this.#engine !== undefined, 'the engine is connected before content is saved');
      await this.#engine.run('save', { content, path: join(this.#directory, file) });
      const previous = log.content.file;
      log.content = { committed, inFile: committed, file, fileState: content.state };
      log.sizeBytes = 0;
      log.stateText = stringifyJson(content.state);
      const number = hex(storeId);
      const taken = this.#removalOf(`rows/${number}/`).filter(
        ({ key }) => Number.parseInt(part(key, 2), 16) <= committed,
      );
      await this.#map.write([
        { key: `content/${number}`, value: toBytes(log.content) },
        { key: `state/${number}`, value: toBytes(content.state) },
        ...taken,
      ]);
      if (previous !== undefined && previous !== file) {
        rmSync(join(this.#directory, previous), { force: true });
      }
    });
  }

  #writeContent(storeId: number, content: ContentRecord): Promise<void> {
    return this.#map.write([{ key: `content/${hex(storeId)}`, value: toBytes(content) }]);
  }

  saveRun(procedureId: string, run: RunRecord): Promise<void> {
    const key = `run/${nameKey(procedureId)}/${nameKey(run.id)}`;
    return this.#map.write([{ key, value: toBytes({ procedureId, run }) }]);
  }

  forgetRun(procedureId: string, runId: string): Promise<void> {
    const key = `run/${nameKey(procedureId)}/${nameKey(runId)}`;
    return this.#map.write([{ key, value: undefined }]);
  }

  close(): Promise<void> {
    return this.#map.close();
  }

  #logOf(storeId: number): DatasetLog {
    let log = this.#logs.get(storeId);
    if (log === undefined) {
      log = {
        nextSequence: 1,
        sizeBytes: 0,
        content: NO_CONTENT,
        stateText: '',
        checkpoints: new SerialQueue(),
      };
      this.#logs.set(storeId, log);
    }
    return log;
  }
}

function entityKey(kind: EntityKind, id: string): string {
  return `entity/${kind}/${nameKey(id)}`;
}

/** A name as part of a key: without slashes, and of bounded length. */
function nameKey(name: string): string {
  const encoded = encodeURIComponent(name);
  if (encoded.length <= NAME_LENGTH_MAX) return encoded;
  return `#${createHash('sha256').update(name).digest('hex')}`;
}

function hex(number: number): string {
  return number.toString(16).padStart(12, '0');
}

function part(key: string, index: number): string {
  return key.split('/')[index] ?? '';
}

function toBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(stringifyJson(value));
}

function fromBytes(bytes: Uint8Array): unknown {
  return parseJson(new TextDecoder().decode(bytes));
}

/** A copy that threads can read. */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
