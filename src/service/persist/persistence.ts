// What the service asks of durable storage. Every promise resolves when the change is on the disk.
import type { EntityKind } from '../../dataset/entity-type.ts';
import type { Engine } from '../engine/engine.ts';
import type { EntityConfig } from '../entity/config.ts';
import type { DatasetEntity } from '../entity/dataset-entity.ts';
import type { Role } from '../route/request.ts';
import type { RunRecord } from '../run/run.ts';
import type { KeptContent } from './kept-content.ts';

/** An entity as it is kept. */
export interface EntityRecord {
  readonly config: EntityConfig & { readonly id: string };
  /** parameters whose references have become ids */
  readonly resolved: Readonly<Record<string, unknown>>;
  /** the role of its creator; absent: admin */
  readonly creatorRole?: Role;
  /** true: construction was asked for, and has not ended as far as is known */
  readonly isPending?: boolean;
  /** counts up with everything that is saved; set by the store */
  readonly order?: number;
  /** of datasets: under which number their rows and files are kept */
  readonly storeId?: number;
}

/** The rows of a dataset as they are kept. */
export interface KeptRows {
  /** undefined: nothing was committed */
  readonly content: KeptContent | undefined;
  /** what was recorded since */
  readonly uncommitted: readonly Uint8Array[];
  /** what the type remembers, after everything that was recorded */
  readonly state: unknown;
}

/** Everything that was kept; entities in the order in which they were created. */
export interface KeptEntities {
  readonly entities: readonly (EntityRecord & { readonly kind: EntityKind })[];
  readonly runs: readonly { readonly procedureId: string; readonly run: RunRecord }[];
  /** @throws DATA_ERROR when a file is missing or cut off */
  rowsOf(storeId: number): KeptRows;
}

export interface Persistence {
  /** Called once, before anything else: files of content are written by workers. */
  connect(engine: Engine): void;
  load(): KeptEntities;
  /** Committed content of a dataset, as it can be read again; undefined: it is not kept. */
  keptContent(dataset: DatasetEntity): KeptContent | undefined;
  /** A number for a new dataset. */
  nextStoreId(): number;
  saveEntity(kind: EntityKind, record: EntityRecord): Promise<void>;
  forgetEntity(kind: EntityKind, id: string): Promise<void>;
  /** Keeps content that no log of rows leads to: output of a procedure. */
  saveContent(dataset: DatasetEntity, signal?: AbortSignal): Promise<void>;
  /** Forgets content that was saved, of a dataset that was not. */
  discardContent(dataset: DatasetEntity): Promise<void>;
  appendRows(dataset: DatasetEntity, batch: Uint8Array, state: unknown): Promise<void>;
  markCommitted(dataset: DatasetEntity): Promise<void>;
  saveRun(procedureId: string, run: RunRecord): Promise<void>;
  forgetRun(procedureId: string, runId: string): Promise<void>;
  /**
   * Records of entities and runs whose saving begins while `work` runs, not what it waits for, are
   * kept all or none, also through a crash.
   */
  together<Result>(work: () => Result): Result;
}

/** Keeps nothing. */
export class NoPersistence implements Persistence {
  #lastStoreId = 0;

  connect(): void {}

  load(): KeptEntities {
    return {
      entities: [],
      runs: [],
      rowsOf: () => ({ content: undefined, uncommitted: [], state: null }),
    };
  }

  keptContent(): undefined {}

  nextStoreId(): number {
    return ++this.#lastStoreId;
  }

  async saveEntity(): Promise<void> {}
  async forgetEntity(): Promise<void> {}
  async saveContent(): Promise<void> {}
  async discardContent(): Promise<void> {}
  async appendRows(): Promise<void> {}
  async markCommitted(): Promise<void> {}
  async saveRun(): Promise<void> {}
  async forgetRun(): Promise<void> {}

  together<Result>(work: () => Result): Result {
    return work();
  }
}
