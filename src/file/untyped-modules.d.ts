// The parts that Rowan uses of libraries that come without types.
declare module 'lz4js' {
  const lz4js: {
    compressBound(size: number): number;
    compressBlock(
      source: Uint8Array,
      target: Uint8Array,
      sourceOffset: number,
      sourceSize: number,
      hashTable: Uint32Array,
    ): number;
    decompressBlock(
      source: Uint8Array,
      target: Uint8Array,
      sourceOffset: number,
      sourceSize: number,
      targetOffset: number,
    ): number;
  };
  // biome-ignore lint/style/noDefaultExport: that is how the library exports
  export default lz4js;
}

declare module 'snappyjs' {
  const snappyjs: {
    compress(content: Uint8Array): Uint8Array;
    uncompress(packed: Uint8Array): Uint8Array;
  };
  // biome-ignore lint/style/noDefaultExport: that is how the library exports
  export default snappyjs;
}

declare module 'unbzip2-stream' {
  // biome-ignore lint/style/noDefaultExport: that is how the library exports
  export default function unbzip2Stream(): NodeJS.ReadWriteStream;
}

declare module 'yauzl' {
  import type { Readable } from 'node:stream';

  export interface Entry {
    readonly fileName: string;
    readonly uncompressedSize: number;
    getLastModDate(): Date;
  }

  export interface ZipFile {
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
    close(): void;
  }

  const yauzl: {
    openPromise(path: string, options?: object): Promise<ZipFile>;
    fromBufferPromise(bytes: Buffer, options?: object): Promise<ZipFile>;
  };
  // biome-ignore lint/style/noDefaultExport: that is how the library exports
  export default yauzl;
}
