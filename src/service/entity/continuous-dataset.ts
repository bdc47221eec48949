// A stream that is recorded in pieces: each is a dataset of its own, and is saved and listed once the
// next has taken its place. What is kept says which piece is live and which wait to be saved, before
// rows go to a new piece: whatever a crash interrupts goes on after it.
import type { DatasetContent } from '../../dataset/dataset-type.ts';
import type { RecordingForm } from '../../dataset/recording-json.ts';
import { failure } from '../../util/error.ts';
import type { ColumnSnapshot, Snapshot } from '../../value/column/snapshot.ts';
import { printTimestamp } from '../../value/timestamp.ts';
import type { ReadyDataset } from '../engine/definition.ts';
import { runForService, runWithAtMost } from '../route/request-context.ts';
import { SerialQueue } from '../serial-queue.ts';
import {
  DatasetEntity,
  type DatasetHost,
  type DatasetOptions,
  type WantedColumn,
} from './dataset-entity.ts';

/** The pieces of a stream, as they are kept. */
export interface Pieces {
  /** id of the dataset that is being recorded into */
  readonly live: string;
  /** ids of those that wait to be saved, oldest first */
  readonly waiting: readonly string[];
}

/** What a stream needs, beside what all datasets need. */
export interface ContinuousHost extends DatasetHost {
  /** Runs a procedure. @throws what it fails with */
  runProcedure(id: string, overrides: object): Promise<unknown>;
  /** A dataset that exists, or a new one. */
  obtainDataset(reference: object): Promise<DatasetEntity>;
  findDataset(id: string): DatasetEntity | undefined;
  removeDataset(id: string): Promise<void>;
  /** Makes durable what `resolved` says. */
  keep(dataset: DatasetEntity): Promise<void>;
  /** [earliest, latest] of the rows of a dataset, in seconds */
  timeRange(dataset: DatasetEntity): Promise<readonly [number, number]>;
  onRotationFailure(dataset: DatasetEntity, error: unknown): void;
}

export interface ContinuousOptions extends DatasetOptions {
  readonly metadata: string;
  readonly createProcedure: string;
  readonly saveProcedure: string;
  /** 0: by commit alone */
  readonly intervalMs: number;
  readonly pieces: Pieces;
  readonly live: DatasetEntity;
}

export class ContinuousDataset extends DatasetEntity {
  readonly #host: ContinuousHost;
  readonly #options: ContinuousOptions;
  readonly #rotations = new SerialQueue();
  readonly #timer: NodeJS.Timeout | undefined;
  /** recordings that have begun and not ended */
  readonly #writes = new Set<Promise<void>>();
  #live: DatasetEntity;
  #waiting: readonly string[];
  /** what other threads see: it stays readable when the live piece is removed */
  #shown: Snapshot | undefined;

  constructor(options: ContinuousOptions, host: ContinuousHost) {
    super(options, host);
    this.#host = host;
    this.#options = options;
    this.#live = options.live;
    this.#waiting = options.pieces.waiting;
    this.#follow(options.live);
    this.#showRows(options.live);
    if (options.intervalMs === 0) return;
    const rotate = () =>
      runForService(() => runWithAtMost(this.creatorRole, () => this.commit())).catch((error) =>
        host.onRotationFailure(this, error),
      );
    this.#timer = setInterval(rotate, options.intervalMs).unref();
  }

