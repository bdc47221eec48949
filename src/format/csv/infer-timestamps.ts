// Columns of text that holds nothing but ISO dates and times become columns of timestamps.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { bitmapSize, codesOf, encodeNumbers, nullChunk } from '../../value/column/chunk-encoder.ts';
import { dictionaryView } from '../../value/column/dictionary.ts';
import type {
  ChunkSnapshot,
  ColumnarSnapshot,
  ColumnSnapshot,
} from '../../value/column/snapshot.ts';
import { chunkSpans, columnSpans, freeSnapshot } from '../../value/column/snapshot-memory.ts';
import { uint16Of } from '../../value/column/span-view.ts';
import { readIsoDate } from '../../value/timestamp.ts';

/** Distinct texts that are read between two looks at the cancel flag. */
const TEXTS_PER_CHECK = 4096;

/**
 * The same table with such columns as timestamps. A text that is read twice is parsed once.
 * Takes the snapshot over: when this throws, its memory is free.
 */
export function withInferredTimestamps(
  snapshot: ColumnarSnapshot,
  arenas: ArenaAllocator,
  checkCancelled: () => void,
): ColumnarSnapshot {
  const columns = [...snapshot.columns];
  try {
    for (const [index, column] of columns.entries()) {
      checkCancelled();
      const seconds = secondsOfTexts(column, arenas, checkCancelled);
      if (seconds === undefined) continue;
      columns[index] = timestampColumn(column, seconds, arenas);
      for (const span of columnSpans(column)) arenas.free(span);
    }
  } catch (thrown) {
    freeSnapshot({ ...snapshot, columns }, arenas);
    throw thrown;
  }
  return { ...snapshot, columns };
}

/** What each code stands for; undefined when some text of the column is no date. */
function secondsOfTexts(
  { type, dictionary, chunks }: ColumnSnapshot,
  arenas: ArenaAllocator,
  checkCancelled: () => void,
): Float64Array | undefined {
  if (type !== 'string') return undefined;
  const constants = chunks.flatMap((chunk) => constantOf(chunk) ?? []);
  if (constants.some((text) => readIsoDate(text) === undefined)) return undefined;
  if (dictionary === undefined) return new Float64Array(1);
  const texts = dictionaryView(dictionary, arenas);
  const seconds = new Float64Array(dictionary.count + 1);
  for (let code = 1; code <= dictionary.count; code++) {
    if (code % TEXTS_PER_CHECK === 0) checkCancelled();
    const atom = texts.atom(code);
    const read = typeof atom === 'string' ? readIsoDate(atom) : undefined;
    if (read === undefined) return undefined;
    seconds[code] = read;
  }
  return seconds;
}

/** The one text of a chunk that has no codes. */
function constantOf(chunk: ChunkSnapshot): string | undefined {
  if (chunk.kind === 'sparse') return constantOf(chunk.values);
  return chunk.kind === 'constant' && typeof chunk.atom === 'string' ? chunk.atom : undefined;
}

function timestampColumn(
  { path, chunks, nullCount }: ColumnSnapshot,
  seconds: Float64Array,
  arenas: ArenaAllocator,
): ColumnSnapshot {
  const converted: ChunkSnapshot[] = [];
  try {
    for (const chunk of chunks) converted.push(timestampChunk(chunk, seconds, arenas));
  } catch (thrown) {
    for (const span of converted.flatMap(chunkSpans)) arenas.free(span);
    throw thrown;
  }
  return { path, type: 'timestamp', chunks: converted, nullCount };
}

function timestampChunk(
  chunk: ChunkSnapshot,
  seconds: Float64Array,
  arenas: ArenaAllocator,
): ChunkSnapshot {
  const { rowCount } = chunk;
  const rows = chunk.kind === 'sparse' ? uint16Of(arenas, chunk.rows) : undefined;
  const cells = chunk.kind === 'sparse' ? chunk.values : chunk;
  const text = constantOf(cells);
  const codes = cells.kind === 'codes' ? codesOf(arenas, cells.data, cells.width) : undefined;
  if (text === undefined && codes === undefined) return nullChunk(rowCount);
  const same = text === undefined ? undefined : readIsoDate(text);
  const values = new Float64Array(rowCount);
  const validity = new Uint8Array(bitmapSize(rowCount));
  for (let index = 0; index < cells.rowCount; index++) {
    const code = codes?.[index];
    if (code === 0) continue;
    const row = rows === undefined ? index : (rows[index] as number);
    values[row] = code === undefined ? (same as number) : (seconds[code] as number);
    validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  }
  return encodeNumbers({ rowCount, values, validity }, 'timestamp', arenas);
}
