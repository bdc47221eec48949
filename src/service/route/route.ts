// Routes as data: what a route declares and what its handler gets. No transport here.
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Service } from '../service.ts';
import type { Reply, Role, RouteRequest, Verb } from './request.ts';

/**
 * The parameters of a route. In a query string texts are taken as they are, integers and booleans
 * are read from text, all else must be JSON text; in a body each is the JSON value itself. One that
 * has no default and is not optional must be given.
 */
export type ParameterSet = TProperties;

/** What binding makes of parameters. */
export type ParameterValues<Parameters extends ParameterSet> = Static<TObject<Parameters>>;

export interface RouteExample {
  readonly path: string;
  readonly body?: unknown;
}

/**
 * - `light`: answered at once
 * - `heavy`: may compute for long, so it waits for its turn and has a time limit
 * - `construction`: heavy, and makes an entity or a run; it goes on when nobody waits any more
 * - `live`: the reply goes on until the client or the service ends it
 */
export type Work = 'light' | 'heavy' | 'construction' | 'live';

/** What is counted and timed beside the request itself. */
export type Measured = 'query' | 'application' | 'batch';

export interface Route {
  readonly verb: Verb;
  /** elements from `/`; `:name` binds one element, a last `*` binds the undecoded rest */
  readonly path: string;
  readonly summary: string;
  readonly role: Role;
  /** Whether everybody may ask so, whatever the role; how, the headers say. */
  readonly isOpenTo?: (headers: Readonly<Record<string, string>>) => boolean;
  /** parameters of the query string only */
  readonly query?: ParameterSet;
  /** parameters of the query string or the JSON body, never both */
  readonly hybrid?: ParameterSet;
  /** true: a worker parses large bodies, see `isBodyDeferred` */
  readonly defersLargeBodies?: boolean;
  /** a JSON (or streamed) body that belongs to the route as a whole */
  readonly body?: { readonly description: string; readonly schema?: TSchema };
  /** Whether a body is handed over while it arrives; how, its headers say. */
  readonly streamsBody?: (headers: Readonly<Record<string, string>>) => boolean;
  /** true: a client may wait as long as it likes between the pieces of its streamed body */
  readonly bodyMayPause?: boolean;
  readonly reply?: {
    readonly description: string;
    readonly schema?: TSchema;
    /** media types of the reply, JSON when absent; none: it has no content */
    readonly contentTypes?: readonly string[];
    /** true: 201 where something is new, 200 where it was there */
    readonly mayCreate?: boolean;
  };
  readonly examples?: readonly RouteExample[];
  /** true: needs nothing but data that processes share, so a replica may answer */
  readonly sharedDataOnly?: boolean;
  readonly measured?: Measured;
  /** what the body describes where the path is that of a collection: it gets an id if it has none */
  readonly collectionOf?: 'entity' | 'run';
  /** true: parameters that the route does not know are ignored instead of refused */
  readonly lenient?: boolean;
  /** how much a request asks of the service; default `light` */
  readonly work?: Work;
  /** Whether a request of a heavy route is answered at once after all. */
  isLight?(request: BoundRequest, service: Service): boolean;
  handle(request: BoundRequest, service: Service): Reply | Promise<Reply>;
}

/** A request whose route is known and whose parameters were checked. */
export interface BoundRequest<Values = unknown> extends RouteRequest {
  readonly route: Route;
  /** that of the route, or less where the body streams */
  readonly work: Work;
  /** decoded path elements by name */
  readonly params: Readonly<Record<string, string>>;
  /** query and hybrid parameters by name, defaults filled in */
  readonly values: Values;
  /** true: the caller does not want to wait for a construction */
  readonly isAsync: boolean;
}

interface RouteOf<Query extends ParameterSet, Hybrid extends ParameterSet>
  extends Omit<Route, 'query' | 'hybrid' | 'isLight' | 'handle'> {
  readonly query?: Query;
  readonly hybrid?: Hybrid;
  isLight?(
    request: BoundRequest<ParameterValues<Query> & ParameterValues<Hybrid>>,
    service: Service,
  ): boolean;
  handle(
    request: BoundRequest<ParameterValues<Query> & ParameterValues<Hybrid>>,
    service: Service,
  ): Reply | Promise<Reply>;
}

/** Declares a route, whose handler gets the values of its parameters as their schemas say. */
export function route<
  Query extends ParameterSet = Record<never, never>,
  Hybrid extends ParameterSet = Record<never, never>,
>(declaration: RouteOf<Query, Hybrid>): Route {
  return declaration;
}
