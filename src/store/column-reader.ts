// Arrow arrays of a dataset file back to column chunks.
import { assert } from '../util/assert.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { bitmapSize, codesOf } from '../value/column/chunk-encoder.ts';
import type { ChunkSnapshot, DictionarySnapshot, Span } from '../value/column/snapshot.ts';
import { bytesOf, float64Of, int32Of, spanOf, uint32Of } from '../value/column/span-view.ts';
import type { ArrowFileReader } from './arrow-file-reader.ts';
import type { ArrowPart } from './arrow-file-writer.ts';
import { indexArray, isValid, readCodes, readNumbers } from './arrow-values.ts';
import {
  atomFromText,
  type ChunkDescription,
  type ColumnDescription,
} from './column-description.ts';
import { indexWidth } from './column-writer.ts';

/** The buffers of one field in a batch. */
export interface FieldBuffers {
  /** empty when every row has a value */
  readonly validity: Uint8Array;
  readonly data: Uint8Array;
}

/** Copies one chunk of a column into an arena, in the form that it had. */
export function readChunk(
  column: ColumnDescription,
  description: ChunkDescription,
  buffers: FieldBuffers,
  allocator: ArenaAllocator,
): ChunkSnapshot {
  const { rowCount } = description;
  switch (description.kind) {
    case 'constant':
      return { kind: 'constant', rowCount, atom: atomFromText(description.atom) };
    case 'sparse':
      return readSparseChunk(column, description, buffers, allocator);
    case 'codes': {
      const { width, nullCount } = description;
      const data = allocator.allocate(rowCount * width);
      readCodes(indexes(column, buffers.data), buffers.validity, codesOf(allocator, data, width));
      return { kind: 'codes', rowCount, width, data, nullCount };
    }
    default: {
      const { kind, nullCount, min, max } = description;
      const data = allocator.allocate(rowCount * (kind === 'int32' ? 4 : 8));
      const target = kind === 'int32' ? int32Of(allocator, data) : float64Of(allocator, data);
      readNumbers(column.encoding, buffers.data, target);
      return {
        kind,
        rowCount,
        data,
        nullCount,
        ...(nullCount === 0
          ? {}
          : { validity: spanOf(allocator, buffers.validity.subarray(0, bitmapSize(rowCount))) }),
        ...(min === undefined ? {} : { min: Number(min) }),
        ...(max === undefined ? {} : { max: Number(max) }),
      };
    }
  }
}

/** In the file a sparse chunk is an ordinary one with many nulls. */
function readSparseChunk(
  column: ColumnDescription,
  description: Extract<ChunkDescription, { kind: 'sparse' }>,
  { validity, data }: FieldBuffers,
  allocator: ArenaAllocator,
): ChunkSnapshot {
  const { rowCount } = description;
  const rows: number[] = [];
  for (let i = 0; i < rowCount; i++) if (isValid(validity, i)) rows.push(i);
  const size = data.length / rowCount;
  const gathered = new Uint8Array(rows.length * size);
  rows.forEach((row, i) => {
    for (let b = 0; b < size; b++) gathered[i * size + b] = data[row * size + b] as number;
  });
  const inner = { ...description.values, rowCount: rows.length };
  const values = readChunk(
    column,
    'nullCount' in inner ? { ...inner, nullCount: 0 } : inner,
    { validity: new Uint8Array(0), data: gathered },
    allocator,
  );
  return { kind: 'sparse', rowCount, rows: spanOf(allocator, Uint16Array.from(rows)), values };
}

function indexes(
  { dictionary }: ColumnDescription,
  data: Uint8Array,
): Int8Array | Int16Array | Int32Array {
  assert(dictionary !== undefined, 'a column of codes has a dictionary');
  return indexArray(indexWidth(dictionary.count), data);
}

/** A dictionary of texts from its Arrow array. */
export function readTextDictionary(
  part: ArrowPart,
  description: { readonly count: number; readonly sorted: boolean },
  allocator: ArenaAllocator,
): DictionarySnapshot {
  const [, offsetBytes, bytes] = part.buffers as [Uint8Array, Uint8Array, Uint8Array];
  const { count, sorted } = description;
  const offsets = allocator.allocate((count + 2) * 4);
  const target = uint32Of(allocator, offsets);
  target[0] = 0;
  target.set(textOffsets(offsetBytes, count), 1);
  return {
    kind: 'text',
    id: allocator.nextId(),
    count,
    bytes: spanOf(allocator, bytes.subarray(0, target[count + 1])),
    offsets,
    sorted,
  };
}

/** Offsets of 32 or of 64 bits, told apart by their size. */
export function textOffsets(bytes: Uint8Array, count: number): Uint32Array {
  const { buffer, byteOffset, length } = bytes;
  if (length === (count + 1) * 8 && length > 0) {
    return Uint32Array.from(new BigInt64Array(buffer, byteOffset, count + 1), Number);
  }
  if (length === 0) return new Uint32Array(count + 1);
  return new Uint32Array(buffer, byteOffset, count + 1);
}

/** A dictionary from the file's own sections, which hold its atoms exactly. */
export function readExactDictionary(
  file: ArrowFileReader,
  name: string,
  description: {
    readonly kind: 'text' | 'mixed';
    readonly count: number;
    readonly sorted: boolean;
  },
  allocator: ArenaAllocator,
): DictionarySnapshot {
  const { kind, count, sorted } = description;
  const bytes = readSection(file, `${name} bytes`, allocator);
  const offsets = readSection(file, `${name} offsets`, allocator);
  return { kind, id: allocator.nextId(), count, bytes, offsets, sorted };
}

/** Reads a section straight into an arena. */
export function readSection(file: ArrowFileReader, name: string, allocator: ArenaAllocator): Span {
  const span = allocator.allocate(file.sectionSize(name) ?? 0);
  file.readSection(name, bytesOf(allocator, span));
  return span;
}