  override get resolved() {
    return { ...this.params, pieces: { live: this.#live.id, waiting: this.#waiting } };
  }

  override get content(): DatasetContent {
    return this.#live.content;
  }

  override loaded(): Promise<DatasetContent> {
    return this.#live.loaded();
  }

  override opened(): Promise<DatasetContent> {
    return this.#live.opened();
  }

  override column(wanted: WantedColumn): Promise<ColumnSnapshot> {
    return this.#live.column(wanted);
  }

  override status(): unknown {
    return this.#live.status();
  }

  override definition(): ReadyDataset {
    const definition = this.#live.definition();
    this.#hold(definition.content?.snapshot);
    return definition;
  }

  override async record(
    form: RecordingForm,
    body: Uint8Array,
    part?: { readonly first: number; readonly ts: number },
  ): Promise<void> {
    const live = this.#live;
    const write = live.record(form, body, part);
    this.#writes.add(write);
    try {
      await write;
    } finally {
      this.#writes.delete(write);
    }
    this.#showRows(live);
  }

  /** The next query sees the rows, unless a commit of the piece could refuse them. */
  #showRows(live: DatasetEntity): void {
    const { recording } = live.datasetType;
    if (recording?.mayRefuseAtCommit === true || recording?.freezes === true) return;
    this.#host.needsCommit(live);
  }

  /** Saves what was recorded, while the next piece is recorded. */
  override commit(): Promise<void> {
    return this.#rotations.run(async () => {
      if (await hasRows(this.#live)) await this.#rotate();
      await this.#saveWaiting();
    });
  }

  async #rotate(): Promise<void> {
    const old = this.#live;
    const next = await nextPiece(this.#host, this.#options.createProcedure);
    if (next.id === old.id || this.#waiting.includes(next.id)) {
      throw failure(
        'INVALID_PARAMETER',
        `createStorageDataset gave dataset '${next.id}' again, which is not saved yet: each piece needs a dataset of its own`,
      );
    }
    // Kept first: rows that the next piece acknowledges are found after a crash.
    const waiting = this.#waiting;
    this.#live = next;
    this.#waiting = [...waiting, old.id];
    try {
      await this.#host.keep(this);
    } catch (thrown) {
      this.#live = old;
      this.#waiting = waiting;
      throw thrown;
    }
    old.onPublished = undefined;
    this.#follow(next);
    this.#host.published(this);
    await Promise.allSettled(this.#writes);
  }

  /** Saves the pieces that wait, and lists them. One that cannot be saved goes on waiting. */
  async #saveWaiting(): Promise<void> {
    for (const id of this.#waiting) {
      const piece = this.#host.findDataset(id);
      if (piece !== undefined && (await hasRows(piece))) await this.#save(piece);
      this.#waiting = this.#waiting.filter((other) => other !== id);
      await this.#host.keep(this);
      if (piece !== undefined) await this.#host.removeDataset(id);
    }
  }

  async #save(piece: DatasetEntity): Promise<void> {
    // Types that a commit freezes are read once the procedure has frozen them.
    const isReadable = piece.datasetType.unreadable === undefined;
    const early = isReadable ? await this.#host.timeRange(piece) : undefined;
    const { saveProcedure, metadata } = this.#options;
    const saved = await this.#host.runProcedure(saveProcedure, { args: { datasetId: piece.id } });
    const config = configOf(saved, 'saveStorageDataset');
    if (!isReadable) await piece.freeze();
    const [earliest, latest] = early ?? (await this.#host.timeRange(piece));
    const list = await this.#host.obtainDataset({ id: metadata });
    const { metadata: about } = saved as { readonly metadata?: unknown };
    const columns: unknown[] = [];
    // Of the time of the data: listing a piece again after a crash changes nothing.
    const add = (path: readonly string[], value: unknown) =>
      columns.push([path, value, timeJson(latest)]);
    flattenJson(['config'], config, add);
    if (about !== undefined) flattenJson(['metadata'], about, add);
    add(['earliest'], { ts: timeJson(earliest) });
    add(['latest'], { ts: timeJson(latest) });
    await list.record('rows', Buffer.from(JSON.stringify({ rowName: [piece.id], columns })));
    if (list.datasetType.recording?.freezes !== true) await list.commit();
  }

  #follow(piece: DatasetEntity): void {
    piece.onPublished = () => this.#host.published(this);
  }

  #hold(snapshot: Snapshot | undefined): void {
    if (snapshot?.id === this.#shown?.id) return;
    const { snapshots } = this.#host.engine;
    if (snapshot !== undefined) snapshots.hold(snapshot);
    if (this.#shown !== undefined) snapshots.release(this.#shown);
    this.#shown = snapshot;
  }

  /** Ends what the interval starts. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#rotations.run(async () => undefined);
  }

  override dispose(): void {
    clearInterval(this.#timer);
    this.#live.onPublished = undefined;
    this.#hold(undefined);
    super.dispose();
  }
}

/** The dataset that the procedure says the next piece goes to. */
export async function nextPiece(
  host: Pick<ContinuousHost, 'runProcedure' | 'obtainDataset'>,
  createProcedure: string,
): Promise<DatasetEntity> {
  const result = await host.runProcedure(createProcedure, {});
  const piece = await host.obtainDataset(configOf(result, 'createStorageDataset'));
  if (piece.datasetType.recording !== undefined) return piece;
  throw failure('INVALID_PARAMETER', `Dataset type '${piece.type}' doesn't allow recording`);
}

/** @throws INVALID_PARAMETER unless the result of a procedure is `{config}` */
function configOf(result: unknown, procedure: string): Readonly<Record<string, unknown>> {
  const config = (result as { readonly config?: unknown } | null | undefined)?.config;
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) {
    return config as Readonly<Record<string, unknown>>;
  }
  throw failure(
    'INVALID_PARAMETER',
    `the result of ${procedure} must be {"config": <configuration of a dataset>}; got ${JSON.stringify(result)?.slice(0, 200)}`,
  );
}

async function hasRows(dataset: DatasetEntity): Promise<boolean> {
  await dataset.show();
  return (await dataset.loaded()).snapshot.rowCount > 0;
}

function timeJson(seconds: number): string {
  return printTimestamp(seconds);
}

function flattenJson(
  path: readonly string[],
  value: unknown,
  add: (path: readonly string[], value: unknown) => void,
): void {
  if (typeof value !== 'object' || value === null) {
    add(path, value);
    return;
  }
  for (const [name, member] of Object.entries(value)) flattenJson([...path, name], member, add);
}
