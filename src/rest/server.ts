// One listening server over the routes of a service. Node's own HTTP server carries them: the
// table of routes already decides, checks and answers, see docs/decisions/http.md.
import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  Server as NetServer,
  type Socket,
} from 'node:net';
import type { RowanService } from '../service/rowan.ts';
import { formatUrl, isLoopbackHost, listenHost } from './address.ts';
import { Admission } from './admission.ts';
import { isMisframed } from './body/framing.ts';
import { answerClientError, answerUnknownVerb, refuseConnection } from './client-error.ts';
import type { Exchange } from './exchange.ts';
import { admitHalfClosed, watchHalfClosed } from './half-closed.ts';
import { DEFAULT_REST_OPTIONS, type RestOptions } from './options.ts';
import type { OriginPolicy } from './origin.ts';
import { boundPipelining } from './pipelining.ts';
import type { PassingOn, PortSharing } from './port-sharing.ts';
import { readEscaped } from './raw-target.ts';
import { RequestHandler } from './request-handler.ts';
import { requestIdOf } from './request-id.ts';
import type { Web } from './web.ts';

export interface ListenOptions extends Partial<RestOptions> {
  /** one port; `ports` lists several to try */
  readonly port?: number;
  /** other processes that serve the same port */
  readonly sharing?: PortSharing;
}

/** The parser takes a little more than the limit, so that the reply can say what was too long. */
const PARSER_LIMIT_FACTOR = 4;
const CONNECTION_CHECK_MS = 1000;
/** Runs and entities that are waited for; what they compute is in line at the engine. */
const CONSTRUCTION_COUNT_MAX = 1000;
/** How long streams of events may take to say goodbye. */
const NEWS_MS = 100;

/**
 * Puts a service on the network.
 * @throws Error when no port is free, or a public address has no API key
 */
export async function listen(
  rowan: RowanService,
  web: Web,
  { port, sharing, ...given }: ListenOptions = {},
): Promise<Server> {
  const options: RestOptions = {
    ...DEFAULT_REST_OPTIONS,
    ...(port === undefined ? {} : { ports: [port] }),
    ...given,
  };
  const server = new Server(rowan, web, options, { sharing });
  await server.start();
  return server;
}

export interface ServerParts {
  readonly sharing?: PortSharing | undefined;
  readonly passingOn?: PassingOn | undefined;
}

type ServedService = Pick<RowanService, 'dispatcher' | 'service'>;

export class Server {
  readonly #rowan: ServedService;
  readonly #web: Web;
  readonly #options: RestOptions;
  readonly #handler: RequestHandler;
  readonly #node: NodeServer;
  readonly #parts: ServerParts;
  /** what the port belongs to */
  readonly #front: NetServer;
  readonly #isLoopback: boolean;
  readonly #originPolicy: OriginPolicy;
  readonly #idleWaiters = new Set<() => void>();
  readonly #refused = new WeakSet<Socket>();
  #connectionCount = 0;
  #address = '';
  #isStopping = false;

  constructor(rowan: ServedService, web: Web, options: RestOptions, parts: ServerParts = {}) {
    this.#parts = parts;
    this.#rowan = rowan;
    this.#web = web;
    this.#options = options;
    this.#isLoopback = listenHost(options.host) !== undefined && isLoopbackHost(options.host);
    const { corsOrigins, host } = options;
    const { authentication } = web;
    this.#originPolicy = { corsOrigins, authentication, isLoopback: this.#isLoopback, host };
    this.#handler = this.#createHandler();
    this.#node = this.#createNodeServer();
    this.#front = parts.sharing === undefined ? this.#node : this.#createFront(parts.sharing);
  }

  get address(): string {
    return this.#address;
  }

