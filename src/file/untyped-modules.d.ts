// The parts that Rowan uses of libraries that come without types.
declare module '@bokuweb/zstd-wasm' {
  export function init(): Promise<void>;
  export function compress(content: Uint8Array, level: number): Uint8Array;
}

declare module 'lz4js' {
  const lz4js: {
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
  import type { EventEmitter } from 'node:events';
  import type { Readable } from 'node:stream';

  export interface Entry {
    readonly fileName: string;
    readonly uncompressedSize: number;
    readonly crc32: number;
    getLastModDate(): Date;
  }

  export interface ZipFile {
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
    close(): void;
  }

  export interface RandomAccessReader extends EventEmitter {
    ref(): void;
    unref(): void;
    createReadStream(range: { readonly start: number; readonly end: number }): Readable;
    read(
      target: Buffer,
      offset: number,
      length: number,
      position: number,
      done: (error: Error | null, count: number) => void,
    ): void;
  }

  const yauzl: {
    openPromise(path: string, options?: object): Promise<ZipFile>;
    fromBufferPromise(bytes: Buffer, options?: object): Promise<ZipFile>;
    fromRandomAccessReaderPromise(
      reader: RandomAccessReader,
      totalSize: number,
      options?: object,
    ): Promise<ZipFile>;
  };
  // biome-ignore lint/style/noDefaultExport: that is how the library exports
  export default yauzl;
}

declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';

  type Done<T = void> = (error: Error | null | undefined, value: T) => void;

  export interface FileStats {
    readonly mode: number;
    readonly size: number;
    readonly mtime: number;
  }

  export interface FileEntry {
    readonly filename: string;
    readonly attrs: FileStats;
  }

  export interface SFTPWrapper {
    open(path: string, flags: string, done: Done<Buffer>): void;
    close(handle: Buffer, done: Done): void;
    read(
      handle: Buffer,
      target: Buffer,
      offset: number,
      length: number,
      position: number,
      done: Done<number>,
    ): void;
    write(
      handle: Buffer,
      source: Buffer,
      offset: number,
      length: number,
      position: number,
      done: Done,
    ): void;
    stat(path: string, done: Done<FileStats>): void;
    readdir(path: string, done: Done<FileEntry[]>): void;
    mkdir(path: string, done: Done): void;
    unlink(path: string, done: Done): void;
    rename(from: string, to: string, done: Done): void;
    ext_openssh_rename(from: string, to: string, done: Done): void;
    ext_openssh_fsync(handle: Buffer, done: Done): void;
  }

  export interface ConnectConfig {
    readonly sock: Socket;
    readonly username: string;
    readonly password?: string;
    readonly privateKey?: string;
    readonly passphrase?: string;
    readonly tryKeyboard: boolean;
    readonly readyTimeout: number;
    readonly keepaliveInterval: number;
    readonly algorithms: {
      readonly serverHostKey: {
        readonly append: readonly string[];
        readonly prepend: readonly string[];
        readonly remove: readonly string[];
      };
    };
    hostVerifier(key: Buffer): boolean;
  }

  export class Client extends EventEmitter {
    connect(config: ConnectConfig): this;
    sftp(done: Done<SFTPWrapper>): void;
    end(): void;
    on(
      event: 'keyboard-interactive',
      listener: (
        name: string,
        instructions: string,
        language: string,
        prompts: readonly unknown[],
        finish: (answers: readonly string[]) => void,
      ) => void,
    ): this;
    on(event: 'close', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
  }
}
