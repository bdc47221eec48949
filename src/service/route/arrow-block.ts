// Cuts Arrow IPC streams into streams of their own, each with the schema and the dictionaries.
import { failure, RowanError } from '../../util/error.ts';
import { type BodyBlock, PendingBytes, partTooLarge } from './body-block.ts';

const CONTINUATION = 0xffff_ffff;
const SCHEMA = 1;
const DICTIONARY_BATCH = 2;
const RECORD_BATCH = 3;
/** Sizes of more cannot be meant. */
const METADATA_SIZE_MAX = 64 * 2 ** 20;
/** A record batch may be this many times as large as a block. */
const LARGE_BATCH_FACTOR = 16;
const END_OF_STREAM = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/**
 * Whole messages, in blocks of at least the size but for the last.
 * @throws INVALID_PARAMETER for what is no such stream, BODY_TOO_LARGE for a large message
 * @see https://arrow.apache.org/docs/format/Columnar.html, "IPC Streaming Format"
 */
export async function* arrowBlocks(
  body: AsyncIterable<Uint8Array>,
  blockSize: number,
): AsyncGenerator<BodyBlock> {
  const reader = new MessageReader(body, blockSize);
  /** what each block needs before its rows */
  const prefix: Uint8Array[] = [];
  const pending = new PendingBytes();
  let first = 0;
  let rowCount = 0;
  const takeBlock = (): BodyBlock => {
    pending.push(END_OF_STREAM);
    const block = { bytes: pending.take(), first };
    first += rowCount;
    rowCount = 0;
    return block;
  };
  for (;;) {
    const message = await reader.next();
    if (message === undefined) break;
    const isFirst = prefix.length === 0;
    if (isFirst !== (message.kind === SCHEMA))
      throw notArrow('its schema is not its first message');
    if (message.kind !== RECORD_BATCH) {
      if (message.kind !== SCHEMA && message.kind !== DICTIONARY_BATCH) {
        throw notArrow(`it has a message of kind ${message.kind}`);
      }
      prefix.push(message.bytes);
      if (pending.size > 0) pending.push(message.bytes);
      continue;
    }
    if (pending.size === 0) for (const bytes of prefix) pending.push(bytes);
    pending.push(message.bytes);
    rowCount += message.rowCount;
    if (pending.size >= blockSize) yield takeBlock();
  }
  if (prefix.length === 0) throw notArrow('it has no schema');
  if (pending.size > 0) yield takeBlock();
}

interface Message {
  readonly kind: number;
  readonly rowCount: number;
  /** head and body, as they came */
  readonly bytes: Uint8Array;
}

class MessageReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #blockSize: number;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>, blockSize: number) {
    this.#source = source[Symbol.asyncIterator]();
    this.#blockSize = blockSize;
  }

  /** Undefined at the end of the stream, or of the bytes. */
  async next(): Promise<Message | undefined> {
    if (!(await this.#has(4))) {
      if (this.#buffer.length > 0) throw notArrow('it ends within a message');
      return undefined;
    }
    // Before version 0.15 there was no mark before the size.
    const hasMark = this.#buffer.readUInt32LE(0) === CONTINUATION;
    const headSize = hasMark ? 8 : 4;
    await this.#need(headSize);
    const metadataSize = this.#buffer.readUInt32LE(headSize - 4);
    if (metadataSize === 0) return undefined;
    if (metadataSize > METADATA_SIZE_MAX) throw notArrow('it has no schema');
    await this.#need(headSize + metadataSize);
    const metadata = this.#buffer.subarray(headSize, headSize + metadataSize);
    const { kind, rowCount, bodySize } = readMetadata(metadata);
    const size = headSize + metadataSize + bodySize;
    const bodySizeMax = this.#blockSize * LARGE_BATCH_FACTOR;
    if (bodySize > bodySizeMax) throw partTooLarge('record batch', bodySizeMax);
    await this.#need(size);
    const bytes = this.#buffer.subarray(0, size);
    this.#buffer = this.#buffer.subarray(size);
    return { kind, rowCount, bytes };
  }

  async #need(size: number): Promise<void> {
    if (!(await this.#has(size))) throw notArrow('it ends within a message');
  }

  /** Reads until there are so many bytes; false when there never will be. */
  async #has(size: number): Promise<boolean> {
    if (this.#buffer.length >= size) return true;
    const parts: Uint8Array[] = [this.#buffer];
    let length = this.#buffer.length;
    let isOver = false;
    while (length < size && !isOver) {
      const { done, value } = await this.#source.next();
      isOver = done === true;
      if (isOver) break;
      parts.push(value as Uint8Array);
      length += (value as Uint8Array).length;
    }
    this.#buffer = Buffer.concat(parts, length);
    return !isOver;
  }
}

/** The little of a `Message` flatbuffer that cutting takes. @throws INVALID_PARAMETER */
function readMetadata(metadata: Buffer): { kind: number; rowCount: number; bodySize: number } {
  try {
    const message = new Table(metadata, metadata.readUInt32LE(0));
    const kind = message.byte(1);
    const header = kind === RECORD_BATCH ? message.table(2) : undefined;
    return { kind, rowCount: header?.long(0) ?? 0, bodySize: message.long(3) };
  } catch (thrown) {
    if (thrown instanceof RowanError) throw thrown;
    throw notArrow('its metadata cannot be read');
  }
}

/** A table of a flatbuffer: fields by number, zero where they are absent. */
class Table {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #fields: number;
  readonly #fieldsSize: number;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#fields = start - bytes.readInt32LE(start);
    this.#fieldsSize = bytes.readUInt16LE(this.#fields);
  }

  byte(field: number): number {
    const at = this.#at(field);
    return at === undefined ? 0 : this.#bytes.readUInt8(at);
  }

  long(field: number): number {
    const at = this.#at(field);
    if (at === undefined) return 0;
    const value = Number(this.#bytes.readBigInt64LE(at));
    if (value < 0) throw notArrow('it has a negative size');
    return value;
  }

  table(field: number): Table | undefined {
    const at = this.#at(field);
    return at === undefined ? undefined : new Table(this.#bytes, at + this.#bytes.readUInt32LE(at));
  }

  #at(field: number): number | undefined {
    const entry = 4 + 2 * field;
    if (entry >= this.#fieldsSize) return undefined;
    const offset = this.#bytes.readUInt16LE(this.#fields + entry);
    return offset === 0 ? undefined : this.#start + offset;
  }
}

function notArrow(reason: string): RowanError {
  return failure('INVALID_PARAMETER', `request body is not an Arrow IPC stream: ${reason}`);
}
