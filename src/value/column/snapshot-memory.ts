// Which spans a snapshot holds, and giving them back.
import type { ArenaAllocator } from './arena-set.ts';
import { isChunkInFile } from './file-span.ts';
import type {
  ChunkSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
  GraphSnapshot,
  RowNames,
  RowTimestamps,
  Snapshot,
  Span,
} from './snapshot.ts';

/** The spans that a chunk lies in; none where these are in a file. */
export function chunkSpans(chunk: ChunkSnapshot): Span[] {
  if (isChunkInFile(chunk)) return [];
  switch (chunk.kind) {
    case 'constant':
      return [];
    case 'codes':
      return [chunk.data];
    case 'sparse':
      return [chunk.rows, ...chunkSpans(chunk.values)];
    default:
      return chunk.validity === undefined ? [chunk.data] : [chunk.data, chunk.validity];
  }
}

/** The spans of the texts of a dictionary and of where each begins. */
export function dictionarySpans(dictionary: DictionarySnapshot | undefined): Span[] {
  return dictionary === undefined ? [] : [dictionary.bytes, dictionary.offsets];
}

/** The spans of the chunks of a column and of its dictionary. */
export function columnSpans(column: ColumnSnapshot): Span[] {
  return [...column.chunks.flatMap(chunkSpans), ...dictionarySpans(column.dictionary)];
}

/** The spans that names of rows lie in. */
export function rowNamesSpans(names: RowNames): Span[] {
  switch (names.kind) {
    case 'sequence':
      return [];
    case 'numbers':
      return names.chunks.flatMap(chunkSpans);
    case 'paths':
      return [names.bytes, names.offsets];
  }
}

/** The spans that timestamps of rows lie in. */
export function timestampSpans(timestamps: RowTimestamps): Span[] {
  return timestamps.kind === 'constant' ? [] : [...timestamps.chunks];
}

function graphSpans(graph: GraphSnapshot | undefined): Span[] {
  return graph === undefined ? [] : [graph.span];
}

/** Every span of a snapshot, once for each hold that the snapshot has on it. */
export function snapshotSpans(snapshot: Snapshot): Span[] {
  if (snapshot.layout === 'columnar') {
    return [
      ...snapshot.columns.flatMap(columnSpans),
      ...rowNamesSpans(snapshot.rowNames),
      ...timestampSpans(snapshot.timestamps),
      ...graphSpans(snapshot.graph),
    ];
  }
  return [
    ...rowNamesSpans(snapshot.rowNames),
    snapshot.columnNames.bytes,
    snapshot.columnNames.offsets,
    snapshot.columnRowCounts,
    snapshot.rowOffsets,
    snapshot.columnIds,
    snapshot.kinds,
    snapshot.payloads,
    ...('perPoint' in snapshot.timestamps ? [snapshot.timestamps.perPoint] : []),
    ...dictionarySpans(snapshot.heap),
  ];
}

/** Gives up one hold on each span of a chunk. */
export function freeChunk(chunk: ChunkSnapshot, allocator: ArenaAllocator): void {
  for (const span of chunkSpans(chunk)) allocator.free(span);
}

/** Takes one hold more on each span of a chunk. */
export function retainChunk(chunk: ChunkSnapshot, allocator: ArenaAllocator): void {
  for (const span of chunkSpans(chunk)) allocator.retain(span);
}

/** Gives up a snapshot; what it shares with others stays with them. */
export function freeSnapshot(snapshot: Snapshot, allocator: ArenaAllocator): void {
  for (const span of snapshotSpans(snapshot)) allocator.free(span);
}

/** Bytes of a snapshot's spans. */
export function snapshotSize(snapshot: Snapshot): number {
  return snapshotSpans(snapshot).reduce((sum, span) => sum + span.sizeBytes, 0);
}
