// Typed views of spans. What lies in a file is read: such a view is a copy.
import type { ArenaAllocator } from './arena-set.ts';
import { isInFile, loadFileSpan } from './file-span.ts';
import type { Span } from './snapshot.ts';

type Arenas = Pick<ArenaAllocator, 'get'>;

/** The bytes of a span, without a copy. */
export function bytesOf(arenas: Arenas, span: Span): Uint8Array {
  if (isInFile(span)) return new Uint8Array(loadFileSpan(span));
  return arenas.get(span.arena).u8.subarray(span.offset, span.offset + span.sizeBytes);
}

/** The whole 16-bit words of a span, without a copy. */
export function uint16Of(arenas: Arenas, span: Span): Uint16Array {
  if (isInFile(span)) return new Uint16Array(loadFileSpan(span));
  const start = span.offset / 2;
  return arenas.get(span.arena).u16.subarray(start, start + Math.floor(span.sizeBytes / 2));
}

/** The whole signed 32-bit words of a span, without a copy. */
export function int32Of(arenas: Arenas, span: Span): Int32Array {
  if (isInFile(span)) return new Int32Array(loadFileSpan(span));
  const start = span.offset / 4;
  return arenas.get(span.arena).i32.subarray(start, start + Math.floor(span.sizeBytes / 4));
}

/** The whole 32-bit words of a span, without a copy. */
export function uint32Of(arenas: Arenas, span: Span): Uint32Array {
  if (isInFile(span)) return new Uint32Array(loadFileSpan(span));
  const start = span.offset / 4;
  return arenas.get(span.arena).u32.subarray(start, start + Math.floor(span.sizeBytes / 4));
}

/** The whole doubles of a span, without a copy. */
export function float64Of(arenas: Arenas, span: Span): Float64Array {
  if (isInFile(span)) return new Float64Array(loadFileSpan(span));
  const start = span.offset / 8;
  return arenas.get(span.arena).f64.subarray(start, start + Math.floor(span.sizeBytes / 8));
}

/** Copies bytes into a new span. */
export function spanOf(
  allocator: ArenaAllocator,
  content: {
    readonly buffer: ArrayBufferLike;
    readonly byteOffset: number;
    readonly byteLength: number;
  },
): Span {
  const span = allocator.allocate(content.byteLength);
  bytesOf(allocator, span).set(
    new Uint8Array(content.buffer, content.byteOffset, content.byteLength),
  );
  return span;
}
