// Reads the frame of an Arrow IPC file that `arrow-file-writer.ts` wrote, and notices damage.
import { crc32 } from 'node:zlib';
import type { Schema } from 'apache-arrow';
import { type FileBlock, Footer } from 'apache-arrow/ipc/metadata/file';
import { Message } from 'apache-arrow/ipc/metadata/message';
import type { FileState } from '../value/column/snapshot.ts';
import {
  ARROW_MAGIC,
  type ArrowPart,
  FILE_FORMAT,
  type FileIndex,
  FOOTER_CHECKSUM_SIZE,
  INDEX_KEY,
} from './arrow-file-writer.ts';
import { damaged, FileSource } from './durable-file.ts';

const TAIL_SIZE = 4 + ARROW_MAGIC.length;

/** A stretch of bytes of a file. */
export interface FileRegion {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Buffers of a part are valid until the next one is read. */
export class ArrowFileReader {
  readonly schema: Schema;
  readonly #source: FileSource;
  readonly #index: FileIndex;
  readonly #batches: readonly FileBlock[];
  readonly #dictionaries: readonly FileBlock[];
  #scratch = new Uint8Array(0);

  /** @throws DATA_ERROR naming the file when it is missing, cut off or changed */
  constructor(path: string) {
    this.#source = new FileSource(path);
    try {
      const footer = this.#readFooter();
      this.schema = footer.schema;
      this.#batches = [...footer.recordBatches()];
      this.#dictionaries = [...footer.dictionaryBatches()];
      this.#index = this.#readIndex();
    } catch (error) {
      this.#source.close();
      throw this.#asDamage(error);
    }
  }

  get path(): string {
    return this.#source.path;
  }

  /** What tells it from the file that it may be later. */
  get state(): FileState {
    const { path, sizeBytes, modifiedMs } = this.#source;
    return { path, sizeBytes, modifiedMs };
  }

  get batchCount(): number {
    return this.#batches.length;
  }

  get dictionaryCount(): number {
    return this.#dictionaries.length;
  }

  readBatch(index: number): ArrowPart {
    const { message, body } = this.#readMessage(
      this.#batches[index] as FileBlock,
      this.#index.batches[index] as number,
    );
    if (!message.isRecordBatch()) throw damaged(this.path, 'a record batch is missing');
    return toPart(message.header(), body);
  }

  /** Some buffers of a batch, by number, without a look at its checksum: `readBatch` has seen it. */
  readBatchBuffers(index: number, wanted: readonly number[]): readonly Uint8Array[] {
    return this.batchRegions(index, wanted).map(({ offset, sizeBytes }) => {
      const bytes = new Uint8Array(sizeBytes);
      this.#source.read(bytes, offset);
      return bytes;
    });
  }

  /** Where in the file these buffers are. */
  batchRegions(index: number, wanted: readonly number[]): readonly FileRegion[] {
    const { offset, metaDataLength, bodyLength } = this.#batches[index] as FileBlock;
    const head = new Uint8Array(metaDataLength);
    this.#source.read(head, offset);
    const message = Message.decode(head.subarray(8));
    if (!message.isRecordBatch()) throw damaged(this.path, 'a record batch is missing');
    const { buffers } = message.header();
    return wanted.map((number) => {
      const region = buffers[number] ?? { offset: 0, length: 0 };
      if (region.offset + region.length > bodyLength) throw damaged(this.path, 'it is cut off');
      return { offset: offset + metaDataLength + region.offset, sizeBytes: region.length };
    });
  }

  readDictionary(index: number): ArrowPart & { readonly id: number } {
    const { message, body } = this.#readMessage(
      this.#dictionaries[index] as FileBlock,
      this.#index.dictionaries[index] as number,
    );
    if (!message.isDictionaryBatch()) throw damaged(this.path, 'a dictionary is missing');
    const header = message.header();
    return { id: header.id, ...toPart(header.data, body) };
  }

  /** The size of a section, undefined when there is none. */
  sectionSize(name: string): number | undefined {
    return this.#index.sections[name]?.sizeBytes;
  }

  /** Reads a section into `target`, which has its size. */
  readSection(name: string, target: Uint8Array): void {
    const place = this.#index.sections[name];
    if (place === undefined) throw damaged(this.path, `its section "${name}" is missing`);
    this.#source.read(target, place.offset);
    if (crc32(target) !== place.checksum) {
      throw damaged(this.path, `its section "${name}" is damaged`);
    }
  }

  /** A section in an array of its own. */
  section(name: string): Uint8Array {
    const bytes = new Uint8Array(this.sectionSize(name) ?? 0);
    this.readSection(name, bytes);
    return bytes;
  }

  close(): void {
    this.#source.close();
  }

  #readFooter(): Footer {
    const { sizeBytes } = this.#source;
    if (sizeBytes < TAIL_SIZE) throw damaged(this.path, 'it is cut off');
    const tail = new Uint8Array(TAIL_SIZE);
    this.#source.read(tail, sizeBytes - TAIL_SIZE);
    if (Buffer.compare(tail.subarray(4), ARROW_MAGIC) !== 0) {
      throw damaged(this.path, 'it is cut off');
    }
    const size = new DataView(tail.buffer).getInt32(0, true);
    const start = sizeBytes - TAIL_SIZE - size - FOOTER_CHECKSUM_SIZE;
    if (size <= 0 || start < 0) throw damaged(this.path, 'its footer is damaged');
    const bytes = new Uint8Array(FOOTER_CHECKSUM_SIZE + size);
    this.#source.read(bytes, start);
    const footer = bytes.subarray(FOOTER_CHECKSUM_SIZE);
    if (crc32(footer) !== new DataView(bytes.buffer).getUint32(0, true)) {
      throw damaged(this.path, 'its footer is damaged');
    }
    return Footer.decode(footer);
  }

  #readIndex(): FileIndex {
    const text = this.schema.metadata.get(INDEX_KEY);
    if (text === undefined) throw damaged(this.path, 'it was not written by this service');
    const index = JSON.parse(text) as FileIndex;
    if (index.format > FILE_FORMAT) {
      throw damaged(
        this.path,
        `it has format ${index.format}, known are formats up to ${FILE_FORMAT}`,
      );
    }
    return index;
  }

  #readMessage(block: FileBlock, checksum: number): { message: Message; body: Uint8Array } {
    const size = block.metaDataLength + block.bodyLength;
    if (block.offset + size > this.#source.sizeBytes) throw damaged(this.path, 'it is cut off');
    if (this.#scratch.length < size) this.#scratch = new Uint8Array(size);
    const bytes = this.#scratch.subarray(0, size);
    this.#source.read(bytes, block.offset);
    if (crc32(bytes) !== checksum)
      throw damaged(this.path, `its block at ${block.offset} is damaged`);
    return {
      message: Message.decode(bytes.subarray(8, block.metaDataLength)),
      body: bytes.subarray(block.metaDataLength),
    };
  }

  /** A damaged footer fails anywhere inside the decoder. */
  #asDamage(error: unknown): unknown {
    if (error instanceof Error && error.name === 'RowanError') return error;
    return damaged(this.path, 'its footer is damaged');
  }
}

interface PartHeader {
  readonly length: number;
  readonly nodes: ArrowPart['nodes'];
  readonly buffers: readonly { readonly offset: number; readonly length: number }[];
}

function toPart({ length, nodes, buffers }: PartHeader, body: Uint8Array): ArrowPart {
  return {
    length,
    nodes,
    buffers: buffers.map((region) => body.subarray(region.offset, region.offset + region.length)),
  };
}
