// What a damaged or hostile Arrow file says of its columns is held against the bytes that it has, so
// that nobody reads a billion rows out of a few of them.
import { type Data, type DataType, Type } from 'apache-arrow';

/** @throws Error when the buffers of a column are shorter than its rows need */
export function checkArrowData(data: Data): void {
  const { length, nullBitmap, type, children } = data;
  if (!Number.isSafeInteger(length) || length < 0) throw new Error(`a column of ${length} rows`);
  if (nullBitmap !== undefined && nullBitmap.length > 0 && nullBitmap.length * 8 < length) {
    throw new Error(`the nulls of a column end before its ${length} rows`);
  }
  const have = rowsOfBuffers(data);
  if (have < length) throw new Error(`a column of ${length} rows has the bytes of ${have}`);
  switch (type.typeId) {
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      checkOffsets(data, children[0]?.length ?? 0);
      break;
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary:
      checkOffsets(data, (data.values as Uint8Array | undefined)?.length ?? 0);
      break;
  }
  for (const child of children) checkArrowData(child);
}

/** How many rows the buffers of a column can hold. */
function rowsOfBuffers({ type, values, valueOffsets, children }: Data): number {
  const valueCount = (values as ArrayLike<unknown> | undefined)?.length ?? 0;
  switch (type.typeId) {
    case Type.Null:
    case Type.Union:
    case Type.SparseUnion:
    case Type.DenseUnion:
      return Number.POSITIVE_INFINITY;
    case Type.Bool:
      return valueCount * 8;
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary:
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      // A column without rows may leave out its offsets.
      return Math.max(0, ((valueOffsets as ArrayLike<unknown> | undefined)?.length ?? 0) - 1);
    case Type.Utf8View:
    case Type.BinaryView:
      return Math.floor(valueCount / VIEW_SIZE);
    case Type.Struct:
      return Math.min(...children.map((child) => child.length), Number.POSITIVE_INFINITY);
    case Type.FixedSizeList: {
      const { listSize } = type as DataType & { readonly listSize: number };
      return listSize > 0 ? Math.floor((children[0]?.length ?? 0) / listSize) : 0;
    }
    case Type.FixedSizeBinary: {
      const { byteWidth } = type as DataType & { readonly byteWidth: number };
      return byteWidth > 0 ? Math.floor(valueCount / byteWidth) : 0;
    }
    default:
      // Numbers of several words, such as decimals and intervals, are arrays of words.
      return Math.floor(valueCount / ((type as DataType & { stride?: number }).stride ?? 1));
  }
}

const VIEW_SIZE = 16;

function checkOffsets({ length, valueOffsets }: Data, end: number): void {
  const offsets = valueOffsets as Int32Array | BigInt64Array;
  for (let i = 0; i < length; i++) {
    const from = Number(offsets[i]);
    const to = Number(offsets[i + 1]);
    if (!(from >= 0 && from <= to && to <= end)) {
      throw new Error(`values from ${from} to ${to} of a column that has ${end}`);
    }
  }
}
