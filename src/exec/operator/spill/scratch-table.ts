// Tables whose chunks lie in the scratch file: they are read chunk by chunk, as those of large datasets.
import type { ScratchPlace, ScratchWriter } from '../../../store/scratch-file.ts';
import type { ArenaAllocator } from '../../../value/column/arena-set.ts';
import { isChunkInFile, NO_ARENA } from '../../../value/column/file-span.ts';
import type { ChunkSnapshot, ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import type { OperatorContext } from '../materialize.ts';
import { suited } from '../not-suited.ts';
import { tableColumn } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { type BatchTable, type MadeColumn, MadeTable } from '../table/batch-table.ts';
import type { Part } from '../table/concatenate.ts';
import { PickedTable } from '../table/picked-table.ts';

/** Whether some values of a table that an operator made lie in the scratch file. */
export function isInScratch(table: BatchTable): boolean {
  if (table instanceof PickedTable) return isInScratch(table.base);
  return table.columns.some(({ chunks }) => chunks.some(isScratchChunk));
}

function isScratchChunk(chunk: ChunkSnapshot): boolean {
  return 'data' in chunk && chunk.data.file?.state.isScratch === true;
}

/** Moves chunks to the scratch file. */
export class ChunkMover {
  readonly #place: ScratchPlace;
  readonly #writer: ScratchWriter;
  readonly #arenas: ArenaAllocator;

  constructor(place: ScratchPlace, writer: ScratchWriter, arenas: ArenaAllocator) {
    this.#place = place;
    this.#writer = writer;
    this.#arenas = arenas;
  }

  /** The same column; whoever holds its chunks gives them back. @throws DISK_FULL */
  column({ snapshot, ts, timed }: MadeColumn): MadeColumn {
    return {
      snapshot: this.#moved(snapshot),
      ts,
      ...(timed === undefined ? {} : { timed: this.#moved(timed) }),
    };
  }

  #moved(column: ColumnSnapshot): ColumnSnapshot {
    return { ...column, chunks: column.chunks.map((chunk) => this.#chunk(chunk)) };
  }

  #chunk(chunk: ChunkSnapshot): ChunkSnapshot {
    if (isChunkInFile(chunk)) return chunk;
    switch (chunk.kind) {
      case 'constant':
        return chunk;
      case 'sparse':
        return { ...chunk, rows: this.#span(chunk.rows), values: this.#chunk(chunk.values) };
      case 'codes':
        return { ...chunk, data: this.#span(chunk.data) };
      default: {
        const { validity } = chunk;
        const data = this.#span(chunk.data);
        return validity === undefined
          ? { ...chunk, data }
          : { ...chunk, data, validity: this.#span(validity) };
      }
    }
  }

  #span({ arena, offset, sizeBytes }: Span): Span {
    const { u8 } = this.#arenas.get(arena);
    const at = this.#writer.write(u8.subarray(offset, offset + sizeBytes));
    const state = { path: this.#place.path, sizeBytes: 0, modifiedMs: 0, isScratch: true };
    return { arena: NO_ARENA, offset: at, sizeBytes, file: { state, form: { kind: 'plain' } } };
  }
}

/** The columns of a table, moved; they remember nothing of it. */
export function movedColumns(made: MadeTable, mover: ChunkMover): ReadonlyMap<string, MadeColumn> {
  const columns = made.names.map((name) => {
    const column = suited(made.find([name])) as number;
    const timed = made.timedOf(column);
    const moved = mover.column({
      snapshot: made.columns[column] as ColumnSnapshot,
      ts: made.tsOf(column),
      timed: timed === true ? undefined : made.columns[timed],
    });
    return [name, moved] as const;
  });
  return new Map(columns);
}

/**
 * Columns as a part of a concatenation whose rows have no names. Closures of this function must not see
 * what the columns were made from: it would stay in memory.
 */
export function scratchPart(
  chunkRowCounts: readonly number[],
  columns: ReadonlyMap<string, MadeColumn>,
  tables: OperatorContext['tables'],
): Part {
  const names = [...columns.keys()];
  const table = new MadeTable(
    chunkRowCounts,
    new Map(names.map((name) => [name, () => columns.get(name)])),
  );
  const namer = () => {
    throw new Error('nobody asks for the names of these rows');
  };
  return {
    pipeline: new Pipeline(table, { column: () => 'absent', list: () => undefined }, namer, tables),
    columns: names.map((name) => ({ name, expression: tableColumn([name]) })),
    nameOf: (row) => row,
  };
}