  async start(): Promise<void> {
    const { host, ports, allowUnauthenticated } = this.#options;
    if (!this.#isLoopback && !this.#web.authentication.hasKeys && !allowUnauthenticated) {
      throw new Error(
        `without an API key the service does not listen on '${host}', which others can reach; ` +
          'make one with: rowan keys create --role admin (or give --allow-unauthenticated)',
      );
    }
    if (this.#options.corsOrigins.includes('*') && !this.#web.authentication.hasKeys) {
      throw new Error(
        "--cors-origin '*' would let every web page use a service without API keys; " +
          'name the origins, or make a key with: rowan keys create --role admin',
      );
    }
    this.#openToOthers();
    for (const port of ports) {
      if (await tryListen(this.#front, port, listenHost(host))) {
        const bound = this.#front.address() as AddressInfo;
        this.#originPolicy.port = bound.port;
        await this.#listenInPrivate();
        this.#address = formatUrl(listenHost(host) ?? bound.address, bound.port);
        return;
      }
    }
    const [first] = ports;
    const what = ports.length === 1 ? `port ${first} is` : `ports ${first}-${ports.at(-1)} are all`;
    throw new Error(`${what} in use on '${host}'`);
  }

  /** Serves connections that are given to it, instead of a port. */
  startWithoutPort(): void {
    this.#openToOthers();
    // From here on connections are watched for time-outs, which listening would have begun.
    this.#node.emit('listening');
  }

  #openToOthers(): void {
    this.#web.isPublic = !this.#isLoopback;
    // Revoking the last key must not open the service to everybody.
    this.#web.authentication.isStrict = !this.#isLoopback && !this.#options.allowUnauthenticated;
    this.#web.documentation = this.#options;
  }

