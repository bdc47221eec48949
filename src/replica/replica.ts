// A process that answers requests from the data directory of another one, which it only reads.
// What it cannot answer, or not yet, it passes on; so does it with every failure, because only the
// primary knows everything.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from '../rest/body/body-reader.ts';
import type { Exchange } from '../rest/exchange.ts';
import { DEFAULT_REST_OPTIONS } from '../rest/options.ts';
import type { PassingOn } from '../rest/port-sharing.ts';
import { Server } from '../rest/server.ts';
import { Web } from '../rest/web.ts';
import { CredentialStore } from '../service/credential/credential-store.ts';
import { BUILT_IN_TYPES } from '../service/entity/built-in-types.ts';
import { TypeRegistry } from '../service/entity/type-registry.ts';
import type { Logger } from '../service/logger.ts';
import { NoPersistence } from '../service/persist/persistence.ts';
import { RouteDispatcher } from '../service/route/route-dispatcher.ts';
import { Service } from '../service/service.ts';
import type { ChangedRecord } from '../store/announcing-catalogue.ts';
import { openCatalogue } from '../store/open-catalogue.ts';
import { failure, RowanError } from '../util/error.ts';
import { EntityFollower } from './entity-follower.ts';
import { Forwarder } from './forwarder.ts';
import { isLocalRequest, LOCAL_ROUTES } from './local-routes.ts';
import type { ReplicaSettings } from './message.ts';

/** Tasks at the same time; requests beyond wait, as the other processes need the cores too. */
const TASK_COUNT_MAX = 2;

/** What engine workers ask, and only the primary can answer. */
const HOST_CALLS = [
  ...['credential', 'fetch', 'memory-file', 'memory-file-names', 'memory-file-set'],
  ...['script', 'run-script'],
];

/** Failures that another process would not better. */
const FINAL_CODES = new Set(['TIMEOUT', 'CANCELLED', 'OVERLOADED', 'SHUTTING_DOWN']);

/** Statuses of what a request's head alone is refused for, by every process alike. */
const HEAD_STATUSES = new Set([401, 403, 405, 413, 414, 431]);

const HEALTH = /^\/v1\/health(?:\?|$)/;

/**
 * Answers what it can answer for certain from the data directory, and passes on everything else.
 */
export class Replica implements PassingOn {
  readonly #service: Service;
  readonly #web: Web;
  readonly #follower: EntityFollower;
  readonly #forwarder: Forwarder;
  readonly #server: Server;
  #isStopping = false;
  #requestCount = 0;
  #passedCount = 0;

  private constructor(settings: ReplicaSettings, service: Service, web: Web) {
    this.#service = service;
    this.#web = web;
    this.#forwarder = new Forwarder(settings.privatePath);
    this.#follower = new EntityFollower({
      service,
      startOrder: settings.startOrder,
      onKeys: () => web.keys.reload(),
    });
    const dispatcher = new RouteDispatcher(LOCAL_ROUTES, service);
    service.connect(dispatcher);
    web.start(service, dispatcher);
    this.#server = new Server(
      { service, dispatcher },
      web,
      { ...DEFAULT_REST_OPTIONS, ...settings.rest },
      { passingOn: this },
    );
    this.#server.startWithoutPort();
    web.metrics.further.push({
      name: 'rowan_replica_requests_total',
      help: 'Requests that came to replicas, by who answered them',
      type: 'counter',
      values: () => [
        { value: this.#requestCount - this.#passedCount, labels: { answered: 'replica' } },
        { value: this.#passedCount, labels: { answered: 'primary' } },
      ],
    });
  }

  /** @param adminKey an admin key that is not stored */
  static async open(
    settings: ReplicaSettings,
    logger: Logger,
    adminKey: string | undefined,
  ): Promise<Replica> {
    const { dataDir, files, sql, memoryBytes } = settings;
    const service = new Service({
      types: new TypeRegistry(BUILT_IN_TYPES),
      catalogue: await openCatalogue({ directory: dataDir, readOnly: true }),
      persistence: new NoPersistence(),
      logger,
      threadCount: 1,
      taskCountMax: TASK_COUNT_MAX,
      memoryBytes,
      sql,
      runOnCreation: false,
      files: { ...files, dataDirectory: dataDir },
      credentials: new CredentialStore({ directory: undefined, logger }),
      reachesHost: false,
    });
    for (const kind of HOST_CALLS) {
      service.onHostCall(kind, async () => {
        throw failure('INVALID_PARAMETER', `${kind} is known to the primary alone`);
      });
    }
    const web = new Web({
      dataDir,
      remembersKeys: false,
      ...(adminKey === undefined ? {} : { adminKey }),
    });
    return new Replica(settings, service, web);
  }

  /** Takes up what is there. Changes may be applied meanwhile. */
  async start(): Promise<void> {
    this.#service.engine.warmUp();
    await this.#follower.start();
    this.#service.becomeReady();
  }

  /** The last write that is taken up. */
  get appliedVersion(): number {
    return this.#follower.appliedVersion;
  }

  apply(version: number, changed: readonly ChangedRecord[]): void {
    this.#follower.apply(version, changed);
  }

  adopt(socket: Socket): void {
    this.#server.adopt(socket);
  }

  metrics(): Promise<object[]> {
    return this.#web.metrics.own(this.#service);
  }

  intercept(request: IncomingMessage, response: ServerResponse): boolean {
    this.#requestCount++;
    const target = request.url as string;
    if (this.#isStopping && !HEALTH.test(target)) return false;
    if (isLocalRequest(request.method, target) && this.#follower.isCurrent()) return false;
    this.#passedCount++;
    this.#forwarder.forward(request, response);
    return true;
  }

  takeOver(exchange: Exchange, thrown: unknown): boolean {
    if (this.#isStopping) return false;
    if (thrown instanceof RowanError && FINAL_CODES.has(thrown.code)) return false;
    const { request, response, body } = exchange;
    const isTouched = request.readableDidRead || request.readableFlowing !== null;
    if (hasBody(request) && body === undefined && isTouched) return false;
    exchange.end();
    exchange.isPassedOn = true;
    this.#passedCount++;
    const isOfHead = thrown instanceof RowanError && HEAD_STATUSES.has(thrown.httpCode);
    const refusal = isOfHead && hasBody(request) ? thrown : undefined;
    this.#forwarder.forward(request, response, { body, refusal });
    return true;
  }

  /** Lets requests in flight finish, then ends. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#service.announceStop({ cancelsRuns: true });
    await this.#server.close(this.#forwarder.idle());
    this.#forwarder.close();
    this.#web.close();
    await this.#service.close();
  }
}
