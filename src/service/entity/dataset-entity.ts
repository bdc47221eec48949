// A dataset in service: its committed content, and rows that were recorded since.
import type { DatasetContent, DatasetType, Params } from '../../dataset/dataset-type.ts';
import { NO_ROWS } from '../../dataset/no-rows.ts';
import { decodeBatch } from '../../dataset/recorded-batch.ts';
import type { RecordingForm } from '../../dataset/recording-json.ts';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { columnSpans, snapshotSize } from '../../value/column/snapshot-memory.ts';
import { Path } from '../../value/path.ts';
import type { ReadyDataset } from '../engine/definition.ts';
import type { Engine } from '../engine/engine.ts';
import { isWhole } from '../engine/lazy-columns.ts';
import type { Role } from '../route/request.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { LiveEntity } from './collection.ts';
import type { EntityConfig } from './config.ts';
import { entityMissing } from './entity-error.ts';
import { notRecordable } from './output-dataset.ts';

/** What a dataset needs from the service. */
export interface DatasetHost {
  readonly engine: Engine;
  /** Makes recorded rows durable. */
  appendRows(dataset: DatasetEntity, batch: Uint8Array, state: unknown): Promise<void>;
  /** Makes durable that everything recorded so far is committed. */
  markCommitted(dataset: DatasetEntity): Promise<void>;
  /** Other threads must see the new content. */
  published(dataset: DatasetEntity): void;
  /** It has rows that are visible to the next request, but not committed yet. */
  needsCommit(dataset: DatasetEntity): void;
  /** Where its content can be read again; undefined: nowhere. */
  keptSource(dataset: DatasetEntity): ContentSource | undefined;
  /** Its content was kept, but cannot be read. */
  unreadable(dataset: DatasetEntity, error: unknown): void;
}

/** Content that is read at its first use. */
export interface ContentSource {
  /** what the type tells of it; undefined: not known before it is read */
  readonly status: unknown;
  /**
   * @param isWhole false: values of columns may stay in the file until a thread looks at them
   * @throws DATA_ERROR, OUT_OF_MEMORY
   */
  load(isWhole: boolean): Promise<DatasetContent>;
}

/** Bytes of the columns that are read at once, and their share of the budget. */
const READ_SIZE_MAX = 16 * 2 ** 20;
const READ_SHARE_MAX = 1 / 16;
const READ_COUNT_MAX = 4096;

/** Of the budget: what the columns of a dataset take at most. The others are read by chunk. */
const RESIDENT_SHARE_MAX = 1 / 2;

/** A column of content that was opened, and the file of that content. */
export interface WantedColumn {
  readonly snapshotId: number;
  readonly file: string;
  readonly column: number;
  /** true: its chunks stay in the file */
  readonly isFrugal: boolean;
}

export interface DatasetOptions {
  readonly id: string;
  readonly config: EntityConfig;
  readonly type: DatasetType;
  /** complete, with references resolved */
  readonly params: Params;
  /** number of this dataset in the store */
  readonly storeId: number;
  readonly creatorRole: Role;
  readonly content?: DatasetContent;
  /** instead of `content` */
  readonly source?: ContentSource;
}

export class DatasetEntity implements LiveEntity {
  readonly id: string;
  readonly config: EntityConfig;
  readonly datasetType: DatasetType;
  readonly params: Params;
  readonly storeId: number;
  readonly creatorRole: Role;
  readonly #host: DatasetHost;
  readonly #queue = new SerialQueue();
  /** undefined: it is kept, and nobody has needed it yet or since it was evicted */
  #content: DatasetContent | undefined;
  #source: ContentSource | undefined;
  #loading: Promise<DatasetContent> | undefined;
  /** columns that are being read, by snapshot and number */
  readonly #readings = new Map<string, Promise<ColumnSnapshot>>();
  /** what the type remembers, with the rows that are not committed */
  #state: unknown;
  #pending: Uint8Array[] = [];
  readonly #pendingNames = new Set<string>();
  #isDisposed = false;
  /** called when other threads have been shown new content */
  onPublished: (() => void) | undefined;

