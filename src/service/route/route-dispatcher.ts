// Performs requests on the table of routes: one way for every transport.
import { failure, RowanError } from '../../util/error.ts';
import type { Service } from '../service.ts';
import { requireRole } from './caller-role.ts';
import type { Dispatcher } from './dispatcher.ts';
import { failureReply } from './failure-reply.ts';
import { bindRequest, parameterHelp } from './parameter-binding.ts';
import type { Reply, Role, RouteRequest } from './request.ts';
import { callContext, type RequestContext, runInContext } from './request-context.ts';
import type { BoundRequest, Route } from './route.ts';
import { type RouteMatch, Router } from './router.ts';

/** How a request says who asks. */
export interface Asking {
  readonly headers: Readonly<Record<string, string>>;
  /** @throws UNAUTHENTICATED for an unknown or expired API key */
  identify(): Role;
  /** Called before anything is checked. */
  onFound?(route: Route): void;
}

/** What a transport does with the requests that it brings. */
export interface ReplyTransport<Request, Result> {
  /**
   * Waits for the turn of a heavy request; absent: it need not wait. @returns undefined: at once
   * @throws OVERLOADED
   */
  enter?(request: Request): Promise<void> | undefined;
  /** Takes the reply; the request counts as long as that lasts. */
  reply(request: Request, made: Reply | Promise<Reply>): Result | Promise<Result>;
  /** Called when the request has ended, however it did. */
  onEnd?(request: Request): void;
}

/** Programs in the process wait by themselves, and for nested requests a place is taken already. */
const IN_PROCESS: ReplyTransport<BoundRequest, Reply> = {
  reply: (_request, made) => made,
};

/**
 * The pipeline of requests: authenticate, role (`accept`), parameters (`bindRequest`), admission,
 * handler, reply (`perform`), and one form for failures (`failureReply`).
 */
export class RouteDispatcher implements Dispatcher {
  readonly #router: Router;
  readonly #service: Service;

  constructor(routes: readonly Route[], service: Service) {
    this.#router = new Router(routes);
    this.#service = service;
  }

  get router(): Router {
    return this.#router;
  }

  get routes(): readonly Route[] {
    return this.#router.routes;
  }

  async dispatch(request: RouteRequest): Promise<Reply> {
    try {
      if (request.verb === 'OPTIONS') return this.#options(request);
      const { route, params } = this.accept(request.verb, request.path, {
        headers: request.headers,
        identify: () => request.role,
      });
      const bound = bindRequest(route, params, { ...request, verb: route.verb });
      const sandboxes = callContext()?.sandboxes ?? [];
      const reply = await this.perform({ ...bound, sandboxes }, IN_PROCESS);
      return request.verb === 'HEAD' ? withoutBody(reply) : reply;
    } catch (thrown) {
      return this.#failure(thrown, request);
    }
  }

  /**
   * The first steps of every request: who asks, and whether its role suffices. Who may not even read
   * learns nothing from a 404.
   * @throws UNKNOWN_RESOURCE, UNAUTHENTICATED, FORBIDDEN
   */
  accept(verb: string, path: string, { headers, identify, onFound }: Asking): RouteMatch {
    let match: RouteMatch;
    try {
      match = this.#router.find(verb, path);
    } catch (thrown) {
      requireRole(identify(), 'reader', `${verb} ${path}`);
      throw thrown;
    }
    const { route } = match;
    onFound?.(route);
    if (route.role === 'open' || route.isOpenTo?.(headers) === true) return match;
    requireRole(identify(), route.role, `${verb} ${path}`);
    return match;
  }

