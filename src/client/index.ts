// The client for HTTP: `import { connect } from 'rowan-db/client'`. It loads nothing of the engine.
import type { CallOptions } from './call-limit.ts';
import { FunctionCollection } from './function.ts';
import { type HttpOptions, HttpTransport } from './http-transport.ts';
import { RowanApi } from './rowan-api.ts';

export { RowanError } from '../util/error.ts';
export { encodePathElement } from '../util/path-element.ts';
export type * from './face.ts';
export type { HttpOptions } from './http-transport.ts';

export interface ConnectOptions extends HttpOptions {
  /** default of all calls, see `CallOptions`; without it calls wait as long as fetch does */
  readonly timeoutMs?: CallOptions['timeoutMs'];
}

/** A service on the network. */
export class RowanClient extends RowanApi {
  constructor(url: string | URL, { timeoutMs, ...options }: ConnectOptions = {}) {
    super(
      new HttpTransport(url, options),
      { timeoutMs },
      (caller) => new FunctionCollection(caller),
    );
  }

  /** Cancels calls in flight. */
  async close(): Promise<void> {
    this.cancelCalls();
  }
}

/** Nothing is sent before the first call. @param url for instance `http://127.0.0.1:8080` */
export function connect(url: string | URL, options: ConnectOptions = {}): RowanClient {
  return new RowanClient(url, options);
}
