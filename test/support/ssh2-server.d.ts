// The parts of ssh2 that serve, for tests.
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex } from 'node:stream';

  export interface AuthContext {
    readonly method: string;
    readonly username: string;
    readonly password?: string;
    readonly key?: { readonly data: Buffer };
    readonly signature?: Buffer;
    prompt?(text: string, done: (answers: readonly string[]) => void): void;
    accept(): void;
    reject(methodsLeft?: readonly string[]): void;
  }

  export interface SFTPServer extends EventEmitter {
    status(id: number, code: number, message?: string): void;
    handle(id: number, handle: Buffer): void;
    data(id: number, data: Buffer): void;
    name(id: number, entries: readonly object[]): void;
    attrs(id: number, attrs: object): void;
  }

  export interface ServerConfig {
    readonly hostKeys: readonly string[];
  }

  export interface ServerConnection extends EventEmitter {
    end(): void;
    setNoDelay(isOn: boolean): void;
  }

  export type Accept<T> = () => T;

  export class Server extends EventEmitter {
    constructor(config: ServerConfig, onConnection: (client: ServerConnection) => void);
    listen(port: number, host: string, done: () => void): this;
    address(): { readonly port: number };
    close(): void;
  }

  export const utils: {
    generateKeyPairSync(
      type: string,
      options?: { readonly passphrase?: string; readonly cipher?: string; readonly bits?: number },
    ): { readonly private: string; readonly public: string };
    parseKey(text: string, passphrase?: string): object | Error;
    readonly sftp: { readonly STATUS_CODE: Readonly<Record<string, number>> };
  };

  export type Channel = Duplex;
}
