// Where the rows of import.text go: straight into a table, or into any dataset that records rows.

import { snapshotRelation } from '../../dataset/snapshot-relation.ts';
import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { freeSnapshot } from '../../value/column/snapshot-memory.ts';
import type { RecordedCell } from '../../value/column/table-builder.ts';
import { TableBuilder } from '../../value/column/table-builder.ts';
import type { Path } from '../../value/path.ts';
import type { OutputDataset } from '../procedure-type.ts';

export interface TextOutput {
  begin(): void;
  /** Sets a column by its position among the known output columns. */
  set(index: number, atom: Atom): void;
  /** Sets a column by its name. */
  add(path: Path, atom: Atom): void;
  /** Ends the row; all its cells have this timestamp. */
  end(name: Path, ts: number): void;
  /** Hands everything over; `commit` of the dataset is still to come. */
  finish(): void;
  /** Gives up. */
  release(): void;
}

/** Columns that are known beforehand go into a table without a detour over recorded rows. */
export function tableOutput(
  output: OutputDataset,
  paths: readonly Path[],
  arenas: ArenaAllocator,
  complete: CompleteTable,
): TextOutput {
  const builder = new TableBuilder(arenas);
  // A header names columns, with rows or without.
  const indexes = new Map(paths.map((path) => [path.toString(), builder.columnIndex(path)]));
  return {
    begin() {},
    set: (index, atom) => builder.set(index, atom),
    add: (path, atom) => builder.set(indexes.get(path.toString()) as number, atom),
    end: (name, ts) => builder.endRow(name, ts),
    finish: () => output.recordColumns(complete(builder.seal())),
    release: () => builder.release(),
  };
}

/** Changes a table when all its rows are there. */
export type CompleteTable = (table: ColumnarSnapshot) => ColumnarSnapshot;

/** Rows wait in a table until it is complete, and are recorded then. */
export function completedOutput(
  output: OutputDataset,
  paths: readonly Path[] | undefined,
  arenas: ArenaAllocator,
  complete: CompleteTable,
): TextOutput {
  const builder = new TableBuilder(arenas);
  const indexes = paths?.map((path) => builder.columnIndex(path));
  return {
    begin() {},
    set: (index, atom) => builder.set(indexes?.[index] ?? index, atom),
    add: (path, atom) => builder.set(builder.columnIndex(path), atom),
    end: (name, ts) => builder.endRow(name, ts),
    finish() {
      const table = complete(builder.seal());
      try {
        for (const { name, row } of snapshotRelation(table, arenas).scan('all')) {
          output.recordRow(name, row);
        }
      } finally {
        freeSnapshot(table, arenas);
      }
    },
    release: () => builder.release(),
  };
}

/** @param paths output columns that are known; those of the first row come in this order */
export function recordedOutput(
  output: OutputDataset,
  paths: readonly Path[] | undefined,
): TextOutput {
  const ranks = new Map(paths?.map((path, index) => [path.toString(), index]));
  let cells: [Path, Atom][] = [];
  return {
    begin() {
      cells = [];
    },
    set: (index, atom) => cells.push([paths?.[index] as Path, atom]),
    add: (path, atom) => cells.push([path, atom]),
    end(name, ts) {
      if (ranks.size > 1) cells.sort(([a], [b]) => rankOf(a) - rankOf(b));
      output.record({ name, cells: cells.map(([path, atom]): RecordedCell => [path, atom, ts]) });
    },
    finish() {},
    release() {},
  };

  function rankOf(path: Path): number {
    return ranks.get(path.toString()) ?? ranks.size;
  }
}
