// Sparse snapshots as Arrow files: one row for each point, with the names of its row and its column
// from dictionaries. What only the snapshot needs lies in the file's own sections.
import {
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  LargeUtf8,
  Schema,
  Uint8,
  Utf8,
} from 'apache-arrow';
import { every } from '../util/every.ts';
import { ATOM_TAG } from '../value/atom-codec.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { ColumnBuilder } from '../value/column/column-builder.ts';
import { type DictionaryView, dictionaryView } from '../value/column/dictionary.ts';
import { rowNamesView } from '../value/column/row-names.ts';
import type { RowNames, Span, SparseSnapshot } from '../value/column/snapshot.ts';
import { bytesOf, float64Of, spanOf, uint32Of } from '../value/column/span-view.ts';
import { atomToJsonText } from '../value/json.ts';
import type { ArrowFileReader } from './arrow-file-reader.ts';
import { ArrowFileWriter, type ArrowPart, bytesOfArray } from './arrow-file-writer.ts';
import type { DictionaryDescription } from './column-description.ts';
import { readExactDictionary, readSection, textOffsets } from './column-reader.ts';
import { joinTexts, TEXTS_PER_LOOK, textPart } from './column-writer.ts';
import { writeExactDictionary } from './columnar-file.ts';
import { damaged, type FileSink } from './durable-file.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

const BATCH_POINT_COUNT = 2 ** 20;
const NO_BYTES = new Uint8Array(0);
// Arrow ids of the dictionaries.
const ROWS = 0;
const COLUMNS = 1;
const TEXTS = 2;

export interface SparseDescription {
  readonly layout: 'sparse';
  readonly rowCount: number;
  readonly columnCount: number;
  readonly pointCount: number;
  readonly rowNames:
    | { readonly kind: 'sequence'; readonly first: number }
    | { readonly kind: 'numbers' | 'paths' };
  /** the one timestamp of all points as text, or null */
  readonly ts: string | null;
  readonly heap: Omit<DictionaryDescription, 'id'>;
}

/** @param look called in between */
export function writeSparse(
  sink: FileSink,
  snapshot: SparseSnapshot,
  arenas: Arenas,
  look: () => void,
): void {
  const { rowCount, columnCount, pointCount, rowNames, columnNames, heap, timestamps } = snapshot;
  const rowTexts = rowNamesPart(rowNames, rowCount, arenas, look);
  const columnTexts = textPart(
    bytesOf(arenas, columnNames.bytes),
    uint32Of(arenas, columnNames.offsets),
  );
  const texts = heap.count > 0 ? heapPart(dictionaryView(heap, arenas), look) : undefined;
  const perPoint = 'perPoint' in timestamps ? float64Of(arenas, timestamps.perPoint) : undefined;
  const file = new ArrowFileWriter(
    sink,
    new Schema([
      new Field('_rowName', textDictionary(rowTexts, ROWS), false),
      new Field('_columnName', textDictionary(columnTexts, COLUMNS), false),
      new Field('_kind', new Uint8(), false, new Map([['rowan.tags', JSON.stringify(ATOM_TAG)]])),
      // A double's bits, an integer, or the position of the text.
      new Field('_payload', new Int64(), false),
      ...(perPoint === undefined ? [] : [new Field('_timestamp', new Float64(), false)]),
      ...(texts === undefined ? [] : [new Field('_text', textDictionary(texts, TEXTS), true)]),
    ]),
    look,
  );
  file.writeDictionary(ROWS, rowTexts);
  file.writeDictionary(COLUMNS, columnTexts);
  if (texts !== undefined) file.writeDictionary(TEXTS, texts);

  const rowOffsets = float64Of(arenas, snapshot.rowOffsets);
  const columnIds = uint32Of(arenas, snapshot.columnIds);
  const kinds = bytesOf(arenas, snapshot.kinds);
  const payloads = uint32Of(arenas, snapshot.payloads);
  let row = 0;
  for (let from = 0; from < pointCount; from += BATCH_POINT_COUNT) {
    const to = Math.min(from + BATCH_POINT_COUNT, pointCount);
    const length = to - from;
    look();
    const rows = new Int32Array(length);
    for (let point = from; point < to; point++) {
      while ((rowOffsets[row + 1] as number) <= point) row++;
      rows[point - from] = row;
    }
    const buffers = [
      NO_BYTES,
      bytesOfArray(rows),
      NO_BYTES,
      bytesOfArray(columnIds.subarray(from, to)),
      NO_BYTES,
      kinds.subarray(from, to),
      NO_BYTES,
      bytesOfArray(payloads.subarray(from * 2, to * 2)),
    ];
    const nodes = Array.from({ length: 4 }, () => ({ length, nullCount: 0 }));
    if (perPoint !== undefined) {
      buffers.push(NO_BYTES, bytesOfArray(perPoint.subarray(from, to)));
      nodes.push({ length, nullCount: 0 });
    }
    if (texts !== undefined) {
      look();
      const { validity, indexes, nullCount } = textIndexes(kinds, payloads, from, to);
      buffers.push(validity, bytesOfArray(indexes));
      nodes.push({ length, nullCount });
    }
    file.writeBatch({ length, nodes, buffers });
  }
  file.writeSection('row offsets', bytesOf(arenas, snapshot.rowOffsets));
  file.writeSection('column row counts', bytesOf(arenas, snapshot.columnRowCounts));
  writeExactDictionary(file, 'heap', heap, arenas);
  if (rowNames.kind === 'numbers')
    file.writeSection('row names', numbersOf(rowNames, rowCount, arenas, look));
  const description: SparseDescription = {
    layout: 'sparse',
    rowCount,
    columnCount,
    pointCount,
    rowNames: rowNames.kind === 'sequence' ? rowNames : { kind: rowNames.kind },
    ts: 'constant' in timestamps ? String(timestamps.constant) : null,
    heap: { kind: heap.kind, count: heap.count, sorted: heap.sorted },
  };
  file.writeSection('snapshot', Buffer.from(JSON.stringify(description)));
  file.finish();
}

