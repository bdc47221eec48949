// What the catalogue of a data directory says of entities and their content. Only reads.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityKind } from '../../dataset/entity-type.ts';
import type { Catalogue, LogEntry } from '../../store/catalogue.ts';
import { damaged } from '../../store/durable-file.ts';
import { assert } from '../../util/assert.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { ContentParts, KeptContent } from './kept-content.ts';
import type { EntityRecord } from './persistence.ts';

export interface StoredEntity extends EntityRecord {
  readonly kind: EntityKind;
  readonly order: number;
}

/** Which part of a dataset's log has become content. */
export interface ContentRecord {
  /** entries up to this one are committed */
  readonly committed: number;
  /** entries up to this one are in the file */
  readonly inFile: number;
  readonly file?: string;
  readonly fileSizeBytes?: number;
  readonly fileState?: unknown;
  /** what the type remembers after everything that is committed; none in old directories */
  readonly state?: unknown;
  /** what the type tells of the content, so that it need not be read for it */
  readonly status?: unknown;
  /** bytes of the entries that are committed and not in the file */
  readonly logSizeBytes?: number;
}

export const NO_CONTENT: ContentRecord = { committed: 0, inFile: 0 };
const STATE_LENGTH_SIZE = 4;

export class StoredRecords {
  readonly #catalogue: Catalogue;
  /** where the files of content lie */
  readonly directory: string;

  constructor(catalogue: Catalogue) {
    assert(catalogue.directory !== null, 'a catalogue that keeps things has a directory');
    this.#catalogue = catalogue;
    this.directory = join(catalogue.directory, 'datasets');
  }

  /** In the order in which they were saved. */
  entities(): StoredEntity[] {
    return [...this.#catalogue.list('entities')]
      .map(({ key, value }) => ({ ...(value as StoredEntity), kind: key[0] as EntityKind }))
      .sort((a, b) => a.order - b.order);
  }

  entity(kind: EntityKind, id: string): StoredEntity | undefined {
    const record = this.#catalogue.get('entities', [kind, id]) as StoredEntity | undefined;
    return record === undefined ? undefined : { ...record, kind };
  }

  content(storeId: number): ContentRecord {
    const content = this.#catalogue.get('settings', contentKey(storeId));
    return (content as ContentRecord | undefined) ?? NO_CONTENT;
  }

  /** @throws DATA_ERROR when its file is missing or cut off */
  kept(storeId: number): KeptContent | undefined {
    const content = this.content(storeId);
    if (content.committed === 0 && content.file === undefined) return undefined;
    if (content.file !== undefined) this.#checkFile(content.file, content);
    return { status: content.status, parts: (known) => this.#parts(storeId, known) };
  }

  entries(storeId: number, after: number): Iterable<LogEntry> {
    return this.#catalogue.entries(logName(storeId), after);
  }

  #parts(storeId: number, known = -1): ContentParts {
    const { committed, inFile, file, fileState = null, state } = this.content(storeId);
    const isOnTop = known >= inFile && known <= committed && state !== undefined;
    const batches: Uint8Array[] = [];
    let lastState: string | undefined;
    for (const { sequence, bytes } of this.entries(storeId, isOnTop ? known : inFile)) {
      if (sequence > committed) break;
      const { batch, stateText } = decodeEntry(bytes);
      batches.push(batch);
      lastState = stateText ?? lastState;
    }
    return {
      committed,
      isOnTop,
      file: file === undefined || isOnTop ? undefined : join(this.directory, file),
      fileState,
      batches,
      state: state ?? (lastState === undefined ? fileState : parseJson(lastState)),
    };
  }

  /** Sees what can be seen without reading. @throws DATA_ERROR */
  #checkFile(file: string, { fileSizeBytes }: ContentRecord): void {
    const path = join(this.directory, file);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw damaged(path, 'it is missing');
    if (fileSizeBytes !== undefined && found.size < fileSizeBytes) {
      throw damaged(path, 'it is cut off');
    }
  }
}

export function logName(storeId: number): string {
  return `rows/${storeId}`;
}

export function storeIdOf(log: string): number {
  return Number(log.slice(log.indexOf('/') + 1));
}

export function contentKey(storeId: number): readonly string[] {
  return ['content', String(storeId)];
}

/** The size of the state's JSON (0: as before), that JSON, and the batch. */
export function encodeEntry(batch: Uint8Array, stateText: string | undefined): Uint8Array {
  const state = new TextEncoder().encode(stateText ?? '');
  const entry = new Uint8Array(STATE_LENGTH_SIZE + state.length + batch.length);
  new DataView(entry.buffer).setUint32(0, state.length, true);
  entry.set(state, STATE_LENGTH_SIZE);
  entry.set(batch, STATE_LENGTH_SIZE + state.length);
  return entry;
}

/** The batch is copied into memory that threads can read. */
export function decodeEntry(entry: Uint8Array): {
  batch: Uint8Array;
  stateText: string | undefined;
} {
  const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
  const batchStart = STATE_LENGTH_SIZE + view.getUint32(0, true);
  const content = entry.subarray(batchStart);
  const batch = new Uint8Array(new SharedArrayBuffer(content.length));
  batch.set(content);
  if (batchStart === STATE_LENGTH_SIZE) return { batch, stateText: undefined };
  const stateText = new TextDecoder().decode(entry.subarray(STATE_LENGTH_SIZE, batchStart));
  return { batch, stateText };
}
