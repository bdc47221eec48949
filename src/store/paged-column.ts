// Columns whose chunks stay in the dataset file: descriptors of where they lie, and the reader that
// threads use when they look at their values.
import { bitmapSize } from '../value/column/chunk-encoder.ts';
import { type FileSpan, NO_ARENA } from '../value/column/file-span.ts';
import type { ChunkSnapshot, FileState, Span, StretchForm } from '../value/column/snapshot.ts';
import type { FileRegion } from './arrow-file-reader.ts';
import {
  atomFromText,
  type ChunkDescription,
  type ColumnDescription,
} from './column-description.ts';
import { indexArray, readCodes, readNumbers } from './column-reader.ts';
import { indexWidth } from './column-writer.ts';
import { damaged, FileSource } from './durable-file.ts';

/** Where the buffers of a field are in a batch. */
export interface FieldRegions {
  /** without bytes when every row has a value */
  readonly validity: FileRegion;
  readonly data: FileRegion;
}

/** A chunk that is read when it is looked at. A sparse one has the form that it has in the file. */
export function pagedChunk(
  column: ColumnDescription,
  description: ChunkDescription,
  { validity, data }: FieldRegions,
  state: FileState,
): ChunkSnapshot {
  const { rowCount } = description;
  if (description.kind === 'constant') {
    return { kind: 'constant', rowCount, atom: atomFromText(description.atom) };
  }
  const inner = description.kind === 'sparse' ? description.values : description;
  const span = (sizeBytes: number, { offset }: FileRegion, form: StretchForm): Span => {
    return { arena: NO_ARENA, offset, sizeBytes, file: { state, form } };
  };
  const hasNulls = validity.sizeBytes > 0;
  const nullCount = 'nullCount' in description ? description.nullCount : nullsOf(description);
  if (column.encoding === 'codes') {
    const count = column.dictionary?.count ?? 0;
    const width = inner.kind === 'codes' ? inner.width : 4;
    const form: StretchForm = {
      ...{ kind: 'codes', indexWidth: indexWidth(count), width, count },
      ...(hasNulls ? { validity } : {}),
    };
    return { kind: 'codes', rowCount, width, nullCount, data: span(rowCount * width, data, form) };
  }
  const kind = numberKind(column, inner);
  const { min, max } = boundsOf(inner);
  return {
    ...{ kind, rowCount, nullCount },
    data: span(rowCount * (kind === 'int32' ? 4 : 8), data, formOf(column, kind)),
    ...(nullCount > 0 ? { validity: span(bitmapSize(rowCount), validity, PLAIN) } : {}),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

const PLAIN: StretchForm = { kind: 'plain' };

function nullsOf({ rowCount, values }: Extract<ChunkDescription, { kind: 'sparse' }>): number {
  return rowCount - values.rowCount + ('nullCount' in values ? values.nullCount : 0);
}

function numberKind(
  { encoding, type }: ColumnDescription,
  inner: ChunkDescription,
): 'int32' | 'float64' | 'timestamp' {
  if (inner.kind === 'int32' || encoding === 'int32') return 'int32';
  return encoding === 'micros' || type === 'timestamp' ? 'timestamp' : 'float64';
}

function formOf({ encoding }: ColumnDescription, kind: string): StretchForm {
  if (encoding === 'micros') return { kind: 'micros' };
  return kind === 'int32' && encoding === 'float64' ? { kind: 'integers' } : PLAIN;
}

function boundsOf(inner: ChunkDescription): { readonly min?: number; readonly max?: number } {
  if (!('min' in inner) || inner.min === undefined || inner.max === undefined) return {};
  return { min: Number(inner.min), max: Number(inner.max) };
}

/** What is read before it takes the form that memory has; each thread has one. */
let staging = new Uint8Array(0);

function stage(file: FileSource, { offset, sizeBytes }: FileRegion): Uint8Array {
  if (staging.length < sizeBytes) staging = new Uint8Array(sizeBytes);
  const bytes = staging.subarray(0, sizeBytes);
  file.read(bytes, offset);
  return bytes;
}

/**
 * Reads what a span says lies in a file. The file is opened each time: it may be removed while nobody
 * reads it, and threads hold nothing of it.
 * @throws DATA_ERROR naming the file when it is missing, or is not as it was when it was verified
 */
export function readPagedSpan({ file: stretch, offset, sizeBytes }: FileSpan, target: Uint8Array) {
  const { state, form } = stretch;
  const file = new FileSource(state.path);
  try {
    if (file.sizeBytes !== state.sizeBytes || file.modifiedMs !== state.modifiedMs) {
      throw damaged(state.path, 'it was changed after it was opened');
    }
    const { buffer, byteOffset } = target;
    switch (form.kind) {
      case 'plain':
        file.read(target, offset);
        break;
      case 'integers': {
        const numbers = new Int32Array(buffer, byteOffset, sizeBytes / 4);
        readNumbers('float64', stage(file, { offset, sizeBytes: sizeBytes * 2 }), numbers);
        break;
      }
      case 'micros': {
        const numbers = new Float64Array(buffer, byteOffset, sizeBytes / 8);
        readNumbers('micros', stage(file, { offset, sizeBytes }), numbers);
        break;
      }
      case 'codes': {
        const rowCount = sizeBytes / form.width;
        const codes = codeArray(form.width, buffer, byteOffset, rowCount);
        const validity = new Uint8Array(form.validity?.sizeBytes ?? 0);
        if (form.validity !== undefined) file.read(validity, form.validity.offset);
        const data = stage(file, { offset, sizeBytes: rowCount * form.indexWidth });
        readCodes(indexArray(form.indexWidth, data), validity, codes);
        for (let i = 0; i < rowCount; i++) {
          if ((codes[i] as number) > form.count) throw damaged(state.path, 'it has other values');
        }
      }
    }
  } finally {
    file.close();
  }
}

function codeArray(
  width: 1 | 2 | 4,
  buffer: ArrayBufferLike,
  byteOffset: number,
  length: number,
): Uint8Array | Uint16Array | Uint32Array {
  switch (width) {
    case 1:
      return new Uint8Array(buffer, byteOffset, length);
    case 2:
      return new Uint16Array(buffer, byteOffset, length);
    case 4:
      return new Uint32Array(buffer, byteOffset, length);
  }
}
