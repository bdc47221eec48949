// What the HTTP side adds to a service: its routes, API keys and metrics.

import type { Route } from '../service/route/route.ts';
import type { RouteDispatcher } from '../service/route/route-dispatcher.ts';
import type { RowanExtension } from '../service/rowan.ts';
import type { Service } from '../service/service.ts';
import { Authentication } from './authentication.ts';
import { type DocumentationOptions, documentationRoutes, pageTools } from './doc/routes.ts';
import { keyRoutes } from './key-routes.ts';
import { KeyStore } from './key-store.ts';
import { Metrics } from './metrics.ts';
import { openApiRoute } from './openapi/route.ts';
import { DEFAULT_REST_OPTIONS } from './options.ts';
import { shutdownRoute } from './shutdown-route.ts';

export interface WebOptions {
  /** directory that holds the API keys; null: they live as long as the process */
  readonly dataDir: string | null;
  /** an admin key that is not stored */
  readonly adminKey?: string;
}

/** One for each service, whether it listens or not. */
export class Web implements RowanExtension {
  readonly keys: KeyStore;
  readonly authentication: Authentication;
  readonly metrics = new Metrics();
  readonly routes: readonly Route[];
  #allRoutes: readonly Route[] = [];
  /** whether others than this machine can reach the service */
  isPublic = false;
  /** what POST /v1/shutdown does */
  shutDown: () => void = () => undefined;

  /** a server that listens sets them */
  documentation: DocumentationOptions = DEFAULT_REST_OPTIONS;

  constructor(options: WebOptions) {
    this.keys = new KeyStore(options.dataDir);
    this.authentication = new Authentication(this.keys, options.adminKey);
    this.routes = [
      ...keyRoutes(this.keys, () => this.isPublic),
      this.metrics.route,
      openApiRoute(
        () => this.documentation,
        () => this.#allRoutes,
      ),
      ...documentationRoutes(() => this.documentation),
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
    this.keys.watch((error) =>
      service.logger.error({ logger: 'keys', err: error }, 'API keys cannot be read'),
    );
  }

  close(): void {
    this.keys.close();
  }
}
