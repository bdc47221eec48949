// Tables that operators read in batches: those of datasets, and those that operators made.

import { assert } from '../../../util/assert.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import type { Path } from '../../../value/path.ts';
import type { ColumnScope } from '../../vector/table.ts';

/** Columns that lie in chunks, all cut alike. */
export interface BatchTable extends ColumnScope {
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
}

export interface MadeColumn {
  readonly snapshot: ColumnSnapshot;
  /** the timestamp of its values, in seconds */
  readonly ts: number;
  /** valid where values have that timestamp, others have -Inf; absent: all values have it */
  readonly timed?: ColumnSnapshot | undefined;
}

/** A table that an operator made: its columns are encoded when somebody asks for them. */
export class MadeTable implements BatchTable {
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly columns: ColumnSnapshot[] = [];
  readonly nameAt: (row: number) => Path;
  readonly #makers: ReadonlyMap<string, () => MadeColumn | undefined>;
  readonly #numbers = new Map<string, number | undefined>();
  readonly #details: { readonly ts: number; readonly timed: true | number }[] = [];

  /** @param makers by the one element of their paths; undefined for a column that is not atoms */
  constructor(
    chunkRowCounts: readonly number[],
    makers: ReadonlyMap<string, () => MadeColumn | undefined>,
    nameAt: (row: number) => Path = noName,
  ) {
    this.chunkRowCounts = chunkRowCounts;
    this.rowCount = chunkRowCounts.reduce((sum, count) => sum + count, 0);
    this.#makers = makers;
    this.nameAt = nameAt;
  }

  get names(): readonly string[] {
    return [...this.#makers.keys()];
  }

  find([name = '', ...below]: readonly string[]): number | 'absent' | undefined {
    const make = this.#makers.get(name);
    if (make === undefined) return 'absent';
    if (below.length > 0) return undefined;
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.#add(make()));
    return this.#numbers.get(name);
  }

  pathOf(column: number): readonly string[] {
    return (this.columns[column] as ColumnSnapshot).path;
  }

  tsOf(column: number): number {
    return this.#detail(column).ts;
  }

  timedOf(column: number): true | number {
    return this.#detail(column).timed;
  }

  hasNulls(column: number): boolean {
    return (this.columns[column] as ColumnSnapshot).nullCount > 0;
  }

  #add(made: MadeColumn | undefined): number | undefined {
    if (made === undefined) return undefined;
    const { snapshot, ts, timed } = made;
    let times: true | number = true;
    if (timed !== undefined) {
      times = this.columns.push(timed) - 1;
      this.#details.push({ ts, timed: true });
    }
    this.#details.push({ ts, timed: times });
    return this.columns.push(snapshot) - 1;
  }

  #detail(column: number) {
    const detail = this.#details[column];
    assert(detail !== undefined, `no column ${column}`);
    return detail;
  }
}

function noName(): Path {
  assert(false, 'nobody asks for the names of these rows');
  throw new Error();
}

/** Chunks of so many rows. */
export function chunksOf(rowCount: number, chunkRowCount: number): number[] {
  const counts: number[] = [];
  for (let rest = rowCount; rest > 0; rest -= chunkRowCount) {
    counts.push(Math.min(rest, chunkRowCount));
  }
  // Kernels want a chunk, be it empty.
  return counts.length > 0 ? counts : [0];
}
