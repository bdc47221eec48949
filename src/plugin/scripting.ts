// Everything about scripts as one extension of the service: types, routes, answers to queries.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityType } from '../dataset/entity-type.ts';
import { runForService } from '../service/route/request-context.ts';
import type { Route } from '../service/route/route.ts';
import type { RowanExtension } from '../service/rowan.ts';
import type { Service } from '../service/service.ts';
import { assert } from '../util/assert.ts';
import { parseJson, stringifyJson } from '../util/exact-json.ts';
import type { WireValue } from '../value/wire-value.ts';
import { loadPlugins } from './autoload.ts';
import { javascriptPlugin } from './javascript.ts';
import { pluginRoutes } from './routes.ts';
import { type ScriptLimits, type ScriptResult, ScriptRuntime } from './runtime.ts';
import type { ScriptSource } from './script-config.ts';
import { scriptRun } from './script-run.ts';

export interface ScriptingOptions {
  readonly scripts?: ScriptLimits;
  /** URLs or paths of directories whose plugins are loaded at start */
  readonly pluginDirectories?: readonly string[];
  readonly dataDir: string | null;
}

export class Scripting implements RowanExtension {
  readonly types: readonly EntityType[];
  readonly routes: readonly Route[];
  readonly #options: ScriptingOptions;
  #runtime: ScriptRuntime | undefined;

  constructor(options: ScriptingOptions) {
    this.#options = options;
    const runtime = () => this.#started;
    this.types = [javascriptPlugin(runtime), scriptRun(runtime)];
    this.routes = pluginRoutes(runtime);
  }

  get #started(): ScriptRuntime {
    assert(this.#runtime !== undefined, 'scripts run after the service has started');
    return this.#runtime;
  }

  start(service: Service): void {
    const runtime = new ScriptRuntime(service, this.#options.scripts ?? {});
    this.#runtime = runtime;
    service.onHostCall('script', ({ source, parameters, calls }: CallRequest) =>
      runtime.callFunction({ source, parameters }, calls),
    );
    service.onHostCall('run-script', async ({ script, args }: RunRequest) => {
      const { result } = await runtime.run({ ...script, args: parseJson(args) });
      return result === undefined ? undefined : stringifyJson(result);
    });
  }

  /** Loads the plugins of the directories, once everything else is there. */
  async loadPlugins(): Promise<void> {
    const runtime = this.#started;
    const { dataDir, pluginDirectories = [] } = this.#options;
    const standard = dataDir === null ? undefined : join(dataDir, 'plugins', 'autoload');
    await runForService(async () => {
      if (standard !== undefined && existsSync(standard)) await loadPlugins(runtime, standard);
      for (const directory of pluginDirectories) await loadPlugins(runtime, directory);
    });
  }

  /** Runs a program, as the route does. @throws SCRIPT_EXCEPTION, TIMEOUT, OUT_OF_MEMORY */
  run(config: ScriptSource, signal?: AbortSignal): Promise<ScriptResult> {
    return this.#started.run(config, { signal });
  }

  /** What scripts are told about the HTTP server. */
  set address(address: string) {
    this.#started.address = address;
  }

  async close(): Promise<void> {
    await this.#runtime?.close();
  }
}

interface CallRequest {
  readonly source: string;
  readonly parameters: readonly string[];
  readonly calls: readonly (readonly WireValue[])[];
}

interface RunRequest {
  readonly script: { readonly source?: string; readonly address?: string };
  readonly args: string;
}
