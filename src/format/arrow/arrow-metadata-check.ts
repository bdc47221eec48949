// The metadata of Arrow files are flatbuffers, which the library reads without looking whether a
// vector fits its message: a length that lies costs it all memory. So the lengths are looked at first.

import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch';
import type { Field } from 'apache-arrow/fb/field';
import { Footer } from 'apache-arrow/fb/footer';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Schema } from 'apache-arrow/fb/schema';
import { ByteBuffer } from 'flatbuffers';

/** The first bytes of files with a footer, and their last. */
const FILE_MAGIC = 'ARROW1';
const FILE_HEAD_SIZE = 8;
const FILE_TAIL_SIZE = FILE_MAGIC.length + 4;
/** In front of the size of a message. */
const CONTINUATION = 0xffffffff;
const OFFSET_SIZE = 4;
const NODE_SIZE = 16;
const BLOCK_SIZE = 24;
const DEPTH_MAX = 64;

/** @throws Error when lengths in the metadata of a file or stream cannot be true */
export function checkArrowMetadata(bytes: Buffer): void {
  if (bytes.toString('latin1', 0, FILE_MAGIC.length) === FILE_MAGIC) checkFile(bytes);
  else checkStream(bytes);
}

function checkFile(bytes: Buffer): void {
  if (
    bytes.length < FILE_HEAD_SIZE + FILE_TAIL_SIZE ||
    bytes.toString('latin1', bytes.length - FILE_MAGIC.length) !== FILE_MAGIC
  ) {
    throw new Error('its end is not that of an Arrow file');
  }
  const end = bytes.length - FILE_TAIL_SIZE;
  const size = bytes.readInt32LE(end);
  if (size <= 0 || size > end - FILE_HEAD_SIZE) throw new Error(`a footer of ${size} bytes`);
  const footer = Footer.getRootAsFooter(new ByteBuffer(bytes.subarray(end - size, end)));
  checkSchema(footer.schema(), size);
  checkCount(
    'blocks',
    footer.dictionariesLength() + footer.recordBatchesLength(),
    BLOCK_SIZE,
    size,
  );
  const blocks = [
    ...Array.from({ length: footer.dictionariesLength() }, (_, i) => footer.dictionaries(i)),
    ...Array.from({ length: footer.recordBatchesLength() }, (_, i) => footer.recordBatches(i)),
  ];
  for (const block of blocks) {
    const start = Number(block?.offset() ?? -1);
    const whole = Number(block?.bodyLength() ?? 0) + Number(block?.metaDataLength() ?? 0);
    if (!(start >= FILE_HEAD_SIZE && whole > 0 && start + whole <= end)) {
      throw new Error(`a batch of ${whole} bytes at ${start}`);
    }
    checkMessage(bytes, start);
  }
}

function checkStream(bytes: Buffer): void {
  for (let start: number | undefined = 0; start !== undefined; ) start = checkMessage(bytes, start);
}

/** @returns where the next message begins; undefined at the end */
function checkMessage(bytes: Buffer, start: number): number | undefined {
  const hasMark = start + OFFSET_SIZE <= bytes.length && bytes.readUInt32LE(start) === CONTINUATION;
  const from = start + (hasMark ? 2 : 1) * OFFSET_SIZE;
  if (from > bytes.length) return undefined;
  const size = bytes.readInt32LE(from - OFFSET_SIZE);
  if (size === 0) return undefined;
  if (size < 0 || from + size > bytes.length) throw new Error(`a message of ${size} bytes`);
  const message = Message.getRootAsMessage(new ByteBuffer(bytes.subarray(from, from + size)));
  switch (message.headerType()) {
    case MessageHeader.Schema:
      checkSchema(message.header(new Schema()), size);
      break;
    case MessageHeader.RecordBatch:
      checkBatch(message.header(new RecordBatch()), size);
      break;
    case MessageHeader.DictionaryBatch: {
      const dictionary: DictionaryBatch | null = message.header(new DictionaryBatch());
      checkBatch(dictionary?.data() ?? null, size);
      break;
    }
    default:
      throw new Error('a message of no known kind');
  }
  const next = from + size + Number(message.bodyLength());
  if (!(next >= from + size && next <= bytes.length)) throw new Error('a message that is cut');
  return next;
}

function checkBatch(batch: RecordBatch | null, size: number): void {
  if (batch === null) throw new Error('a message without its batch');
  checkCount('columns', batch.nodesLength(), NODE_SIZE, size);
  checkCount('buffers', batch.buffersLength(), NODE_SIZE, size);
  checkCount('buffers', batch.variadicBufferCountsLength(), OFFSET_SIZE, size);
}

function checkSchema(schema: Schema | null, size: number): void {
  if (schema === null) throw new Error('it has no schema');
  checkCount('properties', schema.customMetadataLength(), OFFSET_SIZE, size);
  checkCount('columns', schema.fieldsLength(), OFFSET_SIZE, size);
  const budget = { left: size };
  for (let i = 0; i < schema.fieldsLength(); i++) checkField(schema.fields(i), budget, 1);
}

/** @param budget bytes of the message; each field takes some, so that none is counted twice */
function checkField(field: Field | null, budget: { left: number }, depth: number): void {
  budget.left -= OFFSET_SIZE;
  if (field === null || budget.left < 0) throw new Error('columns that are not there');
  if (depth > DEPTH_MAX) throw new Error(`columns nested deeper than ${DEPTH_MAX}`);
  checkCount('columns', field.childrenLength(), OFFSET_SIZE, budget.left);
  checkCount('properties', field.customMetadataLength(), OFFSET_SIZE, budget.left);
  for (let i = 0; i < field.childrenLength(); i++) {
    checkField(field.children(i), budget, depth + 1);
  }
}

function checkCount(what: string, count: number, itemSize: number, size: number): void {
  if (count * itemSize > size) throw new Error(`${count} ${what} in ${size} bytes`);
}
