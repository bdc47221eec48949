// The messages of an Arrow file or stream, read one at a time, so that a file of any size takes the
// memory of one batch and of its dictionaries.
// https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
import { readSync } from 'node:fs';
import { Footer } from 'apache-arrow/fb/footer';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { ByteBuffer } from 'flatbuffers';
import { checkFooter, checkMessage } from './arrow-metadata-check.ts';

/** The first bytes of files with a footer, and their last. */
const FILE_MAGIC = 'ARROW1';
const FILE_HEAD_SIZE = 8;
const SIZE_SIZE = 4;
const FILE_TAIL_SIZE = SIZE_SIZE + FILE_MAGIC.length;
/** In front of the size of a message. */
const CONTINUATION = 0xffffffff;

/** An open file. */
export interface ArrowSource {
  readonly descriptor: number;
  readonly sizeBytes: number;
}

/**
 * The bytes of a stream of messages: the schema, dictionaries and batches. Of a file with a footer, all
 * dictionaries come before the batches, whatever their order in the file. A message comes as its size, its metadata and its body.
 * @throws Error when a length in the metadata cannot be true
 */
export function* arrowMessages(source: ArrowSource): Generator<Uint8Array, undefined> {
  const magic = read(source, 0, Math.min(FILE_MAGIC.length, source.sizeBytes));
  if (magic.toString('latin1') === FILE_MAGIC) {
    const { footer, bytes, end } = footerOf(source);
    yield* schemaMessage(footer, bytes);
    for (const start of blockStarts(footer, end)) yield* message(source, start);
    return;
  }
  let next: number | undefined = 0;
  while (next !== undefined) next = yield* message(source, next);
}

interface FooterPart {
  readonly footer: Footer;
  readonly bytes: Buffer;
  /** where the messages end */
  readonly end: number;
}

function footerOf(source: ArrowSource): FooterPart {
  const tailStart = source.sizeBytes - FILE_TAIL_SIZE;
  const tail =
    tailStart < FILE_HEAD_SIZE ? Buffer.alloc(0) : read(source, tailStart, FILE_TAIL_SIZE);
  if (tail.toString('latin1', SIZE_SIZE) !== FILE_MAGIC) {
    throw new Error('its end is not that of an Arrow file');
  }
  const size = tail.readInt32LE(0);
  if (size <= 0 || size > tailStart - FILE_HEAD_SIZE) throw new Error(`a footer of ${size} bytes`);
  const end = tailStart - size;
  const bytes = read(source, end, size);
  const footer = Footer.getRootAsFooter(new ByteBuffer(bytes));
  checkFooter(footer, size);
  return { footer, bytes, end };
}

/** Where dictionaries begin, then where batches do. */
function* blockStarts(footer: Footer, end: number): Generator<number> {
  const dictionaryCount = footer.dictionariesLength();
  for (let i = 0; i < dictionaryCount + footer.recordBatchesLength(); i++) {
    const block =
      i < dictionaryCount ? footer.dictionaries(i) : footer.recordBatches(i - dictionaryCount);
    const start = Number(block?.offset() ?? -1);
    const whole = Number(block?.bodyLength() ?? 0) + Number(block?.metaDataLength() ?? 0);
    if (!(start >= FILE_HEAD_SIZE && whole > 0 && start + whole <= end)) {
      throw new Error(`a batch of ${whole} bytes at ${start}`);
    }
    yield start;
  }
}

/**
 * The schema of a footer as a message. Some writers begin their files with a message that is none, so
 * the footer counts. Offsets inside a flatbuffer are relative: a message in front of the footer's bytes
 * points to the schema among them.
 */
function* schemaMessage(footer: Footer, bytes: Buffer): Generator<Uint8Array> {
  const schema = footer.schema()?.bb_pos ?? 0;
  const [fields, table, start] = [4, 16, 32];
  const [header, version, headerType] = [4, 8, 10];
  const message = Buffer.concat([Buffer.alloc(start), bytes]);
  message.writeUInt32LE(table, 0);
  // The size of this list of fields and of the table; then each field's place in the table.
  for (const [i, value] of [10, 12, version, headerType, header].entries()) {
    message.writeUInt16LE(value, fields + 2 * i);
  }
  message.writeInt32LE(table - fields, table);
  message.writeUInt32LE(start + schema - (table + header), table + header);
  message.writeInt16LE(footer.version(), table + version);
  message.writeUInt8(MessageHeader.Schema, table + headerType);
  const size = Buffer.alloc(SIZE_SIZE);
  size.writeInt32LE(message.length);
  yield size;
  yield message;
}

/** @returns where the next message begins; undefined at the end */
function* message(source: ArrowSource, start: number): Generator<Uint8Array, number | undefined> {
  if (start + SIZE_SIZE > source.sizeBytes) return undefined;
  let from = start + SIZE_SIZE;
  let sizeBytes = read(source, start, SIZE_SIZE);
  if (sizeBytes.readUInt32LE(0) === CONTINUATION) {
    if (from + SIZE_SIZE > source.sizeBytes) return undefined;
    yield sizeBytes;
    sizeBytes = read(source, from, SIZE_SIZE);
    from += SIZE_SIZE;
  }
  yield sizeBytes;
  const size = sizeBytes.readInt32LE(0);
  if (size === 0) return undefined;
  if (size < 0 || from + size > source.sizeBytes) throw new Error(`a message of ${size} bytes`);
  const metadata = read(source, from, size);
  const header = Message.getRootAsMessage(new ByteBuffer(metadata));
  checkMessage(header, size);
  const bodySize = Number(header.bodyLength());
  const next = from + size + bodySize;
  if (!(bodySize >= 0 && next <= source.sizeBytes)) throw new Error('a message that is cut');
  yield metadata;
  if (bodySize > 0) yield read(source, from + size, bodySize);
  return next;
}

/** @throws Error when the file has become shorter since it was opened */
function read({ descriptor }: ArrowSource, position: number, size: number): Buffer {
  // Values of a body are read in place, which needs a buffer that begins at a multiple of eight.
  const bytes = Buffer.allocUnsafeSlow(size);
  let count = 0;
  while (count < size) {
    const got = readSync(descriptor, bytes, count, size - count, position + count);
    if (got === 0) throw new Error('a message that is cut');
    count += got;
  }
  return bytes;
}
