// The frame of an Arrow IPC file. The buffers come from column memory as they are; the library's own
// writer would take them apart into vectors first.
// Between the last record batch and the footer lie sections of our own, which other readers never
// look at: a file's footer says where its batches are.
import { crc32 } from 'node:zlib';
import type { Schema } from 'apache-arrow';
import { Schema as ArrowSchema, MetadataVersion } from 'apache-arrow';
import { FileBlock, Footer } from 'apache-arrow/ipc/metadata/file';
import {
  BufferRegion,
  DictionaryBatch,
  FieldNode,
  Message,
  RecordBatch,
} from 'apache-arrow/ipc/metadata/message';
import type { FileSink } from './durable-file.ts';

export const ARROW_MAGIC: Uint8Array = new TextEncoder().encode('ARROW1');
/** Where the footer's schema says how to read the rest; see `FileIndex`. */
export const INDEX_KEY = 'rowan';
/** Before the footer stands its checksum, a Uint32. */
export const FOOTER_CHECKSUM_SIZE = 4;
/** Counted up with every change that older versions cannot read; a number is never used again. */
export const FILE_FORMAT = 1;

/** Buffers start at multiples of this in the file, so that it can be mapped into memory. */
const ALIGNMENT = 64;
const ZEROS = new Uint8Array(ALIGNMENT);
/** Bytes that are summed up in one go. */
const CHECKSUM_SIZE = 1 << 23;

/** Rows as Arrow lays them out: the nodes of all fields, and their buffers in order. */
export interface ArrowPart {
  readonly length: number;
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  readonly buffers: readonly Uint8Array[];
}

/** What the file holds beyond Arrow; JSON in the footer. */
export interface FileIndex {
  readonly format: number;
  /** checksums of the dictionary batches and of the record batches, headers included */
  readonly dictionaries: readonly number[];
  readonly batches: readonly number[];
  readonly sections: Readonly<Record<string, SectionPlace>>;
}

export interface SectionPlace {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly checksum: number;
}

/** Writes the frame of a dataset file; its buffers are written as they are given. */
export class ArrowFileWriter {
  readonly #sink: FileSink;
  readonly #schema: Schema;
  readonly #dictionaryBlocks: FileBlock[] = [];
  readonly #batchBlocks: FileBlock[] = [];
  readonly #dictionaries: number[] = [];
  readonly #batches: number[] = [];
  readonly #sections: Record<string, SectionPlace> = {};
  readonly #look: () => void;

  /** @param look called in between while much is written */
  constructor(sink: FileSink, schema: Schema, look: () => void = () => undefined) {
    this.#sink = sink;
    this.#schema = schema;
    this.#look = look;
    sink.write([ARROW_MAGIC, ZEROS.subarray(0, 2)]);
    this.#writeMessage(Message.from(schema), []);
  }

  writeDictionary(id: number, part: ArrowPart): void {
    const { header, body, bodySize } = layOut(part);
    const message = Message.from(new DictionaryBatch(header, id), bodySize);
    const { block, checksum } = this.#writeMessage(message, body, bodySize);
    this.#dictionaryBlocks.push(block);
    this.#dictionaries.push(checksum);
  }

  writeBatch(part: ArrowPart): void {
    const { header, body, bodySize } = layOut(part);
    const message = Message.from(header, bodySize);
    const { block, checksum } = this.#writeMessage(message, body, bodySize);
    this.#batchBlocks.push(block);
    this.#batches.push(checksum);
  }

  /** Adds bytes that only we read; after all batches. */
  writeSection(name: string, bytes: Uint8Array): void {
    this.#align(0);
    const { position } = this.#sink;
    this.#sink.write([bytes]);
    this.#sections[name] = {
      offset: position,
      sizeBytes: bytes.length,
      checksum: this.#checksum(bytes, 0),
    };
  }

  finish(): void {
    this.#align(0);
    const index: FileIndex = {
      format: FILE_FORMAT,
      dictionaries: this.#dictionaries,
      batches: this.#batches,
      sections: this.#sections,
    };
    const metadata = new Map(this.#schema.metadata);
    metadata.set(INDEX_KEY, JSON.stringify(index));
    const schema = new ArrowSchema(this.#schema.fields, metadata);
    const footer = Footer.encode(
      new Footer(schema, MetadataVersion.V5, this.#batchBlocks, this.#dictionaryBlocks),
    );
    const endOfStream = Int32Array.of(-1, 0);
    const checksum = Uint32Array.of(crc32(footer));
    const size = Int32Array.of(footer.length);
    this.#sink.write([
      bytesOfArray(endOfStream),
      bytesOfArray(checksum),
      footer,
      bytesOfArray(size),
      ARROW_MAGIC,
    ]);
  }

  #writeMessage(
    message: Message,
    body: readonly Uint8Array[],
    bodySize = 0,
  ): { block: FileBlock; checksum: number } {
    const start = this.#sink.position;
    const encoded = Message.encode(message);
    // Padded so that the body starts aligned in the file.
    const headSize = roundUp(start + 8 + encoded.length) - start;
    const head = new Uint8Array(headSize);
    const view = new DataView(head.buffer);
    view.setInt32(0, -1, true);
    view.setInt32(4, headSize - 8, true);
    head.set(encoded, 8);
    this.#sink.write([head, ...body]);
    return {
      block: new FileBlock(headSize, bodySize, start),
      checksum: body.reduce((checksum, bytes) => this.#checksum(bytes, checksum), crc32(head)),
    };
  }

  #checksum(bytes: Uint8Array, before: number): number {
    let checksum = before;
    for (let from = 0; from < bytes.length; from += CHECKSUM_SIZE) {
      this.#look();
      checksum = crc32(bytes.subarray(from, from + CHECKSUM_SIZE), checksum);
    }
    return checksum;
  }

  #align(behind: number): void {
    const { position } = this.#sink;
    this.#sink.write([ZEROS.subarray(0, roundUp(position + behind) - position - behind)]);
  }
}

function layOut({ length, nodes, buffers }: ArrowPart): {
  header: RecordBatch;
  body: Uint8Array[];
  bodySize: number;
} {
  const body: Uint8Array[] = [];
  let bodySize = 0;
  const regions = buffers.map((buffer) => {
    const region = new BufferRegion(bodySize, buffer.length);
    const padding = roundUp(buffer.length) - buffer.length;
    body.push(buffer, ZEROS.subarray(0, padding));
    bodySize += buffer.length + padding;
    return region;
  });
  const header = new RecordBatch(
    length,
    nodes.map((node) => new FieldNode(node.length, node.nullCount)),
    regions,
    null,
  );
  return { header, body, bodySize };
}

function roundUp(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** The bytes of any typed array. */
export function bytesOfArray(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