  constructor(options: DatasetOptions, host: DatasetHost) {
    this.id = options.id;
    this.config = options.config;
    this.datasetType = options.type;
    this.params = options.params;
    this.storeId = options.storeId;
    this.creatorRole = options.creatorRole;
    this.#host = host;
    this.#source = options.source;
    const initialState = options.type.recording?.initialState ?? null;
    this.#state = options.content?.state ?? initialState;
    host.engine.uses.mark(options.storeId);
    if (options.source !== undefined) return;
    this.#content = options.content ?? { snapshot: NO_ROWS, state: initialState };
    host.engine.snapshots.hold(this.#content.snapshot);
  }

  get resolved(): Params {
    return this.params;
  }

  get type(): string {
    return this.config.type ?? this.datasetType.name;
  }

  /** The content, once it has been used. */
  get content(): DatasetContent {
    assert(this.#content !== undefined, 'content is loaded before it is used');
    return this.#content;
  }

  /** Reads all content unless it is there. @throws DATA_ERROR, OUT_OF_MEMORY */
  async loaded(): Promise<DatasetContent> {
    for (;;) {
      const content = await this.#read(true);
      if (isWhole(content)) return content;
    }
  }

  /** Reads the content unless it is there; columns may stay in the file. */
  opened(): Promise<DatasetContent> {
    return this.#read(false);
  }

  #read(all: boolean): Promise<DatasetContent> {
    this.#host.engine.uses.mark(this.storeId);
    const known = this.#content;
    if (known !== undefined && !(all && !isWhole(known))) return Promise.resolve(known);
    this.#loading ??= this.#load(all).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** A column of content that was opened, read unless it is there. @throws DATA_ERROR, OUT_OF_MEMORY */
  column(wanted: WantedColumn): Promise<ColumnSnapshot> {
    const known = this.#openedColumn(wanted);
    if (known !== undefined && known.isAbsent !== true) return Promise.resolve(known);
    const key = `${wanted.snapshotId} ${wanted.column} ${wanted.isFrugal}`;
    let reading = this.#readings.get(key);
    if (reading === undefined) {
      reading = this.#readColumn(wanted).finally(() => this.#readings.delete(key));
      this.#readings.set(key, reading);
    }
    return reading;
  }

  async #readColumn(wanted: WantedColumn): Promise<ColumnSnapshot> {
    const { engine } = this.#host;
    const { file, column: number } = wanted;
    const sizeBytes = Math.min(READ_SIZE_MAX, engine.arenas.budgetBytes * READ_SHARE_MAX);
    const room = { sizeBytes, roomBytes: this.#roomBytes(wanted) };
    const args = { file, wanted: [number, ...this.#absentBehind(wanted)], room };
    const read = await engine.run('columns', args, { isUrgent: true });
    for (const each of read) this.#addColumn({ ...wanted, column: each.number }, each.column);
    // One that another thread had read before stays; its content may have given way, too.
    return this.#openedColumn(wanted) ?? (read[0]?.column as ColumnSnapshot);
  }

  /** What more columns of this content may take in memory. */
  #roomBytes({ snapshotId, isFrugal }: WantedColumn): number {
    const snapshot = this.#content?.snapshot;
    if (isFrugal) return 0;
    const taken = snapshot?.id === snapshotId ? snapshotSize(snapshot) : 0;
    return this.#host.engine.arenas.budgetBytes * RESIDENT_SHARE_MAX - taken;
  }

  /** Columns that are read along with one: many small ones one by one would take long. */
  #absentBehind({ snapshotId, column }: WantedColumn): readonly number[] {
    const behind: number[] = [];
    for (let number = column + 1; behind.length < READ_COUNT_MAX; number++) {
      const known = this.#openedColumn({ snapshotId, column: number });
      if (known === undefined) break;
      if (known.isAbsent === true) behind.push(number);
    }
    return behind;
  }

  #addColumn(wanted: WantedColumn, column: ColumnSnapshot): void {
    const { snapshots } = this.#host.engine;
    const content = this.#content;
    if (this.#openedColumn(wanted)?.isAbsent === true && content?.snapshot.layout === 'columnar') {
      const snapshot = snapshots.addColumn(content.snapshot, wanted.column, column);
      this.#content = { ...content, snapshot };
    } else {
      // The content has given way, or another thread was first; the tasks that read it still may.
      snapshots.retireSpans(columnSpans(column));
    }
  }

  /** What is known of a column; undefined: that content is not there any more */
  #openedColumn({
    snapshotId,
    column,
  }: Pick<WantedColumn, 'snapshotId' | 'column'>): ColumnSnapshot | undefined {
    const snapshot = this.#content?.snapshot;
    const isSame = snapshot?.layout === 'columnar' && snapshot.id === snapshotId;
    return isSame && !this.#isDisposed ? snapshot.columns[column] : undefined;
  }

  async #load(isWhole: boolean): Promise<DatasetContent> {
    assert(this.#source !== undefined, 'content that is not there has a source');
    let content: DatasetContent;
    try {
      content = await this.#source.load(isWhole);
    } catch (thrown) {
      this.#host.unreadable(this, thrown);
      throw thrown;
    }
    const { snapshots } = this.#host.engine;
    snapshots.hold(content.snapshot);
    if (this.#isDisposed) {
      snapshots.release(content.snapshot);
      throw entityMissing('dataset', this.id);
    }
    const opened = this.#content;
    this.#content = content;
    this.#publish();
    if (opened !== undefined) snapshots.release(opened.snapshot);
    return content;
  }

  /**
   * Gives up content that can be read again at its next use.
   * @returns the bytes that it takes; 0 where it stays, because it is kept nowhere, is about to
   *   change, or is part of a stream, which shows it
   */
  evict(): number {
    const content = this.#content;
    const mayGo = content !== undefined && content.snapshot.id !== NO_ROWS.id;
    if (!mayGo || this.#isDisposed || !this.#queue.isIdle || this.onPublished !== undefined) {
      return 0;
    }
    const source = this.#host.keptSource(this);
    if (source === undefined) return 0;
    this.#source = { load: source.load, status: this.status() };
    this.#content = undefined;
    this.#publish();
    this.#host.engine.snapshots.release(content.snapshot);
    return snapshotSize(content.snapshot);
  }

  /** Has content read, and verified, anew whose file is not what it was. */
  reopen(file: string): void {
    const snapshot = this.#content?.snapshot;
    if (snapshot?.layout === 'columnar' && snapshot.file === file) this.evict();
  }

  #publish(): void {
    this.#host.published(this);
    this.onPublished?.();
  }

  status(): unknown {
    if (this.#content !== undefined) return this.datasetType.status(this.#content, this.params);
    return this.#source?.status;
  }

  /** Reads what only the content can tell. */
  async refresh(): Promise<void> {
    if (this.status() === undefined) await this.loaded();
  }

  definition(): ReadyDataset {
    const unreadable = this.datasetType.unreadable?.(this.#content?.state ?? this.#state);
    return {
      ...(unreadable === undefined ? {} : { unreadable }),
      ready: true,
      type: this.datasetType.name,
      params: this.params,
      storeId: this.storeId,
      content: this.#content,
    };
  }

  /**
   * Records the rows of a body; all of them or none.
   * @param part of a body that arrives in parts: the first line or row, the time of the request
   * @throws INVALID_PARAMETER and what the type refuses
   */
  record(
    form: RecordingForm,
    body: Uint8Array,
    part?: { readonly first: number; readonly ts: number },
  ): Promise<void> {
    const { recording } = this.datasetType;
    if (recording === undefined) return Promise.reject(notRecordable(this.type));
    return this.#queue.run(async () => {
      const { batch, rowCount, state, names } = await this.#host.engine.run('record', {
        form,
        body,
        part,
        type: this.datasetType.name,
        params: this.params,
        state: this.#state,
        content: recording.duplicateRow === undefined ? undefined : await this.loaded(),
      });
      if (rowCount === 0) return;
      const repeated = names?.find((name) => this.#pendingNames.has(name));
      if (repeated !== undefined) throw recording.duplicateRow?.(Path.parse(repeated));
      if (recording.sends === true) {
        await this.#send([batch]);
        return;
      }
      if (this.isExternal) {
        const { params } = this;
        await this.#host.engine.run('appendExternal', {
          type: this.datasetType.name,
          params,
          batch,
        });
      } else await this.#host.appendRows(this, batch, state);
      this.#addPending(batch, state, names);
    });
  }

  /** Makes ready where rows are sent to, for types that keep none. */
  async prepare(): Promise<void> {
    if (this.datasetType.recording?.sends === true) await this.#send([], true);
  }

  async #send(batches: readonly Uint8Array[], isFirst = false): Promise<void> {
    const { params } = this;
    await this.#host.engine.run(
      'commit',
      {
        ...{ type: this.datasetType.name, params, content: undefined, batches },
        ...{ state: this.#state, isFinal: false, isFirst },
      },
      { isRepeatable: false },
    );
  }

  /** Takes rows from the store again, after a restart. */
  restoreRows(batches: readonly Uint8Array[], state: unknown): void {
    this.#state = this.#source === undefined && batches.length === 0 ? this.#state : state;
    const isUnique = this.datasetType.recording?.duplicateRow !== undefined;
    for (const batch of batches) {
      const names = isUnique
        ? [...decodeBatch(batch)].map(({ name }) => name.toString())
        : undefined;
      this.#addPending(batch, state, names);
    }
  }

  #addPending(batch: Uint8Array, state: unknown, names: readonly string[] | undefined): void {
    this.#pending.push(batch);
    this.#state = state;
    for (const name of names ?? []) this.#pendingNames.add(name);
    if (this.datasetType.recording?.visibility(this.params) === 'write') {
      this.#host.needsCommit(this);
    }
  }

  /** true: a file of its own keeps the rows */
  get isExternal(): boolean {
    return this.datasetType.external?.url(this.params) !== undefined;
  }

  /** Makes everything recorded so far visible, and ends the recording where a commit does. */
  commit(): Promise<void> {
    return this.#commit(true);
  }

  /** Ends the recording where a commit does and none has. */
  async freeze(): Promise<void> {
    const { recording } = this.datasetType;
    if (recording?.freezes !== true || recording.isFrozen?.(this.#state) === true) return;
    await this.#commit(true);
  }

  /** Makes everything recorded so far visible, for types that show it without a commit. */
  show(): Promise<void> {
    return this.#commit(false);
  }

  /** @throws what the type refuses */
  #commit(isAsked: boolean): Promise<void> {
    const { recording } = this.datasetType;
    if (recording === undefined) return Promise.reject(notRecordable(this.type));
    return this.#queue.run(async () => {
      const isFinal = isAsked && recording.freezes === true;
      if (isFinal && recording.isFrozen?.(this.#state) === true) {
        throw failure('INVALID_PARAMETER', `dataset '${this.id}' was committed before`);
      }
      if (this.#pending.length === 0 && !isFinal) return;
      const batches = this.#pending;
      const { snapshots } = this.#host.engine;
      const previous = await this.loaded();
      const content = await this.#host.engine.run('commit', {
        type: this.datasetType.name,
        params: this.params,
        content: previous.snapshot.id === NO_ROWS.id ? undefined : previous,
        batches,
        state: this.#state,
        isFinal,
      });
      if (this.#isDisposed) {
        snapshots.discard(content.snapshot);
        return;
      }
      snapshots.hold(content.snapshot);
      this.#content = content;
      this.#state = content.state;
      this.#pending = [];
      this.#pendingNames.clear();
      this.#publish();
      snapshots.release(previous.snapshot);
      await this.#host.markCommitted(this);
      const url = this.datasetType.file?.url(this.params);
      if (url !== undefined && (isFinal || recording.freezes !== true)) await this.saveTo(url);
    });
  }

  /** Writes the committed content to a URL. */
  async saveTo(url: string): Promise<void> {
    const mark = this.datasetType.file?.mark;
    await this.#host.engine.run('saveUrl', { content: await this.loaded(), url, mark });
  }

  /** Writes the committed content to the file that the parameters name, if they do. */
  async saveFile(): Promise<void> {
    const url = this.datasetType.file?.url(this.params);
    if (url !== undefined) await this.saveTo(url);
  }

  /** true: content that no recorded rows lead to */
  get hasLoadedContent(): boolean {
    return this.content.snapshot.id !== NO_ROWS.id && this.#pending.length === 0;
  }

  dispose(): void {
    this.#isDisposed = true;
    if (this.#content === undefined) return;
    this.#host.engine.snapshots.release(this.#content.snapshot);
  }
}
