// Values as Arrow arrays hold them, in the form that columns in memory have, and the reader of spans
// that lie in a dataset file.
import { assert } from '../util/assert.ts';
import type { FileSpan } from '../value/column/file-span.ts';
import type { FileRegion } from './arrow-file-reader.ts';
import type { ColumnEncoding } from './column-description.ts';
import { damaged, FileSource } from './durable-file.ts';

/** Indexes of a dictionary array, from 0 on. */
export function indexArray(
  width: 1 | 2 | 4,
  { buffer, byteOffset, length }: Uint8Array,
): Int8Array | Int16Array | Int32Array {
  switch (width) {
    case 1:
      return new Int8Array(buffer, byteOffset, length);
    case 2:
      return new Int16Array(buffer, byteOffset, length / 2);
    case 4:
      return new Int32Array(buffer, byteOffset, length / 4);
  }
}

/** Codes of indexes; 0 where the bitmap, unless it is empty, has no value. */
export function readCodes(
  from: Int8Array | Int16Array | Int32Array,
  validity: Uint8Array,
  target: Uint8Array | Uint16Array | Uint32Array,
): void {
  for (let i = 0; i < target.length; i++) target[i] = (from[i] as number) + 1;
  if (validity.length === 0) return;
  for (let i = 0; i < target.length; i++) if (!isValid(validity, i)) target[i] = 0;
}

/** Numbers as memory holds them. */
export function readNumbers(
  encoding: ColumnEncoding,
  data: Uint8Array,
  target: Int32Array | Float64Array,
): void {
  const { buffer, byteOffset, length } = data;
  switch (encoding) {
    case 'int32':
      target.set(new Int32Array(buffer, byteOffset, length / 4));
      return;
    case 'float64':
      target.set(new Float64Array(buffer, byteOffset, length / 8));
      return;
    case 'micros': {
      // Two words of 32 bits: bigints would be slower.
      const words = new Int32Array(buffer, byteOffset, length / 4);
      for (let i = 0; i < target.length; i++) {
        const low = (words[i * 2] as number) >>> 0;
        target[i] = ((words[i * 2 + 1] as number) * 2 ** 32 + low) / 1e6;
      }
      return;
    }
    default:
      assert(false, `numbers in a column of ${encoding}`);
  }
}

/** Whether a row has a value; in an empty bitmap all have. */
export function isValid(validity: Uint8Array, index: number): boolean {
  return validity.length === 0 || ((validity[index >> 3] as number) & (1 << (index & 7))) !== 0;
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
    const isSame = file.sizeBytes === state.sizeBytes && file.modifiedMs === state.modifiedMs;
    if (!isSame && state.isScratch !== true) {
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
