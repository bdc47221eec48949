// A request of a route as it came over HTTP.

import { bindParameters, isAsync } from '../service/route/parameter-binding.ts';
import type { RequestBody, Role, Verb } from '../service/route/request.ts';
import type { RequestContext } from '../service/route/request-context.ts';
import type { BoundRequest, Measured, Route, Work } from '../service/route/route.ts';
import type { RouteMatch } from '../service/route/router.ts';
import type { Exchange } from './exchange.ts';

const NO_SANDBOXES: readonly object[] = [];
const NEVER = new AbortController().signal;

/** What of a route's declaration says how its requests are treated. */
export type Handling = Pick<Route, 'work' | 'measured'>;

export class HttpRequest implements BoundRequest, RequestContext {
  readonly verb: Verb;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body: RequestBody;
  readonly headers: Readonly<Record<string, string>>;
  readonly role: Role;
  readonly requestId: string;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
  readonly isAsync: boolean;
  readonly work: Work;
  readonly measured: Measured | undefined;
  readonly timeLimitMs: number | undefined;
  readonly exchange: Exchange;
  /** it comes from outside: no script waits for it */
  readonly sandboxes = NO_SANDBOXES;

  /**
   * @param how as the route says, or less where the body streams
   * @throws what binding parameters throws
   */
  constructor(
    exchange: Exchange,
    match: RouteMatch,
    query: readonly (readonly [string, string])[],
    body: RequestBody,
    how: Handling,
    timeLimitMs: number | undefined,
  ) {
    const { route, params } = match;
    this.verb = route.verb;
    this.path = exchange.path;
    this.query = query;
    this.body = body;
    this.headers = exchange.request.headers as Record<string, string>;
    this.role = exchange.caller?.role ?? 'open';
    this.requestId = exchange.requestId;
    this.route = route;
    this.params = params;
    this.values = bindParameters(route, this);
    this.isAsync = isAsync(this.headers);
    this.work = how.work ?? 'light';
    this.measured = how.measured;
    this.timeLimitMs = timeLimitMs;
    this.exchange = exchange;
  }

  /**
   * Costs something, so it is made only for handlers that look at it. Constructions go on when
   * their client is gone.
   */
  get signal(): AbortSignal {
    return this.work === 'construction' ? NEVER : this.exchange.signal;
  }
}
