// Spans whose bytes lie in a file: what memory has no room for is read whenever it is looked at.
import { assert } from '../../util/assert.ts';
import type { ChunkSnapshot, FileStretch, Span } from './snapshot.ts';

export interface FileSpan extends Span {
  readonly file: FileStretch;
}

/** The arena of spans that lie in none. */
export const NO_ARENA = -1;

/** Reads the bytes of a span, as memory holds them, into `target`, which has its size. */
export type FileSpanReader = (span: FileSpan, target: Uint8Array) => void;

let reader: FileSpanReader | undefined;

/** Called once by each thread that looks at values, before it does. */
export function useFileSpanReader(read: FileSpanReader): void {
  reader = read;
}

/** Whether the bytes of a span are in a file. */
export function isInFile(span: Span): span is FileSpan {
  return span.file !== undefined;
}

/** Whether the values of a chunk are read from a file when they are looked at. */
export function isChunkInFile(chunk: ChunkSnapshot): boolean {
  return 'data' in chunk && isInFile(chunk.data);
}

/** @throws DATA_ERROR when the file is another one than it was */
export function readFileSpan(span: FileSpan, target: Uint8Array): void {
  assert(reader !== undefined, 'this thread looks at no values');
  reader(span, target);
}

/** The bytes of a span in memory of their own. */
export function loadFileSpan(span: FileSpan): ArrayBuffer {
  const bytes = new Uint8Array(span.sizeBytes);
  readFileSpan(span, bytes);
  return bytes.buffer;
}

/** The part of a span that some rows have. @param from a multiple of 8 */
export function rowsOfFileSpan(
  span: FileSpan,
  { from, to }: { readonly from: number; readonly to: number },
  bytesPerRow: number,
): FileSpan {
  const { form, state } = span.file;
  const count = to - from;
  const sizeBytes = Math.ceil(count * bytesPerRow);
  switch (form.kind) {
    case 'plain':
      return { ...span, sizeBytes, offset: span.offset + from * bytesPerRow };
    case 'integers':
    case 'micros':
      return { ...span, sizeBytes, offset: span.offset + from * 8 };
    case 'codes': {
      const { validity, indexWidth } = form;
      const part = validity && {
        offset: validity.offset + from / 8,
        sizeBytes: Math.ceil(count / 8),
      };
      return {
        ...{ ...span, sizeBytes, offset: span.offset + from * indexWidth },
        file: { state, form: part === undefined ? form : { ...form, validity: part } },
      };
    }
  }
}
