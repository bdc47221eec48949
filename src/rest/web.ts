// What the HTTP side adds to a service: its routes, API keys and metrics.

import type { Route } from '../service/route/route.ts';
import type { RouteDispatcher } from '../service/route/route-dispatcher.ts';
import type { RowanExtension } from '../service/rowan.ts';
import type { Service } from '../service/service.ts';
import type { Catalogue } from '../store/catalogue.ts';
import { consoleRoutes } from './console/routes.ts';
import { type DocumentationOptions, documentationRoutes, pageTools } from './doc/routes.ts';
import { Authentication } from './key/authentication.ts';
import { keyRoutes } from './key/key-routes.ts';
import { KeyStore } from './key/key-store.ts';
import { KEYS_RECORD, rememberKeys } from './key/known-keys.ts';
import { Metrics } from './metrics/metrics.ts';
import { openApiRoute } from './openapi/route.ts';
import { DEFAULT_REST_OPTIONS } from './options.ts';
import { shutdownRoute } from './shutdown-route.ts';

export interface WebOptions {
  /** directory that holds the API keys; null: they live as long as the process */
  readonly dataDir: string | null;
  /** an admin key that is not stored */
  readonly adminKey?: string;
  /** false: another process remembers that there are keys; default true */
  readonly remembersKeys?: boolean;
}

/** One for each service, whether it listens or not. */
export class Web implements RowanExtension {
  readonly keys: KeyStore;
  readonly authentication: Authentication;
  readonly metrics = new Metrics();
  readonly routes: readonly Route[];
  readonly #remembersKeys: boolean;
  #allRoutes: readonly Route[] = [];
  /** whether others than this machine can reach the service */
  isPublic = false;
  /** what POST /v1/shutdown does */
  shutDown: () => void = () => undefined;

  /** a server that listens sets them */
  documentation: DocumentationOptions = DEFAULT_REST_OPTIONS;

  constructor(options: WebOptions) {
    this.keys = new KeyStore(options.dataDir);
    this.#remembersKeys = options.remembersKeys ?? true;
    this.authentication = new Authentication(this.keys, options.adminKey);
    this.routes = [
      ...keyRoutes(
        this.keys,
        () => this.isPublic,
        () => this.authentication.hasAdminKey,
      ),
      this.metrics.route,
      openApiRoute(
        () => this.documentation,
        () => this.#allRoutes,
      ),
      ...documentationRoutes(
        () => this.documentation,
        () => this.#allRoutes,
      ),
      ...consoleRoutes(() => this.documentation),
      shutdownRoute(() => this.shutDown()),
    ];
  }

  start(service: Service, dispatcher: RouteDispatcher): void {
    this.#allRoutes = dispatcher.routes;
    service.documentationBase = () => this.documentation.baseUrl;
    service.pageTools = (root) => pageTools(service, this.documentation, root);
    this.metrics.writes.watch(service.catalogue);
    service.functions.observe((change, id) => {
      if (change === 'deleted') this.metrics.calls.forget(id);
    });
    this.#rememberKeys(service.catalogue);
    this.keys.watch((error) =>
      service.logger.error({ logger: 'keys', err: error }, 'API keys cannot be read'),
    );
  }

  /** That keys exist is known apart from them, so that no request is let in when their file is gone. */
  #rememberKeys(catalogue: Catalogue): void {
    if (catalogue.get(...KEYS_RECORD) !== undefined) {
      this.keys.haveExisted = true;
      return;
    }
    if (!this.#remembersKeys) return;
    this.keys.onKeys = () => {
      this.keys.onKeys = () => {};
      void rememberKeys(catalogue);
    };
    if (this.keys.keys.length > 0) this.keys.onKeys();
  }

  close(): void {
    this.keys.close();
  }
}
