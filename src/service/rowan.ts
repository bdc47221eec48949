// The in-process API: everything that the HTTP server offers, without a network.
import { availableParallelism } from 'node:os';
import { RowanApi } from '../client/rowan-api.ts';
import type { EntityType } from '../dataset/entity-type.ts';
import type { OPEN_OPTIONS, OptionValues } from '../schema/server-options.ts';
import type { Catalogue } from '../store/catalogue.ts';
import { openCatalogue } from '../store/open-catalogue.ts';
import {
  type CredentialOptions,
  fetchCredentials,
  openCredentials,
} from './credential/credential-setup.ts';
import type { FileLimits } from './engine/file-host.ts';
import { LocalFunctionCollection } from './engine/local-function.ts';
import { BUILT_IN_TYPES } from './entity/built-in-types.ts';
import { TypeRegistry } from './entity/type-registry.ts';
import { type Logger, SILENT_LOGGER } from './logger.ts';
import { NoPersistence } from './persist/persistence.ts';
import { StoredPersistence } from './persist/stored-persistence.ts';
import { LocalTransport } from './route/local-transport.ts';
import type { Role } from './route/request.ts';
import type { Route } from './route/route.ts';
import { RouteDispatcher } from './route/route-dispatcher.ts';
import { ROUTES } from './route/table/index.ts';
import { DEFAULT_SQL_SETTINGS, Service } from './service.ts';

/** How a service is opened: `dataDir`, and options of the reference under their names in programs. */
export interface RowanOptions
  extends CredentialOptions,
    Partial<
      Omit<OptionValues<typeof OPEN_OPTIONS>, keyof CredentialOptions | 'pluginDirectories'>
    > {
  /** directory for everything durable; null: nothing is kept */
  readonly dataDir: string | null;
  readonly files?: FileLimits;
  readonly logger?: Logger;
}

/** What other parts of the program add to the service. */
export interface RowanExtension {
  readonly types?: readonly EntityType[];
  /** routes of an extension come before those of the service */
  readonly routes?: readonly Route[];
  /** Stands between the service and its catalogue. */
  wrapCatalogue?(catalogue: Catalogue): Catalogue;
  /** Called once, before entities are restored. */
  start?(service: Service, dispatcher: RouteDispatcher): void | Promise<void>;
  close?(): void | Promise<void>;
}

/** The API of one role in this process; the service lives on when it is closed. */
export class LocalClient extends RowanApi<LocalFunctionCollection> {
  constructor(service: Service, dispatcher: RouteDispatcher, role: Role) {
    super(
      new LocalTransport(dispatcher, role),
      {},
      (caller) => new LocalFunctionCollection(caller, service),
    );
  }

  /** Cancels calls in flight. */
  async close(): Promise<void> {
    this.cancelCalls();
  }
}

export class RowanService extends LocalClient {
  readonly service: Service;
  readonly dispatcher: RouteDispatcher;
  readonly #extensions: readonly RowanExtension[];
  #closed: Promise<void> | undefined;

  protected constructor(
    service: Service,
    dispatcher: RouteDispatcher,
    extensions: readonly RowanExtension[],
  ) {
    super(service, dispatcher, 'admin');
    this.service = service;
    this.dispatcher = dispatcher;
    this.#extensions = extensions;
  }

  /** Builds the parts of a service. */
  protected static async start(
    options: RowanOptions,
    extensions: readonly RowanExtension[],
  ): Promise<[Service, RouteDispatcher, readonly RowanExtension[]]> {
    const threadCount = options.workers ?? availableParallelism();
    const types = new TypeRegistry([
      ...BUILT_IN_TYPES,
      ...extensions.flatMap((extension) => extension.types ?? []),
    ]);
    const catalogue = extensions.reduce<Catalogue>(
      (inner, extension) => extension.wrapCatalogue?.(inner) ?? inner,
      await openCatalogue({
        directory: options.dataDir,
        ...(options.startsAnew === true ? { isNew: true } : {}),
      }),
    );
    const credentials = await openCredentials(options, options.logger ?? SILENT_LOGGER);
    const service = new Service({
      types,
      catalogue,
      persistence:
        catalogue.directory === null ? new NoPersistence() : new StoredPersistence(catalogue),
      logger: options.logger ?? SILENT_LOGGER,
      threadCount,
      taskCountMax: Math.max(4, threadCount * 2),
      memoryBytes: options.memoryBytes,
      runOnCreation: options.runOnCreation ?? false,
      sql: {
        columnOrder: options.columnOrder ?? DEFAULT_SQL_SETTINGS.columnOrder,
        strict: options.strictSql ?? DEFAULT_SQL_SETTINGS.strict,
      },
      files: fileLimitsOf(options),
      uploadQuotaBytes: options.uploadQuotaBytes,
      spoolBytesMax: options.spoolBytes,
      credentials,
    });
    const routes = [...extensions.flatMap((extension) => extension.routes ?? []), ...ROUTES];
    const dispatcher = new RouteDispatcher(routes, service);
    service.connect(dispatcher);
    for (const extension of extensions) await extension.start?.(service, dispatcher);
    service.engine.warmUp();
    await fetchCredentials(options.credentialUrls ?? [], credentials, service.startFiles);
    await service.uploads.removeUnfinished();
    await service.restore();
    service.becomeReady();
    return [service, dispatcher, extensions];
  }

  /** The same API with the rights of a role. */
  as(role: Role): LocalClient {
    return new LocalClient(this.service, this.dispatcher, role);
  }

  /** Cancels runs, ends workers and closes the store. */
  override close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const extension of this.#extensions) await extension.close?.();
    await this.service.close();
  }
}

/** What the service keeps is out of reach of every URL. */
function fileLimitsOf({ files, dataDir, credentialsPath }: RowanOptions): FileLimits {
  return {
    ...files,
    ...(dataDir === null ? {} : { dataDirectory: dataDir }),
    ...(credentialsPath === undefined
      ? {}
      : { closedDirectories: [credentialsPath.replace(/^file:\/\//, '')] }),
  };
}