  /**
   * The last steps of every request, once its parameters are bound: it waits for its turn where it is
   * heavy and the transport limits those, its handler makes the reply, the transport takes it.
   * @throws OVERLOADED; what the handler and the transport throw
   */
  perform<Request extends BoundRequest & RequestContext, Result>(
    request: Request,
    transport: ReplyTransport<Request, Result>,
  ): Result | Promise<Result> {
    const turn = this.#waitsForTurn(request) ? transport.enter?.(request) : undefined;
    if (turn === undefined) return this.#handle(request, transport);
    return turn.then(() => this.#handle(request, transport));
  }

  #waitsForTurn(request: BoundRequest): boolean {
    const { work, route } = request;
    if (work !== 'heavy' && work !== 'construction') return false;
    return route.isLight?.(request, this.#service) !== true;
  }

  #handle<Request extends BoundRequest & RequestContext, Result>(
    request: Request,
    transport: ReplyTransport<Request, Result>,
  ): Result | Promise<Result> {
    let later: Promise<Result> | undefined;
    try {
      const result = runInContext(request, () =>
        transport.reply(request, request.route.handle(request, this.#service)),
      );
      if (!(result instanceof Promise)) return result;
      later = result;
    } finally {
      if (later === undefined) transport.onEnd?.(request);
    }
    return later.finally(() => transport.onEnd?.(request));
  }

  /** The pattern of the route that a request will take, for metrics. */
  routePattern(verb: string, path: string): string | undefined {
    const wanted = verb === 'HEAD' ? 'GET' : verb;
    return this.#router.matchingRoutes(path).find((route) => route.verb === wanted)?.path;
  }

  #options(request: RouteRequest): Reply {
    const routes = this.#router.matchingRoutes(request.path);
    const verbs = this.#router.allowedVerbs(request.path);
    const headers = { Allow: verbs.join(', ') };
    if (routes.length > 0) return { status: 200, headers, json: helpOf(routes) };
    const body = failure('INVALID_PARAMETER', `no resource ${request.path}`).toBody();
    return { status: 400, headers, json: { ...body, requestId: request.requestId } };
  }

  #failure(thrown: unknown, request: RouteRequest): Reply {
    if (!(thrown instanceof RowanError)) {
      const stack = thrown instanceof Error ? thrown.stack : undefined;
      this.#service.logger.error(
        { logger: 'service', err: thrown, stack, requestId: request.requestId },
        `${request.verb} ${request.path} failed unexpectedly`,
      );
    }
    return failureReply(thrown, request.requestId);
  }

  help(): Record<string, unknown> {
    return helpOf(this.#router.routes);
  }

  autodoc(): Record<string, unknown> {
    return {
      routes: this.#router.routes.map((route) => [
        `${route.verb} ${route.path}`,
        {
          docstring: route.summary,
          in: parameterHelp(route),
          out: route.reply?.description ?? '',
          required_role: route.role,
        },
      ]),
      literate: [],
      config: {},
    };
  }
}

/** Routes of one path together: path and verbs to what they do. */
function helpOf(routes: readonly Route[]): Record<string, unknown> {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    const known = byPath.get(route.path);
    if (known === undefined) byPath.set(route.path, [route]);
    else known.push(route);
  }
  const help: Record<string, unknown> = {};
  for (const [path, group] of byPath) {
    const verbs = group.map(({ verb }) => verb);
    const args = new Map(group.flatMap(parameterHelp).map((help) => [JSON.stringify(help), help]));
    help[`${path} ${verbs.join(',')}`] = {
      description: [...new Set(group.map(({ summary }) => summary))].join('; '),
      path,
      verbs,
      ...(args.size === 0 ? {} : { arguments: [...args.values()] }),
    };
  }
  return help;
}

function withoutBody({ status, headers, ...reply }: Reply): Reply {
  if (reply.stream !== undefined) void closeStream(reply.stream);
  const contentType =
    reply.contentType ?? (reply.json === undefined ? undefined : 'application/json');
  return {
    status,
    ...(headers === undefined ? {} : { headers }),
    ...(contentType === undefined ? {} : { contentType }),
  };
}

async function closeStream(stream: AsyncIterable<Uint8Array>): Promise<void> {
  await stream[Symbol.asyncIterator]().return?.();
}
