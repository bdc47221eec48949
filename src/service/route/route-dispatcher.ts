// Performs requests on the table of routes: one way for every transport.
import { errorBody, failure, RowanError } from '../../util/error.ts';
import type { Service } from '../service.ts';
import { callContext, runInContext } from './call-context.ts';
import type { Dispatcher } from './dispatcher.ts';
import { parameterHelp } from './parameter-binding.ts';
import { type Reply, ROLES, type RouteRequest } from './request.ts';
import type { Route } from './route.ts';
import { Router } from './router.ts';

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
      const bound = this.#router.bind(request);
      requireRole(request, bound.route);
      const { role, signal, requestId } = request;
      const sandboxes = callContext()?.sandboxes ?? [];
      const reply = await runInContext({ role, signal, requestId, sandboxes }, () =>
        bound.route.handle(bound, this.#service),
      );
      return request.verb === 'HEAD' ? withoutBody(reply) : reply;
    } catch (thrown) {
      return this.#failure(thrown, request);
    }
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
    const body = errorBody(thrown);
    const allowed = body.details?.allowedVerbs as readonly string[] | undefined;
    return {
      status: body.httpCode,
      json: { ...body, requestId: request.requestId },
      ...(allowed === undefined ? {} : { headers: { Allow: allowed.join(', ') } }),
    };
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

function requireRole(request: RouteRequest, route: Route): void {
  if (ROLES.indexOf(request.role) >= ROLES.indexOf(route.role)) return;
  if (route.isOpenTo?.(request.headers) === true) return;
  throw failure('FORBIDDEN', `${request.verb} ${request.path} needs the role ${route.role}`, {
    requiredRole: route.role,
  });
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
