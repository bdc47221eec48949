// Columns whose chunks stay in the dataset file: descriptors of where they lie.
import { bitmapSize } from '../value/column/chunk-encoder.ts';
import { NO_ARENA } from '../value/column/file-span.ts';
import type { ChunkSnapshot, FileState, Span, StretchForm } from '../value/column/snapshot.ts';
import type { FileRegion } from './arrow-file-reader.ts';
import {
  atomFromText,
  type ChunkDescription,
  type ColumnDescription,
} from './column-description.ts';
import { indexWidth } from './column-writer.ts';

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
