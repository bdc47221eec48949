// The public API: `Rowan.open({ dataDir })`.
import { type ListenOptions, listen, type Server } from './rest/server.ts';
import { Web } from './rest/web.ts';
import type { RowanOptions } from './service/rowan.ts';
import { RowanService } from './service/rowan.ts';

export type { ListenOptions } from './rest/server.ts';
export type { DatasetObject, FunctionObject, ProcedureObject } from './service/entity-object.ts';
export type {
  PerformedReply,
  PerformOptions,
  QueryOptions,
  RowanOptions,
} from './service/rowan.ts';
export { RowanError } from './util/error.ts';

/** A service in this process; `listen` puts it on the network. */
export class Rowan extends RowanService {
  /** API keys, metrics and documentation, which HTTP adds to the service */
  readonly web: Web;
  #server: Server | undefined;

  protected constructor(web: Web, parts: Awaited<ReturnType<typeof RowanService.start>>) {
    super(...parts);
    this.web = web;
  }

  /** @param options.dataDir where everything is kept; null: nothing is */
  static async open(options: RowanOptions): Promise<Rowan> {
    const web = new Web(options);
    return new Rowan(web, await RowanService.start(options, [web]));
  }

  /** Starts the HTTP server. @returns its address, for instance `http://127.0.0.1:11700` */
  async listen(options: ListenOptions = {}): Promise<string> {
    this.#server = await listen(this, this.web, options);
    return this.#server.address;
  }

  override async close(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
    await super.close();
  }
}

export function open(options: RowanOptions): Promise<Rowan> {
  return Rowan.open(options);
}
