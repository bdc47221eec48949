// Profiles of columns: computed once for each version of a dataset, and kept as long as it is.
import type { DatasetContent } from '../dataset/dataset-type.ts';
import type { TaskOptions } from '../exec/pool/engine-pool.ts';
import type { ColumnProfile } from '../procedure/statistics/column-summary.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import type { EngineTasks } from './engine/engine-task.ts';
import type { DatasetEntity } from './entity/dataset-entity.ts';

export interface DatasetProfile {
  readonly rowCount: number;
  readonly columns: readonly ColumnProfile[];
}

const COLUMN_COUNT_MAX = 100;

/** What computes. */
export interface ProfileHost {
  settle(): Promise<void>;
  compute<Kind extends 'profile' | 'read'>(
    kind: Kind,
    args: EngineTasks[Kind]['args'],
    options: TaskOptions,
  ): Promise<EngineTasks[Kind]['result']>;
}

export class ProfileStore {
  readonly #service: ProfileHost;
  /** by content; under each the columns, by the rows that were looked at and their names */
  readonly #known = new WeakMap<DatasetContent, Map<string, ColumnProfile>>();

  constructor(service: ProfileHost) {
    this.#service = service;
  }

  /**
   * @param names printed; absent: the first columns
   * @param rows to look at, about; absent: all
   * @throws INVALID_PARAMETER for too many columns
   */
  async profile(
    dataset: DatasetEntity,
    names: readonly string[] | undefined,
    rows: number | undefined,
    signal: AbortSignal,
  ): Promise<DatasetProfile> {
    await this.#service.settle();
    const content = await dataset.loaded();
    const wanted = names ?? (await this.#firstColumns(dataset.id, signal));
    if (wanted.length > COLUMN_COUNT_MAX) {
      throw failure(
        'INVALID_PARAMETER',
        `at most ${COLUMN_COUNT_MAX} columns can be profiled at once; ${wanted.length} were asked for`,
      );
    }
    for (const name of wanted) Path.parse(name);
    let known = this.#known.get(content);
    if (known === undefined) {
      known = new Map();
      this.#known.set(content, known);
    }
    const keyOf = (name: string) => `${rows ?? 'all'} ${name}`;
    const found = known;
    const missing = wanted.filter((name) => !found.has(keyOf(name)));
    if (missing.length > 0) {
      const args = { dataset: dataset.id, columns: missing, rows };
      for (const profile of await this.#service.compute('profile', args, { signal })) {
        known.set(keyOf(profile.name), profile);
      }
    }
    return {
      rowCount: content.snapshot.rowCount,
      columns: wanted.map((name) => found.get(keyOf(name)) as ColumnProfile),
    };
  }

  async #firstColumns(dataset: string, signal: AbortSignal): Promise<string[]> {
    const parts: Uint8Array[] = [];
    const reading = { what: 'columns', offset: 0, limit: COLUMN_COUNT_MAX } as const;
    await this.#service.compute(
      'read',
      { dataset, reading },
      { signal, onChunk: (bytes) => void parts.push(bytes) },
    );
    return JSON.parse(Buffer.concat(parts).toString()) as string[];
  }
}