  adopt(socket: Socket): void {
    // As sockets of an HTTP server are: the client may end its side before it has the reply.
    socket.allowHalfOpen = true;
    if (this.#parts.sharing !== undefined) this.#admit(socket);
    this.#node.emit('connection', socket);
    socket.resume();
  }

  #createFront(sharing: PortSharing): NetServer {
    return createNetServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) =>
      sharing.handOver(socket, (own) => this.adopt(own)),
    );
  }

  async #listenInPrivate(): Promise<void> {
    const { sharing } = this.#parts;
    if (sharing === undefined) return;
    await new Promise<void>((resolve, reject) => {
      this.#node.once('error', reject);
      this.#node.listen(sharing.privatePath, () => {
        this.#node.off('error', reject);
        resolve();
      });
    });
  }

  /**
   * Takes no new connections, refuses requests on those that are open, lets the ones in flight
   * finish for a while, and closes the port.
   * @param work what may take as long as requests in flight
   */
  async close(work: Promise<void> = Promise.resolve()): Promise<void> {
    this.#isStopping = true;
    const { sharing } = this.#parts;
    if (sharing !== undefined) this.#front.close();
    const others = sharing?.stop() ?? Promise.resolve();
    const closed = new Promise<void>((resolve) => {
      // The HTTP server's own close would drop open connections before they could be answered.
      NetServer.prototype.close.call(this.#node, () => resolve());
    });
    // Followers of runs have been told; other event streams have no news to wait for.
    const news = timeout(NEWS_MS);
    void news.over.then(() => this.#handler.endLive());
    const grace = timeout(this.#options.shutdownGraceSeconds * 1000);
    await Promise.race([Promise.all([work, others, this.#idle()]), grace.over]);
    grace.cancel();
    news.cancel();
    this.#node.closeAllConnections();
    await closed;
    this.#node.close(); // ends its timers
  }

  #createHandler(): RequestHandler {
    const { dispatcher, service } = this.#rowan;
    const { metrics, authentication } = this.#web;
    return new RequestHandler({
      options: this.#options,
      dispatcher,
      service,
      metrics,
      authentication,
      admission: new Admission(this.#options),
      constructions: new Admission({
        heavyCountMax: CONSTRUCTION_COUNT_MAX,
        heavyQueueLengthMax: 0,
      }),
      originPolicy: this.#originPolicy,
      isStopping: () => this.#isStopping,
      passingOn: this.#parts.passingOn,
      onEnd: (exchange) => this.#ended(exchange),
      onDefect: (error, { requestId, pattern, request }) =>
        service.logger.error(
          { logger: 'http', err: error, requestId },
          `${request.method} ${pattern} failed unexpectedly`,
        ),
    });
  }

  #createNodeServer(): NodeServer {
    const { headerBytesMax, headersTimeoutMs, keepAliveTimeoutMs } = this.#options;
    const { dispatcher } = this.#rowan;
    const { http } = this.#web.metrics;
    const { passingOn } = this.#parts;
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#refused.has(request.socket)) return;
      if (response.socket === null) boundPipelining(response);
      if (passingOn?.intercept(request, response) === true) {
        watchHalfClosed(request, response);
        return;
      }
      http.inFlightCount++;
      this.#handler.handle(request, response);
    };
    const server = createServer(
      {
        maxHeaderSize: headerBytesMax * PARSER_LIMIT_FACTOR,
        headersTimeout: headersTimeoutMs,
        requestTimeout: 0,
        keepAliveTimeout: keepAliveTimeoutMs,
        connectionsCheckingInterval: CONNECTION_CHECK_MS,
        insecureHTTPParser: false,
        requireHostHeader: false, // the handler's own refusal is in the form of all errors
        noDelay: true,
      },
      onRequest,
    );
    server.maxHeadersCount = 0;
    admitHalfClosed(server);
    // Where the port is shared, what comes here by itself is from the other processes.
    if (this.#parts.sharing === undefined) {
      server.on('connection', (socket: Socket) => this.#admit(socket));
    }
    // The handler looks at the size that was announced before it asks for the body.
    server.on('checkContinue', onRequest);
    server.on('checkExpectation', onRequest);
    server.on('clientError', (error: Error, socket: Socket) => {
      // The parser may stumble over what was refused already; one reply is enough.
      if (isMisframed(socket) || readEscaped(error, socket, server)) return;
      answerClientError(error, socket, dispatcher.router, requestIdOf({}));
    });
    server.on('connect', (request: IncomingMessage, socket: Socket) =>
      answerUnknownVerb(
        socket,
        request.method as string,
        request.url as string,
        dispatcher.router,
        requestIdOf(request.headers),
      ),
    );
    return server;
  }

  /** Answers a connection that is one too many; whatever it asks is not looked at. */
  #admit(socket: Socket): void {
    this.#connectionCount++;
    socket.once('close', () => {
      this.#connectionCount--;
    });
    if (this.#connectionCount <= this.#options.connectionCountMax) return;
    this.#refused.add(socket);
    refuseConnection(socket, requestIdOf({}));
  }

  #ended(exchange: Exchange): void {
    const { http } = this.#web.metrics;
    const { request, response } = exchange;
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    http.inFlightCount--;
    if (!exchange.isPassedOn) {
      http.observe(request.method as string, exchange.pattern, response.statusCode, seconds);
      if (this.#options.hasAccessLog) this.#logAccess(exchange, seconds);
    }
    if (http.inFlightCount === 0) for (const resolve of this.#idleWaiters) resolve();
  }

  /** Never bodies, query strings or keys. */
  #logAccess(exchange: Exchange, seconds: number): void {
    const { request, response, requestId, caller, path } = exchange;
    this.#rowan.service.logger.info(
      {
        logger: 'http',
        verb: request.method,
        path,
        status: response.statusCode,
        durationMs: Math.round(seconds * 1e6) / 1000,
        bytes: exchange.responseBytes,
        requestId,
        ...(caller?.keyId === undefined ? {} : { key: caller.keyId }),
        ...traceOf(request),
      },
      `${request.method} ${path} ${response.statusCode}`,
    );
  }

  /** Resolves when no request is in flight. */
  #idle(): Promise<void> {
    if (this.#web.metrics.http.inFlightCount === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters.add(resolve);
    });
  }
}

function timeout(milliseconds: number): { over: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return { over, cancel: () => clearTimeout(timer) };
}

function traceOf(request: IncomingMessage): Record<string, string> {
  const { traceparent } = request.headers;
  return typeof traceparent === 'string' ? { traceparent } : {};
}

/** @returns false when the port is taken. @throws every other failure */
function tryListen(server: NetServer, port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      server.off('listening', onListening);
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    };
    const onListening = () => {
      server.off('error', onError);
      resolve(true);
    };
    server.once('error', onError);
    server.once('listening', onListening);
    server.listen(port, host);
  });
}
