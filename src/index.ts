// The public API: `Rowan.open({ dataDir })`.
import { Scripting, type ScriptingOptions } from './plugin/scripting.ts';
import { type ListenOptions, listen, type Server } from './rest/server.ts';
import { Web, type WebOptions } from './rest/web.ts';
import type { RowanExtension, RowanOptions } from './service/rowan.ts';
import { RowanService } from './service/rowan.ts';
import { failure } from './util/error.ts';

export type * from './client/face.ts';
export type { ScriptingOptions } from './plugin/scripting.ts';
export type { ListenOptions } from './rest/server.ts';
export type { LocalFunction } from './service/engine/local-function.ts';
export type { RowanOptions } from './service/rowan.ts';
export { RowanError } from './util/error.ts';

/** How a service is opened. */
export interface OpenOptions extends RowanOptions, ScriptingOptions, WebOptions {
  /** further parts of the service */
  readonly extensions?: readonly RowanExtension[];
}

export interface CloseOptions {
  readonly waitsForRuns?: boolean;
}

/** A service in this process; `listen` puts it on the network. */
export class Rowan extends RowanService {
  /** API keys, metrics and documentation, which HTTP adds to the service */
  readonly web: Web;
  readonly scripting: Scripting;
  #server: Server | undefined;

  protected constructor(
    web: Web,
    scripting: Scripting,
    parts: Awaited<ReturnType<typeof RowanService.start>>,
  ) {
    super(...parts);
    this.web = web;
    this.scripting = scripting;
  }

  /** @param options.dataDir where everything is kept; null: nothing is */
  static async open(options: OpenOptions): Promise<Rowan> {
    const dataDir: unknown = options?.dataDir;
    if (dataDir !== null && (typeof dataDir !== 'string' || dataDir === '')) {
      throw failure('INVALID_PARAMETER', 'dataDir: a directory, or null to keep nothing');
    }
    const web = new Web(options);
    const scripting = new Scripting(options);
    const parts = await RowanService.start(options, [
      web,
      scripting,
      ...(options.extensions ?? []),
    ]);
    const rowan = new Rowan(web, scripting, parts);
    await scripting.loadPlugins();
    return rowan;
  }

  /**
   * Starts the HTTP server, of which there is one.
   * @returns its address, for instance `http://127.0.0.1:11700`
   */
  async listen(options: ListenOptions = {}): Promise<string> {
    if (this.#server !== undefined) {
      throw failure('ENTITY_BUSY', { form: 'listening', address: this.#server.address });
    }
    this.#server = await listen(this, this.web, options);
    this.scripting.address = this.#server.address;
    return this.#server.address;
  }

  /**
   * Lets requests in flight finish, then ends everything.
   * @param options.waitsForRuns lets active runs finish too, as long as requests may
   */
  override async close({ waitsForRuns = false }: CloseOptions = {}): Promise<void> {
    this.service.announceStop({ cancelsRuns: !waitsForRuns });
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) {
      await server.close(waitsForRuns ? this.service.runsEnded() : Promise.resolve());
    }
    await super.close();
  }
}

export function open(options: OpenOptions): Promise<Rowan> {
  return Rowan.open(options);
}
