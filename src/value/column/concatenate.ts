// Puts tables that were built apart, each with dictionaries of its own, one below the other.
import type { ArenaAllocator } from './arena-set.ts';
import { codesOf, encodeCodes, nullChunk } from './chunk-encoder.ts';
import { chunkView } from './column-view.ts';
import { DictionaryBuilder, DictionaryView } from './dictionary.ts';
import type { ChunkSnapshot, ColumnSnapshot } from './snapshot.ts';
import { columnSpans, freeChunk } from './snapshot-memory.ts';
import { uint16Of } from './span-view.ts';

/** Some rows of a table; all its columns are cut into chunks of these row counts. */
export interface TablePart {
  readonly chunkRowCounts: readonly number[];
  readonly columns: readonly ColumnSnapshot[];
}

/**
 * The columns of all parts, in the order of their first use; a part without a column has nulls.
 * The parts are used up, also when this throws.
 * @param check called between columns
 */
export function concatenateColumns(
  parts: readonly TablePart[],
  arenas: ArenaAllocator,
  check: () => void = () => {},
): ColumnSnapshot[] {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return [...first.columns];
  const pieces = new Map<string, (ColumnSnapshot | undefined)[]>();
  for (const [index, part] of parts.entries()) {
    for (const column of part.columns) {
      const key = JSON.stringify(column.path);
      let list = pieces.get(key);
      if (list === undefined) {
        list = new Array<undefined>(parts.length).fill(undefined);
        pieces.set(key, list);
      }
      list[index] = column;
    }
  }
  const joined: ColumnSnapshot[] = [];
  const waiting = [...pieces.values()];
  try {
    for (let list = waiting.shift(); list !== undefined; list = waiting.shift()) {
      check();
      joined.push(joinColumn(list, parts, arenas));
    }
    return joined;
  } catch (thrown) {
    for (const column of joined) freeColumn(column, arenas);
    for (const list of waiting) {
      for (const column of list) if (column !== undefined) freeColumn(column, arenas);
    }
    throw thrown;
  }
}

/** Frees the memory of parts that are not needed any more. */
export function freeParts(parts: readonly TablePart[], arenas: ArenaAllocator): void {
  for (const part of parts) for (const column of part.columns) freeColumn(column, arenas);
}

function freeColumn(column: ColumnSnapshot, arenas: ArenaAllocator): void {
  for (const span of columnSpans(column)) arenas.free(span);
}

function joinColumn(
  pieces: readonly (ColumnSnapshot | undefined)[],
  parts: readonly TablePart[],
  arenas: ArenaAllocator,
): ColumnSnapshot {
  const { path } = pieces.find((piece) => piece !== undefined) as ColumnSnapshot;
  const nullCount = pieces.reduce(
    (sum, piece, index) => sum + (piece?.nullCount ?? rowCountOf(parts[index] as TablePart)),
    0,
  );
  const type = plainTypeOf(pieces);
  if (type !== undefined) {
    const chunks = pieces.flatMap((piece, index) => piece?.chunks ?? nullChunks(parts[index]));
    return { path, type, chunks, nullCount };
  }
  const dictionary = new DictionaryBuilder(arenas);
  const chunks: ChunkSnapshot[] = [];
  let next = 0;
  try {
    if (pieces.some((piece) => piece !== undefined && !isText(piece))) dictionary.promote();
    for (const [index, piece] of pieces.entries()) {
      if (piece === undefined) chunks.push(...nullChunks(parts[index]));
      else chunks.push(...recoded(piece, dictionary, arenas));
      next = index + 1;
    }
  } catch (thrown) {
    dictionary.release();
    for (const chunk of chunks) freeChunk(chunk, arenas);
    for (const piece of pieces.slice(next)) if (piece !== undefined) freeColumn(piece, arenas);
    throw thrown;
  }
  const sealed = dictionary.seal();
  const sealedType = sealed.kind === 'text' ? 'string' : 'mixed';
  return { path, type: sealedType, chunks, dictionary: sealed, nullCount };
}

/** The type of a column without a dictionary; undefined when it needs one. */
function plainTypeOf(
  pieces: readonly (ColumnSnapshot | undefined)[],
): ColumnSnapshot['type'] | undefined {
  if (pieces.some((piece) => piece?.dictionary !== undefined)) return undefined;
  const types = new Set(pieces.flatMap((piece) => (piece === undefined ? [] : [piece.type])));
  types.delete('null');
  if (types.size === 0) return 'null';
  if (types.has('timestamp')) return types.size === 1 ? 'timestamp' : undefined;
  return types.has('number') ? 'number' : 'integer';
}

function isText({ type, dictionary }: ColumnSnapshot): boolean {
  return type === 'null' || dictionary?.kind === 'text';
}

function rowCountOf({ chunkRowCounts }: TablePart): number {
  return chunkRowCounts.reduce((sum, count) => sum + count, 0);
}

function nullChunks(part: TablePart | undefined): ChunkSnapshot[] {
  return (part?.chunkRowCounts ?? []).map((rowCount) => nullChunk(rowCount));
}

/** The chunks of a column with codes of another dictionary; the column is used up. */
function recoded(
  column: ColumnSnapshot,
  into: DictionaryBuilder,
  arenas: ArenaAllocator,
): ChunkSnapshot[] {
  const { dictionary } = column;
  const view = dictionary === undefined ? undefined : new DictionaryView(dictionary, arenas);
  const remap = new Uint32Array((dictionary?.count ?? 0) + 1);
  if (view !== undefined) {
    for (let code = 1; code < remap.length; code++) remap[code] = into.addEntry(view, code);
  }
  const chunks = column.chunks.map((chunk) => recodedChunk(chunk, remap, view, into, arenas));
  freeColumn(column, arenas);
  return chunks;
}

function recodedChunk(
  chunk: ChunkSnapshot,
  remap: Uint32Array,
  view: DictionaryView | undefined,
  into: DictionaryBuilder,
  arenas: ArenaAllocator,
): ChunkSnapshot {
  const { rowCount } = chunk;
  if (chunk.kind === 'constant' && chunk.atom === null) return nullChunk(rowCount);
  const codes = new Uint32Array(rowCount);
  const rows = chunk.kind === 'sparse' ? uint16Of(arenas, chunk.rows) : undefined;
  const values = chunk.kind === 'sparse' ? chunk.values : chunk;
  if (values.kind === 'codes') {
    const old = codesOf(arenas, values.data, values.width);
    for (let i = 0; i < values.rowCount; i++) {
      codes[rows === undefined ? i : (rows[i] as number)] = remap[old[i] as number] as number;
    }
  } else {
    const cells = chunkView(values, view, arenas);
    for (let i = 0; i < values.rowCount; i++) {
      codes[rows === undefined ? i : (rows[i] as number)] = into.add(cells.atomAt(i));
    }
  }
  return encodeCodes(codes, rowCount, arenas);
}
