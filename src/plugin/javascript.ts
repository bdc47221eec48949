// The plugin type javascript: a program that stays, with handlers for requests and its status.
import { realpath, stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import type { ConstructionContext } from '../service/entity/collection.ts';
import type { EntityConfig } from '../service/entity/config.ts';
import { type PluginEntity, type PluginType, pluginType } from '../service/entity/plugin-type.ts';
import type { Reply, RouteRequest } from '../service/route/request.ts';
import { unknownResource } from '../service/route/router.ts';
import { type StaticFolder, serveFile } from '../service/route/static-folder.ts';
import { failure, RowanError } from '../util/error.ts';
import { replyOf } from './handler-reply.ts';
import type { HandlerReply, HandlerRequest, Outcome, SandboxTasks } from './message.ts';
import { parseResult, type ScriptRuntime } from './runtime.ts';
import { type CallOptions, type Sandbox, wasNeverBegun } from './sandbox.ts';
import { type LoadedProgram, loadProgram } from './script-config.ts';
import { pluginFailure } from './script-error.ts';
import type { ScriptHost } from './script-host.ts';

const PARAMETERS = Type.Object({
  source: Type.Optional(
    Type.Object(
      {
        main: Type.Optional(Type.String({ description: 'the program' })),
        routes: Type.Optional(Type.String({ description: 'accepted for compatibility' })),
        status: Type.Optional(Type.String({ description: 'accepted for compatibility' })),
      },
      {
        description: 'the program itself',
        examples: [{ main: 'plugin.setRequestHandler((path) => ({ path }))' }],
      },
    ),
  ),
  address: Type.Optional(
    Type.String({
      description:
        'instead of source: URL of a directory or an archive with main.js, or of a .js file',
    }),
  ),
  args: Type.Optional(
    Type.Unknown({ description: 'any JSON, `plugin.args` of the program', default: null }),
  ),
});

/** @param runtime the runtime, once the service has started */
export function javascriptPlugin(runtime: () => ScriptRuntime): PluginType {
  return pluginType({
    name: 'javascript',
    summary: 'A program in a sandbox that answers requests and uses the service.',
    creationRole: 'admin',
    parameters: PARAMETERS,
    create: (config, params, scope) => JavaScriptPlugin.load(runtime(), config, params, scope),
  });
}

interface ServedFolder extends StaticFolder {
  /** path below …/routes, with its slash */
  readonly route: string;
}

class JavaScriptPlugin implements PluginEntity {
  readonly id: string;
  readonly config: EntityConfig;
  readonly #runtime: ScriptRuntime;
  readonly #loaded: LoadedProgram;
  #sandbox: Sandbox;
  #host: ScriptHost;
  #folders: ServedFolder[] = [];
  #hasRequestHandler = false;
  #status: unknown;
  #restart: Promise<void> | undefined;
  #isDisposed = false;

  private constructor(
    runtime: ScriptRuntime,
    config: EntityConfig & { readonly id: string },
    loaded: LoadedProgram,
  ) {
    this.id = config.id;
    this.config = config;
    this.#runtime = runtime;
    this.#loaded = loaded;
    this.#sandbox = runtime.makeSandbox();
    this.#host = this.#makeHost();
  }

  static async load(
    runtime: ScriptRuntime,
    config: EntityConfig & { readonly id: string },
    { source, address, args }: Static<typeof PARAMETERS>,
    { signal }: ConstructionContext,
  ): Promise<JavaScriptPlugin> {
    const given = {
      ...(source?.main === undefined ? {} : { source: source.main }),
      ...(address === undefined ? {} : { address }),
      args: args ?? null,
    };
    const loaded = await loadProgram(given, runtime.filesFor(address), 'plugin');
    const plugin = new JavaScriptPlugin(runtime, config, loaded);
    try {
      await plugin.#runProgram(signal);
      return plugin;
    } catch (thrown) {
      plugin.dispose();
      throw thrown;
    }
  }

  get type(): string {
    return this.config.type ?? 'javascript';
  }

  /** Parameters for a restart: the program runs again. */
  get resolved(): Readonly<Record<string, unknown>> {
    return this.config.params ?? {};
  }

  status(): unknown {
    return this.#status;
  }

  /** Asks the status handler. @throws SCRIPT_EXCEPTION when it throws */
  async refresh(): Promise<void> {
    const outcome = await this.#call('status', undefined);
    if ('exception' in outcome) {
      throw pluginFailure('Exception in JS status function', outcome.exception);
    }
    this.#status = outcome.result === undefined ? undefined : parseResult(outcome.result);
  }

  version(): unknown {
    return null;
  }

  async handleRequest(rest: string, request: RouteRequest): Promise<Reply> {
    const folder = this.#folderOf(rest);
    if (folder !== undefined && (request.verb === 'GET' || request.verb === 'HEAD')) {
      return this.#sendFile(folder, rest.slice(folder.route.length), request);
    }
    if (!this.#hasRequestHandler) throw unknownResource(request.verb, request.path);
    const outcome = await this.#call(
      'request',
      JSON.stringify(handlerRequest(rest, request)),
      () => request.signal,
    );
    if ('exception' in outcome) {
      const { exception } = outcome;
      const message = exception.message.replace(/^Uncaught /, '');
      throw new RowanError('SCRIPT_EXCEPTION', 400, message, undefined, { ...exception });
    }
    return replyOf(JSON.parse(outcome.result) as HandlerReply);
  }

  async documentation(rest: string, request: RouteRequest): Promise<Reply> {
    const folder = this.#folders.find(
      ({ rendersMarkdown, route }) => rendersMarkdown && route === '/doc',
    );
    if (folder === undefined) throw unknownResource(request.verb, request.path);
    return this.#sendFile(folder, rest, request);
  }

  async #sendFile(folder: ServedFolder, rest: string, request: RouteRequest): Promise<Reply> {
    const { service } = this.#runtime;
    const tools = folder.rendersMarkdown ? await service.pageTools(folder.root) : {};
    return serveFile({ ...folder, ...tools }, rest, request);
  }

  dispose(): void {
    this.#isDisposed = true;
    void this.#sandbox.close();
    void this.#host.close();
  }

  async #runProgram(signal?: AbortSignal): Promise<void> {
    const { program } = this.#loaded;
    const host = this.#host;
    const outcome: Outcome<{ hasRequestHandler: boolean }> = await this.#sandbox.call(
      'plugin',
      program,
      { host, signal, timeLimitMs: this.#runtime.handlerTimeoutMs, limitsComputing: true },
    );
    if ('exception' in outcome) {
      const doing = outcome.whileCompiling ? 'compiling' : 'running';
      throw pluginFailure(`Exception ${doing} plugin script`, outcome.exception);
    }
    this.#hasRequestHandler = outcome.result.hasRequestHandler;
  }

  /** A plugin whose sandbox ended starts anew with the next call. */
  async #call<Kind extends 'request' | 'status'>(
    kind: Kind,
    args: Parameters<Sandbox['call']>[1],
    signal?: CallOptions['signal'],
  ): Promise<SandboxTasks[Kind]['result']> {
    if (!this.#sandbox.isAlive || (this.#sandbox.isSpent && this.#sandbox.isIdle)) {
      this.#restart ??= this.#startAnew().finally(() => {
        this.#restart = undefined;
      });
    }
    if (this.#restart !== undefined) {
      await this.#restart;
      if (isAborted(signal)) throw failure('CANCELLED', 'nobody waits for the answer any more');
    }
    const sandbox = this.#sandbox;
    const options = { host: this.#host, timeLimitMs: this.#runtime.handlerTimeoutMs, signal };
    try {
      return await sandbox.call(kind, args as never, options);
    } catch (thrown) {
      // An earlier call took the sandbox down with it: the next sandbox serves this one.
      if (!wasNeverBegun(thrown) || this.#isDisposed) throw thrown;
      return this.#call(kind, args, signal);
    }
  }

  async #startAnew(): Promise<void> {
    await this.#sandbox.close();
    await this.#host.close();
    this.#sandbox = this.#runtime.makeSandbox();
    this.#host = this.#makeHost();
    this.#folders = [];
    await this.#runProgram();
  }

  #makeHost(): ScriptHost {
    return this.#runtime.makeHost({
      role: 'admin',
      owner: `plugin '${this.id}'`,
      own: (name, argument) => this.#answerOwn(name, argument as never),
    });
  }

  #answerOwn(name: string, argument: ServeArgument): Promise<unknown> | undefined {
    if (name === 'plugin-dir') return Promise.resolve(this.#loaded.directory);
    if (name === 'serve-folder') return this.#serve(argument);
    return undefined;
  }

  async #serve({ route, dir, isDocumentation }: ServeArgument): Promise<null> {
    const root = resolve(this.#loaded.directory, dir);
    if (!(await isBelow(this.#loaded.directory, root))) {
      throw failure(
        'INVALID_PARAMETER',
        `Cannot serve static folder outside of the directory of the plugin: ${dir}`,
      );
    }
    const isThere =
      this.#loaded.directory !== '' &&
      (await stat(root).then(
        (entry) => entry.isDirectory(),
        () => false,
      ));
    if (!isThere) {
      throw failure(
        'INVALID_PARAMETER',
        `Cannot serve static folder for path that does not exist: ${dir}`,
      );
    }
    const path = `/${route.replace(/^\/+|\/+$/g, '')}`;
    this.#folders.push({ route: path === '/' ? '' : path, root, rendersMarkdown: isDocumentation });
    return null;
  }

  #folderOf(rest: string): ServedFolder | undefined {
    return this.#folders.find(({ route }) => rest === route || rest.startsWith(`${route}/`));
  }
}

