// Routes as data: what a route declares and what its handler gets. No transport here.
import type { TSchema } from 'typebox';
import type { Service } from '../service.ts';
import type { Reply, Role, RouteRequest, Verb } from './request.ts';

/**
 * One parameter of a route. In a query string `text` is taken as it is, integers and booleans are
 * read from text, `json` must be JSON text; in a body each is the JSON value itself.
 */
export interface Parameter {
  readonly type: 'text' | 'integer' | 'boolean' | 'json';
  readonly description: string;
  readonly default?: unknown;
  readonly required?: boolean;
  /** what `json` values look like, or the accepted texts */
  readonly schema?: TSchema;
}

export type ParameterSet = Readonly<Record<string, Parameter>>;

export interface RouteExample {
  readonly path: string;
  readonly body?: unknown;
}

export interface Route {
  readonly verb: Verb;
  /** elements from `/`; `:name` binds one element, a last `*` binds the undecoded rest */
  readonly path: string;
  readonly summary: string;
  readonly role: Role;
  /** parameters of the query string only */
  readonly query?: ParameterSet;
  /** parameters of the query string or the JSON body, never both */
  readonly hybrid?: ParameterSet;
  /** true: the handler parses large hybrid bodies, see `isBodyDeferred` */
  readonly defersLargeBodies?: boolean;
  /** a JSON (or streamed) body that belongs to the route as a whole */
  readonly body?: { readonly description: string; readonly schema?: TSchema };
  /** Whether a body is handed over while it arrives; how, its headers say. */
  readonly streamsBody?: (headers: Readonly<Record<string, string>>) => boolean;
  /** true: a client may wait as long as it likes between the pieces of its streamed body */
  readonly bodyMayPause?: boolean;
  readonly reply?: { readonly description: string; readonly schema?: TSchema };
  readonly examples?: readonly RouteExample[];
  /** true: parameters that the route does not know are ignored instead of refused */
  readonly lenient?: boolean;
  /** Whether a request is answered at once, so that it need not wait for those that compute. */
  isLight?(request: BoundRequest, service: Service): boolean;
  handle(request: BoundRequest, service: Service): Reply | Promise<Reply>;
}

/** A request whose route is known and whose parameters were checked. */
export interface BoundRequest extends RouteRequest {
  readonly route: Route;
  /** decoded path elements by name */
  readonly params: Readonly<Record<string, string>>;
  /** query and hybrid parameters by name, defaults filled in */
  readonly values: Readonly<Record<string, unknown>>;
  /** true: the caller does not want to wait for a construction */
  readonly isAsync: boolean;
}

/** Keeps the types of a route's literals while checking it. */
export function route(declaration: Route): Route {
  return declaration;
}