function textDictionary(part: ArrowPart, id: number): Dictionary {
  const isLarge = (part.buffers[1] as Uint8Array).length === (part.length + 1) * 8;
  return new Dictionary(isLarge ? new LargeUtf8() : new Utf8(), new Int32(), id);
}

function rowNamesPart(
  names: RowNames,
  rowCount: number,
  arenas: Arenas,
  look: () => void,
): ArrowPart {
  if (names.kind === 'paths') {
    return textPart(bytesOf(arenas, names.bytes), uint32Of(arenas, names.offsets));
  }
  const view = rowNamesView(names, rowCount, arenas);
  return textPart(...joinTexts(rowCount, (row) => view.textAt(row), look));
}

function numbersOf(
  names: RowNames,
  rowCount: number,
  arenas: Arenas,
  look: () => void,
): Uint8Array {
  const view = rowNamesView(names, rowCount, arenas);
  const numbers = new Float64Array(rowCount);
  const lookUp = every(TEXTS_PER_LOOK, look);
  for (let row = 0; row < rowCount; row++) {
    lookUp();
    numbers[row] = Number(view.textAt(row));
  }
  return bytesOfArray(numbers);
}

function heapPart(view: DictionaryView, look: () => void): ArrowPart {
  if (view.snapshot.kind === 'text') {
    return textPart(view.bytes, view.offsets.subarray(1, view.count + 2));
  }
  const textAt = (index: number): string => {
    const atom = view.atom(index + 1);
    return typeof atom === 'string' ? atom : atomToJsonText(atom);
  };
  return textPart(...joinTexts(view.count, textAt, look));
}

/** The codes of the points whose atoms lie in the heap; the others have no text. */
function textIndexes(
  kinds: Uint8Array,
  payloads: Uint32Array,
  from: number,
  to: number,
): { validity: Uint8Array; indexes: Int32Array; nullCount: number } {
  const indexes = new Int32Array(to - from);
  const validity = new Uint8Array((to - from + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < indexes.length; i++) {
    if (isInHeap(kinds[from + i] as number)) {
      indexes[i] = (payloads[(from + i) * 2] as number) - 1;
      validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
    } else nullCount++;
  }
  return { validity, indexes, nullCount };
}

function isInHeap(tag: number): boolean {
  switch (tag) {
    case ATOM_TAG.null:
    case ATOM_TAG.integer:
    case ATOM_TAG.unsigned:
    case ATOM_TAG.double:
    case ATOM_TAG.timestamp:
      return false;
    default:
      return true;
  }
}

/** Reads everything into arenas. @throws DATA_ERROR, OUT_OF_MEMORY */
export function readSparse(
  file: ArrowFileReader,
  description: SparseDescription,
  allocator: ArenaAllocator,
): SparseSnapshot {
  const { rowCount, columnCount, pointCount, ts } = description;
  const rowNames = readRowNames(file, description, allocator);
  const columnNames = readNames(file, COLUMNS, columnCount, allocator);
  const columnIds = allocator.allocate(pointCount * 4);
  const kinds = allocator.allocate(pointCount);
  const payloads = allocator.allocate(pointCount * 8);
  const perPoint = ts === null ? allocator.allocate(pointCount * 8) : undefined;
  const targets = [columnIds, kinds, payloads, ...(perPoint === undefined ? [] : [perPoint])];
  const sizes = [4, 1, 8, 8];
  let point = 0;
  for (let index = 0; index < file.batchCount; index++) {
    const { length, buffers } = file.readBatch(index);
    if (point + length > pointCount) throw damaged(file.path, 'it has too many points');
    targets.forEach((span, field) => {
      // Two buffers a field, the values second; the first field is the row.
      const values = buffers[(field + 1) * 2 + 1] as Uint8Array;
      bytesOf(allocator, span).set(values, point * (sizes[field] as number));
    });
    point += length;
  }
  if (point !== pointCount) throw damaged(file.path, 'points are missing');
  return {
    layout: 'sparse',
    id: allocator.nextId(),
    rowCount,
    columnCount,
    pointCount,
    rowNames,
    columnNames,
    columnRowCounts: readSection(file, 'column row counts', allocator),
    rowOffsets: readSection(file, 'row offsets', allocator),
    columnIds,
    kinds,
    payloads,
    timestamps: perPoint === undefined ? { constant: Number(ts) } : { perPoint },
    heap: readExactDictionary(file, 'heap', description.heap, allocator),
  };
}

function readRowNames(
  file: ArrowFileReader,
  { rowNames, rowCount }: SparseDescription,
  allocator: ArenaAllocator,
): RowNames {
  switch (rowNames.kind) {
    case 'sequence':
      return rowNames;
    case 'paths':
      return { kind: 'paths', ...readNames(file, ROWS, rowCount, allocator) };
    case 'numbers': {
      const builder = new ColumnBuilder([], allocator);
      builder.appendNumbers(new Float64Array(file.section('row names').buffer));
      return { kind: 'numbers', chunks: builder.seal().chunks };
    }
  }
}

function readNames(
  file: ArrowFileReader,
  dictionaryIndex: number,
  count: number,
  allocator: ArenaAllocator,
): { bytes: Span; offsets: Span } {
  const [, offsetBytes, bytes] = file.readDictionary(dictionaryIndex).buffers as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const offsets = textOffsets(offsetBytes, count);
  return {
    bytes: spanOf(allocator, bytes.subarray(0, offsets[count])),
    offsets: spanOf(allocator, offsets),
  };
}