/** Links resolved; what does not exist is told later. */
async function isBelow(directory: string, path: string): Promise<boolean> {
  if (relative(directory, path).startsWith('..')) return false;
  const [top, real] = await Promise.all(
    [directory, path].map((it) => realpath(it).catch(() => it)),
  );
  return !relative(top as string, real as string).startsWith('..');
}

function isAborted(signal: CallOptions['signal']): boolean {
  return (typeof signal === 'function' ? signal() : signal)?.aborted === true;
}

interface ServeArgument {
  readonly route: string;
  readonly dir: string;
  readonly isDocumentation: boolean;
}

/** Keys are for the service alone; the plugin learns the role that they gave. */
const SECRET_HEADERS = new Set(['authorization', 'x-api-key']);
const UTF8 = new TextDecoder();

function handlerRequest(rest: string, request: RouteRequest): HandlerRequest {
  const headers: Record<string, string> = Object.create(null);
  for (const name in request.headers) {
    if (!SECRET_HEADERS.has(name)) headers[name] = request.headers[name] as string;
  }
  headers['x-rowan-role'] = request.role;
  const length = request.headers['content-length'];
  const { bytes } = request.body;
  return {
    relpath: rest,
    verb: request.verb,
    resource: request.path,
    params: request.query,
    payload: bytes.length === 0 ? '' : UTF8.decode(bytes),
    contentType: request.headers['content-type'] ?? '',
    contentLength: length === undefined ? (bytes.length > 0 ? bytes.length : -1) : Number(length),
    headers,
  };
}
