// The metadata of Arrow files are flatbuffers, which the library reads without looking whether a
// vector fits its message: a length that lies costs it all memory. So the lengths are looked at first.

import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch';
import type { Field } from 'apache-arrow/fb/field';
import type { Footer } from 'apache-arrow/fb/footer';
import type { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Schema } from 'apache-arrow/fb/schema';

const OFFSET_SIZE = 4;
const NODE_SIZE = 16;
const BLOCK_SIZE = 24;
const DEPTH_MAX = 64;

/** @param size bytes of the footer. @throws Error when a length in it cannot be true */
export function checkFooter(footer: Footer, size: number): void {
  checkSchema(footer.schema(), size);
  const blockCount = footer.dictionariesLength() + footer.recordBatchesLength();
  checkCount('blocks', blockCount, BLOCK_SIZE, size);
}

/** @param size bytes of the message without its body. @throws Error when a length in it cannot be true */
export function checkMessage(message: Message, size: number): void {
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
