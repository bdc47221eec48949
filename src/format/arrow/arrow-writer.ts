// Writes columns as Arrow IPC, in batches.
import {
  Binary,
  CompressionType,
  compressionRegistry,
  type Data,
  type DataType,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  type TypeMap,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { BufferRegion } from 'apache-arrow/ipc/metadata/message';
import { assert } from '../../util/assert.ts';
import { registerArrowCodecs } from './arrow-codec.ts';

export type ArrowCell = null | number | bigint | string | Uint8Array;
export type ArrowFileType = 'int64' | 'uint64' | 'double' | 'timestamp' | 'binary' | 'text';

export interface ArrowTable {
  readonly columns: readonly {
    readonly name: string;
    readonly type: ArrowFileType;
    cells(from: number, to: number): ArrowCell[];
  }[];
  readonly rowCount: number;
  readonly format: 'file' | 'stream';
  readonly compression: 'none' | 'zstd' | 'lz4';
  write(bytes: Uint8Array): Promise<void>;
  report(rowCount: number): void;
}

const BATCH_ROW_COUNT = 65_536;

/** Writes a table as an Arrow file or stream; resolves when all is written. */
export async function writeArrowFile(table: ArrowTable): Promise<void> {
  const { columns, rowCount, format, compression, write, report } = table;
  await registerArrowCodecs();
  const types = columns.map(({ type }) => arrowType(type));
  const schema = new Schema(
    columns.map(({ name }, index) => new Field(name, types[index] as DataType, true)),
  );
  const compressionType =
    compression === 'none'
      ? null
      : compression === 'zstd'
        ? CompressionType.ZSTD
        : CompressionType.LZ4_FRAME;
  const ready: Uint8Array[] = [];
  const Writer = format === 'file' ? FileWriter : StreamWriter;
  const writer = new Writer({ compressionType });
  writer.onBytes = (bytes) => ready.push(bytes);
  writer.reset(undefined, schema);
  for (let from = 0; from < rowCount; from += BATCH_ROW_COUNT) {
    const to = Math.min(rowCount, from + BATCH_ROW_COUNT);
    const children = columns.map(({ cells }, index) =>
      arrowData(cells(from, to), types[index] as DataType),
    );
    const data = makeData({
      type: new Struct<TypeMap>(schema.fields),
      length: to - from,
      nullCount: 0,
      children,
    });
    writer.write(new RecordBatch(schema, data));
    for (const bytes of ready.splice(0)) await write(bytes);
    report(to);
  }
  writer.finish();
  for (const bytes of ready.splice(0)) await write(bytes);
}

class FileWriter extends RecordBatchFileWriter {
  onBytes: (bytes: Uint8Array) => void = () => {};

  protected override _compressBodyBuffers(buffers: ArrayBufferView[]): CompressedBody {
    return compressBuffers(this, buffers);
  }

  protected override _write(chunk: ArrayBufferView): this {
    return handOn(this, chunk);
  }
}

class StreamWriter extends RecordBatchStreamWriter {
  onBytes: (bytes: Uint8Array) => void = () => {};

  protected override _compressBodyBuffers(buffers: ArrayBufferView[]): CompressedBody {
    return compressBuffers(this, buffers);
  }

  protected override _write(chunk: ArrayBufferView): this {
    return handOn(this, chunk);
  }
}

interface CompressedBody {
  byteLength: number;
  bufferRegions: BufferRegion[];
  buffers: ArrayBufferView[];
}

/** Of a buffer that is not compressed, in place of its size. */
const NOT_COMPRESSED = -1n;

/**
 * The buffers of a batch, each compressed behind the size that it has without: the library puts the
 * size that it has with compression there, which other readers refuse.
 */
function compressBuffers(
  writer: FileWriter | StreamWriter,
  buffers: readonly ArrayBufferView[],
): CompressedBody {
  const { type } = (writer as unknown as { _compression: { type: CompressionType } })._compression;
  const encode = compressionRegistry.get(type)?.encode;
  assert(encode !== undefined, 'the codecs are registered');
  const out: Uint8Array[] = [];
  const bufferRegions: BufferRegion[] = [];
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of buffers) {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    if (bytes.length === 0) {
      out.push(bytes, bytes);
      bufferRegions.push(new BufferRegion(offset, 0));
      continue;
    }
    const packed = encode(bytes);
    const fits = packed.length < bytes.length;
    const size = Buffer.alloc(8);
    size.writeBigInt64LE(fits ? BigInt(bytes.length) : NOT_COMPRESSED);
    const content = fits ? packed : bytes;
    out.push(size, content);
    bufferRegions.push(new BufferRegion(offset, size.length + content.length));
    offset = (offset + size.length + content.length + 7) & ~7;
  }
  return { byteLength: offset, bufferRegions, buffers: out };
}

/** What both writers do with a piece of the file. */
function handOn<Writer extends FileWriter | StreamWriter>(
  writer: Writer,
  { buffer, byteOffset, byteLength }: ArrayBufferView,
): Writer {
  const inner = writer as unknown as { _started: boolean; _position: number };
  if (inner._started && byteLength > 0) {
    writer.onBytes(Uint8Array.from(new Uint8Array(buffer, byteOffset, byteLength)));
    inner._position += byteLength;
  }
  return writer;
}

function arrowType(type: ArrowFileType): DataType {
  switch (type) {
    case 'int64':
      return new Int64();
    case 'uint64':
      return new Uint64();
    case 'double':
      return new Float64();
    case 'timestamp':
      return new TimestampMicrosecond('UTC');
    case 'binary':
      return new Binary();
    case 'text':
      return new Utf8();
  }
}

function arrowData(cells: readonly ArrowCell[], type: DataType): Data {
  const nullBitmap = new Uint8Array((cells.length + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < cells.length; i++) {
    if (cells[i] === null) nullCount++;
    else nullBitmap[i >> 3] = (nullBitmap[i >> 3] as number) | (1 << (i & 7));
  }
  const common = {
    length: cells.length,
    nullCount,
    nullBitmap: nullCount === 0 ? null : nullBitmap,
  };
  if (type instanceof Float64) {
    const data = Float64Array.from(cells, (cell) => (cell ?? 0) as number);
    return makeData({ type, data, ...common });
  }
  if (type instanceof Uint64) {
    const data = BigUint64Array.from(cells, (cell) => (cell ?? 0n) as bigint);
    return makeData({ type, data, ...common });
  }
  if (type instanceof Int64 || type instanceof TimestampMicrosecond) {
    const data = BigInt64Array.from(cells, (cell) => (cell ?? 0n) as bigint);
    return makeData({ type, data, ...common } as never);
  }
  const parts = cells.map((cell) =>
    cell instanceof Uint8Array ? cell : cell === null ? NO_BYTES : Buffer.from(cell as string),
  );
  const valueOffsets = new Int32Array(parts.length + 1);
  for (const [index, part] of parts.entries()) {
    valueOffsets[index + 1] = (valueOffsets[index] as number) + part.length;
  }
  const data = new Uint8Array(valueOffsets[parts.length] as number);
  for (const [index, part] of parts.entries()) data.set(part, valueOffsets[index]);
  return makeData({ type, valueOffsets, data, ...common } as never);
}

const NO_BYTES = new Uint8Array(0);
